/* core_pairs: which cores are close to each other.
 *
 * Purpose: latency and bandwidth between all ordered pairs of ranks, latency classes, and pairs
 *          that share a path.
 * Usage:   mpirun -n RANKS core_pairs --budget 20
 * Metrics: one-way seconds of 8 B and of 2,000,000 B, half of the least round trip; the time of a
 *          pair while another one is busy, and alone.
 * Source:  after Freedman and Valles (2018), phase three; one pair at a time as in the HPC
 *          Challenge's ping-pong.
 */
#include "core_pairs/core_pairs.h"
#include "kernel.h"
#include "pair/pair.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>

/* Keeps the output near 300 kB; 88 ranks make 7,656 rows. */
enum { MAX_ROWS = 8000 };

static const struct pair_timing LATENCY = {8, 2, 20, 3, 3};
static const struct pair_timing BANDWIDTH = {2000000, 1, 1, 2, 2};
static const struct pair_timing CONTENTION = {2000000, 1, 1, 4, 1};

/* What rank 0 has found at the end. */
struct findings {
    struct pair_matrix latency, bandwidth;
    struct contentions contentions;
    struct pair_classes classes;
    int *level_of; /* matrix of enum pair_level, -1: unknown */
    bool tells;    /* the pairs can be put into classes */
    char why_not[120];
    int warm_up; /* exchanges of each pair */
    long moved;  /* ranks that ended on another core */
};

/* Two message buffers, and on rank 0 the matrices. */
static uint64_t memory(const struct run *run) {
    uint64_t ranks = (uint64_t)run->topology.ranks, messages = 2 * BANDWIDTH.bytes;
    uint64_t matrices = bytes_product(bytes_product(ranks, ranks), 2 * sizeof(double) + 32);
    return run->topology.rank == 0 ? bytes_sum(messages, matrices) : messages;
}

static void describe_loops(const char *key, const struct pair_timing *how) {
    char text[160];
    pair_timing_describe(how, text, sizeof text);
    output_header(key, "%s", text);
}

static void describe(const struct run *run) {
    (void)run;
    pair_warm_up_describe(WARMUP_FRACTION);
    describe_loops("latency_loops", &LATENCY);
    describe_loops("bandwidth_loops", &BANDWIDTH);
    describe_loops("contention_loops", &CONTENTION);
    output_header("pair_seconds", "one way: half of a round trip by the sender's clock");
    output_header("bandwidth_bytes", "%zu", BANDWIDTH.bytes);
    output_header("checked_lengths",
                  "ends of all messages; all bytes of one round trip of each pair");
    output_header("columns.core_pairs", "from to latency_seconds bandwidth_seconds class level");
    output_header("columns.contention",
                  "from to other_from other_to seconds_alone seconds_together");
}

/* --- what the operating system reports */

static bool same_core(const struct cpu_place *a, const struct cpu_place *b) {
    return a->socket == b->socket && a->core == b->core && (a->core >= 0 || a->cpu == b->cpu);
}

/* A rank that moved has no single core: its place on the node is unknown. */
static struct cpu_place place_of(const struct cpu_place *before, const struct cpu_place *after) {
    if (same_core(before, after))
        return *after;
    return (struct cpu_place){after->node, -1, -1, -1, -1};
}

