/* MPI_Gather of the same blocks in the same run: what the library's own gather reaches. */
#ifndef BASELINE_H
#define BASELINE_H

#include "blocks.h"
#include "kernel.h"

extern bool baseline_left_out;

/* The --no-baseline option, for a kernel's table. */
#define BASELINE_OPTION                                                                            \
    {"--no-baseline",   NULL, "leave out MPI_Gather, measured at the same sizes", NULL, NULL,      \
     &baseline_left_out}

/* Header line: whether there is a baseline. */
void baseline_describe(void);

/* Adds MPI_Gather unless --no-baseline was given. blocks must outlive the run; this rank's own
 * block is at position 0, rank 0 has room for a block of each rank. */
void baseline_add(struct run *run, const struct blocks *blocks);

/* Sets the size of the operation; call for each size. Others than MPI_Gather are left alone. */
void baseline_set_size(struct run *run, size_t size);

#endif
