/* The message lengths of the effective bandwidth (b_eff). No MPI. */
#ifndef EFFECTIVE_LENGTHS_H
#define EFFECTIVE_LENGTHS_H

#include <stddef.h>
#include <stdint.h>

enum { LENGTHS = 21, FIXED_LENGTHS = 13 };

#define LARGEST_FIXED ((size_t)4096)
#define LARGEST_LMAX ((size_t)128 << 20)
#define FIRST_APPROACH_LMAX ((size_t)1 << 20)

/* Lmax by the definition: a process' share of its node's memory / 128, at most 128 MiB. */
size_t effective_lmax(uint64_t memory_per_process);

/* 1, 2, 4 ... 4096 B, then 4096 a^k, k = 1 .. 8, up to Lmax. */
void effective_lengths(size_t lmax, size_t lengths[LENGTHS]);

/* 1, 2, 4 ... 2^20 B: those of the first approach. */
void first_approach_lengths(size_t lengths[LENGTHS]);

#endif
