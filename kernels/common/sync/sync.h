/* How ranks start a sample together: modules with a name, chosen by what the machine offers. */
#ifndef SYNC_H
#define SYNC_H

#include "topology.h"

#include <stdbool.h>
#include <stdint.h>

struct sync {
    const char *name;
    const char *clock;
    const char *seconds; /* meaning of a sample's seconds, for the header */
    bool shared_clock;   /* times of different ranks may be compared */
    bool yield;          /* more ranks than processors: yield while waiting */
    int64_t margin;      /* nanoseconds between agreement and start, on rank 0 */
    /* Returns when this rank is to start; false if it was late. Collective. */
    bool (*start)(const struct sync *sync);
};

/* Limits of the margin. Ranks that are late despite the largest were not running: waiting longer
 * would not help. */
#define SYNC_MIN_MARGIN ((int64_t)1000)
#define SYNC_MAX_MARGIN ((int64_t)100000)

/* Agreed start time: rank 0 names a moment on the shared clock, all ranks wait for it. */
bool sync_clock_available(const struct topology *topology);
void sync_clock(struct sync *sync, const struct topology *topology);

/* Our own dissemination barrier, the same with every MPI library; for ranks without a shared
 * clock. */
void sync_barrier(struct sync *sync);

/* How far apart the ranks leave the start, in seconds: the median over some starts, and the error
 * of the clocks' offsets, taken from round trips with rank 0. */
struct skew {
    double seconds, error;
};

/* On rank 0, for ranks without a shared clock. Collective. */
struct skew sync_skew(const struct sync *sync, const struct topology *topology);

/* The other side of rank 0's look at this rank's clock: receives, and sends the time back. */
void sync_answer(int times, int tag);

/* Rank 0's decision, on all ranks. Collective. */
int sync_decided(int decision);

/* Whether rank 0's clock is before the moment; the same answer on all ranks. Collective. */
bool sync_before(int64_t moment);

/* Whether it is true on all ranks. Collective. */
bool sync_all(bool mine);

/* The best module for this launch. Collective. */
void sync_choose(struct sync *sync, const struct topology *topology);

#endif
