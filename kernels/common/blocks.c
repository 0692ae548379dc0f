#include "blocks.h"

#include "random.h"

#include <stdio.h>
#include <string.h>

static unsigned char *block_at(const struct blocks *blocks, int position) {
    return blocks->bytes + (size_t)position * blocks->size;
}

#define ODD 0x9E3779B97F4A7C15u /* gives all positions different 8-byte words */

/* Eight bytes of the pattern f(rank, offset). Cheap to compute: each timed block is checked. */
static uint64_t pattern(const struct blocks *blocks, int rank, size_t word) {
    return mix64(blocks->seed ^ mix64((uint64_t)rank)) + (uint64_t)word * ODD;
}

static size_t word_length(const struct blocks *blocks, size_t offset) {
    return blocks->size - offset < 8 ? blocks->size - offset : 8;
}

void blocks_fill(struct blocks *blocks, size_t size, int rank) {
    blocks->size = size;
    blocks->ends = ends_of(size);
    unsigned char *block = block_at(blocks, 0);
    for (size_t offset = 0; offset < blocks->size; offset += 8) {
        uint64_t word = pattern(blocks, rank, offset / 8);
        memcpy(block + offset, &word, word_length(blocks, offset));
    }
}

void blocks_clear(const struct blocks *blocks, int from, int to) {
    unsigned char *bytes = block_at(blocks, from);
    size_t length = (size_t)(to - from) * blocks->size;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)~bytes[i]; /* differs from what was there */
}

static bool ends_right(const struct blocks *blocks, int position, char *why, size_t length) {
    struct end_words wrong = blocks->wrong;
    ends_look(&blocks->ends, block_at(blocks, position), blocks->value, &wrong);
    snprintf(why, length, "a block arrived with wrong bytes at its %s",
             wrong.head != 0 ? "head" : "tail");
    return wrong.head == 0 && wrong.tail == 0;
}

/* The bytes between the ends. */
static bool inside_right(const struct blocks *blocks, int position, int rank, char *why,
                         size_t length) {
    const unsigned char *block = block_at(blocks, position);
    for (size_t offset = END_BYTES; offset + END_BYTES < blocks->size; offset += 8) {
        uint64_t word = pattern(blocks, rank, offset / 8);
        size_t rest = blocks->size - END_BYTES - offset, part = rest < 8 ? rest : 8;
        if (memcmp(block + offset, &word, part) != 0) {
            snprintf(why, length, "the block of rank %d differs in bytes %zu to %zu", rank, offset,
                     offset + part - 1);
            return false;
        }
    }
    return true;
}

bool blocks_check(const struct blocks *blocks, int position, int rank, char *why, size_t length) {
    return ends_right(blocks, position, why, length) &&
           inside_right(blocks, position, rank, why, length);
}
