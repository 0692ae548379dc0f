/* latency_bandwidth: ping-pong over pairs of ranks, natural and random rings.
 *
 * Purpose: communication between two processes alone, compared with all processes at once, and with
 *          neighbours in the pattern that are not neighbours in the machine.
 * Usage:   mpirun -n RANKS latency_bandwidth [--budget 60]
 * Metrics: latency = seconds / (2 loops) at 8 B; bandwidth per process = size / that time at 2 MB.
 * Source:  Rabenseifner (2005), section 2; numbers of loops, repetitions and rings as in HPC
 *          Challenge 1.5 (bench_lat_bw 1.5.2). Differences: docs/kernels.md.
 */
#include "exchange/exchange.h"
#include "kernel.h"
#include "latency_bandwidth/ping_pong.h"
#include "pair/pair.h"
#include "random.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST = 2000000, PART_COUNT = 2, MOST_ROWS = 2000, RESULTS = 40 };

/* The measurements at one message size. Loops are initial values: they grow until a measurement
 * takes 10 us. */
struct part {
    int size;
    int ping_pong_loops, ping_pong_repetitions;
    double ping_pong_seconds, ping_pong_share; /* at most, and at most of the budget */
    int ring_loops, ring_repetitions, random_rings;
};

static const struct part PARTS[PART_COUNT] = {{8, 8, 5, 10, 1.0 / 6, 5, 8, 30},
                                              {LARGEST, 1, 2, 30, 1.0 / 2, 2, 3, 10}};

/* Each process exchanges with both ring neighbours, by either method. */
enum { TO_RIGHT, TO_LEFT, DIRECTIONS };
enum { RING_SENDRECV, RING_NONBLOCKING, RING_METHODS };
static const struct method *const METHODS[RING_METHODS] = {&EXCHANGE[SENDRECV],
                                                           &EXCHANGE[NONBLOCKING]};
static const struct exchange_room ROOM = {.largest = LARGEST, .slots = DIRECTIONS};

static struct exchange exchange;
static struct ping_pong *best; /* [ranks] */
static int *order;             /* [ranks] */
static int strides[PART_COUNT];
static char first_wrong[REASON_LENGTH]; /* on this rank; empty while all data are right */

/* Whether all data that this rank received were right; if not, where the first were not. */
static bool intact(bool right, const char *where, int size) {
    if (!right && first_wrong[0] == '\0')
        snprintf(first_wrong, REASON_LENGTH, "wrong data in %s at %d B: %.150s", where, size,
                 exchange.fault);
    return right;
}

static uint64_t memory(const struct run *run) {
    uint64_t per_rank = sizeof *best + sizeof *order;
    return bytes_sum(exchange_memory(ROOM, run->topology.ranks),
                     bytes_product((uint64_t)run->topology.ranks, per_rank));
}

static void set_up(struct run *run) {
    exchange_set_up(&exchange, ROOM, run->topology.rank, run->topology.ranks, run->options.seed);
    best = allocate((size_t)run->topology.ranks * sizeof *best);
    order = allocate((size_t)run->topology.ranks * sizeof *order);
}

/* --- ping-pong */

/* One-way seconds over all pairs. The mean bandwidth is the size divided by the harmonic mean. */
struct pair_summary {
    long pairs;
    double shortest, mean, longest, harmonic_mean;
};

static double one_way(const struct ping_pong *result) {
    return result->seconds / result->loops / 2;
}

static void add_pair(struct pair_summary *sums, double seconds) {
    sums->shortest = sums->pairs == 0 ? seconds : fmin(sums->shortest, seconds);
    sums->longest = sums->pairs == 0 ? seconds : fmax(sums->longest, seconds);
    sums->mean += seconds; /* sums until all are there */
    sums->harmonic_mean += 1 / seconds;
    sums->pairs++;
}

static long pair_count(const struct pair_set *set) {
    long clients = set->count;
    return clients * clients - (set->first_server == 0 ? clients : 0);
}

