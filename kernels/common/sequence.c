#include "sequence.h"

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
