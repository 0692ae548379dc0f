/* The communication patterns of the effective bandwidth (b_eff): unions of rings. No MPI.
 *
 * In each direction of a pattern a process sends to its left and to its right neighbour of one
 * ring; one message where both are the same process. */
#ifndef EFFECTIVE_PATTERNS_H
#define EFFECTIVE_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RING_PATTERNS = 6,
    RANDOM_PATTERNS = 30,
    CARTESIAN_PATTERNS = 8, /* fewer where directions are omitted */
    GROUPINGS = 2,
    MAX_DIRECTIONS = 3
};

struct pattern {
    const char *set; /* "ring", "random", "cartesian", "first", "pair" */
    char name[24];
    int ranks, directions;
    int rings, smallest, largest; /* rings over all directions, and their sizes */
    int *left[MAX_DIRECTIONS];    /* [ranks]: the neighbour; -1 where the rank takes no part */
    int *right[MAX_DIRECTIONS];
};

/* Sizes of the rings of pattern 0 .. 5, which differ by one at most; returns their number. */
int ring_sizes(int ranks, int index, int *sizes);

/* Rings over neighbouring ranks, index 0 .. 5. */
void pattern_ring(struct pattern *pattern, int ranks, int index);

/* One ring over all ranks, shuffled; index 0 .. 29 and the seed give the order. */
void pattern_random(struct pattern *pattern, int ranks, int index, uint64_t seed);

/* Lengths of the cyclic topology of so many dimensions, by the page's reduction rule. */
void cartesian_shape(int ranks, int dimensions, int shape[MAX_DIRECTIONS]);

/* Directions of a cyclic topology, index 0 .. 7; false where the pattern has none left. */
bool pattern_cartesian(struct pattern *pattern, int ranks, int index);

/* The pairs of the first approach: 0 best (0 with 1, 2 with 3), 1 worst (0 with the last). */
void pattern_grouping(struct pattern *pattern, int ranks, int index);

/* Ranks 0 and 1 alone. */
void pattern_pair(struct pattern *pattern, int ranks);

void pattern_free(struct pattern *pattern);

/* Messages of all processes in one exchange. */
int pattern_messages(const struct pattern *pattern);

/* Messages that a process sends in one direction at most: 1 where all rings are pairs, else 2. */
int pattern_sides(const struct pattern *pattern);

/* Processes that take part. */
int pattern_processes(const struct pattern *pattern);

#endif
