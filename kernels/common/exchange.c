#include "exchange.h"

#include "buffers.h"
#include "clock.h"

#include <mpi.h>
#include <stdio.h>

enum { TAG = 30, PAGE = 4096 }; /* the sender's slot is added to TAG */

static unsigned char *outgoing(const struct exchange *x, size_t first, int i) {
    return x->out + first + x->step * (size_t)x->sent[i].slot;
}

static unsigned char *incoming(const struct exchange *x, size_t first, int i) {
    return x->in + first + x->step * (size_t)x->received[i].slot;
}

static void send(const struct exchange *x, size_t first, int i) {
    MPI_Send(outgoing(x, first, i), (int)x->length, MPI_BYTE, x->sent[i].peer,
             TAG + x->sent[i].slot, MPI_COMM_WORLD);
}

static void receive(const struct exchange *x, size_t first, int i) {
    MPI_Recv(incoming(x, first, i), (int)x->length, MPI_BYTE, x->received[i].peer,
             TAG + x->received[i].slot, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void start_sends(const struct exchange *x, size_t first, MPI_Request *requests) {
    for (int i = 0; i < x->count; i++)
        MPI_Isend(outgoing(x, first, i), (int)x->length, MPI_BYTE, x->sent[i].peer,
                  TAG + x->sent[i].slot, MPI_COMM_WORLD, &requests[i]);
}

static void start_receives(const struct exchange *x, size_t first, MPI_Request *requests) {
    for (int i = 0; i < x->count; i++)
        MPI_Irecv(incoming(x, first, i), (int)x->length, MPI_BYTE, x->received[i].peer,
                  TAG + x->received[i].slot, MPI_COMM_WORLD, &requests[i]);
}

/* In a ring it sends to one neighbour while receiving from the other. */
static void sendrecv(struct exchange *x, size_t first) {
    for (int i = 0; i < x->count; i++) {
        int j = x->together[i];
        MPI_Sendrecv(outgoing(x, first, i), (int)x->length, MPI_BYTE, x->sent[i].peer,
                     TAG + x->sent[i].slot, incoming(x, first, j), (int)x->length, MPI_BYTE,
                     x->received[j].peer, TAG + x->received[j].slot, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static void nonblocking(struct exchange *x, size_t first) {
    MPI_Request requests[2 * MAX_MESSAGES];
    MPI_Status statuses[2 * MAX_MESSAGES];
    start_receives(x, first, requests);
    start_sends(x, first, requests + x->count);
    MPI_Waitall(2 * x->count, requests, statuses);
}

static void irecv_send(struct exchange *x, size_t first) {
    MPI_Request requests[MAX_MESSAGES];
    MPI_Status statuses[MAX_MESSAGES];
    start_receives(x, first, requests);
    for (int i = 0; i < x->count; i++)
        send(x, first, i);
    MPI_Waitall(x->count, requests, statuses);
}

static void isend_recv(struct exchange *x, size_t first) {
    MPI_Request requests[MAX_MESSAGES];
    MPI_Status statuses[MAX_MESSAGES];
    start_sends(x, first, requests);
    for (int i = 0; i < x->count; i++)
        receive(x, first, i);
    MPI_Waitall(x->count, requests, statuses);
}

/* Called by all ranks, even those without partners. */
static void alltoallv(struct exchange *x, size_t first) {
    for (int i = 0; i < x->count; i++) {
        x->offsets_out[x->sent[i].peer] = (int)(outgoing(x, first, i) - x->out);
        x->offsets_in[x->received[i].peer] = (int)(incoming(x, first, i) - x->in);
    }
    MPI_Alltoallv(x->out, x->counts_out, x->offsets_out, MPI_BYTE, x->in, x->counts_in,
                  x->offsets_in, MPI_BYTE, MPI_COMM_WORLD);
}

static void ping_pong(struct exchange *x, size_t first) {
    if (x->count == 0)
        return;
    if (x->answers) {
        receive(x, first, 0);
        send(x, first, 0);
    } else {
        send(x, first, 0);
        receive(x, first, 0);
    }
}

const struct method EXCHANGE[EXCHANGE_METHODS] = {
    [SENDRECV] = {"sendrecv", sendrecv},          [ALLTOALLV] = {"alltoallv", alltoallv},
    [NONBLOCKING] = {"nonblocking", nonblocking}, [IRECV_SEND] = {"irecv_send", irecv_send},
    [ISEND_RECV] = {"isend_recv", isend_recv},    [PING_PONG] = {"ping_pong", ping_pong}};

static size_t slot_size(struct exchange_room room) {
    return room.walks ? room.largest + ALIGNMENT : (room.largest + PAGE - 1) / PAGE * PAGE;
}

uint64_t exchange_memory(struct exchange_room room, int ranks) {
    return 2 * (uint64_t)room.slots * slot_size(room) + 4 * sizeof(int) * (uint64_t)ranks;
}

void exchange_set_up(struct exchange *x, struct exchange_room room, int rank, int ranks,
                     uint64_t seed) {
    *x = (struct exchange){.rank = rank, .ranks = ranks, .seed = seed};
    size_t bytes = (size_t)room.slots * slot_size(room);
    x->walk.capacity = room.walks ? bytes : 0;
    x->walk.apart = room.walks ? 0 : slot_size(room);
    x->out = allocate(bytes);
    x->in = allocate(bytes);
    data_fill(x->out, bytes, seed, rank, 0);
    x->counts_out = zeroed((size_t)ranks, sizeof(int));
    x->counts_in = zeroed((size_t)ranks, sizeof(int));
    x->offsets_out = zeroed((size_t)ranks, sizeof(int));
    x->offsets_in = zeroed((size_t)ranks, sizeof(int));
}

/* From now on MPI_Alltoallv sends nothing to the old partners. */
void exchange_begin(struct exchange *x, int slots) {
    for (int i = 0; i < x->count; i++)
        x->counts_out[x->sent[i].peer] = x->counts_in[x->received[i].peer] = 0;
    x->count = 0;
    x->slots = slots;
    x->answers = false;
}

void exchange_add(struct exchange *x, struct message sent, struct message received) {
    x->counts_out[sent.peer] = x->counts_in[received.peer] = (int)x->length;
    x->sent[x->count] = sent;
    x->received[x->count++] = received;
    for (int i = 0; i < x->count; i++)
        for (int j = 0; j < x->count; j++)
            if (x->sent[i].slot == x->received[j].slot)
                x->together[i] = j;
}

void exchange_set_pair(struct exchange *x, int peer, bool answers) {
    const struct message message = {peer, 0};
    exchange_begin(x, 1);
    exchange_add(x, message, message);
    x->answers = answers;
}

void exchange_set_length(struct exchange *x, size_t length) {
    x->length = length;
    x->step = walk_step(&x->walk, length);
    for (int i = 0; i < x->count; i++)
        x->counts_out[x->sent[i].peer] = x->counts_in[x->received[i].peer] = (int)length;
}

void exchange_perform(struct exchange *x, const struct method *method, int loops) {
    for (int i = 0; i < loops; i++)
        method->perform(x, walk_forward(&x->walk, x->length, x->slots));
}

double exchange_seconds(struct exchange *x, const struct method *method, int loops) {
    exchange_perform(x, method, 1);
    int64_t start = clock_now();
    exchange_perform(x, method, loops);
    return (double)(clock_now() - start) * 1e-9;
}

/* All ranks walk in step: the message has the same position in the sender's buffer. */
static size_t position(const struct exchange *x, size_t first, int i) {
    return (size_t)(incoming(x, first, i) - x->in);
}

static bool check(const struct exchange *x, size_t first, int i, char *why, size_t length) {
    int peer = x->received[i].peer;
    size_t at =
        data_differs(incoming(x, first, i), x->length, x->seed, peer, position(x, first, i));
    if (at < x->length)
        snprintf(why, length, "rank %d received other bytes than rank %d sent, first at offset %zu",
                 x->rank, peer, at);
    return at == x->length;
}

bool exchange_verify(struct exchange *x, const struct method *method, char *why, size_t length) {
    size_t first = walk_forward(&x->walk, x->length, x->slots);
    bool correct = true;
    for (int i = 0; i < x->count; i++)
        data_clear(incoming(x, first, i), x->length, x->seed, x->received[i].peer,
                   position(x, first, i));
    method->perform(x, first);
    for (int i = 0; i < x->count && correct; i++)
        correct = check(x, first, i, why, length);
    return correct;
}
