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

static double middle(const double *sorted, int n) {
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double median(const double *values, int n) {
    double *sorted = sorted_copy(values, n);
    double result = middle(sorted, n);
    free(sorted);
    return result;
}

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
