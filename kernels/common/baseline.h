/* MPI_Gather of the same blocks in the same run: what the library's own gather reaches. */
#ifndef BASELINE_H
#define BASELINE_H

#include "blocks.h"
#include "kernel.h"

/* Adds MPI_Gather unless --no-baseline was given. blocks must outlive the run; this rank's own
 * block is at position 0, rank 0 has room for a block of each rank. */
void baseline_add(struct run *run, const struct blocks *blocks);

/* Sets the size of the operation; call for each size. Others than MPI_Gather are left alone. */
void baseline_set_size(struct run *run, size_t size);

#endif
