/* collectives: the time of collective operations from a common start to the end of the last rank.
 *
 * Purpose: what an operation takes, without what a barrier before it adds or hides.
 * Usage:   mpirun -n RANKS collectives --operations bcast,barrier --max-size 1MiB --after-barrier
 * Metrics: end of the last rank - start; quantiles over repetitions, and over ranks.
 * Source:  the windows of SKaMPI (Worsch, Reussner, Augustin 2002) and ReproMPI (Hunold,
 *          Carpen-Amarie 2016), the clocks of HCA3 (2018); the code is ours.
 */
#include "data.h"
#include "kernel.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { BCAST, ALLREDUCE, ALLTOALL, GATHER, BARRIER, OPERATIONS, UNIT = 8, ROOT = 0 };
enum { HELD = 1000000, MOST_HELD = 100 }; /* ns; ranks */

static const char *const NAMES[OPERATIONS] = {"Bcast", "Allreduce", "Alltoall", "Gather",
                                              "Barrier"};
static bool chosen[OPERATIONS] = {true, true, true, true, true};
static bool after_barrier; /* measured, too */

static unsigned char *sent, *received; /* a block for each rank where an operation needs them */
static struct ends ends;
static size_t length; /* of a block */
static uint64_t seed, value;
static uint64_t words, starts; /* sums over ranks: of the first words, and of the first values */
static int rank, ranks, sent_blocks, received_blocks;
static bool left_early; /* a barrier, before all had entered it */

/* --- data: what is sent differs from the call before at the ends of all blocks */

static uint64_t value_of(int from, int to) { return value + sequence_start(seed, from, to, 0); }

static unsigned char *block(unsigned char *blocks, int number) {
    return blocks + (size_t)number * length;
}

static bool block_right(unsigned char *at, int from, int to, char why[REASON_LENGTH]) {
    struct end_words wrong = {0, 0};
    size_t inside = length > 2 * END_BYTES ? length - 2 * END_BYTES : 0;
    size_t first =
        data_differs(at + END_BYTES, inside, seed, from, (size_t)to * length + END_BYTES);
    ends_look(&ends, at, value_of(from, to), &wrong);
    snprintf(why, REASON_LENGTH, "the block of rank %d for rank %d differs", from, to);
    return first == inside && wrong.head == 0 && wrong.tail == 0;
}

/* Words are added modulo 2^64, so the order does not matter. */
static bool sums_right(char why[REASON_LENGTH]) {
    uint64_t head = (uint64_t)ranks * value + starts, tail = -(uint64_t)ranks - head;
    for (size_t i = 0, last = length / UNIT - 1; i < length / UNIT; i++) {
        uint64_t inside = words + (uint64_t)ranks * i * SEQUENCE_STEP;
        snprintf(why, REASON_LENGTH, "element %zu of the sum differs", i);
        if (sequence_word(received + i * UNIT) != (i == 0 ? head : i == last ? tail : inside))
            return false;
    }
    return true;
}

static void prepare(const struct operation *operation) {
    (void)operation;
    value += SEQUENCE_STEP;
    for (int to = 0; to < sent_blocks; to++)
        ends_write(&ends, block(sent, to), value_of(rank, to));
}

/* --- the operations */

static int which(const struct operation *operation) {
    return (int)((const char *const *)operation->parameters - NAMES);
}

