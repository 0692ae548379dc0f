/* Measures all operations at one size: blocks, warm-up, windows, adaptive stopping, levels. */
#ifndef MEASURE_H
#define MEASURE_H

#include "kernel.h"
#include "sync/sync.h"

enum {
    MAX_SAMPLES = 10000, /* of one operation at one size */
    WINDOW = 10,         /* samples between checks of the clock and the statistics */
    MIN_SAMPLES = 5,     /* even when the share of a size is spent */
    LATE_SAMPLES = 2,    /* even when the whole budget is */
    FIRST_SAMPLES = 3,   /* to choose the block */
    MAX_PROBES = 9,      /* of the levels */
    EVEN_PARTS = 16      /* a size's share of the budget grows with size + max_size / EVEN_PARTS */
};

#define BLOCK_SECONDS 10e-6   /* shortest timed block */
#define RESERVE 0.1           /* of the budget, for what begins before its end */
#define WARMUP_FRACTION 0.1   /* of the budget, at most */
#define WARMUP_AGREEMENT 0.05 /* between consecutive windows */

/* The samples of one operation at one size. Rank 0 has the values, all ranks the decisions. */
struct series {
    const struct operation *operation;
    int block;          /* calls in one timed block; 0: not measured yet */
    int window;         /* samples in one window */
    int warmup_samples; /* dropped */
    bool settled;       /* the warm-up windows agreed in time */
    bool done, converged;
    int samples;
    int hits;             /* of the samples: a rank waited for a CPU */
    double *seconds;      /* [MAX_SAMPLES]: of one call, in order of time */
    struct level *levels; /* [MAX_LEVELS]: medians of this rank, of one call */
};

struct measurement {
    const struct run *run;
    struct sync sync;
    int64_t begun, deadline; /* of the whole run, rank 0's clock */
    long late;               /* samples repeated because a rank was late for the agreed start */
    uint64_t bytes_timed, bytes_checked; /* useful bytes of all timed calls, warm-up included */
    bool hits_known;                     /* the kernel of each rank counts its waiting */
    bool correct;            /* the checked timed calls brought this rank the right data */
    char why[REASON_LENGTH]; /* if not */
    struct series series[MAX_OPERATIONS];
};

/* Chooses the synchronisation and starts the budget. Collective. */
void measure_begin(struct measurement *measurement, const struct run *run);

/* Fills the series of all operations at one size. Collective. */
void measure_size(struct measurement *measurement, size_t size);

/* After a timed block of one operation, outside the timed interval: whether its calls brought this
 * rank the right data (correct and why of the measurement), and how many bytes that covers.
 * Collective. */
void measure_check(struct measurement *measurement, const struct series *series);

#endif
