/* b_eff: the effective bandwidth, an average over patterns, message lengths and methods.
 *
 * Purpose: one number for what a machine's network carries while all processes communicate.
 * Usage:   mpirun -n RANKS b_eff [--lmax 1MiB] [--split-methods] [--budget 80]
 * Metrics: rows hold bytes and seconds; b_eff and its parts are computed from them later.
 * Source:  the b_eff page of HLRS (Koniges, Rabenseifner, Solchenbach); see docs/kernels.md.
 */
#include "b_eff/effective.h"
#include "exchange/exchange.h"
#include "kernel.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum {
    SMALL = 8,            /* index of the smaller length at which data are checked: 256 B */
    WARM = 16,            /* and of the larger one that each pattern exchanges before timing */
    METHODS = 3,          /* sendrecv, alltoallv, nonblocking; then the split ones */
    MOST_ATTEMPTS = 5,    /* at a measurement of the planned length */
    OVERHEAD_SAMPLES = 10 /* measurements that give the cost of one besides its exchanges */
};
#define ESTIMATE_SECONDS 1e-4 /* shortest measurement behind an estimate */

/* Patterns that are measured in the same way. */
struct suite {
    const struct method *methods;
    int method_count;
    size_t lengths[LENGTHS];
    int length_count;
    int least_repetitions;                /* whatever the budget */
    double seconds[MAX_METHODS][LENGTHS]; /* of one exchange, measured last; rank 0's count */
};

static size_t lmax_option;
static bool split_methods;
static size_t lmax;
static uint64_t memory_share; /* of a process, the smallest over nodes */
static struct exchange exchange;
static struct effective_plan plan;
static const char *pattern_name;        /* of the present pattern */
static char first_wrong[REASON_LENGTH]; /* on this rank; empty while all data are right */
static bool wrong_anywhere;             /* rank 0: on some rank, when it was last asked */

