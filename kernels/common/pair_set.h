/* Ordered pairs of ranks for ping-pong, as HPCC 1.5 chooses them: every client with every server.
 * No MPI. */
#ifndef PAIR_SET_H
#define PAIR_SET_H

#include <stdbool.h>

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

#endif
