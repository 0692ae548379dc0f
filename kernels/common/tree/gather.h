/* Blocks to gather, one per rank, and MPI_Gather of the same blocks in the same run: the library's
 * own gather for comparison. */
#ifndef GATHER_H
#define GATHER_H

#include "data.h"
#include "kernel.h"

/* Each byte identifies its rank and offset, but for the ends: they hold the sequence value of the
 * call (data.h). */
struct blocks {
    unsigned char *bytes;
    size_t size; /* of one block */
    uint64_t seed;
    struct ends ends;
    uint64_t value;         /* of this call, the same on all ranks: they call alike */
    struct end_words wrong; /* of all blocks received so far */
};

enum { BLOCKS_SLACK = END_BYTES }; /* allocated behind the last block: ends are written whole */

/* Writes the rank's pattern into the first block, its own; size bytes. */
void blocks_fill(struct blocks *blocks, size_t size, int rank);

/* Overwrites the blocks at positions from .. to - 1 with bytes that differ from those before. */
void blocks_clear(const struct blocks *blocks, int from, int to);

/* Begins a call: the own block's ends get the next sequence value. */
static inline void blocks_next(struct blocks *blocks) {
    blocks->value += SEQUENCE_STEP;
    if (blocks->size > 0)
        ends_write(&blocks->ends, blocks->bytes, blocks->value);
}

/* Looks at the ends of blocks that arrived in this call; blocks_check judges. */
static inline void blocks_look(struct blocks *blocks, int first, int count) {
    const unsigned char *block = blocks->bytes + (size_t)first * blocks->size;
    for (int i = 0; i < count; i++, block += blocks->size)
        ends_look(&blocks->ends, block, blocks->value, &blocks->wrong);
}

/* Whether the block at the position is the rank's, of the last call, and the ends of all blocks so
 * far were right; if not, why. */
bool blocks_check(const struct blocks *blocks, int position, int rank, char why[REASON_LENGTH]);

/* --- MPI_Gather */

extern bool baseline_left_out;

/* The --no-baseline option, for a kernel's table. */
#define BASELINE_OPTION                                                                            \
    {"--no-baseline",   NULL, "leave out MPI_Gather, measured at the same sizes", NULL, NULL,      \
     &baseline_left_out}

/* Header line: the baseline or none. */
void baseline_describe(void);

/* Adds MPI_Gather unless --no-baseline was given. blocks must outlive the run; this rank's own
 * block is at position 0, and rank 0 has room for a block from each rank. */
void baseline_add(struct run *run, struct blocks *blocks);

/* Sets the size of MPI_Gather, if present; call for each size. */
void baseline_set_size(const struct run *run, size_t size);

#endif
