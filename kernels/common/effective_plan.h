/* What a budget allows of the effective bandwidth (b_eff). No MPI. */
#ifndef EFFECTIVE_PLAN_H
#define EFFECTIVE_PLAN_H

#include "effective_lengths.h"

#include <stddef.h>

enum { MAX_METHODS = 5, REPETITIONS = 3 };

/* One measurement takes so long: the middle of the original's 2.5 to 5 ms. */
#define LOOP_SECONDS 3.75e-3
#define LEAST_DEFINED_LOOP_SECONDS 2.5e-3

/* Estimates in seconds, measured beforehand. */
struct effective_cost {
    int methods;
    int fixed_patterns;                    /* measured whatever the budget */
    double exchange[MAX_METHODS][LENGTHS]; /* one exchange of a pattern */
    double overhead;                       /* of one measurement, beside its exchanges */
    double verification;                   /* of one pattern with all methods */
};

struct effective_plan {
    double loop_seconds; /* of one measurement, at least */
    int repetitions;
    int random_patterns;
};

/* Seconds that the plan takes. */
double plan_seconds(const struct effective_plan *plan, const struct effective_cost *cost);

/* The fullest plan that fits: first the loops become shorter, then the repetitions fewer, then the
 * random patterns. One repetition with one random pattern is the least. */
struct effective_plan plan_for(const struct effective_cost *cost, double seconds);

/* Says what the plan lacks of the definition; "nothing" where it lacks nothing. */
void plan_shortened(const struct effective_plan *plan, char *text, size_t length);

/* Loops of one measurement when one exchange takes so many seconds. */
int plan_loops(const struct effective_plan *plan, double exchange);

#endif
