#include "data.h"

#include "random.h"

/* Built byte by byte: the same on processors of either byte order. */
struct ends ends_of(size_t length) {
    struct ends ends = {length > END_BYTES ? length - END_BYTES : 0, 0, 0};
    size_t covered = ends_bytes(length), head = covered < END_BYTES ? covered : END_BYTES;
    memset(&ends.head_mask, 0xFF, head);
    memset((unsigned char *)&ends.tail_mask + END_BYTES - (covered - head), 0xFF, covered - head);
    return ends;
}

size_t ends_bytes(size_t length) { return length < 2 * END_BYTES ? length : 2 * END_BYTES; }

uint64_t sequence_start(uint64_t seed, int sender, int receiver, int slot) {
    return mix64(seed ^ mix64((uint64_t)sender << 40 ^ (uint64_t)receiver << 8 ^ (uint64_t)slot));
}

/* --- whole messages */

/* Cheap to compute: whole buffers of Lmax are written and checked between measurements. */
static uint64_t first_word(uint64_t seed, int rank, size_t position) {
    return mix64(seed ^ mix64((uint64_t)rank)) + (uint64_t)(position / 8) * SEQUENCE_STEP;
}

static void write_words(unsigned char *bytes, size_t length, uint64_t word, uint64_t flip) {
    size_t whole = length / 8 * 8;
    for (size_t i = 0; i < whole; i += 8, word += SEQUENCE_STEP) {
        uint64_t value = word ^ flip;
        memcpy(bytes + i, &value, 8);
    }
    word ^= flip;
    memcpy(bytes + whole, &word, length - whole);
}

void data_fill(unsigned char *bytes, size_t length, uint64_t seed, int rank, size_t position) {
    write_words(bytes, length, first_word(seed, rank, position), 0);
}

void data_clear(unsigned char *bytes, size_t length, uint64_t seed, int rank, size_t position) {
    write_words(bytes, length, first_word(seed, rank, position), UINT64_MAX);
}

size_t data_differs(const unsigned char *bytes, size_t length, uint64_t seed, int rank,
                    size_t position) {
    uint64_t word = first_word(seed, rank, position), found;
    for (size_t i = 0; i < length; i += 8, word += SEQUENCE_STEP) {
        size_t part = length - i < 8 ? length - i : 8;
        found = word;
        memcpy(&found, bytes + i, part);
        if (found == word)
            continue;
        size_t byte = 0;
        while (bytes[i + byte] == ((const unsigned char *)&word)[byte])
            byte++;
        return i + byte;
    }
    return length;
}

/* --- where messages lie */

size_t walk_step(const struct walk *walk, size_t length) {
    return walk->apart > 0 ? walk->apart : (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t walk_forward(struct walk *walk, size_t length, int messages) {
    size_t bytes = walk_step(walk, length) * (size_t)messages;
    size_t first = walk->next + bytes <= walk->capacity ? walk->next : 0;
    walk->next = first + bytes;
    return first;
}
