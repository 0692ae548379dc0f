#include "pair/pair.h"

#include "random.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PING = 20, CLEAR, STOP, TURN };

void ping_buffers_make(struct ping_buffers *buffers, size_t bytes, uint64_t seed) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *buffers = (struct ping_buffers){.bytes = bytes,
                                     .out = allocate(bytes),
                                     .in = allocate(bytes),
                                     .ends = ends_of(bytes),
                                     .value = sequence_start(seed, rank, rank, 0),
                                     .correct = true};
    for (size_t i = 0; i < bytes; i++)
        buffers->out[i] = (unsigned char)(mix64(seed ^ mix64(i / 8)) >> i % 8 * 8);
    ends_write(&buffers->ends, buffers->out, buffers->value);
}

void ping_buffers_free(struct ping_buffers *buffers) {
    free(buffers->out);
    free(buffers->in);
}

static void signal_peer(int peer, int tag) {
    MPI_Send(NULL, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}

void pass_turn(int rank, int before, int next) {
    if (before < 0 || before == next)
        return;
    if (rank == before)
        signal_peer(next, TURN);
    else if (rank == next)
        MPI_Recv(NULL, 0, MPI_BYTE, before, TURN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every byte that arrives next differs from what is there now. */
static void clear(const struct ping_buffers *buffers) {
    for (size_t i = 0; i < buffers->bytes; i++)
        buffers->in[i] = (unsigned char)~buffers->in[i];
}

/* The next message gets its value while the other side has the turn. */
double ping(struct ping_buffers *buffers, int peer, int round_trips) {
    int count = (int)buffers->bytes;
    int64_t waited = waiting_so_far(), start = clock_now();
    for (int i = 0; i < round_trips; i++) {
        uint64_t sent = buffers->value;
        MPI_Send(buffers->out, count, MPI_BYTE, peer, PING, MPI_COMM_WORLD);
        buffers->value = sent + SEQUENCE_STEP;
        ends_write(&buffers->ends, buffers->out, buffers->value);
        MPI_Recv(buffers->in, count, MPI_BYTE, peer, PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ends_look(&buffers->ends, buffers->in, sent, &buffers->wrong);
    }
    int64_t duration = clock_now() - start;
    hits_count(waited, duration);
    return (double)duration * 1e-9;
}

static double timed(struct ping_buffers *buffers, int peer, int round_trips) {
    uint64_t messages = 2 * (uint64_t)round_trips;
    buffers->bytes_timed += messages * buffers->bytes;
    buffers->bytes_checked += messages * ends_bytes(buffers->bytes);
    return ping(buffers, peer, round_trips);
}

double ping_least(struct ping_buffers *buffers, const struct pair_timing *how, int peer,
                  int64_t until) {
    double least = INFINITY;
    ping(buffers, peer, how->warm_up);
    for (int i = 0; i < how->repetitions && (i == 0 || clock_now() < until); i++)
        least = fmin(least, timed(buffers, peer, how->round_trips));
    return least / (2.0 * how->round_trips);
}

/* What lies between the ends; in brought back what out still holds. */
static void check_middle(struct ping_buffers *buffers) {
    size_t ends = ends_bytes(buffers->bytes);
    if (memcmp(buffers->in + END_BYTES, buffers->out + END_BYTES, buffers->bytes - ends) != 0)
        buffers->correct = false;
}

void ping_verify(struct ping_buffers *buffers, int peer) {
    check_middle(buffers);
    buffers->bytes_checked += 2 * (buffers->bytes - ends_bytes(buffers->bytes));
    signal_peer(peer, CLEAR);
    clear(buffers);
    ping(buffers, peer, 1);
    check_middle(buffers);
}

bool ping_intact(const struct ping_buffers *buffers) {
    return buffers->correct && buffers->wrong.head == 0 && buffers->wrong.tail == 0;
}

void ping_stop(int peer) { signal_peer(peer, STOP); }

void pong(const struct ping_buffers *buffers, int peer) {
    MPI_Status status;
    int count = (int)buffers->bytes;
    for (;;) {
        MPI_Recv(buffers->in, count, MPI_BYTE, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP)
            return;
        if (status.MPI_TAG == CLEAR)
            clear(buffers);
        else
            MPI_Send(buffers->in, count, MPI_BYTE, peer, PING, MPI_COMM_WORLD);
    }
}

/* One rank's tour of all pairs. */
struct tour {
    const struct pair_timing *how;
    struct ping_buffers buffers;
    int rank, ranks;
    bool both_ways;
    int64_t end;     /* this rank's clock: no pair but the first begins later */
    double *seconds; /* [ranks]: one way, from this rank to each */
};

/* The sender's side of one pair; when time is up, all but the first stay as they are. */
static void measure_pair(struct tour *tour, int peer, bool is_first) {
    if (is_first || clock_now() < tour->end) {
        bool first = isnan(tour->seconds[peer]);
        double least = ping_least(&tour->buffers, tour->how, peer, tour->end);
        tour->seconds[peer] = fmin(tour->seconds[peer], least); /* ignores NAN */
        if (first)
            ping_verify(&tour->buffers, peer);
    }
    ping_stop(peer);
}

static void take_turn(struct tour *tour, int before, int from, int to) {
    pass_turn(tour->rank, before, from);
    if (tour->rank == from)
        measure_pair(tour, to, before < 0);
    else if (tour->rank == to)
        pong(&tour->buffers, from);
}

/* A prime near 0.62 of the pairs that does not divide their number: its multiples, modulo the
 * number, meet each pair once, and any run of them is spread evenly. */
static long prime_stride(long pairs) {
    long stride = (long)(0.618 * (double)pairs) + 2;
    while (!is_prime(stride) || pairs % stride == 0)
        stride++;
    return stride;
}

static void visit_pairs(struct tour *tour, long stride, int *before) {
    long ranks = tour->ranks, pairs = ranks * (ranks - 1), place = 0;
    for (long i = 0; i < pairs; i++, place = (place + stride) % pairs) {
        int from = (int)(place / (ranks - 1)), to = (int)(place % (ranks - 1));
        to += to >= from;
        if (!tour->both_ways && from > to)
            continue;
        take_turn(tour, *before, from, to);
        *before = from;
    }
}

static void gather(struct pair_matrix *matrix, const struct tour *tour) {
    size_t ranks = (size_t)tour->ranks;
    matrix->seconds = tour->rank == 0 ? allocate(ranks * ranks * sizeof(double)) : NULL;
    MPI_Gather(tour->seconds, tour->ranks, MPI_DOUBLE, matrix->seconds, tour->ranks, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    for (size_t i = 0; tour->rank == 0 && i < ranks * ranks; i++)
        matrix->measured += !isnan(matrix->seconds[i]);
}

/* Another pass begins only within the first two thirds of the time, on rank 0's clock. */
static bool another_pass(const struct tour *tour, double budget) {
    return sync_before(tour->end - (int64_t)(budget * 1e9 / 3));
}

void pair_matrix_measure(struct pair_matrix *matrix, const struct pair_timing *how, bool both_ways,
                         double budget, uint64_t seed) {
    struct tour tour = {.how = how, .both_ways = both_ways};
    int before = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &tour.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &tour.ranks);
    ping_buffers_make(&tour.buffers, how->bytes, seed);
    tour.seconds = allocate((size_t)tour.ranks * sizeof(double));
    for (int rank = 0; rank < tour.ranks; rank++)
        tour.seconds[rank] = NAN;
    long pairs = (long)tour.ranks * (tour.ranks - 1), stride = prime_stride(pairs);
    MPI_Barrier(MPI_COMM_WORLD);
    tour.end = clock_now() + (int64_t)(budget * 1e9);
    for (int pass = 0; pass < how->passes && (pass == 0 || another_pass(&tour, budget)); pass++)
        visit_pairs(&tour, stride, &before);
    *matrix = (struct pair_matrix){.ranks = tour.ranks,
                                   .pairs = both_ways ? pairs : pairs / 2,
                                   .correct = ping_intact(&tour.buffers),
                                   .bytes_timed = tour.buffers.bytes_timed,
                                   .bytes_checked = tour.buffers.bytes_checked};
    gather(matrix, &tour);
    free(tour.seconds);
    ping_buffers_free(&tour.buffers);
}

bool pairs_tell_classes(const struct topology *topology, char *why, size_t length) {
    if (topology->ranks < CLASSES_MIN_RANKS)
        snprintf(why, length, "needs at least %d ranks, was started with %d", CLASSES_MIN_RANKS,
                 topology->ranks);
    else
        snprintf(why, length,
                 "needs a processor for each rank, but a node has more ranks than processors");
    return topology->ranks >= CLASSES_MIN_RANKS && !topology->oversubscribed;
}

void pair_matrix_free(struct pair_matrix *matrix) {
    free(matrix->seconds);
    *matrix = (struct pair_matrix){0};
}

void pair_timing_describe(const struct pair_timing *how, char *text, size_t length) {
    snprintf(text, length,
             "messages of %zu B; %d round trips %d times, in up to %d passes; the least counts",
             how->bytes, how->round_trips, how->repetitions, how->passes);
}
