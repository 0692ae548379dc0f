/* Pairs of ranks: which there are, ping-pong between them, and what it tells of the machine. */
#ifndef PAIR_H
#define PAIR_H

#include "exchange.h"
#include "topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- ordered pairs as HPCC 1.5 chooses them: every client with every server; pair_set.c: no MPI */

/* A prime stride through ranks or pairs does not fall in step with the ranks of a node. */
bool is_prime(long n);

/* Clients first_client, first_client + stride, ...; servers likewise. No rank pairs with itself. */
struct pair_set {
    int first_client, first_server, count, stride; /* count: of clients, and of servers */
};

/* The distance between clients (and between servers) that lets about so many pairs be measured: 1
 * where all can be, otherwise 3 or a larger prime, so that it does not fall in step with the ranks
 * of a node. At least five clients are wanted, however few pairs can be afforded. */
int pair_stride(int ranks, double affordable_pairs);

/* Clients from rank 0 upwards, servers from the last rank downwards. */
struct pair_set pair_set_strided(int ranks, int stride);

struct pair_set pair_set_single(int client, int server);

int pair_set_client(const struct pair_set *set, int i);
int pair_set_server(const struct pair_set *set, int i);

/* All pairs at once, in rounds: in each one every rank meets one other, or none (-1) where their
 * number is odd; after all rounds each has met all others once. */
int tournament_rounds(int ranks);
int tournament_partner(int ranks, int round, int rank);

/* Whether the rank is among them. */
int pair_set_has_client(const struct pair_set *set, int rank);
int pair_set_has_server(const struct pair_set *set, int rank);

/* --- messages between all pairs of ranks before anything is timed */

/* Each pair exchanges 8 B 1,000 times, all pairs at once in rounds, or fewer times where so many
 * seconds are spent: some MPI libraries give two ranks their fastest path only after some hundred
 * messages between them. The number of exchanges of each pair. Collective. */
int pair_warm_up(double seconds);

/* A header line that says so; fraction: of the budget. */
void pair_warm_up_describe(double fraction);

/* --- ping-pong of clients with servers, one pair at a time; all other ranks wait in a receive */

/* The best measurement of one pair. */
struct ping_pong {
    double seconds; /* of all loops */
    int loops;      /* round trips */
};

struct ping_pongs {
    struct pair_set pairs;
    int repetitions, loops;    /* loops: grow until a measurement takes 10 us */
    struct exchange *exchange; /* of the length to measure */
    struct ping_pong *best; /* [servers]: of this rank as client; that with itself has no loops */
    double turn_seconds;    /* what this rank's pairs as client take, checks included */
    bool correct;           /* what this rank received; stays false */
    char *why;              /* [REASON_LENGTH], where it was not */
};

/* Measures all pairs, each time after a round trip that is not timed. The data are checked in a
 * pass of its own at the end: checks in between cost up to a third of the bandwidth at 2 MB, since
 * they displace the messages from the caches. Collective. */
void ping_pong_measure(struct ping_pongs *ping_pongs);

/* --- ping-pong of all pairs, one pair at a time; the other side does not know how many round trips
 * will come */

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

/* The same as it is to be timed: seconds of one message, one way, the least of the repetitions, of
 * which no further one begins after the moment. */
double ping_least(const struct ping_buffers *buffers, const struct pair_timing *how, int peer,
                  int64_t until);

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

/* --- what a matrix of latencies says: classes of pairs, groups of ranks; pair_classes.c: no MPI
 *
 * Matrices are [ranks][ranks], from * ranks + to. Seconds that are NAN were not measured. */

enum { MAX_CLASSES = 5, CLASSES_MIN_RANKS = 4 };

/* A gap between classes: the slower class begins this many times later. On one socket the distance
 * of two cores alone spreads latencies by half; other sockets and nodes take twice and more. */
#define CLASS_GAP 1.25

struct pair_classes {
    int ranks, count;           /* class 0 is the fastest */
    int *class_of;              /* matrix, the same in both directions; -1: not measured */
    long pairs[MAX_CLASSES];    /* unordered pairs in each class */
    double median[MAX_CLASSES]; /* seconds; of a pair the faster direction counts */
};

/* Cuts the pairs at the largest gaps of log-latency. What disturbs a measurement makes it slower,
 * never faster: a slower class of fewer pairs than one rank takes part in cannot hold any rank
 * apart from the others and joins the next faster one. */
void pair_classes_find(struct pair_classes *classes, const double *seconds, int ranks);

void pair_classes_free(struct pair_classes *classes);

/* Groups of ranks that pairs of the fastest class connect, numbered in order of first appearance;
 * one group where there is one class. Fills group_of[ranks], returns how many there are. */
int pair_groups(const struct pair_classes *classes, int *group_of);

/* How close two ranks are by what the operating system says. */
enum pair_level { SAME_CORE, SAME_NUMA_NODE, SAME_SOCKET, OTHER_SOCKET, OTHER_NODE, PAIR_LEVELS };
extern const char *const PAIR_LEVEL_NAMES[PAIR_LEVELS];

/* How the classes agree with those levels: a pair agrees when its level is the one that most pairs
 * of its class have. */
struct pair_agreement {
    long known, agreeing; /* unordered pairs that have a class and a level; that agree */
    long pairs[MAX_CLASSES][PAIR_LEVELS];
};

/* level_of: matrix of enum pair_level, -1 where it is not known. */
void pair_agreement_count(const struct pair_classes *classes, const int *level_of,
                          struct pair_agreement *agreement);

/* --- whether two pairs of ranks share a path: the time of one while the other is busy, and alone
 */

enum { MAX_CONTENTIONS = 64 };

#define SHARED_PATH 1.2 /* times slower than alone: a shared path */

/* Four different ranks. Seconds are those of one message, one way. */
struct contention {
    int from, to, other_from, other_to;
    double alone, together; /* of from -> to; NAN: not measured */
};

struct contentions {
    int count;
    struct contention of[MAX_CONTENTIONS]; /* the same on all ranks */
    bool correct;                          /* of the data that this rank verified */
};

/* Random disjoint pairs, until the budget (seconds) is spent; four ranks or more. Collective. */
void contentions_measure(struct contentions *contentions, const struct pair_timing *how,
                         double budget, uint64_t seed);

#endif
