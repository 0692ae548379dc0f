/* The effective bandwidth (b_eff): lengths, patterns, and what a budget allows. No MPI. */
#ifndef EFFECTIVE_H
#define EFFECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- message lengths */

enum { LENGTHS = 21, FIXED_LENGTHS = 13 };

#define LARGEST_FIXED ((size_t)4096)
#define LARGEST_LMAX ((size_t)128 << 20)
#define FIRST_APPROACH_LMAX ((size_t)1 << 20)

/* Lmax as defined: a process's share of its node's memory / 128, at most 128 MiB. */
size_t effective_lmax(uint64_t memory_per_process);

/* 1, 2, 4 ... 4096 B, then 4096 a^k, k = 1 .. 8, up to Lmax. */
void effective_lengths(size_t lmax, size_t lengths[LENGTHS]);

/* 1, 2, 4 ... 2^20 B: lengths of the first approach. */
void first_approach_lengths(size_t lengths[LENGTHS]);

/* --- communication patterns: unions of rings
 *
 * In each direction of a pattern a process sends to its left and its right neighbour in one ring;
 * only one message if both are the same process. */

enum {
    RING_PATTERNS = 6,
    RANDOM_PATTERNS = 30,
    CARTESIAN_PATTERNS = 8, /* fewer if directions are omitted */
    GROUPINGS = 2,
    MAX_DIRECTIONS = 3
};

struct pattern {
    const char *set; /* "ring", "random", "cartesian", "first", "pair" */
    char name[24];
    int ranks, directions;
    int rings, smallest, largest; /* rings over all directions, and their sizes */
    int *left[MAX_DIRECTIONS];    /* [ranks]: the neighbour; -1 if the rank is idle */
    int *right[MAX_DIRECTIONS];
};

/* Ring sizes of pattern 0 .. 5, which differ by at most one, the even one first as in b_eff 3.6;
 * returns the number of rings. */
int ring_sizes(int ranks, int index, int *sizes);

/* Rings over neighbouring ranks, index 0 .. 5. */
void pattern_ring(struct pattern *pattern, int ranks, int index);

/* One shuffled ring over all ranks; index 0 .. 29 and the seed determine the order. */
void pattern_random(struct pattern *pattern, int ranks, int index, uint64_t seed);

/* Lengths of the cyclic topology with this many dimensions, by the page's reduction rule. */
void cartesian_shape(int ranks, int dimensions, int shape[MAX_DIRECTIONS]);

/* Directions of a cyclic topology, index 0 .. 7; false if the pattern has none left. */
bool pattern_cartesian(struct pattern *pattern, int ranks, int index);

/* The pairs of the first approach: 0 best (0 with 1, 2 with 3), 1 worst (0 with the last). */
void pattern_grouping(struct pattern *pattern, int ranks, int index);

/* Ranks 0 and 1 alone. */
void pattern_pair(struct pattern *pattern, int ranks);

void pattern_free(struct pattern *pattern);

/* Messages of all processes in one exchange. */
int pattern_messages(const struct pattern *pattern);

/* Most messages that a process sends in one direction: 1 if all rings are pairs, else 2. */
int pattern_sides(const struct pattern *pattern);

/* Processes that take part. */
int pattern_processes(const struct pattern *pattern);

/* --- what a budget allows */

enum { MAX_METHODS = 5, REPETITIONS = 3 };

/* Target length of one measurement: the middle of the original's 2.5 to 5 ms. */
#define LOOP_SECONDS 3.75e-3
#define LEAST_DEFINED_LOOP_SECONDS 2.5e-3

/* Estimates in seconds, measured before the run. */
struct effective_cost {
    int methods;
    int fixed_patterns;                    /* measured whatever the budget */
    double exchange[MAX_METHODS][LENGTHS]; /* one exchange of a pattern */
    double overhead;                       /* of one measurement, besides its exchanges */
    double verification;                   /* of one pattern with all methods */
};

struct effective_plan {
    double loop_seconds; /* of one measurement, at least */
    int repetitions;
    int random_patterns;
};

/* Duration of the plan in seconds. */
double plan_seconds(const struct effective_plan *plan, const struct effective_cost *cost);

/* The fullest plan that fits: first the loops become shorter, then the repetitions fewer, then the
 * random patterns. One repetition with one random pattern is the least. */
struct effective_plan plan_for(const struct effective_cost *cost, double seconds);

/* What the plan lacks compared with the definition; "nothing" if it is complete. */
void plan_shortened(const struct effective_plan *plan, char *text, size_t length);

/* Loops of one measurement, given the seconds of one exchange. */
int plan_loops(const struct effective_plan *plan, double exchange);

#endif
