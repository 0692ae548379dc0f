#include "baseline.h"

#include "output.h"

#include <mpi.h>
#include <string.h>

static const char NAME[] = "MPI_Gather";

bool baseline_left_out;

void baseline_describe(void) { output_header("baseline", "%s", baseline_left_out ? "none" : NAME); }

/* The root's own block is in place, as in the trees. */
static void perform(const struct operation *operation, struct level *levels) {
    const struct blocks *blocks = operation->parameters;
    int rank, count = (int)operation->size;
    (void)levels;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : blocks->bytes, count, MPI_BYTE, blocks->bytes, count,
               MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int held_blocks(int *rank) {
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return *rank == 0 ? ranks : 1;
}

static void clear(const struct operation *operation) {
    int rank;
    blocks_clear(operation->parameters, 1, held_blocks(&rank));
}

static bool verify(const struct operation *operation, char why[REASON_LENGTH]) {
    int rank, held = held_blocks(&rank);
    for (int i = 0; i < held; i++)
        if (!blocks_check(operation->parameters, i, rank + i, why, REASON_LENGTH))
            return false;
    return true;
}

void baseline_add(struct run *run, const struct blocks *blocks) {
    if (baseline_left_out)
        return;
    struct operation *operation = add_operation(run, NAME, "-");
    operation->parameters = blocks;
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
    }
}
