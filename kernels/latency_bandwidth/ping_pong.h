/* Ping-pong of clients with servers, one pair at a time; all other ranks wait in a receive. */
#ifndef PING_PONG_H
#define PING_PONG_H

#include "exchange/exchange.h"

/* --- ordered pairs as HPCC 1.5 chooses them: every client with every server: no MPI */

/* Clients first_client, first_client + stride, ...; servers likewise. No rank pairs with itself. */
struct pair_set {
    int first_client, first_server, count, stride; /* count: of clients, and of servers */
};

/* The distance between clients (and between servers) for about this many pairs: 1 if all can be
 * measured, otherwise 3 or a larger prime. At least five clients are wanted, however few pairs can
 * be afforded. */
int pair_stride(int ranks, double affordable_pairs);

/* Clients from rank 0 upwards, servers from the last rank downwards. */
struct pair_set pair_set_strided(int ranks, int stride);

struct pair_set pair_set_single(int client, int server);

int pair_set_client(const struct pair_set *set, int i);
int pair_set_server(const struct pair_set *set, int i);

/* Whether the rank is one of them. */
int pair_set_has_client(const struct pair_set *set, int rank);
int pair_set_has_server(const struct pair_set *set, int rank);

/* The best measurement of one pair. */
struct ping_pong {
    double seconds; /* of all loops */
    int loops;      /* round trips */
};

struct ping_pongs {
    struct pair_set pairs;
    int repetitions, loops;    /* loops grow until a measurement takes 10 us */
    struct exchange *exchange; /* of the length to measure */
    struct ping_pong *best;    /* [servers]: of this rank as client; with itself: no loops */
    double turn_seconds;       /* seconds of this rank's turn as client, checks included */
};

/* Measures all pairs, each time after an untimed round trip. The ends of all messages are checked,
 * and all bytes of short ones (exchange_intact). A separate pass at the end checks all bytes of
 * longer ones: checks in between cost up to a third of the bandwidth at 2 MB, since they evict the
 * messages from the caches. Wrong data are the exchange's fault. Collective. */
void ping_pong_measure(struct ping_pongs *ping_pongs);

#endif
