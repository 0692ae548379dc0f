/* Ping-pong between pairs of ranks, one pair at a time. */
#ifndef PAIR_MATRIX_H
#define PAIR_MATRIX_H

#include "topology.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a pair is timed; the same on all ranks. */
struct pair_timing {
    size_t bytes;    /* of a message, 8 or more */
    int warm_up;     /* round trips before timing */
    int round_trips; /* timed together, */
    int repetitions; /* so often in one pass over the pairs, */
    int passes;      /* which is repeated so often while there is time; the least time counts */
};

/* The buffers of one rank; out holds the pattern that all its messages carry. */
struct ping_buffers {
    size_t bytes;
    unsigned char *out, *in;
};

void ping_buffers_make(struct ping_buffers *buffers, size_t bytes, uint64_t seed);
void ping_buffers_free(struct ping_buffers *buffers);

/* The sender's side: so many round trips, from and back to the calling rank; seconds of all. */
double ping(const struct ping_buffers *buffers, int peer, int round_trips);

/* One more round trip into memory cleared at both ends: whether the data come back right. */
bool ping_verify(const struct ping_buffers *buffers, int peer);

/* Tells the other side that there is no more; pong then returns. */
void ping_stop(int peer);

/* The other side: sends back what it gets until it is told to stop. */
void pong(const struct ping_buffers *buffers, int peer);

struct pair_matrix {
    int ranks;
    long pairs, measured; /* ordered pairs; on rank 0 */
    double *seconds;      /* on rank 0 the matrix of one-way times, NAN: not measured; else NULL */
    bool correct;         /* of the data that this rank verified */
};

/* Measures the pairs in an order that a prime stride makes, so that those measured before the
 * budget (seconds) is spent are spread over all ranks. All other ranks are blocked in a receive.
 * both_ways: ordered pairs, otherwise from < to. Collective. */
void pair_matrix_measure(struct pair_matrix *matrix, const struct pair_timing *how, bool both_ways,
                         double budget, uint64_t seed);

/* Whether the pairs of this launch can tell near from far: ranks that share a processor would make
 * waiting look like distance, fewer than four make too few pairs. Otherwise why not. */
bool pairs_tell_classes(const struct topology *topology, char *why, size_t length);

void pair_matrix_free(struct pair_matrix *matrix);

/* How it was timed, for a header line: "20 round trips, ...". */
void pair_timing_describe(const struct pair_timing *how, char *text, size_t length);

#endif
