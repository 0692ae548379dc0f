#include "pair/pair.h"

#include <math.h>

enum { FEWEST_CLIENTS = 5 };

bool is_prime(long n) {
    for (long divisor = 2; divisor <= n / divisor; divisor++)
        if (n % divisor == 0)
            return false;
    return n > 1;
}

int pair_stride(int ranks, double affordable_pairs) {
    double clients = floor(sqrt(affordable_pairs));
    int stride = (int)(ranks / fmax(clients, FEWEST_CLIENTS) + 0.9);
    if (stride <= 1)
        return 1;
    if (stride <= 3)
        return 3;
    /* Beyond a third of the ranks too few clients would remain. */
    while (!is_prime(stride) && stride <= ranks / 3)
        stride++;
    return stride;
}

struct pair_set pair_set_strided(int ranks, int stride) {
    return (struct pair_set){0, (ranks - 1) % stride, (ranks - 1) / stride + 1, stride};
}

struct pair_set pair_set_single(int client, int server) {
    return (struct pair_set){client, server, 1, 1};
}

int pair_set_client(const struct pair_set *set, int i) {
    return set->first_client + i * set->stride;
}

int pair_set_server(const struct pair_set *set, int i) {
    return set->first_server + i * set->stride;
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

static int has(const struct pair_set *set, int first, int rank) {
    int distance = rank - first;
    return distance >= 0 && distance % set->stride == 0 && distance / set->stride < set->count;
}

int pair_set_has_client(const struct pair_set *set, int rank) {
    return has(set, set->first_client, rank);
}

int pair_set_has_server(const struct pair_set *set, int rank) {
    return has(set, set->first_server, rank);
}
