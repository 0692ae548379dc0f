/* Pairs of ranks: their choice, ping-pong between them, and what it shows about the machine. */
#ifndef PAIR_H
#define PAIR_H

#include "data.h"
#include "kernel.h"

/* --- messages between all pairs of ranks before anything is timed */

/* Each pair exchanges 8 B 1,000 times, in rounds, or fewer times once these seconds are spent: some
 * MPI libraries give two ranks their fastest path only after some hundred messages. Returns the
 * exchanges of each pair. Collective. */
int pair_warm_up(double seconds);

/* Header line for the above; fraction: of the budget. */
void pair_warm_up_describe(double fraction);

/* --- ping-pong of all pairs, one pair at a time; the receiver does not know the number of round
 * trips */

/* How a pair is timed; the same on all ranks. */
struct pair_timing {
    size_t bytes;    /* of a message, 8 or more */
    int warm_up;     /* round trips before timing */
    int round_trips; /* timed together */
    int repetitions; /* in one pass over the pairs */
    int passes;      /* over the pairs, while there is time; the least time counts */
};

/* The buffers of one rank. out holds the pattern of all its messages and, at its ends, the sequence
 * value of the next one. Since the other side returns what it received, the sender alone sees
 * whether both messages of a round trip were right. */
struct ping_buffers {
    size_t bytes;
    unsigned char *out, *in;
    struct ends ends;
    uint64_t value;                      /* of the next message */
    struct end_words wrong;              /* of all messages returned so far */
    bool correct;                        /* the bytes between the ends, where these were checked */
    uint64_t bytes_timed, bytes_checked; /* of timed messages, both ways */
};

void ping_buffers_make(struct ping_buffers *buffers, size_t bytes, uint64_t seed);
void ping_buffers_free(struct ping_buffers *buffers);

/* The sender's side: round trips from and back to the calling rank; seconds of all. */
double ping(struct ping_buffers *buffers, int peer, int round_trips);

/* The same, timed: seconds of one message, one way, the least over the repetitions. None but the
 * first begins after until. */
double ping_least(struct ping_buffers *buffers, const struct pair_timing *how, int peer,
                  int64_t until);

/* Checks all bytes of the message returned last, and of one more round trip into memory cleared on
 * both sides. */
void ping_verify(struct ping_buffers *buffers, int peer);

/* Whether all that this rank checked was right. */
bool ping_intact(const struct ping_buffers *buffers);

/* Passes the turn to measure from one rank to the next; -1: nobody had it. Called by all ranks. */
void pass_turn(int rank, int before, int next);

/* Ends pong on the other side. */
void ping_stop(int peer);

/* The other side: returns every message until ping_stop. */
void pong(const struct ping_buffers *buffers, int peer);

struct pair_matrix {
    int ranks;
    long pairs, measured; /* ordered pairs; on rank 0 */
    double *seconds;      /* on rank 0 the matrix of one-way times, NAN: not measured; else NULL */
    bool correct;         /* of the data that this rank checked */
    uint64_t bytes_timed, bytes_checked; /* of the round trips that began on this rank */
};

/* Measures the pairs in the order of a prime stride, so that the pairs measured within the budget
 * (seconds) are spread over all ranks; the first pair is measured whatever the budget. All other
 * ranks are blocked in a receive. both_ways: ordered pairs, otherwise from < to. Collective. */
void pair_matrix_measure(struct pair_matrix *matrix, const struct pair_timing *how, bool both_ways,
                         double budget, uint64_t seed);

/* Whether latencies of this launch show distance: waiting for a shared processor would look like
 * distance, and fewer than four ranks make too few pairs. If not, why. */
bool pairs_tell_classes(const struct topology *topology, char *why, size_t length);

void pair_matrix_free(struct pair_matrix *matrix);

/* The timing, for a header line: "20 round trips, ...". */
void pair_timing_describe(const struct pair_timing *how, char *text, size_t length);

/* --- from a matrix of latencies to classes of pairs and groups of ranks; classes.c: no MPI
 *
 * Matrices are [ranks][ranks], from * ranks + to. NAN: not measured. */

enum { MAX_CLASSES = 5, CLASSES_MIN_RANKS = 4 };

/* A gap between classes: the slower class begins at this many times the latency. On one socket the
 * distance between cores spreads latencies by half; other sockets and nodes take twice and more. */
#define CLASS_GAP 1.25

struct pair_classes {
    int ranks, count;           /* class 0 is the fastest */
    int *class_of;              /* matrix, the same in both directions; -1: not measured */
    long pairs[MAX_CLASSES];    /* unordered pairs in each class */
    double median[MAX_CLASSES]; /* seconds; the faster direction of a pair counts */
};

/* Cuts the pairs at the largest gaps of log-latency. Disturbances make a measurement slower, never
 * faster: a slower class with fewer pairs than one rank has cannot separate any rank from the
 * others, and joins the next faster class. */
void pair_classes_find(struct pair_classes *classes, const double *seconds, int ranks);

void pair_classes_free(struct pair_classes *classes);

/* Groups of ranks connected by pairs of the fastest class, numbered in order of first appearance;
 * one group if there is one class. Fills group_of[ranks], returns the number of groups. */
int pair_groups(const struct pair_classes *classes, int *group_of);

#endif
