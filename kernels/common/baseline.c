#include "baseline.h"

#include "output.h"

#include <mpi.h>
#include <string.h>

static const char NAME[] = "MPI_Gather";

bool baseline_left_out;

void baseline_describe(void) { output_header("baseline", "%s", baseline_left_out ? "none" : NAME); }

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
        if (!blocks_check(gathered, i, own_rank + i, why, REASON_LENGTH))
            return false;
    return true;
}

void baseline_add(struct run *run, struct blocks *blocks) {
    if (baseline_left_out)
        return;
    struct operation *operation = add_operation(run, NAME, "-");
    gathered = blocks;
    own_rank = run->topology.rank;
    held = own_rank == 0 ? run->topology.ranks : 1;
    operation->clear = clear;
    operation->perform = perform;
    operation->verify = verify;
}

void baseline_set_size(struct run *run, size_t size) {
    for (int i = 0; i < run->operation_count; i++) {
        struct operation *operation = &run->operations[i];
        if (strcmp(operation->name, NAME) != 0)
            continue;
        operation->size = size;
        operation->useful_bytes = (uint64_t)(run->topology.ranks - 1) * size;
        operation->wire_bytes =
            operation->useful_bytes; /* each block once, whatever the library does */
        operation->checked_bytes = (uint64_t)(run->topology.ranks - 1) * ends_bytes(size);
    }
}
