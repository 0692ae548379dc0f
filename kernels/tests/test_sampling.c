/* Applies the named function to the numbers on the command line and prints the result:
 * median V..., interval V..., converged V..., agree A B FRACTION. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 10000 };

int main(int argc, char **argv) {
    static double values[MAX_VALUES];
    int n = argc - 2;
    if (n < 1 || n > MAX_VALUES)
        return 2;
    for (int i = 0; i < n; i++)
        values[i] = strtod(argv[i + 2], NULL);
    double low, high;
    if (strcmp(argv[1], "median") == 0)
        printf("%.9g\n", median(values, n));
    else if (strcmp(argv[1], "interval") == 0 && median_interval(values, n, &low, &high))
        printf("%.9g %.9g\n", low, high);
    else if (strcmp(argv[1], "interval") == 0)
        printf("none\n");
    else if (strcmp(argv[1], "converged") == 0)
        printf("%d\n", is_converged(values, n));
    else if (strcmp(argv[1], "agree") == 0 && n == 3)
        printf("%d\n", agree(values[0], values[1], values[2]));
    else
        return 2;
    return 0;
}
