/* Whether two pairs of ranks share a path: the time of one while the other is busy, and alone. */
#ifndef CONTENTION_H
#define CONTENTION_H

#include "pair_matrix.h"

enum { MAX_CONTENTIONS = 64 };

#define SHARED_PATH 1.2 /* times slower than alone: a shared path */

/* Four different ranks. Seconds are those of one message, one way. */
struct contention {
    int from, to, other_from, other_to;
    double alone, together; /* of from -> to; NAN: not measured */
};

struct contentions {
    int count;
    struct contention of[MAX_CONTENTIONS]; /* the same on all ranks */
    bool correct;                          /* of the data that this rank verified */
};

/* Random disjoint pairs, until the budget (seconds) is spent; four ranks or more. Collective. */
void contentions_measure(struct contentions *contentions, const struct pair_timing *how,
                         double budget, uint64_t seed);

#endif
