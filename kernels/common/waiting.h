/* How long this rank's thread was ready to run and had no CPU, as the kernel counts it, and the
 * measurements that this hit. */
#ifndef WAITING_H
#define WAITING_H

#include <stdbool.h>
#include <stdint.h>

/* Opens the kernel's account of the calling thread; false where there is none. */
bool waiting_open(void);

/* Nanoseconds of waiting so far; 0 where the kernel does not count them. Takes about 0.3 us. */
int64_t waiting_so_far(void);

#define HIT_SHARE 0.1         /* a measurement is hit if the rank waited for more of its time */
#define HIT_NANOSECONDS 20000 /* and longer than that: a wake-up of a sleeping rank takes less */

/* Whether the rank waited too long in a measurement of this duration (ns); before: waiting_so_far
 * at its start. */
bool waiting_hit(int64_t before, int64_t duration);

/* Kernels with loops of their own count by parts: the name of the part that begins, NULL for none;
 * names must last. A part that goes on later is the same one. */
void hits_of(const char *part);

/* Counts one measurement of this rank in the present part. */
void hits_count(int64_t before, int64_t duration);

/* A header line "hit_parts": of each part how many measurements of ranks were hit, and of how many;
 * none without parts. known: whether all ranks have an account. Collective. */
void hits_report(bool known);

#endif
