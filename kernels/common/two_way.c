#include "two_way.h"

#include "buffers.h"
#include "random.h"

uint64_t two_way_memory(size_t largest) { return bytes_product(2 * DIRECTIONS, largest); }

void two_way_allocate(struct two_way *messages, size_t largest, uint64_t seed) {
    for (int d = 0; d < DIRECTIONS; d++) {
        messages->out[d] = (struct blocks){allocate(largest), largest, mix64(seed) + (uint64_t)d};
        messages->in[d] = (struct blocks){allocate(largest), largest, mix64(seed) + (uint64_t)d};
    }
}

void two_way_fill(struct two_way *messages, size_t size, int rank) {
    for (int d = 0; d < DIRECTIONS; d++) {
        messages->out[d].size = messages->in[d].size = size;
        blocks_fill(&messages->out[d], 0, rank);
    }
}

void two_way_clear(const struct two_way *messages) {
    for (int d = 0; d < DIRECTIONS; d++)
        blocks_clear(&messages->in[d], 0, 1);
}

bool two_way_check(const struct two_way *messages, enum direction direction, int sender, char *why,
                   size_t length) {
    return blocks_check(&messages->in[direction], 0, sender, why, length);
}
