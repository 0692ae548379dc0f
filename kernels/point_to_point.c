/* point_to_point: half of the ranks send to the other half at the same time.
 *
 * Purpose: the bandwidth between two sets of ranks as a function of how many pairs are active.
 * Usage:   mpirun -n RANKS point_to_point --pairs 1,4,22,44 --max-size 4MiB --budget 10
 * Metrics: useful = wire = pairs * messages * size bytes, from the earliest start to the latest
 *          end; the least, median and largest time of each pair.
 * Source:  after Freedman and Valles (2018), phase one: pairs (A_i, B_i), blocking MPI_Send, an
 *          acknowledgement. Rank i sends to rank i + P/2; an odd last rank is idle.
 */
#include "data.h"
#include "kernel.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE = 12, ACKNOWLEDGEMENT, MOST_MESSAGES = 10000, LOOKS = 9, MIN_LOOKS = 3 };

/* Limits, lower in tests: rows, to keep the output small; and bytes of a rank's messages, which lie
 * side by side so that each can be checked by itself. */
#ifndef PAIR_ROWS
#define PAIR_ROWS 1000
#define PAIR_BYTES ((size_t)64 << 20)
#endif

static const char *pairs_text = "all";
static int messages_wanted = 16, messages; /* of one pair in one call; messages: at this size */
static int pair_counts[MAX_OPERATIONS], operations;
static char names[MAX_OPERATIONS][12];
static int rank, half; /* half: the largest number of pairs */

/* The messages of one call side by side, to send or received. Between the ends, where each has a
 * sequence value, are the bytes of its sender and position (data.h). */
static struct {
    unsigned char *bytes;
    size_t size; /* of a message */
    uint64_t seed;
    struct ends ends;
    uint64_t value;         /* of the first message of the next call */
    struct end_words wrong; /* of all messages received so far */
} data;

static bool parse_count(const char *text, void *target) {
    uint64_t value;
    if (!parse_seed(text, &value) || value < 1 || value > MOST_MESSAGES)
        return false;
    *(int *)target = (int)value;
    return true;
}

static int messages_at(size_t size) {
    size_t fitting = PAIR_BYTES / (size > 0 ? size : 1);
    return fitting >= (size_t)messages_wanted ? messages_wanted : fitting < 1 ? 1 : (int)fitting;
}

static bool add_pairs(int pairs) {
    for (int i = 0; i < operations; i++)
        if (pair_counts[i] == pairs)
            return false;
    if (operations == MAX_OPERATIONS)
        return false;
    pair_counts[operations++] = pairs;
    return true;
}

/* 1, 2, 4, ... and half. */
static void add_powers_of_two(void) {
    for (int pairs = 1; pairs < half; pairs *= 2)
        add_pairs(pairs);
    add_pairs(half);
}

