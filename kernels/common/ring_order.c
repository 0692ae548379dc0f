#include "ring_order.h"

#include "random.h"

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
