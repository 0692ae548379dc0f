/* When to stop: statistics of one operation's samples. No MPI. See docs/kernels.md. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include <stdbool.h>

/* Median of n > 0 values; the values are not reordered. */
double median(const double *values, int n);

/* Whether a and b differ by at most the given fraction of the smaller. */
bool agree(double a, double b, double fraction);

/* Order-statistic interval of the median, coverage at least 95 %. False if n is too small. */
bool median_interval(const double *values, int n, double *low, double *high);

/* Whether the interval of the median lies within 2 % of it and the medians of both halves agree
 * within 2 %. */
bool is_converged(const double *values, int n);

#endif
