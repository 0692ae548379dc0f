/* Contents of messages that are checked. No MPI.
 *
 * At both ends of each timed message is a sequence value, so that a message that is stale, swapped
 * or damaged there is found: writing and looking take a few instructions and no branch. The bytes
 * between them identify their sender and position. */
#ifndef DATA_H
#define DATA_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { END_BYTES = 8 }; /* bytes of an end */

/* From one value to the next, and between 8-byte words of a message. Odd: the lowest byte, all that
 * a message of 1 B has, always changes. */
#define SEQUENCE_STEP 0x9E3779B97F4A7C15u

/* The ends of messages of one length. Below 8 B the head is as long as the message, below 16 B the
 * tail is what the head leaves. Both occupy 8 bytes of memory even where they are shorter. */
struct ends {
    size_t tail;                   /* where the tail begins */
    uint64_t head_mask, tail_mask; /* which of their bytes belong to the message */
};

struct ends ends_of(size_t length);

/* Bytes of a message that its ends cover: at most 16. */
size_t ends_bytes(size_t length);

/* The first value of a sender's messages to a receiver with one tag or slot. */
uint64_t sequence_start(uint64_t seed, int sender, int receiver, int slot);

/* Eight bytes of each end: their former values, or the bits in which messages differed. */
struct end_words {
    uint64_t head, tail;
};

static inline uint64_t sequence_word(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, END_BYTES);
    return word;
}

/* The head is written last: it may overlap the tail. */
static inline void ends_put(const struct ends *ends, unsigned char *bytes, struct end_words words) {
    memcpy(bytes + ends->tail, &words.tail, END_BYTES);
    memcpy(bytes, &words.head, END_BYTES);
}

static inline struct end_words ends_get(const struct ends *ends, const unsigned char *bytes) {
    return (struct end_words){sequence_word(bytes), sequence_word(bytes + ends->tail)};
}

/* The tail is the complement of the head: a message whose ends were swapped differs. */
static inline void ends_write(const struct ends *ends, unsigned char *bytes, uint64_t value) {
    ends_put(ends, bytes, (struct end_words){value, ~value});
}

/* Adds what differs from the value at the ends of a received message. */
static inline void ends_look(const struct ends *ends, const unsigned char *bytes, uint64_t value,
                             struct end_words *wrong) {
    wrong->head |= (sequence_word(bytes) ^ value) & ends->head_mask;
    wrong->tail |= (sequence_word(bytes + ends->tail) ^ ~value) & ends->tail_mask;
}

/* --- whole messages */

/* The bytes of the rank's send buffer from a position, a multiple of 8. */
void data_fill(unsigned char *bytes, size_t length, uint64_t seed, int rank, size_t position);

/* Bytes that all differ from these. */
void data_clear(unsigned char *bytes, size_t length, uint64_t seed, int rank, size_t position);

/* Offset of the first byte that differs; length if none does. */
size_t data_differs(const unsigned char *bytes, size_t length, uint64_t seed, int rank,
                    size_t position);

/* --- where messages lie in a buffer: one after another, cyclically, so that reads come from
 * memory, not a cache */

enum { ALIGNMENT = 16 }; /* of each message in the buffers */

struct walk {
    size_t next, capacity; /* capacity 0: always at the start */
    size_t apart;          /* from one message to the next; 0: packed */
};

/* Bytes from one message to the next. */
size_t walk_step(const struct walk *walk, size_t length);

/* Where the next messages of this length begin. */
size_t walk_forward(struct walk *walk, size_t length, int messages);

#endif