/* The results of one client; with many pairs only some rows are printed. */
static void report_client(const struct pair_set *set, int client, const struct ping_pong *results,
                          int size, struct pair_summary *sums) {
    long step = (pair_count(set) + MOST_ROWS - 1) / MOST_ROWS;
    for (int i = 0; i < set->count; i++) {
        if (results[i].loops == 0)
            continue;
        if (sums->pairs % step == 0)
            output_row("ping_pong %d %d %d %d %.6e", client, pair_set_server(set, i), size,
                       results[i].loops, results[i].seconds);
        add_pair(sums, one_way(&results[i]));
    }
}

static void receive_results(int client, struct ping_pong *results, int count) {
    MPI_Recv(results, count * (int)sizeof *results, MPI_BYTE, client, RESULTS, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

/* Rank 0 is always the first client: its own results are printed before others arrive. */
static void report_pairs(const struct measurement *m, const struct part *part,
                         const struct pair_set *set) {
    struct pair_summary sums = {0};
    int rank = m->run->topology.rank;
    if (rank != 0 && pair_set_has_client(set, rank))
        MPI_Send(best, set->count * (int)sizeof *best, MPI_BYTE, 0, RESULTS, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    for (int i = 0; i < set->count; i++) {
        if (i > 0)
            receive_results(pair_set_client(set, i), best, set->count);
        report_client(set, pair_set_client(set, i), best, part->size, &sums);
    }
    output_row("pairs %d %ld %d %d %.6e %.6e %.6e %.6e", part->size, sums.pairs, set->stride,
               part->ping_pong_repetitions, sums.shortest, sums.mean / (double)sums.pairs,
               sums.longest, (double)sums.pairs / sums.harmonic_mean);
}

/* A trial between the first and the last rank gives the cost of a pair, and so the stride. */
static int choose_stride(const struct measurement *m, const struct part *part,
                         struct ping_pongs *ping_pongs) {
    int ranks = m->run->topology.ranks, stride = 1;
    ping_pongs->pairs = pair_set_single(0, ranks - 1);
    ping_pong_measure(ping_pongs);
    if (is_root(m)) {
        double limit =
            fmin(part->ping_pong_seconds, part->ping_pong_share * m->run->options.budget);
        stride = pair_stride(ranks, limit / ping_pongs->turn_seconds);
    }
    MPI_Bcast(&stride, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return stride;
}

/* Whether all data were right, on all ranks; otherwise nothing is printed. */
static bool ping_pong(const struct measurement *m, const struct part *part, int *stride) {
    struct ping_pongs ping_pongs = {.repetitions = part->ping_pong_repetitions,
                                    .loops = part->ping_pong_loops,
                                    .exchange = &exchange,
                                    .best = best};
    *stride = choose_stride(m, part, &ping_pongs);
    hits_of(part->size == LARGEST ? "ping_pong_bandwidth" : "ping_pong_latency");
    ping_pongs.pairs = pair_set_strided(m->run->topology.ranks, *stride);
    ping_pong_measure(&ping_pongs);
    if (!sync_all(intact(exchange_intact(&exchange), "ping-pong", part->size)))
        return false;
    report_pairs(m, part, &ping_pongs.pairs);
    return true;
}

/* --- rings */

static const char *const WHERE[RING_METHODS] = {"rings by MPI_Sendrecv", "rings by MPI_Isend"};

/* Largest over ranks: of each method, and of each rank's faster method as in HPCC. */
struct ring_times {
    double method[RING_METHODS], faster;
    double wrong; /* 1: some rank received wrong data */
};

static struct ring_times time_ring(const struct measurement *m, int loops) {
    struct ring_times own = {.wrong = 0}, largest;
    for (int method = 0; method < RING_METHODS; method++) {
        int64_t waited = waiting_so_far();
        m->sync.start(&m->sync); /* lateness does not matter: an untimed exchange comes first */
        own.method[method] = exchange_seconds(&exchange, METHODS[method], loops);
        hits_count(waited, (int64_t)(own.method[method] * 1e9));
        if (!intact(exchange_intact(&exchange), WHERE[method], (int)exchange.length))
            own.wrong = 1;
    }
    own.faster = fmin(own.method[RING_SENDRECV], own.method[RING_NONBLOCKING]);
    MPI_Allreduce(&own, &largest, RING_METHODS + 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
}

/* Grown loops stay grown: the next ring begins with them. Whether all data were right; otherwise
 * nothing is printed. */
static bool measure_ring(const struct measurement *m, int size, int number, int repetition,
                         int *loops) {
    struct ring_times times = time_ring(m, *loops);
    while (times.faster < BLOCK_SECONDS) {
        *loops += *loops == 1 ? 1 : *loops / 2;
        times = time_ring(m, *loops);
    }
    if (is_root(m) && times.wrong == 0)
        output_row("rings %s %d %d %d %d %.6e %.6e %.6e", number == 0 ? "natural" : "random",
                   number, size, repetition, *loops, times.faster, times.method[RING_SENDRECV],
                   times.method[RING_NONBLOCKING]);
    return times.wrong == 0;
}

static bool verify_ring(int size) {
    bool correct = true;
    for (int method = 0; method < RING_METHODS; method++) {
        bool right = exchange_verify(&exchange, METHODS[method]);
        correct = intact(right, WHERE[method], size) && correct;
    }
    return correct;
}

/* What goes to the right neighbour arrives from the left one, and vice versa. */
static void set_ring(const struct run *run, int number) {
    int ranks = run->topology.ranks;
    if (number == 0)
        ring_natural(order, ranks);
    else
        ring_random(order, ranks, run->options.seed, number);
    struct neighbours with = ring_neighbours(order, ranks, run->topology.rank);
    exchange_begin(&exchange, DIRECTIONS);
    exchange_add(&exchange, (struct message){with.right, TO_RIGHT},
                 (struct message){with.left, TO_RIGHT});
    exchange_add(&exchange, (struct message){with.left, TO_LEFT},
                 (struct message){with.right, TO_LEFT});
}

/* After the timed part: between rings it would evict long messages from the caches. */
static bool verify_rings(const struct run *run, const struct part *part) {
    bool correct = true;
    for (int number = 0; number <= part->random_rings; number++) {
        set_ring(run, number);
        correct = verify_ring(part->size) && correct;
    }
    return correct;
}

/* Each ring once. Stops at wrong data. */
static bool all_rings(const struct measurement *m, const struct part *part, int repetition,
                      int *loops) {
    for (int number = 0; number <= part->random_rings; number++) {
        set_ring(m->run, number);
        if (!measure_ring(m, part->size, number, repetition, loops))
            return false;
    }
    return true;
}

/* The number of repetitions made, with right data. */
static int rings(const struct measurement *m, const struct part *part) {
    int loops = part->ring_loops, repetition = 0;
    while (all_rings(m, part, repetition, &loops)) {
        repetition++;
        if (repetition == part->ring_repetitions || !sync_before(m->deadline))
            break;
    }
    return repetition;
}

/* --- the run */

/* What the budget did not allow: "nothing", or the pairs and repetitions left out at each size. */
static void describe_shortened(const int repetitions[PART_COUNT]) {
    char text[200] = "";
    for (int i = 0; i < PART_COUNT; i++) {
        if (strides[i] > 1)
            text_append(text, sizeof text, "; ", "one of %d ranks in ping-pong of %d B", strides[i],
                        PARTS[i].size);
        if (repetitions[i] < PARTS[i].ring_repetitions)
            text_append(text, sizeof text, "; ", "%d of %d repetitions of rings of %d B",
                        repetitions[i], PARTS[i].ring_repetitions, PARTS[i].size);
    }
    output_header("shortened", "%s", text[0] != '\0' ? text : "nothing");
}

/* Whether all data were right, on all ranks. */
static bool measure_rings(const struct measurement *m, const struct part *part, int *repetitions) {
    hits_of(part->size == LARGEST ? "rings_bandwidth" : "rings_latency");
    *repetitions = rings(m, part);
    bool verified = sync_all(verify_rings(m->run, part));
    if (is_root(m))
        output_row("sizes %d %d %d %d", part->size, *repetitions,
                   *repetitions == part->ring_repetitions, verified);
    return verified;
}

/* Ping-pong at both sizes, then rings at both sizes, as in HPCC. Stops at wrong data. */
static bool measure_parts(const struct measurement *m, int repetitions[PART_COUNT]) {
    for (int i = 0; i < PART_COUNT; i++) {
        exchange_set_length(&exchange, (size_t)PARTS[i].size);
        if (!ping_pong(m, &PARTS[i], &strides[i]))
            return false;
    }
    for (int i = 0; i < PART_COUNT; i++) {
        exchange_set_length(&exchange, (size_t)PARTS[i].size);
        if (!measure_rings(m, &PARTS[i], &repetitions[i]))
            return false;
    }
    return true;
}

static bool measure(struct measurement *m, char why[REASON_LENGTH]) {
    int repetitions[PART_COUNT];
    int exchanges = pair_warm_up(WARMUP_FRACTION * m->run->options.budget);
    bool correct = measure_parts(m, repetitions);
    m->bytes_timed = exchange.bytes_timed;
    m->bytes_checked = exchange.bytes_checked;
    if (is_root(m) && correct) {
        describe_shortened(repetitions);
        output_header("warmup_exchanges", "%d", exchanges);
        output_header("ping_pong_strides", "%d:%d,%d:%d", PARTS[0].size, strides[0], PARTS[1].size,
                      strides[1]);
    }
    memcpy(why, first_wrong, REASON_LENGTH);
    return first_wrong[0] == '\0';
}

static void describe_parts(void) {
    const struct part *small = &PARTS[0], *large = &PARTS[1];
    output_header("message_sizes", "%d,%d", small->size, large->size);
    pair_warm_up_describe(WARMUP_FRACTION);
    output_header("ping_pong", "one pair at a time, %d and %d repetitions, the shortest is kept",
                  small->ping_pong_repetitions, large->ping_pong_repetitions);
    output_header("ping_pong_limit_seconds", "%g and %g, at most %.3g and %.3g of the budget",
                  small->ping_pong_seconds, large->ping_pong_seconds, small->ping_pong_share,
                  large->ping_pong_share);
    output_header("ping_pong_rows", "at most %d of each size, evenly spaced", MOST_ROWS);
    output_header("rings", "the natural one and %d or %d random ones, %d and %d repetitions",
                  small->random_rings, large->random_rings, small->ring_repetitions,
                  large->ring_repetitions);
    output_header("loops",
                  "ping-pong %d and %d, rings %d and %d; more where they take less than "
                  "%g s; one more before, not timed",
                  small->ping_pong_loops, large->ping_pong_loops, small->ring_loops,
                  large->ring_loops, BLOCK_SECONDS);
}

static void describe(const struct run *run) {
    (void)run;
    describe_parts();
    output_header("columns.ping_pong", "from to size loops seconds");
    output_header("columns.pairs", "size pairs stride repetitions shortest_seconds mean_seconds "
                                   "longest_seconds harmonic_mean_seconds");
    output_header("columns.rings", "ring number size repetition loops seconds sendrecv_seconds "
                                   "nonblocking_seconds");
    output_header("columns.sizes", "size ring_repetitions complete verified");
}

int main(int argc, char **argv) {
    const struct kernel kernel = {
        .name = "latency_bandwidth",
        .version = 3,
        .purpose =
            "Latency (8 B) and bandwidth (2 MB) as the HPC Challenge benchmark measures them:\n"
            "ping-pong over pairs of ranks, one pair at a time, and exchange with both neighbours\n"
            "in a natural and in random rings, all processes at once.",
        .minimum_ranks = 2,
        .default_budget = 60,
        .size_option = "number of ranks per node",
        .seconds = "of all loops; ping-pong: on the client; rings: largest duration over ranks",
        .memory = memory,
        .set_up = set_up,
        .describe = describe,
        .measure = measure};
    return kernel_main(argc, argv, &kernel);
}
