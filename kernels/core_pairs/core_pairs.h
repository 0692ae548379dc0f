/* What the pairs of ranks share: their places on a node, and paths. */
#ifndef CORE_PAIRS_H
#define CORE_PAIRS_H

#include "pair/pair.h"

/* --- where a rank runs, according to Linux in /sys; hwloc reads the same files. levels.c: no MPI
 */

/* How close two ranks are, according to the operating system. */
enum pair_level { SAME_CORE, SAME_NUMA_NODE, SAME_SOCKET, OTHER_SOCKET, OTHER_NODE, PAIR_LEVELS };
extern const char *const PAIR_LEVEL_NAMES[PAIR_LEVELS];

struct cpu_place {
    int node;                    /* of struct topology */
    int cpu, socket, core, numa; /* -1: unknown */
};

/* Of the calling process now. MPICAMPAIGN_SYSFS replaces /sys, as in the evidence library. */
void cpu_place_find(struct cpu_place *place, int node);

/* enum pair_level; -1 if unknown. */
int cpu_place_level(const struct cpu_place *a, const struct cpu_place *b);

/* Agreement of classes and levels: a pair agrees if its level is the most frequent one of its
 * class. */
struct pair_agreement {
    long known, agreeing; /* unordered pairs with a class and a level; those that agree */
    long pairs[MAX_CLASSES][PAIR_LEVELS];
};

/* level_of: matrix of enum pair_level, -1: unknown. */
void pair_agreement_count(const struct pair_classes *classes, const int *level_of,
                          struct pair_agreement *agreement);

/* --- shared paths: the time of one pair of ranks alone, and while another pair is busy */

enum { MAX_CONTENTIONS = 64 };

#define SHARED_PATH 1.2 /* a shared path: this many times slower than alone */

/* Four different ranks. Seconds of one message, one way. */
struct contention {
    int from, to, other_from, other_to;
    double alone, together; /* of from -> to; NAN: not measured */
};

struct contentions {
    int count;
    struct contention of[MAX_CONTENTIONS]; /* the same on all ranks */
    bool correct;                          /* of the data that this rank checked */
    uint64_t bytes_timed, bytes_checked;   /* of the round trips that began on this rank */
};

/* Random disjoint pairs, until the budget (seconds) is spent; at least four ranks. Collective. */
void contentions_measure(struct contentions *contentions, const struct pair_timing *how,
                         double budget, uint64_t seed);

#endif
