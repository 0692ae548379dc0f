/* A kernel is one file that fills one struct and calls kernel_main. See docs/kernels.md. */
#ifndef KERNEL_H
#define KERNEL_H

#include "options.h"
#include "topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_LEVELS = 31, MAX_OPERATIONS = 16, REASON_LENGTH = 256 };

/* One rank's time on one level of a tree, summed over the calls of perform. */
struct level {
    double receive_seconds; /* in MPI_Recv, including the wait for the sender */
    double merge_seconds;   /* local work on what was received */
    uint64_t bytes;         /* received by this rank in one call; 0: nothing on this level */
};

/* Something measured at every size, such as one tree. */
struct operation {
    const char *name;       /* such as "tree_gather", "MPI_Gather" */
    const char *variant;    /* such as the tree's name; "-" for none */
    size_t size;            /* bytes per rank, set before any of the calls below */
    uint64_t useful_bytes;  /* what must reach its destination */
    uint64_t checked_bytes; /* of useful_bytes, looked at in every timed call */
    uint64_t wire_bytes;    /* all message bytes */
    int levels;             /* how many levels perform fills; 0: none */
    const void *parameters; /* the kernel's own */
    bool idle;              /* this rank is idle: its times do not count */

    /* Overwrite the destination: an old result must not pass for a new one. */
    void (*clear)(const struct operation *operation);
    /* Once, only what is timed. levels is NULL except while levels are probed. */
    void (*perform)(const struct operation *operation, struct level *levels);
    /* Whether the data on this rank are right; if not, why. */
    bool (*verify)(const struct operation *operation, char why[REASON_LENGTH]);
};

struct measurement; /* measure.h */

/* One launch. */
struct run {
    struct topology topology;
    struct common_options options;
    size_t size_unit; /* of what blocks hold, such as a key; 1 unless accept sets it */
    struct operation operations[MAX_OPERATIONS];
    int operation_count;
};

struct kernel {
    const char *name;
    int version; /* raised when it measures differently; as in src/mpicampaign/suites/kernels */
    const char *purpose;        /* for --help */
    const char *variant_column; /* what distinguishes operations, such as "tree" */
    int minimum_ranks;
    double default_budget;               /* seconds */
    const char *size_option;             /* the option to reduce when memory is short */
    const struct kernel_option *options; /* further options, ended by one without a name; or NULL */
    const char *seconds; /* meaning of the seconds; NULL: that of the synchronisation */

    /* Why the options cannot be served, into why; true when they can. Allocates no buffers. NULL:
     * they always can. */
    bool (*accept)(struct run *run, char why[REASON_LENGTH]);
    /* Bytes that set_up will allocate on this rank; UINT64_MAX on overflow. */
    uint64_t (*memory)(const struct run *run);
    /* Allocate and touch the buffers; kernels that sweep sizes add their operations. NULL: nothing.
     */
    void (*set_up)(struct run *run);
    /* Further header lines, by rank 0. */
    void (*describe)(const struct run *run);

    /* Either the kernel sweeps sizes: all operations are measured at min_size ... max_size by the
     * rules of measure.h. Prepares the data of all operations for blocks of size bytes per rank. */
    void (*set_size)(struct run *run, size_t size);
    /* Optionally measures more after the samples of each size and prints its own rows (describe
     * names their columns). Collective. */
    void (*look_further)(struct measurement *measurement);
    /* Or its original defines loops and repetitions: measures, prints its own rows on rank 0
     * (describe names their columns), counts the bytes that this rank received in timed messages,
     * and returns whether the data on this rank are right. */
    bool (*measure)(struct measurement *measurement, char why[REASON_LENGTH]);
};

/* True on all ranks if ok on all; otherwise rank 0 prints the lowest failing rank's reason. */
bool all_ranks(const char *kernel, bool ok, char why[REASON_LENGTH]);

/* Runs the kernel. The exit status is 0, 1 (wrong data, nothing measured
 * or output lost), or 2 (refused). */
int kernel_main(int argc, char **argv, const struct kernel *kernel);

/* The next size of the sweep: 0, the unit, then twice the size, and at last max_size. */
size_t size_after(const struct run *run, size_t size);

/* Number of sizes of the sweep from this one on. */
int sizes_from(const struct run *run, size_t size);

/* Adds an operation to the run, to be filled by the caller. */
struct operation *add_operation(struct run *run, const char *name, const char *variant);

#endif
