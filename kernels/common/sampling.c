#include "internal.h"

#include <math.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sorted_copy(const double *values, int n) {
    double *copy = malloc((size_t)n * sizeof *copy);
    if (copy == NULL)
        abort();
    memcpy(copy, values, (size_t)n * sizeof *copy);
    qsort(copy, (size_t)n, sizeof *copy, compare);
    return copy;
}

double quantile(const double *values, int n, double fraction) {
    double *sorted = sorted_copy(values, n), place = fraction * (n - 1);
    int below = (int)place, above = below + 1 < n ? below + 1 : below;
    double share = place - below, result = (1 - share) * sorted[below] + share * sorted[above];
    free(sorted);
    return result;
}

double median(const double *values, int n) { return quantile(values, n, 0.5); }

bool agree(double a, double b, double fraction) { return fabs(a - b) <= fraction * fmin(a, b); }

bool median_interval(const double *values, int n, double *low, double *high) {
    /* The k-th smallest and k-th largest: P(Binomial(n, 1/2) < k) <= 2.5 %, normal approximation
     * rounded towards a wider interval. */
    int k = (int)floor((n - 1.96 * sqrt(n)) / 2);
    if (k < 1)
        return false;
    double *sorted = sorted_copy(values, n);
    *low = sorted[k - 1];
    *high = sorted[n - k];
    free(sorted);
    return true;
}

bool is_converged(const double *values, int n) {
    double low, high;
    if (n < 20 || !median_interval(values, n, &low, &high))
        return false;
    double centre = median(values, n);
    return low >= 0.98 * centre && high <= 1.02 * centre &&
           agree(median(values, n / 2), median(values + n / 2, n - n / 2), 0.02);
}
