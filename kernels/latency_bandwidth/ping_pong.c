#include "ping_pong.h"

#include "kernel.h"

#include <mpi.h>

enum { LOOPS = 22, TURN };

/* Blocking receives: ranks wait as they do in the original benchmark. */
static void tell(int to, int tag, int value) {
    MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static int hear(int from, int tag) {
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static double long_enough(struct ping_pongs *p, int server) {
    for (;;) {
        tell(server, LOOPS, p->loops);
        int64_t waited = waiting_so_far();
        double seconds = exchange_seconds(p->exchange, &EXCHANGE[PING_PONG], p->loops);
        hits_count(waited, (int64_t)(seconds * 1e9));
        exchange_intact(p->exchange);
        if (seconds >= BLOCK_SECONDS)
            return seconds;
        p->loops += p->loops == 1 ? 1 : p->loops / 2;
    }
}

static void ask(struct ping_pongs *p, int server, struct ping_pong *best) {
    double seconds = long_enough(p, server);
    tell(server, LOOPS, 0);
    if (best->loops == 0 || seconds / p->loops < best->seconds / best->loops)
        *best = (struct ping_pong){seconds, p->loops};
}

static void answer(struct ping_pongs *p, int client) {
    int loops;
    while ((loops = hear(client, LOOPS)) > 0) {
        int64_t waited = waiting_so_far();
        double seconds = exchange_seconds(p->exchange, &EXCHANGE[PING_PONG], loops);
        hits_count(waited, (int64_t)(seconds * 1e9));
        exchange_intact(p->exchange);
    }
}

static void ask_checked(struct ping_pongs *p, int server, struct ping_pong *best) {
    (void)server;
    (void)best;
    exchange_verify(p->exchange, &EXCHANGE[PING_PONG]);
}

static void answer_checked(struct ping_pongs *p, int client) {
    (void)client;
    exchange_verify(p->exchange, &EXCHANGE[PING_PONG]);
}

/* The roles of a pair's client and server. */
struct roles {
    void (*client)(struct ping_pongs *p, int server, struct ping_pong *best);
    void (*server)(struct ping_pongs *p, int client);
};

static const struct roles MEASURE = {ask, answer}, CHECK = {ask_checked, answer_checked};

/* Seconds of this rank as the client of all its pairs. */
static double take_turn(struct ping_pongs *p, const struct roles *roles, int rank) {
    int64_t start = clock_now();
    for (int i = 0; i < p->pairs.count; i++) {
        int server = pair_set_server(&p->pairs, i);
        if (server == rank)
            continue;
        exchange_set_pair(p->exchange, server, false);
        roles->client(p, server, &p->best[i]);
    }
    return seconds_since(start);
}

/* The last client releases all ranks; the others wait for it. */
static void wait_for_all(const struct pair_set *pairs, int rank) {
    int ranks, last = pair_set_client(pairs, pairs->count - 1);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != last)
        hear(last, TURN);
    else
        for (int other = 0; other < ranks; other++)
            if (other != last)
                tell(other, TURN, 0);
}

/* Clients take turns, passing on a token. Seconds of this rank's own turn. */
static double all_pairs(struct ping_pongs *p, const struct roles *roles) {
    int rank;
    double seconds = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < p->pairs.count; i++) {
        int client = pair_set_client(&p->pairs, i);
        if (rank == client) {
            if (i > 0)
                hear(pair_set_client(&p->pairs, i - 1), TURN);
            seconds = take_turn(p, roles, rank);
            if (i + 1 < p->pairs.count)
                tell(pair_set_client(&p->pairs, i + 1), TURN, 0);
        } else if (pair_set_has_server(&p->pairs, rank)) {
            exchange_set_pair(p->exchange, client, true);
            roles->server(p, client);
        }
    }
    wait_for_all(&p->pairs, rank);
    return seconds;
}

void ping_pong_measure(struct ping_pongs *p) {
    for (int i = 0; i < p->pairs.count; i++)
        p->best[i] = (struct ping_pong){0, 0};
    double shortest = 0;
    for (int i = 0; i < p->repetitions; i++) {
        double seconds = all_pairs(p, &MEASURE);
        shortest = i == 0 || seconds < shortest ? seconds : shortest;
    }
    p->turn_seconds = shortest * p->repetitions + all_pairs(p, &CHECK);
}
