#include "effective.h"

#include "kernel.h"

#include <math.h>

enum { MAX_LOOPS = 1000000 };

size_t effective_lmax(uint64_t memory_per_process) {
    uint64_t lmax = memory_per_process / 128;
    return lmax < LARGEST_LMAX ? (size_t)lmax : LARGEST_LMAX;
}

void effective_lengths(size_t lmax, size_t lengths[LENGTHS]) {
    double ratio = (double)lmax / (double)LARGEST_FIXED;
    for (int i = 0; i < FIXED_LENGTHS; i++)
        lengths[i] = (size_t)1 << i;
    for (int i = FIXED_LENGTHS; i < LENGTHS; i++) {
        double step = (double)(i - FIXED_LENGTHS + 1) / (LENGTHS - FIXED_LENGTHS);
        lengths[i] = (size_t)llround((double)LARGEST_FIXED * pow(ratio, step));
    }
    lengths[LENGTHS - 1] = lmax;
}

void first_approach_lengths(size_t lengths[LENGTHS]) {
    for (int i = 0; i < LENGTHS; i++)
        lengths[i] = (size_t)1 << i;
}

static double of_pattern(const struct effective_plan *plan, const struct effective_cost *cost) {
    double seconds = 0;
    for (int method = 0; method < cost->methods; method++)
        for (int i = 0; i < LENGTHS; i++) {
            double exchange = cost->exchange[method][i];
            seconds += exchange > plan->loop_seconds ? exchange : plan->loop_seconds;
            seconds += cost->overhead;
        }
    return plan->repetitions * seconds + cost->verification;
}

double plan_seconds(const struct effective_plan *plan, const struct effective_cost *cost) {
    return (cost->fixed_patterns + plan->random_patterns) * of_pattern(plan, cost);
}

static int fits(const struct effective_plan *plan, const struct effective_cost *cost,
                double seconds) {
    return plan_seconds(plan, cost) <= seconds;
}

struct effective_plan plan_for(const struct effective_cost *cost, double seconds) {
    static const double loops[] = {LOOP_SECONDS, LEAST_DEFINED_LOOP_SECONDS, 1e-3, 0.5e-3, 0.2e-3};
    struct effective_plan plan = {loops[0], REPETITIONS, RANDOM_PATTERNS};
    for (size_t i = 0; i < sizeof loops / sizeof *loops && !fits(&plan, cost, seconds); i++)
        plan.loop_seconds = loops[i];
    while (plan.repetitions > 1 && !fits(&plan, cost, seconds))
        plan.repetitions--;
    while (plan.random_patterns > 1 && !fits(&plan, cost, seconds))
        plan.random_patterns--;
    return plan;
}

void plan_shortened(const struct effective_plan *plan, char *text, size_t length) {
    text[0] = '\0';
    if (plan->loop_seconds < LEAST_DEFINED_LOOP_SECONDS)
        text_append(text, length, "; ", "loops of %g s, not %g s", plan->loop_seconds,
                    LEAST_DEFINED_LOOP_SECONDS);
    if (plan->repetitions < REPETITIONS)
        text_append(text, length, "; ", "%d of %d repetitions", plan->repetitions, REPETITIONS);
    if (plan->random_patterns < RANDOM_PATTERNS)
        text_append(text, length, "; ", "%d of %d random patterns", plan->random_patterns,
                    RANDOM_PATTERNS);
    if (text[0] == '\0')
        text_append(text, length, "", "nothing");
}

int plan_loops(const struct effective_plan *plan, double exchange) {
    double loops = exchange > 0 ? plan->loop_seconds / exchange : 1;
    return loops < 1 ? 1 : loops > MAX_LOOPS ? MAX_LOOPS : (int)loops;
}
