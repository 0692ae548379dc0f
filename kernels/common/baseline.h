/* MPI_Gather of the same blocks in the same run: the library's own gather for comparison. */
#ifndef BASELINE_H
#define BASELINE_H

#include "blocks.h"
#include "kernel.h"

extern bool baseline_left_out;

/* The --no-baseline option, for a kernel's table. */
#define BASELINE_OPTION                                                                            \
    {"--no-baseline",   NULL, "leave out MPI_Gather, measured at the same sizes", NULL, NULL,      \
     &baseline_left_out}

/* Header line: the baseline or none. */
void baseline_describe(void);

/* Adds MPI_Gather unless --no-baseline was given. blocks must outlive the run; this rank's own
 * block is at position 0, and rank 0 has room for a block from each rank. */
void baseline_add(struct run *run, struct blocks *blocks);

/* Sets the size of MPI_Gather, if present; call for each size. */
void baseline_set_size(struct run *run, size_t size);

#endif
