#include "random.h"

/* Uniform below the bound: the few values that would bias the result are drawn again. */
static uint64_t random_below(uint64_t *state, uint64_t bound) {
    uint64_t skewed = UINT64_MAX - UINT64_MAX % bound, value;
    do
        value = random_next(state);
    while (value >= skewed);
    return value % bound;
}

void shuffle(int *numbers, int count, uint64_t *state) {
    for (int i = count - 1; i > 0; i--) {
        int other = (int)random_below(state, (uint64_t)i + 1), number = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = number;
    }
}

void ring_natural(int *order, int ranks) {
    for (int i = 0; i < ranks; i++)
        order[i] = i;
}

void ring_random(int *order, int ranks, uint64_t seed, int number) {
    uint64_t state = mix64(seed ^ mix64((uint64_t)number));
    ring_natural(order, ranks);
    shuffle(order, ranks, &state);
}

struct neighbours ring_neighbours(const int *order, int ranks, int rank) {
    int at = 0;
    while (order[at] != rank)
        at++;
    return (struct neighbours){order[(at + ranks - 1) % ranks], order[(at + 1) % ranks]};
}

int tournament_rounds(int ranks) { return ranks - 1 + ranks % 2; }

/* In each round the numbers of partners add up to the same remainder. The rank that would meet
 * itself meets the last rank, or nobody if the number of ranks is odd. */
int tournament_partner(int ranks, int round, int rank) {
    int rounds = tournament_rounds(ranks), none = ranks % 2 ? -1 : ranks - 1;
    if (rank == rounds) /* twice the partner's number has the round as remainder */
        return (int)((long)round * (rounds + 1) / 2 % rounds);
    int partner = (round - rank + rounds) % rounds;
    return partner == rank ? none : partner;
}

bool is_prime(long n) {
    for (long divisor = 2; divisor <= n / divisor; divisor++)
        if (n % divisor == 0)
            return false;
    return n > 1;
}
