#include "tree/gather.h"

#include <mpi.h>
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

static bool ends_right(const struct blocks *blocks, int position, char why[REASON_LENGTH]) {
    struct end_words wrong = blocks->wrong;
    ends_look(&blocks->ends, block_at(blocks, position), blocks->value, &wrong);
    snprintf(why, REASON_LENGTH, "a block arrived with wrong bytes at its %s",
             wrong.head != 0 ? "head" : "tail");
    return wrong.head == 0 && wrong.tail == 0;
}

/* The bytes between the ends. */
static bool inside_right(const struct blocks *blocks, int position, int rank,
                         char why[REASON_LENGTH]) {
    if (blocks->size <= 2 * END_BYTES)
        return true;
    size_t inside = blocks->size - 2 * END_BYTES;
    size_t at =
        data_differs(block_at(blocks, position) + END_BYTES, inside, blocks->seed, rank, END_BYTES);
    snprintf(why, REASON_LENGTH, "the block of rank %d differs, first at offset %zu", rank,
             at + END_BYTES);
    return at == inside;
}

bool blocks_check(const struct blocks *blocks, int position, int rank, char why[REASON_LENGTH]) {
    return ends_right(blocks, position, why) && inside_right(blocks, position, rank, why);
}

/* --- MPI_Gather */

static const char NAME[] = "MPI_Gather";

bool baseline_left_out;

void baseline_describe(void) { output_header("baseline", "%s", baseline_left_out ? "none" : NAME); }

static struct operation *baseline; /* NULL: left out */
static struct blocks *gathered;
static int own_rank, held; /* blocks: all on rank 0, else its own */

/* The root's own block is in place, as in the trees. */
static void perform(const struct operation *operation, struct level *levels) {
    int count = (int)operation->size;
    (void)levels;
    blocks_next(gathered);
    MPI_Gather(own_rank == 0 ? MPI_IN_PLACE : gathered->bytes, count, MPI_BYTE, gathered->bytes,
               count, MPI_BYTE, 0, MPI_COMM_WORLD);
    blocks_look(gathered, 1, held - 1);
}

static void clear(const struct operation *operation) {
    (void)operation;
    blocks_clear(gathered, 1, held);
}

static bool verify(const struct operation *operation, char why[REASON_LENGTH]) {
    (void)operation;
    for (int i = 0; i < held; i++)
        if (!blocks_check(gathered, i, own_rank + i, why))
            return false;
    return true;
}

void baseline_add(struct run *run, struct blocks *blocks) {
    if (baseline_left_out)
        return;
    gathered = blocks;
    own_rank = run->topology.rank;
    held = own_rank == 0 ? run->topology.ranks : 1;
    baseline = add_operation(run, NAME, "-");
    baseline->clear = clear;
    baseline->perform = perform;
    baseline->verify = verify;
}

void baseline_set_size(const struct run *run, size_t size) {
    uint64_t others = (uint64_t)run->topology.ranks - 1;
    if (baseline == NULL)
        return;
    baseline->size = size;
    baseline->useful_bytes = others * size;
    baseline->wire_bytes = others * size; /* each block once, whatever the library does */
    baseline->checked_bytes = others * ends_bytes(size);
}
