/* Random numbers and orders, the same on every machine. No MPI. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
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

/* --- orders of ranks in a ring: order[0 .. ranks) */

/* By rank. */
void ring_natural(int *order, int ranks);

/* A shuffle that depends only on the seed and the ring's number. */
void ring_random(int *order, int ranks, uint64_t seed, int number);

struct neighbours {
    int left, right;
};

/* The rank's predecessor and successor in the ring. */
struct neighbours ring_neighbours(const int *order, int ranks, int rank);

/* --- orders of pairs */

/* All pairs, in rounds: in each round every rank meets one other, or none (-1) if the number of
 * ranks is odd; after all rounds each has met all others once. */
int tournament_rounds(int ranks);
int tournament_partner(int ranks, int round, int rank);

/* A prime stride does not fall in step with the ranks of a node. */
bool is_prime(long n);

#endif
