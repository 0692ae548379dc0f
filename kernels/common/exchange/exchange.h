/* One engine for the messages between a rank and its partners: whole patterns, rings, ping-pong. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each message carries a sequence value at its head and its tail (data.h); between them are the
 * bytes of its position. The ends of each message are looked at when it has arrived; what differed
 * is judged later, outside the timed interval: exchange_intact. */

enum { MAX_MESSAGES = 6, FAULT_LENGTH = 160 }; /* messages of a rank in one exchange, each way */

/* Messages up to this length are checked as a whole after each timed loops. Reading longer ones in
 * between would evict from the caches what is measured next; exchange_verify checks those. */
#define WHOLE_BYTES ((size_t)64 << 10)

/* Messages lie in slots of the buffers, and their tags give the slot: what a partner sends from a
 * slot arrives in the slot of the same number here. */
struct message {
    int peer, slot;
};

/* What the buffers have room for. */
struct exchange_room {
    size_t largest; /* message */
    int slots;
    bool walks; /* through the whole buffer; else each slot stays in place, on its own pages */
};

struct exchange {
    unsigned char *out, *in;
    struct walk walk;
    uint64_t seed;
    int rank, ranks;

    struct message sent[MAX_MESSAGES], received[MAX_MESSAGES]; /* in the order of their calls */
    int together[MAX_MESSAGES]; /* the message received by the MPI_Sendrecv that sends each */
    int count, slots;           /* count 0: idle */
    bool answers;               /* in ping-pong: receives, then sends */
    size_t length, step;        /* of the current messages; from slot to slot */
    size_t at_out[MAX_MESSAGES], at_in[MAX_MESSAGES];       /* from slot 0 to each message's slot */
    int *counts_out, *counts_in, *offsets_out, *offsets_in; /* [ranks], for MPI_Alltoallv */

    struct ends ends;                                         /* of messages of this length */
    uint64_t value_out[MAX_MESSAGES], value_in[MAX_MESSAGES]; /* of the next messages */
    struct end_words kept[MAX_MESSAGES];  /* what the values of the next messages replace in out */
    struct end_words wrong[MAX_MESSAGES]; /* of all messages received with this length */
    uint64_t *calls;                      /* [ranks]: exchanges with each rank so far ... */
    uint64_t began[MAX_MESSAGES], calls_here; /* ... before the present partners, and with them */
    size_t last;                              /* where slot 0 of the last exchange began */
    bool unread;                              /* it was timed, and is not yet checked as a whole */
    uint64_t bytes_timed, bytes_checked;      /* of the messages received in timed exchanges */
    char fault[FAULT_LENGTH];                 /* the first wrong data; empty while all are right */
};

/* How the messages of one exchange are sent and received. */
struct method {
    const char *name;
    /* first: where slot 0 begins; next: where it will begin in the next exchange, whose sequence
     * values are written as soon as these messages are sent. */
    void (*perform)(struct exchange *exchange, size_t first, size_t next);
};

enum {
    SENDRECV,    /* MPI_Sendrecv, one after the other */
    ALLTOALLV,   /* MPI_Alltoallv: by all ranks; at most one message to each */
    NONBLOCKING, /* all MPI_Irecv, all MPI_Isend, MPI_Waitall */
    IRECV_SEND,  /* all MPI_Irecv, MPI_Send one after the other, MPI_Waitall */
    ISEND_RECV,  /* all MPI_Isend, MPI_Recv one after the other, MPI_Waitall */
    PING_PONG,   /* with one partner: one MPI_Send each way */
    EXCHANGE_METHODS
};

extern const struct method EXCHANGE[EXCHANGE_METHODS];

/* Bytes that exchange_set_up allocates. */
uint64_t exchange_memory(struct exchange_room room, int ranks);
void exchange_set_up(struct exchange *exchange, struct exchange_room room, int rank, int ranks,
                     uint64_t seed);

/* Removes all partners; sets the number of slots of one exchange. */
void exchange_begin(struct exchange *exchange, int slots);

/* Adds one message each way. */
void exchange_add(struct exchange *exchange, struct message sent, struct message received);

/* Sets one partner, with one message each way; answers: the partner sends first in ping-pong. */
void exchange_set_pair(struct exchange *exchange, int peer, bool answers);

/* 1 B or more. */
void exchange_set_length(struct exchange *exchange, size_t length);

/* Back-to-back exchanges. */
void exchange_perform(struct exchange *exchange, const struct method *method, int loops);

/* The same, timed. times: start and end, in ns of clock_now. */
void exchange_timed(struct exchange *exchange, const struct method *method, int loops,
                    int64_t times[2]);

/* This rank's seconds for these loops, after one untimed exchange. */
double exchange_seconds(struct exchange *exchange, const struct method *method, int loops);

/* To be called after timed exchanges, outside the timed interval: whether the ends of all messages
 * received so far were right, and all bytes of the last ones up to WHOLE_BYTES; if not, fault says
 * why, from then on. */
bool exchange_intact(struct exchange *exchange);

/* One exchange into cleared memory: whether all data so far were right, and all bytes that arrived
 * now; if not, fault says why. */
bool exchange_verify(struct exchange *exchange, const struct method *method);

#endif
