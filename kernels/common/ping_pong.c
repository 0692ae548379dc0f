#include "ping_pong.h"

#include "clock.h"
#include "kernel.h"
#include "measure.h"

#include <mpi.h>

enum { PING = 20, PONG, LOOPS, TURN };

static void send(const struct two_way *messages, int to, int tag) {
    const struct blocks *block = &messages->out[TO_RIGHT];
    MPI_Send(block->bytes, (int)block->size, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void receive(const struct two_way *messages, int from, int tag) {
    const struct blocks *block = &messages->in[TO_RIGHT];
    MPI_Recv(block->bytes, (int)block->size, MPI_BYTE, from, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void check(struct ping_pongs *p, int sender) {
    if (p->correct)
        p->correct = two_way_check(p->messages, TO_RIGHT, sender, p->why, REASON_LENGTH);
}

/* The receives are blocking, so that a waiting rank waits in the way of the benchmark. */
static void tell(int to, int tag, int value) {
    MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static int hear(int from, int tag) {
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static double round_trips(const struct two_way *messages, int server, int loops) {
    int64_t start = 0;
    for (int i = -1; i < loops; i++) {
        if (i == 0)
            start = clock_now();
        send(messages, server, PING);
        receive(messages, server, PONG);
    }
    return (double)(clock_now() - start) * 1e-9;
}

static double long_enough(struct ping_pongs *p, int server) {
    for (;;) {
        tell(server, LOOPS, p->loops);
        double seconds = round_trips(p->messages, server, p->loops);
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

static void ask_checked(struct ping_pongs *p, int server, struct ping_pong *best) {
    (void)best;
    two_way_clear(p->messages);
    send(p->messages, server, PING);
    receive(p->messages, server, PONG);
    check(p, server);
}

static void answer(struct ping_pongs *p, int client) {
    int loops;
    while ((loops = hear(client, LOOPS)) > 0)
        for (int i = -1; i < loops; i++) {
            receive(p->messages, client, PING);
            send(p->messages, client, PONG);
        }
}

static void answer_checked(struct ping_pongs *p, int client) {
    two_way_clear(p->messages);
    receive(p->messages, client, PING);
    send(p->messages, client, PONG);
    check(p, client);
}

/* What client and server of a pair do. */
struct roles {
    void (*client)(struct ping_pongs *p, int server, struct ping_pong *best);
    void (*server)(struct ping_pongs *p, int client);
};

static const struct roles MEASURE = {ask, answer}, CHECK = {ask_checked, answer_checked};

/* Seconds that this rank took as the client of all its pairs. */
static double take_turn(struct ping_pongs *p, const struct roles *roles, int rank) {
    int64_t start = clock_now();
    for (int i = 0; i < p->pairs.count; i++)
        if (pair_set_server(&p->pairs, i) != rank)
            roles->client(p, pair_set_server(&p->pairs, i), &p->best[i]);
    return (double)(clock_now() - start) * 1e-9;
}

/* The last client lets all go; the others wait for it. */
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

/* Clients take turns; a token goes from each to the next. Seconds of this rank's own turn. */
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
