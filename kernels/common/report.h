/* What is printed about a run: header, samples, levels, sizes; thinned to a compact output. */
#ifndef REPORT_H
#define REPORT_H

#include "measure.h"

/* Header lines; memory: what this rank allocates, in bytes. Collective. */
void report_header(const struct kernel *kernel, const struct measurement *measurement,
                   uint64_t memory);

/* The rows of one size; correct: whether the data of all operations were. Collective. */
void report_size(const struct measurement *measurement, bool correct);

/* What is known at the end only: time, repeated samples, checked bytes. Rank 0. */
void report_end(const struct measurement *measurement);

#endif
