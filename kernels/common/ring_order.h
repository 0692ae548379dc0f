/* Orders of ranks in a ring. No MPI. */
#ifndef RING_ORDER_H
#define RING_ORDER_H

#include <stdint.h>

struct neighbours {
    int left, right;
};

/* order[0 .. ranks): by rank. */
void ring_natural(int *order, int ranks);

/* A shuffle (Fisher and Yates) that depends only on the seed and the ring's number. */
void ring_random(int *order, int ranks, uint64_t seed, int number);

/* The rank's predecessor and successor in the ring. */
struct neighbours ring_neighbours(const int *order, int ranks, int rank);

#endif
