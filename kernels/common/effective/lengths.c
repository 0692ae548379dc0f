#include "effective/effective.h"

#include <math.h>

size_t effective_lmax(uint64_t memory_per_process) {
    uint64_t lmax = memory_per_process / 128;
    return lmax < LARGEST_LMAX ? (size_t)lmax : LARGEST_LMAX;
}

void effective_lengths(size_t lmax, size_t lengths[LENGTHS]) {
    double ratio = (double)lmax / (double)LARGEST_FIXED;
    for (int i = 0; i < FIXED_LENGTHS; i++)
        lengths[i] = (size_t)1 << i;
    for (int i = FIXED_LENGTHS; i < LENGTHS; i++) {
        double step = (double)(i - FIXED_LENGTHS + 1) / (LENGTHS - FIXED_LENGTHS);
        lengths[i] = (size_t)llround((double)LARGEST_FIXED * pow(ratio, step));
    }
    lengths[LENGTHS - 1] = lmax;
}

void first_approach_lengths(size_t lengths[LENGTHS]) {
    for (int i = 0; i < LENGTHS; i++)
        lengths[i] = (size_t)1 << i;
}