static bool accept_pairs(char why[REASON_LENGTH]) {
    if (strcmp(pairs_text, "all") == 0) {
        add_powers_of_two();
        return true;
    }
    for (const char *text = pairs_text; text != NULL;) {
        int length = (int)strcspn(text, ","), pairs;
        char number[12] = "";
        if (length < (int)sizeof number)
            memcpy(number, text, (size_t)length);
        bool possible = parse_count(number, &pairs) && pairs <= half;
        if (!possible || !add_pairs(pairs)) {
            snprintf(why, REASON_LENGTH, "--pairs: '%.*s' %s (1 to %d, half of the ranks, or all)",
                     length < 80 ? length : 80, text,
                     !possible                      ? "is not a number of pairs"
                     : operations == MAX_OPERATIONS ? "is one number too many"
                                                    : "is named twice",
                     half);
            return false;
        }
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return true;
}

static bool accept(struct run *run, char why[REASON_LENGTH]) {
    rank = run->topology.rank;
    half = run->topology.ranks / 2;
    snprintf(why, REASON_LENGTH,
             "--max-size %zu exceeds the 2147483647 B that MPI can count; choose a smaller one",
             run->options.max_size);
    return run->options.max_size <= INT_MAX && accept_pairs(why);
}

static uint64_t memory(const struct run *run) {
    uint64_t most = 0;
    for (size_t size = run->options.min_size;; size = size_after(run, size)) {
        uint64_t bytes = bytes_product((uint64_t)messages_at(size), size);
        most = bytes > most ? bytes : most;
        if (size >= run->options.max_size)
            return rank < 2 * half ? most + END_BYTES : 0; /* ends of short messages reach beyond */
    }
}

static int pairs_of(const struct operation *operation) {
    return *(const int *)operation->parameters;
}

static bool sends(const struct operation *operation) { return rank < pairs_of(operation); }

static bool receives(const struct operation *operation) {
    return rank >= half && rank - half < pairs_of(operation);
}

static unsigned char *message(int k) { return data.bytes + (size_t)k * data.size; }

static uint64_t value_of(int k) { return data.value + (uint64_t)k * SEQUENCE_STEP; }

/* In this order: where messages are shorter than their ends, the next one overwrites the rest. */
static void seal_all(void) {
    for (int k = 0; k < messages; k++)
        ends_write(&data.ends, message(k), value_of(k));
}

static void look_at_all(void) {
    for (int k = 0; k < messages; k++)
        ends_look(&data.ends, message(k), value_of(k), &data.wrong);
}

/* The next call's messages get their values while the acknowledgement is on its way. */
static void send_all(void) {
    char acknowledged;
    for (int k = 0; k < messages; k++)
        MPI_Send(message(k), (int)data.size, MPI_BYTE, rank + half, MESSAGE, MPI_COMM_WORLD);
    data.value = value_of(messages);
    seal_all();
    MPI_Recv(&acknowledged, 1, MPI_CHAR, rank + half, ACKNOWLEDGEMENT, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void receive_all(void) {
    char acknowledged = 1;
    for (int k = 0; k < messages; k++)
        MPI_Recv(message(k), (int)data.size, MPI_BYTE, rank - half, MESSAGE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Send(&acknowledged, 1, MPI_CHAR, rank - half, ACKNOWLEDGEMENT, MPI_COMM_WORLD);
    look_at_all();
    data.value = value_of(messages);
}

static void perform(const struct operation *operation, struct level *levels) {
    (void)levels;
    if (sends(operation))
        send_all();
    else if (receives(operation))
        receive_all();
}

/* Where a message's bytes come from: each has a multiple of 8 B of its own. */
static size_t position(int k) { return (size_t)k * ((data.size + 7) / 8 * 8); }

/* Nothing that is there may pass for what is to arrive. */
static void clear(const struct operation *operation) {
    for (int k = 0; k < messages && receives(operation); k++) {
        data_clear(message(k), data.size, data.seed, rank - half, position(k));
        ends_write(&data.ends, message(k), ~value_of(k));
    }
}

/* The first of the last call's messages with other bytes between its ends; their number if none. */
static int wrong_middle(void) {
    size_t ends = ends_bytes(data.size), length = data.size - ends;
    int k = 0;
    while (k < messages && data_differs(message(k) + END_BYTES, length, data.seed, rank - half,
                                        position(k) + END_BYTES) == length)
        k++;
    return k;
}

static bool ends_are_right(void) { return data.wrong.head == 0 && data.wrong.tail == 0; }

/* No message is left over; the ends of all so far are right, and all bytes of the last call's. */
static bool verify(const struct operation *operation, char why[REASON_LENGTH]) {
    int left_over = 0, k, sender = rank - half;
    if (!receives(operation))
        return true;
    MPI_Iprobe(sender, MESSAGE, MPI_COMM_WORLD, &left_over, MPI_STATUS_IGNORE);
    if (left_over)
        snprintf(why, REASON_LENGTH, "more than %d messages came from rank %d", messages, sender);
    else if (!ends_are_right())
        snprintf(why, REASON_LENGTH, "a message from rank %d is not what was sent: its %s 8 bytes",
                 sender, data.wrong.head != 0 ? "first" : "last");
    else if ((k = wrong_middle()) < messages)
        snprintf(why, REASON_LENGTH, "a message from rank %d is not what was sent: number %d of %d",
                 sender, k + 1, messages);
    else
        return true;
    return false;
}

static void set_up(struct run *run) {
    data.bytes = allocate((size_t)memory(run));
    data.seed = run->options.seed;
    data.value = sequence_start(data.seed, rank % half, rank % half + half, 0);
    for (int i = 0; i < operations; i++) {
        snprintf(names[i], sizeof names[i], "%d", pair_counts[i]);
        struct operation *operation = add_operation(run, "point_to_point", names[i]);
        operation->parameters = &pair_counts[i];
        operation->idle = !sends(operation) && !receives(operation);
        operation->clear = clear;
        operation->perform = perform;
        operation->verify = verify;
    }
}

static void set_size(struct run *run, size_t size) {
    data.size = size;
    data.ends = ends_of(size);
    messages = messages_at(size);
    for (int k = 0; k < messages && rank < 2 * half; k++)
        data_fill(message(k), size, data.seed, rank % half, position(k));
    if (rank < 2 * half)
        seal_all();
    for (int i = 0; i < operations; i++) {
        struct operation *operation = &run->operations[i];
        operation->size = size;
        operation->useful_bytes = (uint64_t)pair_counts[i] * (uint64_t)messages * size;
        operation->checked_bytes = (uint64_t)pair_counts[i] * (uint64_t)messages * ends_bytes(size);
        operation->wire_bytes = operation->useful_bytes;
    }
}

/* Seconds of one call of this rank's pair. */
static double look(struct measurement *m, const struct series *s) {
    m->sync.start(&m->sync);
    int64_t start = clock_now();
    for (int i = 0; i < s->block; i++)
        s->operation->perform(s->operation, NULL);
    double seconds = seconds_since(start) / s->block;
    measure_check(m, s);
    return seconds;
}

struct pair_times {
    double least, median, largest;
};

static struct pair_times look_at_pair(struct measurement *m, const struct series *s) {
    double seconds[LOOKS];
    struct pair_times times = {0, 0, 0};
    int n = 0;
    do
        seconds[n++] = look(m, s);
    while (sync_decided(n < LOOKS && (n < MIN_LOOKS || clock_now() < m->deadline)));
    times.least = times.largest = seconds[0];
    for (int i = 1; i < n; i++) {
        times.least = seconds[i] < times.least ? seconds[i] : times.least;
        times.largest = seconds[i] > times.largest ? seconds[i] : times.largest;
    }
    times.median = median(seconds, n);
    return times;
}

static bool all_pairs_fit(const struct run *run) {
    long rows = 0;
    for (size_t size = run->options.min_size;; size = size_after(run, size)) {
        for (int i = 0; i < operations; i++)
            rows += pair_counts[i];
        if (size >= run->options.max_size)
            return rows <= PAIR_ROWS;
    }
}

static void print_pair(const struct operation *operation, int pair,
                       const struct pair_times *times) {
    output_row("pairs_seconds %s %s %zu %d %d %.6e %.6e %.6e", operation->name, operation->variant,
               operation->size, pair, pair + half, times->least, times->median, times->largest);
}

/* All pairs; if there are too many rows, the fastest and the slowest. */
static void print_pairs(const struct run *run, const struct operation *operation,
                        const struct pair_times *times) {
    int fastest = 0, slowest = 0;
    for (int pair = 0; pair < pairs_of(operation); pair++) {
        if (all_pairs_fit(run))
            print_pair(operation, pair, &times[pair]);
        fastest = times[pair].median < times[fastest].median ? pair : fastest;
        slowest = times[pair].median >= times[slowest].median ? pair : slowest;
    }
    if (all_pairs_fit(run))
        return;
    print_pair(operation, fastest, &times[fastest]);
    if (slowest != fastest)
        print_pair(operation, slowest, &times[slowest]);
}

/* The times of all pairs at this size, unless some of these messages were wrong. */
static void look_further(struct measurement *m) {
    char why[REASON_LENGTH]; /* said by the last check, which fails for the same messages */
    struct pair_times *all = allocate((size_t)m->run->topology.ranks * sizeof *all);
    for (int i = 0; i < operations; i++) {
        struct pair_times own = look_at_pair(m, &m->series[i]);
        MPI_Gather(&own, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (sync_all(verify(&m->run->operations[i], why)) && rank == 0)
            print_pairs(m->run, &m->run->operations[i], all);
    }
    free(all);
}

/* "8:16,16:16": messages of a pair in one call, by size. */
static void describe_messages(const struct run *run) {
    char text[1024] = "";
    for (size_t size = run->options.min_size;; size = size_after(run, size)) {
        text_append(text, sizeof text, ",", "%zu:%d", size, messages_at(size));
        if (size >= run->options.max_size)
            break;
    }
    output_header("messages", "%s", text);
}

static void describe(const struct run *run) {
    output_header("pairs", "rank i sends to rank i + %d%s", half,
                  run->topology.ranks % 2 ? "; the last rank is idle" : "");
    describe_messages(run);
    output_header("acknowledgement", "1 B after the messages of each call");
    output_header("pairs_looks", "%d of each number of pairs and size, %d where time is short",
                  LOOKS, MIN_LOOKS);
    output_header("pairs_rows", "%s",
                  all_pairs_fit(run) ? "all" : "fastest and slowest pair by their medians");
    output_header("columns.pairs_seconds",
                  "operation pairs size from to seconds_min seconds_median seconds_max");
}

static const struct kernel_option options[] = {
    {"--pairs", "N[,N]", "numbers of active pairs, or all: 1, 2, 4 ... half of the ranks (all)",
     "a list of numbers", parse_text, &pairs_text},
    {"--messages", "K", "messages of a pair in one call, fewer where above 64 MiB (16)",
     "a whole number from 1 to 10000", parse_count, &messages_wanted},
    {0}};

int main(int argc, char **argv) {
    const struct kernel kernel = {
        .name = "point_to_point",
        .version = 3,
        .purpose =
            "Half of the ranks send to the other half at the same time: rank i sends K messages\n"
            "to rank i + P/2, which acknowledges them; for several numbers of active pairs.",
        .variant_column = "pairs",
        .minimum_ranks = 2,
        .default_budget = 10,
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
