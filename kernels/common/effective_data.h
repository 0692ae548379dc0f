/* What the send buffers of the effective bandwidth (b_eff) hold: bytes that tell whose they are
 * and where in the buffer they lie. No MPI. */
#ifndef EFFECTIVE_DATA_H
#define EFFECTIVE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ALIGNMENT = 16 }; /* of each message in the buffers */

/* Messages lie one behind the other, cyclically, so that memory and not a cache is read. */
struct walk {
    size_t next, capacity;
};

/* Bytes from one message to the next. */
size_t walk_step(size_t length);

/* Where the next so many messages of a length begin. */
size_t walk_forward(struct walk *walk, size_t length, int messages);

/* The bytes of the rank's send buffer from a position on, a multiple of 8. */
void data_fill(unsigned char *bytes, size_t length, uint64_t seed, int rank, size_t position);

/* Bytes that all differ from those. */
void data_clear(unsigned char *bytes, size_t length, uint64_t seed, int rank, size_t position);

/* Offset of the first byte that differs from them; length where none does. */
size_t data_differs(const unsigned char *bytes, size_t length, uint64_t seed, int rank,
                    size_t position);

#endif
