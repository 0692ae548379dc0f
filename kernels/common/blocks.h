/* Blocks to gather, one per rank, with a pattern that identifies each byte's rank and offset. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blocks {
    unsigned char *bytes;
    size_t size; /* of one block */
    uint64_t seed;
};

/* Writes the rank's pattern into the block at the position. */
void blocks_fill(const struct blocks *blocks, int position, int rank);

/* Overwrites the blocks at positions from .. to - 1 with bytes that differ from the pattern. */
void blocks_clear(const struct blocks *blocks, int from, int to);

/* Whether the block at the position holds the rank's pattern; if not, why says where it differs. */
bool blocks_check(const struct blocks *blocks, int position, int rank, char *why, size_t length);

#endif
