#include "blocks.h"

#include "exchange/exchange.h"

#include <stdio.h>

static unsigned char *block_at(const struct blocks *blocks, int position) {
    return blocks->bytes + (size_t)position * blocks->size;
}

void blocks_fill(struct blocks *blocks, size_t size, int rank) {
    blocks->size = size;
    blocks->ends = ends_of(size);
    data_fill(blocks->bytes, size, blocks->seed, rank, 0);
}

void blocks_clear(const struct blocks *blocks, int from, int to) {
    unsigned char *bytes = block_at(blocks, from);
    size_t length = (size_t)(to - from) * blocks->size;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)~bytes[i]; /* differs from the byte before */
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
    if (blocks->size <= 2 * END_BYTES)
        return true;
    size_t inside = blocks->size - 2 * END_BYTES;
    size_t at =
        data_differs(block_at(blocks, position) + END_BYTES, inside, blocks->seed, rank, END_BYTES);
    snprintf(why, length, "the block of rank %d differs, first at offset %zu", rank,
             at + END_BYTES);
    return at == inside;
}

bool blocks_check(const struct blocks *blocks, int position, int rank, char *why, size_t length) {
    return ends_right(blocks, position, why, length) &&
           inside_right(blocks, position, rank, why, length);
}
