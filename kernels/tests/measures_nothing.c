/* A kernel that verifies its data but prints no row: this must not count as success. */
#include "kernel.h"

static uint64_t memory(const struct run *run) {
    (void)run;
    return 0;
}

static void describe(const struct run *run) { (void)run; }

static bool measure(struct measurement *m, char why[REASON_LENGTH]) {
    (void)m;
    (void)why;
    return true;
}

int main(int argc, char **argv) {
    const struct kernel kernel = {.name = "measures_nothing",
                                  .version = 1,
                                  .purpose = "Measures nothing.",
                                  .minimum_ranks = 1,
                                  .default_budget = 1,
                                  .size_option = "--budget",
                                  .memory = memory,
                                  .describe = describe,
                                  .measure = measure};
    return kernel_main(argc, argv, &kernel);
}
