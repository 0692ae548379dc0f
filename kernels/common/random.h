/* Random numbers and orders, the same on every machine. No MPI. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood 2014). */

static inline uint64_t mix64(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static inline uint64_t random_next(uint64_t *state) {
    uint64_t value = mix64(*state);
    *state += 0x9E3779B97F4A7C15u;
    return value;
}

/* Shuffles the numbers uniformly (Fisher and Yates); advances the state. */
void shuffle(int *numbers, int count, uint64_t *state);

#endif