static uint64_t smallest_share(const struct run *run) {
    const struct topology *topology = &run->topology;
    uint64_t here = (uint64_t)topology->ranks_on[topology->node_of[topology->rank]], smallest;
    uint64_t share = physical_memory() / here;
    MPI_Allreduce(&share, &smallest, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return smallest;
}

static bool accept(struct run *run, char why[REASON_LENGTH]) {
    memory_share = smallest_share(run);
    lmax = lmax_option > 0 ? lmax_option : effective_lmax(memory_share);
    snprintf(why, REASON_LENGTH,
             "Lmax is %zu B, and must be more than %zu B and at most %zu B, as b_eff defines its "
             "lengths; choose another --lmax",
             lmax, LARGEST_FIXED, LARGEST_LMAX);
    return lmax > LARGEST_FIXED && lmax <= LARGEST_LMAX;
}

static struct exchange_room room(void) {
    size_t largest = lmax > FIRST_APPROACH_LMAX ? lmax : FIRST_APPROACH_LMAX;
    return (struct exchange_room){.largest = largest, .slots = MAX_MESSAGES, .walks = true};
}

static uint64_t memory(const struct run *run) {
    return exchange_memory(room(), run->topology.ranks);
}

static void set_up(struct run *run) {
    exchange_set_up(&exchange, room(), run->topology.rank, run->topology.ranks, run->options.seed);
}

static int methods_wanted(void) { return split_methods ? MAX_METHODS : METHODS; }

static void describe_methods(void) {
    char names[128] = "";
    for (int i = 0; i < methods_wanted(); i++)
        text_append(names, sizeof names, ",", "%s", EXCHANGE[i].name);
    output_header("methods", "%s", names);
}

static void describe(const struct run *run) {
    (void)run;
    output_header("memory_share_bytes", "%llu", (unsigned long long)memory_share);
    output_header("lmax", "%zu", lmax);
    output_header("lmax_rule", "%s", lmax_option > 0 ? "given" : "memory/128");
    output_header("reordering", "none"); /* the original lets MPI renumber the processes */
    describe_methods();
    output_header("verified_lengths", "256 B and the largest, every pattern with every method");
    output_header("checked_lengths", "ends of all messages; all bytes of the last ones up to %zu B",
                  WHOLE_BYTES);
    output_header("columns.rates", "set pattern method length repetition loops messages seconds");
    output_header("columns.patterns",
                  "set pattern processes rings smallest_ring largest_ring messages verified");
}

/* --- one measurement */

/* Whether all data that this rank received were right; if not, where the first were not. */
static bool intact(bool right, const struct method *method) {
    if (!right && first_wrong[0] == '\0')
        snprintf(first_wrong, REASON_LENGTH, "wrong data in %s with %s at %zu B: %.150s",
                 pattern_name, method->name, exchange.length, exchange.fault);
    return right;
}

/* Seconds of this many exchanges, on rank 0. A late start counts: it is part of the largest time.
 */
static double timed(struct measurement *m, const struct method *method, int loops) {
    int64_t waited = waiting_so_far();
    bool on_time = m->sync.start(&m->sync);
    int64_t times[2];
    exchange_timed(&exchange, method, loops, times);
    hits_count(waited, times[1] - times[0]);
    int64_t origin = m->sync.shared_clock ? 0 : times[0];
    bool wrong = !intact(exchange_intact(&exchange), method);
    int64_t mine[4] = {origin - times[0], times[1] - origin, !on_time, wrong}, largest[4] = {0};
    MPI_Reduce(mine, largest, 4, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    m->late += largest[2];
    sync_adapt(&m->sync, (int)largest[2], 1);
    wrong_anywhere = largest[3] != 0;
    return (double)(largest[1] + largest[0]) * 1e-9;
}

/* Each rank's message to the left lies in the first slot of a direction, the one to the right in
 * the next: what arrives from the left neighbour was sent from its next slot. */
static void add_direction(int left, int right, int slot) {
    if (left == right) {
        exchange_add(&exchange, (struct message){left, slot}, (struct message){left, slot});
    } else {
        exchange_add(&exchange, (struct message){left, slot}, (struct message){left, slot + 1});
        exchange_add(&exchange, (struct message){right, slot + 1}, (struct message){right, slot});
    }
}

/* The messages of this rank in the pattern. */
static void set_pattern(const struct pattern *pattern) {
    int sides = pattern_sides(pattern);
    pattern_name = pattern->name;
    exchange_begin(&exchange, sides * pattern->directions);
    for (int direction = 0; direction < pattern->directions; direction++) {
        int left = pattern->left[direction][exchange.rank];
        if (left >= 0)
            add_direction(left, pattern->right[direction][exchange.rank], sides * direction);
    }
    exchange.answers = exchange.count > 0 && exchange.rank > exchange.sent[0].peer;
}

/* --- costs, measured before the plan is made */

static double estimate_length(struct measurement *m, const struct method *method, int *loops) {
    double seconds;
    exchange_perform(&exchange, method, 1);
    seconds = timed(m, method, *loops);
    while (sync_decided(seconds < ESTIMATE_SECONDS)) {
        *loops *= 4;
        seconds = timed(m, method, *loops);
    }
    double one = seconds / *loops;
    *loops = *loops > 4 ? *loops / 4 : 1; /* the next length takes longer */
    return one;
}

static void estimate(struct measurement *m, struct suite *suite, const struct pattern *pattern) {
    set_pattern(pattern);
    for (int method = 0; method < suite->method_count; method++) {
        int loops = 1;
        for (int i = 0; i < suite->length_count; i++) {
            exchange_set_length(&exchange, suite->lengths[i]);
            suite->seconds[method][i] = estimate_length(m, &suite->methods[method], &loops);
        }
    }
}

static double measured_overhead(struct measurement *m) {
    double exchanges = 0;
    int64_t start = clock_now();
    exchange_set_length(&exchange, 1);
    for (int i = 0; i < OVERHEAD_SAMPLES; i++)
        exchanges += timed(m, &EXCHANGE[SENDRECV], sync_decided(1));
    return (seconds_since(start) - exchanges) / OVERHEAD_SAMPLES;
}

/* --- data */

/* The same answer on all ranks: whether all data so far were right. */
static bool verify_method(const struct suite *suite, const struct method *method) {
    const int checked[2] = {suite->length_count == LENGTHS ? SMALL : 0, suite->length_count - 1};
    bool all = true;
    for (int i = 0; i < 2 && all; i++) {
        exchange_set_length(&exchange, suite->lengths[checked[i]]);
        all = sync_all(intact(exchange_verify(&exchange, method), method));
    }
    return all;
}

static bool verify_pattern(const struct suite *suite) {
    for (int method = 0; method < suite->method_count; method++)
        if (!verify_method(suite, &suite->methods[method]))
            return false;
    return true;
}

/* --- patterns */

/* A pattern's first use of a connection sets it up: that must happen before timing. */
static void warm_up(const struct suite *suite) {
    const int lengths[2] = {0, suite->length_count > WARM ? WARM : suite->length_count - 1};
    for (int method = 0; method < suite->method_count; method++)
        for (int i = 0; i < 2; i++) {
            exchange_set_length(&exchange, suite->lengths[lengths[i]]);
            exchange_perform(&exchange, &suite->methods[method], 1);
        }
}

/* The last measurement of the method and length gives the number of loops. A measurement that turns
 * out far too short is repeated: the largest of several rates would favour it. */
static double timed_length(struct measurement *m, struct suite *suite, int method, int i,
                           int *loops) {
    double *one = &suite->seconds[method][i], seconds;
    int attempts = 0;
    do {
        *loops = sync_decided(plan_loops(&plan, *one));
        seconds = timed(m, &suite->methods[method], *loops);
        *one = seconds / *loops;
    } while (sync_decided(seconds < plan.loop_seconds / 2 && ++attempts < MOST_ATTEMPTS));
    return seconds;
}

static void measure_length(struct measurement *m, struct suite *suite,
                           const struct pattern *pattern, int method, int i, int repetition) {
    int loops;
    exchange_set_length(&exchange, suite->lengths[i]);
    double seconds = timed_length(m, suite, method, i, &loops);
    if (exchange.rank == 0 && !wrong_anywhere)
        output_row("rates %s %s %s %zu %d %d %d %.6e", pattern->set, pattern->name,
                   suite->methods[method].name, suite->lengths[i], repetition, loops,
                   pattern_messages(pattern), seconds);
}

static void report_pattern(const struct pattern *pattern, bool correct) {
    if (exchange.rank == 0)
        output_row("patterns %s %s %d %d %d %d %d %d", pattern->set, pattern->name,
                   pattern_processes(pattern), pattern->rings, pattern->smallest, pattern->largest,
                   pattern_messages(pattern), correct);
}

/* Measures, verifies and frees the pattern. */
static bool run_pattern(struct measurement *m, struct suite *suite, struct pattern *pattern) {
    int repetitions =
        suite->least_repetitions > plan.repetitions ? suite->least_repetitions : plan.repetitions;
    set_pattern(pattern);
    warm_up(suite);
    hits_of(pattern->set);
    for (int repetition = 0; repetition < repetitions; repetition++)
        for (int method = 0; method < suite->method_count; method++)
            for (int i = 0; i < suite->length_count; i++)
                measure_length(m, suite, pattern, method, i, repetition);
    hits_of(NULL);
    bool correct = verify_pattern(suite);
    report_pattern(pattern, correct);
    pattern_free(pattern);
    return correct;
}

static bool run_rings(struct measurement *m, struct suite *suite) {
    struct pattern pattern;
    for (int i = 0; i < RING_PATTERNS; i++) {
        pattern_ring(&pattern, exchange.ranks, i);
        if (!run_pattern(m, suite, &pattern))
            return false;
    }
    return true;
}

static bool run_cartesian(struct measurement *m, struct suite *suite) {
    struct pattern pattern;
    for (int i = 0; i < CARTESIAN_PATTERNS; i++)
        if (pattern_cartesian(&pattern, exchange.ranks, i) && !run_pattern(m, suite, &pattern))
            return false;
    return true;
}

/* As many as planned, or fewer if the next one would exceed the budget; at least one. */
static bool run_random(struct measurement *m, struct suite *suite) {
    struct pattern pattern;
    int64_t start = clock_now();
    for (int i = 0; i < plan.random_patterns; i++) {
        int64_t now = clock_now(), mean = i > 0 ? (now - start) / i : 0;
        if (sync_decided(i > 0 && now + mean > m->deadline)) {
            plan.random_patterns = i;
            return true;
        }
        pattern_random(&pattern, exchange.ranks, i, m->run->options.seed);
        if (!run_pattern(m, suite, &pattern))
            return false;
    }
    return true;
}

/* The first approach: best and worst pairs. */
static bool run_groupings(struct measurement *m) {
    struct suite suite = {
        .methods = &EXCHANGE[PING_PONG], .method_count = 1, .length_count = LENGTHS};
    struct pattern pattern;
    first_approach_lengths(suite.lengths);
    for (int i = 0; i < GROUPINGS; i++) {
        pattern_grouping(&pattern, exchange.ranks, i);
        estimate(m, &suite, &pattern);
        if (!run_pattern(m, &suite, &pattern))
            return false;
    }
    return true;
}

/* Latency and bandwidth of ranks 0 and 1 alone: never from a single measurement, which one
 * interruption would spoil. */
static bool run_pair(struct measurement *m) {
    struct suite suite = {.methods = &EXCHANGE[PING_PONG],
                          .method_count = 1,
                          .lengths = {1, lmax},
                          .length_count = 2,
                          .least_repetitions = REPETITIONS};
    struct pattern pattern;
    pattern_pair(&pattern, exchange.ranks);
    estimate(m, &suite, &pattern);
    return run_pattern(m, &suite, &pattern);
}

/* --- the run */

/* The groupings and the pair count as one pattern: their single method has about as many
 * measurements as a third of a pattern each. */
static int fixed_patterns(void) {
    int count = RING_PATTERNS + 1;
    for (int i = 0; i < CARTESIAN_PATTERNS; i++) {
        struct pattern pattern;
        count += pattern_cartesian(&pattern, exchange.ranks, i);
        pattern_free(&pattern);
    }
    return count;
}

static void follow_plan(const struct effective_cost *cost, double seconds) {
    plan = plan_for(cost, seconds);
    MPI_Bcast(&plan, sizeof plan, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!exchange.rank == 0)
        return;
    output_header("planned_seconds", "%.3g", plan_seconds(&plan, cost));
    output_header("loop_seconds", "%g", plan.loop_seconds);
    output_header("repetitions", "%d", plan.repetitions);
}

/* Rank 0 plans by the cost of a pattern that connects distant ranks. False if its data are wrong.
 */
static bool make_plan(struct measurement *m, struct suite *suite) {
    struct effective_cost cost = {.methods = suite->method_count,
                                  .fixed_patterns = fixed_patterns()};
    struct pattern pattern;
    pattern_random(&pattern, exchange.ranks, 0, m->run->options.seed);
    estimate(m, suite, &pattern);
    cost.overhead = measured_overhead(m);
    int64_t start = clock_now();
    bool correct = verify_pattern(suite);
    cost.verification = seconds_since(start);
    memcpy(cost.exchange, suite->seconds, sizeof cost.exchange);
    pattern_free(&pattern);
    follow_plan(&cost, (double)(m->deadline - clock_now()) * 1e-9);
    return correct;
}

static bool run_all(struct measurement *m) {
    struct suite suite = {
        .methods = EXCHANGE, .method_count = methods_wanted(), .length_count = LENGTHS};
    effective_lengths(lmax, suite.lengths);
    return make_plan(m, &suite) && run_rings(m, &suite) && run_groupings(m) && run_pair(m) &&
           run_cartesian(m, &suite) && run_random(m, &suite);
}

static void report_plan(void) {
    char text[200];
    plan_shortened(&plan, text, sizeof text);
    output_header("random_patterns", "%d", plan.random_patterns);
    output_header("shortened", "%s", text);
}

/* All ranks stop at the first wrong data; ranks whose own data are right report success. */
static bool measure(struct measurement *m, char why[REASON_LENGTH]) {
    if (run_all(m) && exchange.rank == 0)
        report_plan();
    m->bytes_timed = exchange.bytes_timed;
    m->bytes_checked = exchange.bytes_checked;
    if (first_wrong[0] != '\0')
        memcpy(why, first_wrong, REASON_LENGTH);
    return first_wrong[0] == '\0';
}

static const struct kernel_option options[] = {
    {"--lmax", "SIZE", "largest message, a power of two (memory of a process / 128, <= 128MiB)",
     "a power of two such as 64KiB or 4MiB", parse_size, &lmax_option},
    {"--split-methods", NULL, "also Irecv with Send, and Isend with Recv", NULL, NULL,
     &split_methods},
    {0}};

int main(int argc, char **argv) {
    const struct kernel kernel = {
        .name = "b_eff",
        .version = 3,
        .purpose = "The effective bandwidth: all processes exchange messages with neighbours in\n"
                   "rings of six sizes and in 30 random orders, 21 lengths from 1 B to Lmax, by\n"
                   "three methods; beside it the first approach (pairs), cartesian patterns, and\n"
                   "a ping-pong of ranks 0 and 1. A small budget shortens loops, then\n"
                   "repetitions, then the number of random orders, and the output says so.",
        .variant_column = "pattern",
        .minimum_ranks = 2,
        .default_budget = 80,
        .size_option = "--lmax",
        .options = options,
        .accept = accept,
        .memory = memory,
        .set_up = set_up,
        .describe = describe,
        .measure = measure};
    return kernel_main(argc, argv, &kernel);
}