static void find_levels(struct findings *findings, const struct run *run,
                        const struct cpu_place *before) {
    size_t ranks = (size_t)run->topology.ranks;
    struct cpu_place after, *places = allocate(ranks * sizeof *places);
    cpu_place_find(&after, before->node);
    struct cpu_place own = place_of(before, &after);
    long moved = !same_core(before, &after);
    MPI_Reduce(&moved, &findings->moved, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(&own, sizeof own, MPI_BYTE, places, sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (run->topology.rank == 0) {
        findings->level_of = allocate(ranks * ranks * sizeof(int));
        for (size_t i = 0; i < ranks * ranks; i++)
            findings->level_of[i] = cpu_place_level(&places[i / ranks], &places[i % ranks]);
    }
    free(places);
}

/* --- printing, by rank 0 */

static void print_classes(const struct pair_classes *classes) {
    char text[512] = "";
    for (int i = 0; i < classes->count; i++)
        text_append(text, sizeof text, ",", "%.3e:%ld", classes->median[i], classes->pairs[i]);
    output_header("classes", "%d", classes->count);
    output_header("class_latencies", "%s", text);
}

/* "0:same_numa_node=12,1:other_socket=16": the pairs of each class, by their known levels. */
static void print_agreement(const struct findings *findings) {
    struct pair_agreement agreement;
    char text[1024] = "";
    pair_agreement_count(&findings->classes, findings->level_of, &agreement);
    for (int i = 0; i < findings->classes.count; i++)
        for (int level = 0; level < PAIR_LEVELS; level++)
            if (agreement.pairs[i][level] > 0)
                text_append(text, sizeof text, ",", "%d:%s=%ld", i, PAIR_LEVEL_NAMES[level],
                            agreement.pairs[i][level]);
    output_header("topology_moved_ranks", "%ld", findings->moved);
    if (agreement.known == 0) {
        output_header("topology_agreement", "n/a: the place of no pair of ranks is known");
        return;
    }
    output_header("topology_pairs", "%s", text);
    output_header("topology_agreement", "%ld/%ld", agreement.agreeing, agreement.known);
}

static void print_what_classes_say(const struct findings *findings) {
    if (!findings->tells) {
        output_header("classes", "n/a: %s", findings->why_not);
        return;
    }
    print_classes(&findings->classes);
    print_agreement(findings);
}

/* The number, or "-" if it was not measured. */
static const char *number(double seconds, char text[32]) {
    if (isnan(seconds))
        return "-";
    snprintf(text, 32, "%.3e", seconds);
    return text;
}

static void print_pair(const struct findings *findings, int from, int to) {
    size_t i = (size_t)from * (size_t)findings->latency.ranks + (size_t)to;
    double latency = findings->latency.seconds[i], bandwidth = findings->bandwidth.seconds[i];
    char first[32], second[32], which[32] = "-", level[32] = "-";
    if (isnan(latency) && isnan(bandwidth))
        return;
    if (findings->classes.count > 0 && findings->classes.class_of[i] >= 0)
        snprintf(which, sizeof which, "%d", findings->classes.class_of[i]);
    if (findings->level_of[i] >= 0)
        snprintf(level, sizeof level, "%d", findings->level_of[i]);
    output_row("core_pairs %d %d %s %s %s %s", from, to, number(latency, first),
               number(bandwidth, second), which, level);
}

static void print_shortened(const struct findings *findings) {
    const struct pair_matrix *small = &findings->latency, *large = &findings->bandwidth;
    if (small->measured == small->pairs && large->measured == large->pairs)
        output_header("shortened", "nothing");
    else
        output_header("shortened", "%ld and %ld of %ld pairs for latency and bandwidth",
                      small->measured, large->measured, small->pairs);
}

/* All pairs; if there are too many, those from every k-th rank. */
static void print_pairs(const struct findings *findings) {
    const int ranks = findings->latency.ranks;
    long pairs = findings->latency.pairs, step = (pairs + MAX_ROWS - 1) / MAX_ROWS;
    output_header("latency_pairs", "%ld/%ld", findings->latency.measured, pairs);
    output_header("bandwidth_pairs", "%ld/%ld", findings->bandwidth.measured, pairs);
    print_shortened(findings);
    if (step > 1)
        output_header("pairs_rows", "those from each %ldth rank", step);
    else
        output_header("pairs_rows", "all");
    for (int from = 0; from < ranks; from += (int)step)
        for (int to = 0; to < ranks; to++)
            if (to != from)
                print_pair(findings, from, to);
}

static void print_contentions(const struct findings *findings) {
    const struct contentions *contentions = &findings->contentions;
    int measured = 0, shared = 0;
    for (int i = 0; i < contentions->count; i++) {
        const struct contention *sample = &contentions->of[i];
        if (isnan(sample->together))
            continue;
        measured++;
        shared += sample->together > SHARED_PATH * sample->alone;
        output_row("contention %d %d %d %d %.3e %.3e", sample->from, sample->to, sample->other_from,
                   sample->other_to, sample->alone, sample->together);
    }
    if (measured > 0)
        output_header("contention_shared", "%d/%d", shared, measured);
    else
        output_header("contention_shared", "n/a: %s",
                      findings->tells ? "none was measured within the budget" : findings->why_not);
}

static void print(struct findings *findings) {
    output_header("warmup_exchanges", "%d", findings->warm_up);
    if (findings->tells)
        pair_classes_find(&findings->classes, findings->latency.seconds, findings->latency.ranks);
    print_what_classes_say(findings);
    print_pairs(findings);
    print_contentions(findings);
}

/* --- measuring */

static double seconds_left(const struct measurement *m) {
    double left = (double)(m->deadline - clock_now()) * 1e-9;
    return left > 0 ? left : 0;
}

/* Latency takes at most a third of the time, bandwidth two thirds of the rest. */
static void measure_pairs(struct measurement *m, struct findings *findings) {
    uint64_t seed = m->run->options.seed;
    findings->tells =
        pairs_tell_classes(&m->run->topology, findings->why_not, sizeof findings->why_not);
    findings->warm_up = pair_warm_up(WARMUP_FRACTION * m->run->options.budget);
    hits_of("latency");
    pair_matrix_measure(&findings->latency, &LATENCY, true, seconds_left(m) / 3, seed);
    hits_of("bandwidth");
    pair_matrix_measure(&findings->bandwidth, &BANDWIDTH, true, seconds_left(m) * 2 / 3, seed);
    hits_of("contention");
    if (findings->tells)
        contentions_measure(&findings->contentions, &CONTENTION, seconds_left(m), seed);
}

static void count_bytes(struct measurement *m, const struct findings *findings) {
    m->bytes_timed = findings->latency.bytes_timed + findings->bandwidth.bytes_timed +
                     findings->contentions.bytes_timed;
    m->bytes_checked = findings->latency.bytes_checked + findings->bandwidth.bytes_checked +
                       findings->contentions.bytes_checked;
}

/* Wrong data on any rank leave no value. */
static bool measure(struct measurement *m, char why[REASON_LENGTH]) {
    static struct findings findings;
    struct cpu_place before;
    findings.contentions.correct = true;
    cpu_place_find(&before, m->run->topology.node_of[m->run->topology.rank]);
    measure_pairs(m, &findings);
    find_levels(&findings, m->run, &before);
    count_bytes(m, &findings);
    bool correct =
        findings.latency.correct && findings.bandwidth.correct && findings.contentions.correct;
    if (sync_all(correct) && is_root(m))
        print(&findings);
    snprintf(why, REASON_LENGTH, "wrong data in %s",
             !findings.latency.correct     ? "messages of 8 B"
             : !findings.bandwidth.correct ? "messages of 2000000 B"
                                           : "messages while another pair was busy");
    return correct;
}

int main(int argc, char **argv) {
    const struct kernel kernel = {
        .name = "core_pairs",
        .version = 3,
        .purpose =
            "Latency (8 B) and bandwidth (2,000,000 B) of ping-pong between all ordered pairs of\n"
            "ranks, one pair at a time; classes of pairs, beside what the operating system says;\n"
            "and how much slower a pair is while another one is busy.",
        .variant_column = "-",
        .minimum_ranks = 2,
        .default_budget = 20,
        .size_option = "number of ranks",
        .memory = memory,
        .describe = describe,
        .measure = measure};
    return kernel_main(argc, argv, &kernel);
}
