#include "effective_exchange.h"

#include "buffers.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 20 }; /* and the sender's slot */

static unsigned char *sent(const struct exchange *x, size_t first, int i) {
    return x->send + first + walk_step(x->length) * (size_t)x->links[i].send_slot;
}

static unsigned char *received(const struct exchange *x, size_t first, int i) {
    return x->receive + first + walk_step(x->length) * (size_t)x->links[i].receive_slot;
}

static void send(const struct exchange *x, size_t first, int i) {
    MPI_Send(sent(x, first, i), (int)x->length, MPI_BYTE, x->links[i].peer,
             TAG + x->links[i].send_slot, MPI_COMM_WORLD);
}

static void receive(const struct exchange *x, size_t first, int i) {
    MPI_Recv(received(x, first, i), (int)x->length, MPI_BYTE, x->links[i].peer,
             TAG + x->links[i].receive_slot, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void start_sends(const struct exchange *x, size_t first, MPI_Request *requests) {
    for (int i = 0; i < x->count; i++)
        MPI_Isend(sent(x, first, i), (int)x->length, MPI_BYTE, x->links[i].peer,
                  TAG + x->links[i].send_slot, MPI_COMM_WORLD, &requests[i]);
}

static void start_receives(const struct exchange *x, size_t first, MPI_Request *requests) {
    for (int i = 0; i < x->count; i++)
        MPI_Irecv(received(x, first, i), (int)x->length, MPI_BYTE, x->links[i].peer,
                  TAG + x->links[i].receive_slot, MPI_COMM_WORLD, &requests[i]);
}

/* Sends to one neighbour while receiving from the other; in pairs both are the same. */
static void sendrecv_links(const struct exchange *x, size_t first, int to, int from) {
    MPI_Sendrecv(sent(x, first, to), (int)x->length, MPI_BYTE, x->links[to].peer,
                 TAG + x->links[to].send_slot, received(x, first, from), (int)x->length, MPI_BYTE,
                 x->links[from].peer, TAG + x->links[from].receive_slot, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Whether the link is to the left, with the one to the right behind it. */
static bool is_left_of_two(const struct link *link) {
    return link->send_slot != link->receive_slot;
}

static void sendrecv(struct exchange *x, size_t first) {
    for (int i = 0; i < x->count; i++) {
        if (!is_left_of_two(&x->links[i])) {
            sendrecv_links(x, first, i, i);
            continue;
        }
        sendrecv_links(x, first, i, i + 1);
        sendrecv_links(x, first, i + 1, i);
        i++;
    }
}

static void nonblocking(struct exchange *x, size_t first) {
    MPI_Request requests[2 * MAX_LINKS];
    MPI_Status statuses[2 * MAX_LINKS];
    start_receives(x, first, requests);
    start_sends(x, first, requests + x->count);
    MPI_Waitall(2 * x->count, requests, statuses);
}

static void irecv_send(struct exchange *x, size_t first) {
    MPI_Request requests[MAX_LINKS];
    MPI_Status statuses[MAX_LINKS];
    start_receives(x, first, requests);
    for (int i = 0; i < x->count; i++)
        send(x, first, i);
    MPI_Waitall(x->count, requests, statuses);
}

static void isend_recv(struct exchange *x, size_t first) {
    MPI_Request requests[MAX_LINKS];
    MPI_Status statuses[MAX_LINKS];
    start_sends(x, first, requests);
    for (int i = 0; i < x->count; i++)
        receive(x, first, i);
    MPI_Waitall(x->count, requests, statuses);
}

/* Called by all ranks, also by those without links. */
static void alltoallv(struct exchange *x, size_t first) {
    for (int i = 0; i < x->count; i++) {
        int peer = x->links[i].peer;
        x->offsets_send[peer] = (int)(sent(x, first, i) - x->send);
        x->offsets_receive[peer] = (int)(received(x, first, i) - x->receive);
    }
    MPI_Alltoallv(x->send, x->counts_send, x->offsets_send, MPI_BYTE, x->receive, x->counts_receive,
                  x->offsets_receive, MPI_BYTE, MPI_COMM_WORLD);
}

static void ping_pong(struct exchange *x, size_t first) {
    if (x->count == 0)
        return;
    if (x->rank < x->links[0].peer) {
        send(x, first, 0);
        receive(x, first, 0);
    } else {
        receive(x, first, 0);
        send(x, first, 0);
    }
}

const struct method EXCHANGES[ALL_METHODS] = {{"sendrecv", sendrecv},
                                              {"alltoallv", alltoallv},
                                              {"nonblocking", nonblocking},
                                              {"irecv_send", irecv_send},
                                              {"isend_recv", isend_recv}};
const struct method PING_PONG = {"ping_pong", ping_pong};

/* Room for the six messages of three directions. */
static size_t buffer_size(size_t largest) { return MAX_LINKS * (largest + ALIGNMENT); }

uint64_t exchange_memory(int ranks, size_t largest) {
    return 2 * (uint64_t)buffer_size(largest) + 4 * sizeof(int) * (uint64_t)ranks;
}

void exchange_set_up(struct exchange *x, int rank, int ranks, size_t largest, uint64_t seed) {
    *x = (struct exchange){.rank = rank, .ranks = ranks, .seed = seed};
    x->walk.capacity = buffer_size(largest);
    x->send = allocate(x->walk.capacity);
    x->receive = allocate(x->walk.capacity);
    data_fill(x->send, x->walk.capacity, seed, rank, 0);
    x->counts_send = zeroed((size_t)ranks, sizeof(int));
    x->counts_receive = zeroed((size_t)ranks, sizeof(int));
    x->offsets_send = zeroed((size_t)ranks, sizeof(int));
    x->offsets_receive = zeroed((size_t)ranks, sizeof(int));
}

static void add_link(struct exchange *x, int peer, int send_slot, int receive_slot) {
    x->links[x->count++] = (struct link){peer, send_slot, receive_slot};
}

void exchange_set_pattern(struct exchange *x, const struct pattern *pattern) {
    int sides = pattern_sides(pattern);
    exchange_set_length(x, 0); /* the old neighbours get nothing from now on */
    x->count = 0;
    x->slots = sides * pattern->directions;
    for (int direction = 0; direction < pattern->directions; direction++) {
        int left = pattern->left[direction][x->rank], right = pattern->right[direction][x->rank];
        int slot = sides * direction;
        if (left >= 0 && left == right) {
            add_link(x, left, slot, slot);
        } else if (left >= 0) {
            add_link(x, left, slot, slot + 1); /* the left neighbour sends to its right */
            add_link(x, right, slot + 1, slot);
        }
    }
}

void exchange_set_length(struct exchange *x, size_t length) {
    x->length = length;
    for (int i = 0; i < x->count; i++)
        x->counts_send[x->links[i].peer] = x->counts_receive[x->links[i].peer] = (int)length;
}

void exchange_perform(struct exchange *x, const struct method *method, int loops) {
    for (int i = 0; i < loops; i++)
        method->perform(x, walk_forward(&x->walk, x->length, x->slots));
}

/* All ranks walk alike: the sender's message begins where it is received here. */
static size_t position(const struct exchange *x, size_t first, int i) {
    return (size_t)(received(x, first, i) - x->receive);
}

static bool check_link(const struct exchange *x, size_t first, int i, char *why, size_t length) {
    const struct link *link = &x->links[i];
    size_t at =
        data_differs(received(x, first, i), x->length, x->seed, link->peer, position(x, first, i));
    if (at < x->length)
        snprintf(why, length, "rank %d received other bytes than rank %d sent, first at offset %zu",
                 x->rank, link->peer, at);
    return at == x->length;
}

bool exchange_verify(struct exchange *x, const struct method *method, char *why, size_t length) {
    size_t first = walk_forward(&x->walk, x->length, x->slots);
    bool correct = true;
    for (int i = 0; i < x->count; i++)
        data_clear(received(x, first, i), x->length, x->seed, x->links[i].peer,
                   position(x, first, i));
    method->perform(x, first);
    for (int i = 0; i < x->count && correct; i++)
        correct = check_link(x, first, i, why, length);
    return correct;
}
