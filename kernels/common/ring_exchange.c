#include "ring_exchange.h"

#include "clock.h"

#include <mpi.h>

enum { TAG = 30 }; /* plus the direction: with two ranks both neighbours are the same */

static void sendrecv(const struct two_way *m, enum direction direction, int to, int from) {
    int size = (int)m->out[direction].size;
    MPI_Sendrecv(m->out[direction].bytes, size, MPI_BYTE, to, TAG + (int)direction,
                 m->in[direction].bytes, size, MPI_BYTE, from, TAG + (int)direction, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void exchange_sendrecv(const struct two_way *m, const struct neighbours *n) {
    sendrecv(m, TO_RIGHT, n->right, n->left);
    sendrecv(m, TO_LEFT, n->left, n->right);
}

static void exchange_nonblocking(const struct two_way *m, const struct neighbours *n) {
    const int to[DIRECTIONS] = {n->right, n->left}, from[DIRECTIONS] = {n->left, n->right};
    MPI_Request requests[2 * DIRECTIONS];
    MPI_Status statuses[2 * DIRECTIONS];
    for (int d = 0; d < DIRECTIONS; d++)
        MPI_Irecv(m->in[d].bytes, (int)m->in[d].size, MPI_BYTE, from[d], TAG + d, MPI_COMM_WORLD,
                  &requests[d]);
    for (int d = 0; d < DIRECTIONS; d++)
        MPI_Isend(m->out[d].bytes, (int)m->out[d].size, MPI_BYTE, to[d], TAG + d, MPI_COMM_WORLD,
                  &requests[DIRECTIONS + d]);
    MPI_Waitall(2 * DIRECTIONS, requests, statuses);
}

static void (*const EXCHANGE[RING_METHODS])(const struct two_way *, const struct neighbours *) = {
    exchange_sendrecv, exchange_nonblocking};

double ring_seconds(const struct two_way *messages, const struct neighbours *neighbours,
                    enum ring_method method, int loops) {
    EXCHANGE[method](messages, neighbours);
    int64_t start = clock_now();
    for (int i = 0; i < loops; i++)
        EXCHANGE[method](messages, neighbours);
    return (double)(clock_now() - start) * 1e-9;
}

bool ring_verify(const struct two_way *messages, const struct neighbours *neighbours,
                 enum ring_method method, char *why, size_t length) {
    two_way_clear(messages);
    EXCHANGE[method](messages, neighbours);
    return two_way_check(messages, TO_RIGHT, neighbours->left, why, length) &&
           two_way_check(messages, TO_LEFT, neighbours->right, why, length);
}