static void perform(const struct operation *operation, struct level *levels) {
    int count = (int)length;
    (void)levels;
    switch (which(operation)) {
    case BCAST:
        MPI_Bcast(rank == ROOT ? sent : received, count, MPI_BYTE, ROOT, MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce(sent, received, count / UNIT, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        break;
    case ALLTOALL:
        MPI_Alltoall(sent, count, MPI_BYTE, received, count, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case GATHER:
        MPI_Gather(sent, count, MPI_BYTE, received, count, MPI_BYTE, ROOT, MPI_COMM_WORLD);
        break;
    default:
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* That this rank receives. */
static int blocks_of(int operation) {
    bool all = operation == ALLTOALL || (operation == GATHER && rank == ROOT);
    bool one = operation == ALLREDUCE || (operation == BCAST && rank != ROOT);
    return all ? ranks : one;
}

/* Ranks in turn enter last, HELD after all others have begun: these leave no sooner, each by its
 * own clock. */
static void hold_barriers(void) {
    for (int last = 0; last < ranks; last += 1 + ranks / MOST_HELD) {
        int64_t begun = clock_now();
        MPI_Reduce(&rank, &(int){0}, 1, MPI_INT, MPI_MAX, last, MPI_COMM_WORLD);
        for (int64_t all = clock_now(); rank == last && clock_now() - all < HELD;)
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        left_early |= clock_now() - begun < HELD / 2;
    }
}

static void clear(const struct operation *operation) {
    if (which(operation) == BARRIER)
        hold_barriers();
    memset(received, 0xFF, (size_t)blocks_of(which(operation)) * length);
}

static bool verify(const struct operation *operation, char why[REASON_LENGTH]) {
    int to = which(operation) == ALLTOALL ? rank : 0; /* otherwise all are the same */
    if (which(operation) == ALLREDUCE)
        return sums_right(why);
    snprintf(why, REASON_LENGTH, "a rank left before another entered");
    if (which(operation) == BARRIER)
        return !left_early;
    for (int i = 0; i < blocks_of(which(operation)); i++)
        if (!block_right(block(received, i), i, to, why))
            return false;
    return true;
}

/* --- the run */

static bool accept(struct run *run, char why[REASON_LENGTH]) {
    struct common_options *options = &run->options;
    rank = run->topology.rank;
    ranks = run->topology.ranks;
    seed = options->seed;
    sent_blocks = chosen[ALLTOALL] ? ranks : 1;
    received_blocks = chosen[ALLTOALL] || (chosen[GATHER] && rank == ROOT) ? ranks : 1;
    run->size_unit = UNIT;
    run->from_common_start = true;
    if (memchr(chosen, true, BARRIER) == NULL)
        options->max_size = options->min_size;
    snprintf(why, REASON_LENGTH, "sizes are multiples of %d B, at most %d B", UNIT, INT_MAX);
    return options->min_size % UNIT == 0 && options->max_size % UNIT == 0 &&
           options->max_size <= INT_MAX;
}

static size_t room(const struct run *run, int blocks) {
    return (size_t)bytes_sum(bytes_product((uint64_t)blocks, run->options.max_size), END_BYTES);
}

static uint64_t memory(const struct run *run) {
    return bytes_sum(room(run, sent_blocks), room(run, received_blocks));
}

static void add(struct run *run, const char *const *name, bool later) {
    struct operation *operation = add_operation(run, *name, later ? "barrier" : "common");
    operation->parameters = name;
    operation->after_barrier = later;
    operation->prepare = prepare;
    operation->perform = perform;
    operation->clear = clear;
    operation->verify = verify;
}

static void set_up(struct run *run) {
    sent = allocate(room(run, sent_blocks));
    received = allocate(room(run, received_blocks));
    for (int of = 0; of < ranks; of++) {
        data_fill(sent, UNIT, seed, of, 0);
        words += sequence_word(sent);
        starts += sequence_start(seed, of, 0, 0);
    }
    for (int i = 0; i < 2 * OPERATIONS; i++)
        if (chosen[i / 2] && (after_barrier || i % 2 == 0))
            add(run, &NAMES[i / 2], i % 2 == 1);
}

/* A barrier has no size: it is measured with the first one. */
static void set_size(struct run *run, size_t size) {
    int *count = &run->operation_count;
    uint64_t all = (uint64_t)ranks, others = all - 1;
    const uint64_t blocks[OPERATIONS] = {others, all, all * others, others, 0};
    length = size;
    ends = ends_of(size);
    data_fill(sent, size * (size_t)sent_blocks, seed, rank, 0);

    prepare(NULL);
    while (size > run->options.min_size && which(&run->operations[*count - 1]) == BARRIER)
        --*count;
    for (int i = 0; i < *count; i++) {
        struct operation *operation = &run->operations[i];
        operation->size = which(operation) == BARRIER ? 0 : size;
        operation->useful_bytes = blocks[which(operation)] * size;
        operation->wire_bytes = operation->useful_bytes; /* whatever the library does */
    }
}

/* --- quantiles */

static void append_quantiles(char text[REASON_LENGTH], const double *values, int n,
                             const double fractions[5]) {
    for (int i = 0; i < 5; i++)
        if (n > 0)
            text_append(text, REASON_LENGTH, " ", "%.6e", quantile(values, n, fractions[i]));
        else
            text_append(text, REASON_LENGTH, " ", "-");
}

static void print_ends(const struct series *s, const double *middles, const int64_t *errors) {
    const struct operation *operation = s->operation;
    char text[REASON_LENGTH] = "";
    append_quantiles(text, s->seconds, s->samples, (double[]){0.05, 0.25, 0.5, 0.75, 0.95});
    append_quantiles(text, middles, s->samples > 0 ? ranks : 0, (double[]){0, 0.25, 0.5, 0.75, 1});
    output_row("ends %s %s %zu %d %d %s %.3e %.3e", operation->name, operation->variant,
               operation->size, s->samples, s->late, text, (double)errors[CLOCK_BOUND] * 1e-9,
               (double)errors[CLOCK_FOUND] * 1e-9);
}

/* Of each rank the median of its ends. */
static void look_further(struct measurement *m) {
    int64_t own[CLOCK_ERRORS], errors[CLOCK_ERRORS];
    clock_errors(own);
    double *middles = allocate((size_t)ranks * sizeof *middles);
    MPI_Reduce(own, errors, CLOCK_ERRORS, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < m->run->operation_count; i++) {
        const struct series *s = &m->series[i];
        double middle = s->samples > 0 ? median(s->ends, s->samples) : 0;
        MPI_Gather(&middle, 1, MPI_DOUBLE, middles, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (is_root(m))
            print_ends(s, middles, errors);
    }
    free(middles);
}

static void describe(const struct run *run) {
    (void)run;
    output_header("operations", "root %d; MPI_Allreduce: sum of MPI_UINT64_T", ROOT);
    output_header("columns.ends",
                  "operation start size samples late last_p5 last_p25 last_p50 last_p75 last_p95 "
                  "rank_min rank_p25 rank_p50 rank_p75 rank_max clock_bound clock_found");
}

static bool parse_operations(const char *text, void *target) {
    (void)target;
    memset(chosen, 0, sizeof chosen);
    for (size_t end; text != NULL; text = text[end] == ',' ? text + end + 1 : NULL) {
        int i = 0;
        end = strcspn(text, ",");
        while (i < OPERATIONS && (strlen(NAMES[i]) != end || strncasecmp(NAMES[i], text, end) != 0))
            i++;
        if (i == OPERATIONS)
            return false;
        chosen[i] = true;
    }
    return true;
}

static const struct kernel_option options[] = {
    {"--operations", "LIST", "which ones (all)",
     "a list of bcast, allreduce, alltoall, gather and barrier", parse_operations, NULL},
    {"--after-barrier", NULL, "measure each after MPI_Barrier, too, for comparison", NULL, NULL,
     &after_barrier},
    {0}};

int main(int argc, char **argv) {
    const struct kernel kernel = {
        .name = "collectives",
        .version = 1,
        .purpose = "The time of collective operations from a start that all nodes share, by\n"
                   "synchronised clocks, to the end of the last rank.",
        .variant_column = "start",
        .minimum_ranks = 2,
        .default_budget = 60,
        .size_option = "--max-size",
        .options = options,
        .accept = accept,
        .memory = memory,
        .set_up = set_up,
        .set_size = set_size,
        .look_further = look_further,
        .describe = describe};
    return kernel_main(argc, argv, &kernel);
}
