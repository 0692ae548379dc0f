#include "exchange/exchange.h"

#include "kernel.h"

#include <mpi.h>
#include <stdio.h>

enum { TAG = 30, PAGE = 4096 }; /* the sender's slot is added to TAG */

static unsigned char *outgoing(const struct exchange *x, size_t first, int i) {
    return x->out + first + x->at_out[i];
}

static unsigned char *incoming(const struct exchange *x, size_t first, int i) {
    return x->in + first + x->at_in[i];
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

/* --- sequence values
 *
 * Copies of what does not change: a write through a pointer to bytes might change it otherwise. */

/* The bytes of the next messages that the values replace. */
static void keep(struct exchange *x, size_t first) {
    for (int i = 0; i < x->count; i++)
        x->kept[i] = ends_get(&x->ends, outgoing(x, first, i));
}

/* These bytes may lie in the middle of a longer message later. */
static void put_back(struct exchange *x, size_t first) {
    const struct ends ends = x->ends;
    unsigned char *out = x->out + first;
    for (int i = 0, count = x->count; i < count; i++)
        ends_put(&ends, out + x->at_out[i], x->kept[i]);
}

static void write_values(struct exchange *x, size_t first, uint64_t step) {
    const struct ends ends = x->ends;
    unsigned char *out = x->out + first;
    for (int i = 0, count = x->count; i < count; i++) {
        uint64_t value = x->value_out[i] + step;
        x->value_out[i] = value;
        ends_write(&ends, out + x->at_out[i], value);
    }
}

/* After the messages are sent. Messages that stay in place need nothing put back. */
static void renew(struct exchange *x, size_t first, size_t next) {
    if (next != first) {
        put_back(x, first);
        keep(x, next);
    }
    write_values(x, next, SEQUENCE_STEP);
}

static void look(struct exchange *x, size_t first) {
    const struct ends ends = x->ends;
    const unsigned char *in = x->in + first;
    for (int i = 0, count = x->count; i < count; i++) {
        ends_look(&ends, in + x->at_in[i], x->value_in[i], &x->wrong[i]);
        x->value_in[i] += SEQUENCE_STEP;
    }
}

static void renew_and_look(struct exchange *x, size_t first, size_t next) {
    renew(x, first, next);
    look(x, first);
}

/* --- methods */

/* In a ring it sends to one neighbour while receiving from the other. */
static void sendrecv(struct exchange *x, size_t first, size_t next) {
    for (int i = 0; i < x->count; i++) {
        int j = x->together[i];
        MPI_Sendrecv(outgoing(x, first, i), (int)x->length, MPI_BYTE, x->sent[i].peer,
                     TAG + x->sent[i].slot, incoming(x, first, j), (int)x->length, MPI_BYTE,
                     x->received[j].peer, TAG + x->received[j].slot, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    renew_and_look(x, first, next);
}

static void nonblocking(struct exchange *x, size_t first, size_t next) {
    MPI_Request requests[2 * MAX_MESSAGES];
    MPI_Status statuses[2 * MAX_MESSAGES];
    start_receives(x, first, requests);
    start_sends(x, first, requests + x->count);
    MPI_Waitall(2 * x->count, requests, statuses);
    renew_and_look(x, first, next);
}

static void irecv_send(struct exchange *x, size_t first, size_t next) {
    MPI_Request requests[MAX_MESSAGES];
    MPI_Status statuses[MAX_MESSAGES];
    start_receives(x, first, requests);
    for (int i = 0; i < x->count; i++)
        send(x, first, i);
    MPI_Waitall(x->count, requests, statuses);
    renew_and_look(x, first, next);
}

static void isend_recv(struct exchange *x, size_t first, size_t next) {
    MPI_Request requests[MAX_MESSAGES];
    MPI_Status statuses[MAX_MESSAGES];
    start_sends(x, first, requests);
    for (int i = 0; i < x->count; i++)
        receive(x, first, i);
    MPI_Waitall(x->count, requests, statuses);
    renew_and_look(x, first, next);
}

/* Called by all ranks, even those without partners. */
static void alltoallv(struct exchange *x, size_t first, size_t next) {
    for (int i = 0; i < x->count; i++) {
        x->offsets_out[x->sent[i].peer] = (int)(outgoing(x, first, i) - x->out);
        x->offsets_in[x->received[i].peer] = (int)(incoming(x, first, i) - x->in);
    }
    MPI_Alltoallv(x->out, x->counts_out, x->offsets_out, MPI_BYTE, x->in, x->counts_in,
                  x->offsets_in, MPI_BYTE, MPI_COMM_WORLD);
    renew_and_look(x, first, next);
}

/* The values of the next message are written, and those of the last one looked at, while the other
 * rank has the turn. */
static void ping_pong(struct exchange *x, size_t first, size_t next) {
    if (x->count == 0)
        return;
    if (x->answers) {
        receive(x, first, 0);
        send(x, first, 0);
        renew_and_look(x, first, next);
    } else {
        send(x, first, 0);
        renew(x, first, next);
        receive(x, first, 0);
        look(x, first);
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
    return 2 * (uint64_t)room.slots * slot_size(room) +
           (4 * sizeof(int) + sizeof(uint64_t)) * (uint64_t)ranks;
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
    x->calls = zeroed((size_t)ranks, sizeof(uint64_t));
}

/* --- wrong data */

/* The first fault stays. */
static void note(struct exchange *x, int i, const char *where) {
    if (x->fault[0] == '\0')
        snprintf(x->fault, FAULT_LENGTH,
                 "rank %d received other bytes than rank %d sent, %s of a message of %zu B",
                 x->rank, x->received[i].peer, where, x->length);
}

/* What was found while messages arrived: before partners or length change, and to judge them. */
static void note_ends(struct exchange *x) {
    for (int i = 0; i < x->count; i++) {
        if (x->wrong[i].head != 0)
            note(x, i, "in the first 8 bytes");
        else if (x->wrong[i].tail != 0)
            note(x, i, "in the last 8 bytes");
    }
}

/* All ranks walk in step: the message has the same position in the sender's buffer. */
static size_t position(const struct exchange *x, size_t first, int i) {
    return (size_t)(incoming(x, first, i) - x->in);
}

/* What lies between the ends of the last exchange's messages. */
static void note_middles(struct exchange *x) {
    for (int i = 0; i < x->count && x->length > 2 * END_BYTES; i++) {
        size_t length = x->length - 2 * END_BYTES;
        size_t at = data_differs(incoming(x, x->last, i) + END_BYTES, length, x->seed,
                                 x->received[i].peer, position(x, x->last, i) + END_BYTES);
        char where[40];
        snprintf(where, sizeof where, "first at offset %zu", at + END_BYTES);
        if (at < length)
            note(x, i, where);
    }
}

/* --- partners and lengths */

/* From now on MPI_Alltoallv sends nothing to the old partners. */
void exchange_begin(struct exchange *x, int slots) {
    note_ends(x);
    for (int i = 0; i < x->count; i++) {
        x->counts_out[x->sent[i].peer] = x->counts_in[x->received[i].peer] = 0;
        x->calls[x->sent[i].peer] = x->began[i] + x->calls_here;
    }
    x->calls_here = 0;
    x->unread = false;
    x->count = 0;
    x->slots = slots;
    x->answers = false;
}

/* Where two ranks' count of their exchanges has brought the value; the slot is the same on both. */
static uint64_t value(const struct exchange *x, int sender, int receiver, int slot) {
    uint64_t calls = x->calls[sender == x->rank ? receiver : sender];
    return sequence_start(x->seed, sender, receiver, slot) + calls * SEQUENCE_STEP;
}

static void place(struct exchange *x, int i) {
    x->at_out[i] = x->step * (size_t)x->sent[i].slot;
    x->at_in[i] = x->step * (size_t)x->received[i].slot;
}

void exchange_add(struct exchange *x, struct message sent, struct message received) {
    int new = x->count++;
    x->counts_out[sent.peer] = x->counts_in[received.peer] = (int)x->length;
    x->sent[new] = sent;
    x->received[new] = received;
    x->began[new] = x->calls[sent.peer];
    x->value_out[new] = value(x, x->rank, sent.peer, sent.slot);
    x->value_in[new] = value(x, received.peer, x->rank, received.slot);
    x->wrong[new] = (struct end_words){0, 0};
    place(x, new);
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
    note_ends(x);
    x->unread = false;
    x->length = length;
    x->ends = ends_of(length);
    x->step = walk_step(&x->walk, length);
    for (int i = 0; i < x->count; i++) {
        x->counts_out[x->sent[i].peer] = x->counts_in[x->received[i].peer] = (int)length;
        place(x, i);
    }
}

/* --- exchanges */

static size_t forward(struct exchange *x) { return walk_forward(&x->walk, x->length, x->slots); }

static void perform_from(struct exchange *x, const struct method *method, size_t first, int loops) {
    keep(x, first);
    write_values(x, first, 0);
    for (int i = 0; i < loops; i++) {
        size_t next = i + 1 < loops ? forward(x) : first;
        method->perform(x, first, next);
        x->last = first;
        first = next;
    }
    put_back(x, first);
    x->calls_here += (uint64_t)loops;
}

void exchange_perform(struct exchange *x, const struct method *method, int loops) {
    perform_from(x, method, forward(x), loops);
}

void exchange_timed(struct exchange *x, const struct method *method, int loops, int64_t times[2]) {
    uint64_t messages = (uint64_t)loops * (uint64_t)x->count;
    times[0] = clock_now();
    exchange_perform(x, method, loops);
    times[1] = clock_now();
    x->unread = true;
    x->bytes_timed += messages * x->length;
    x->bytes_checked += messages * ends_bytes(x->length);
}

double exchange_seconds(struct exchange *x, const struct method *method, int loops) {
    int64_t times[2];
    exchange_perform(x, method, 1);
    exchange_timed(x, method, loops, times);
    return (double)(times[1] - times[0]) * 1e-9;
}

bool exchange_intact(struct exchange *x) {
    note_ends(x);
    if (x->unread && x->length <= WHOLE_BYTES) {
        note_middles(x);
        x->bytes_checked += (uint64_t)x->count * (x->length - ends_bytes(x->length));
    }
    x->unread = false;
    return x->fault[0] == '\0';
}

/* Nothing that is there may pass for what is to arrive. */
static void clear(struct exchange *x, size_t first) {
    for (int i = 0; i < x->count; i++) {
        unsigned char *bytes = incoming(x, first, i);
        data_clear(bytes, x->length, x->seed, x->received[i].peer, position(x, first, i));
        ends_write(&x->ends, bytes, ~x->value_in[i]);
    }
}

bool exchange_verify(struct exchange *x, const struct method *method) {
    size_t first = forward(x);
    clear(x, first);
    perform_from(x, method, first, 1);
    note_ends(x);
    note_middles(x);
    return x->fault[0] == '\0';
}
