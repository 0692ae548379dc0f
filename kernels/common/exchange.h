/* One engine for the messages between a rank and its partners: whole patterns, rings, ping-pong. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- what the buffers hold: bytes that tell whose they are and where they lie; exchange_data.c
 * calls no MPI */

enum { ALIGNMENT = 16 }; /* of each message in the buffers */

/* Where messages lie: one behind the other, cyclically, so that memory and not a cache is read. */
struct walk {
    size_t next, capacity; /* capacity 0: always at the start */
    size_t apart;          /* from one message to the next; 0: as close as their length allows */
};

/* Bytes from one message to the next. */
size_t walk_step(const struct walk *walk, size_t length);

/* Where the next so many messages of a length begin. */
size_t walk_forward(struct walk *walk, size_t length, int messages);

/* The bytes of the rank's send buffer from a position on, a multiple of 8. */
void data_fill(unsigned char *bytes, size_t length, uint64_t seed, int rank, size_t position);

/* Bytes that all differ from those. */
void data_clear(unsigned char *bytes, size_t length, uint64_t seed, int rank, size_t position);

/* Offset of the first byte that differs from them; length where none does. */
size_t data_differs(const unsigned char *bytes, size_t length, uint64_t seed, int rank,
                    size_t position);

/* --- exchanges */

enum { MAX_MESSAGES = 6 }; /* of a rank in one exchange, each way */

/* Messages lie in slots of the buffers, and their tags tell these: what a partner sends from its
 * slot arrives in the slot of the same number here. */
struct message {
    int peer, slot;
};

/* What the buffers have room for. */
struct exchange_room {
    size_t largest; /* message */
    int slots;
    bool walks; /* through the whole buffer; else each slot stays at the same place, on own pages */
};

struct exchange {
    unsigned char *out, *in;
    struct walk walk;
    uint64_t seed;
    int rank, ranks;

    struct message sent[MAX_MESSAGES], received[MAX_MESSAGES]; /* in the order of their calls */
    int together[MAX_MESSAGES]; /* which is received by the MPI_Sendrecv that sends each */
    int count, slots;           /* count 0: no part in the exchange */
    bool answers;               /* in ping-pong: receives, then sends */
    size_t length, step;        /* of the present messages; from slot to slot */
    int *counts_out, *counts_in, *offsets_out, *offsets_in; /* [ranks], for MPI_Alltoallv */
};

/* How the messages of one exchange are sent and received. */
struct method {
    const char *name;
    void (*perform)(struct exchange *exchange, size_t first); /* first: where slot 0 begins */
};

enum {
    SENDRECV,    /* MPI_Sendrecv, one after the other */
    ALLTOALLV,   /* MPI_Alltoallv: by all ranks; one message at most to each */
    NONBLOCKING, /* all MPI_Irecv, all MPI_Isend, MPI_Waitall */
    IRECV_SEND,  /* all MPI_Irecv, MPI_Send one after the other, MPI_Waitall */
    ISEND_RECV,  /* all MPI_Isend, MPI_Recv one after the other, MPI_Waitall */
    PING_PONG,   /* with one partner: MPI_Send there, then one back */
    EXCHANGE_METHODS
};

extern const struct method EXCHANGE[EXCHANGE_METHODS];

/* Bytes that exchange_set_up takes. */
uint64_t exchange_memory(struct exchange_room room, int ranks);
void exchange_set_up(struct exchange *exchange, struct exchange_room room, int rank, int ranks,
                     uint64_t seed);

/* No partners; the ranks' messages of one exchange lie in so many slots. */
void exchange_begin(struct exchange *exchange, int slots);

/* One message more each way. */
void exchange_add(struct exchange *exchange, struct message sent, struct message received);

/* One partner, with one message each way; answers: the partner sends first in ping-pong. */
void exchange_set_pair(struct exchange *exchange, int peer, bool answers);

void exchange_set_length(struct exchange *exchange, size_t length);

/* So many exchanges back to back. */
void exchange_perform(struct exchange *exchange, const struct method *method, int loops);

/* This rank's seconds for so many, after one that is not timed. */
double exchange_seconds(struct exchange *exchange, const struct method *method, int loops);

/* One exchange into cleared memory: whether what arrived is right; if not, why. */
bool exchange_verify(struct exchange *exchange, const struct method *method, char *why,
                     size_t length);

#endif
