/* What a kernel is: one file that fills one struct and calls kernel_main. See docs/kernels.md. */
#ifndef KERNEL_H
#define KERNEL_H

#include "options.h"
#include "topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_LEVELS = 31, MAX_OPERATIONS = 16, REASON_LENGTH = 256 };

/* Where one rank's time goes on one level of a tree: sums over the calls of perform. */
struct level {
    double receive_seconds; /* in MPI_Recv, waiting for the sender included */
    double merge_seconds;   /* local work on what was received */
    uint64_t bytes;         /* received by this rank in one call; 0: nothing on this level */
};

/* One thing that is measured at every size, such as one tree. */
struct operation {
    const char *name;       /* such as "tree_gather", "MPI_Gather" */
    const char *variant;    /* such as the tree's name; "-" for none */
    size_t size;            /* bytes per rank, set before any of the calls below */
    uint64_t useful_bytes;  /* what must reach its destination */
    uint64_t wire_bytes;    /* all message bytes */
    int levels;             /* how many levels perform fills; 0: none */
    const void *parameters; /* the kernel's own */
    bool idle;              /* this rank takes no part: its times do not count */

    /* Overwrite what the operation is to deliver: an old result must not pass for a new one. */
    void (*clear)(const struct operation *operation);
    /* Once; nothing but what is to be timed. levels is NULL except while levels are looked at. */
    void (*perform)(const struct operation *operation, struct level *levels);
    /* Whether the data on this rank are right; if not, why. */
    bool (*verify)(const struct operation *operation, char why[REASON_LENGTH]);
};

struct measurement; /* measure.h */

/* One launch. */
struct run {
    struct topology topology;
    struct common_options options;
    struct operation operations[MAX_OPERATIONS];
    int operation_count;
};

struct kernel {
    const char *name;
    const char *purpose;        /* for --help */
    const char *variant_column; /* what distinguishes operations, such as "tree" */
    int minimum_ranks;
    double default_budget;               /* seconds */
    const char *size_option;             /* the one to make smaller when memory is short */
    const struct kernel_option *options; /* further options, ended by one without a name */
    const char *seconds;                 /* what they are; NULL: as the synchronisation says */

    /* Why the options cannot be served, into why; true when they can. Allocates no buffers. */
    bool (*accept)(struct run *run, char why[REASON_LENGTH]);
    /* Bytes that set_up will allocate on this rank; UINT64_MAX where they overflow. */
    uint64_t (*memory)(const struct run *run);
    /* Allocate and touch the buffers; kernels that sweep sizes add their operations. */
    void (*set_up)(struct run *run);
    /* Further header lines, by rank 0. */
    void (*describe)(const struct run *run);

    /* A kernel either sweeps sizes: all operations are measured at min_size ... max_size by the
     * rules of measure.h. Prepare the data of all operations for blocks of size bytes per rank: */
    void (*set_size)(struct run *run, size_t size);
    /* And, if there is anything to add, look further and print rows of its own (describe names
     * their columns). After the samples of each size; collective. */
    void (*look_further)(struct measurement *measurement);
    /* Or its original defines loops and repetitions: measure, print rows of its own by rank 0
     * (describe names their columns), and say whether the data on this rank are right. */
    bool (*measure)(struct measurement *measurement, char why[REASON_LENGTH]);
};

/* True on all ranks when ok on all; otherwise rank 0 prints the lowest failing rank's reason. */
bool all_ranks(const char *kernel, bool ok, char why[REASON_LENGTH]);

/* Runs the kernel. The exit status is 0, 1 (wrong data or output lost), or 2 (refused). */
int kernel_main(int argc, char **argv, const struct kernel *kernel);

/* Adds an operation to the run and returns it for filling. */
struct operation *add_operation(struct run *run, const char *name, const char *variant);

#endif
