/* All that the author of a kernel needs, in the order in which it is needed. See docs/kernels.md.
 *
 * A kernel is kernels/NAME.c, which fills one struct kernel and calls kernel_main; what it alone
 * needs may lie in the folder kernels/NAME. Parts that several kernels share have headers of their
 * own: data.h (messages whose bytes are checked), random.h, exchange/, pair/ and tree/. internal.h
 * is for the files here alone. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* --- what a kernel defines */

enum { MAX_LEVELS = 31, MAX_OPERATIONS = 16, REASON_LENGTH = 256 };

struct run;
struct measurement;

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
     * rules of measure.c. Prepares the data of all operations for blocks of size bytes per rank. */
    void (*set_size)(struct run *run, size_t size);
    /* Optionally measures more after the samples of each size and prints its own rows (describe
     * names their columns). Collective. */
    void (*look_further)(struct measurement *measurement);
    /* Or its original defines loops and repetitions: measures, prints its own rows on rank 0
     * (describe names their columns), counts the bytes that this rank received in timed messages,
     * and returns whether the data on this rank are right. */
    bool (*measure)(struct measurement *measurement, char why[REASON_LENGTH]);
};

/* Runs the kernel. The exit status is 0, 1 (wrong data, nothing measured
 * or output lost), or 2 (refused). */
int kernel_main(int argc, char **argv, const struct kernel *kernel);

/* --- its options */

/* Converts text into *target; false if it is not such a value. */
typedef bool option_parser(const char *text, void *target);

/* Not "option": getopt.h defines that, and SimGrid's smpicc includes it everywhere. */
struct kernel_option {
    const char *name;     /* "--min-size" */
    const char *argument; /* "SIZE"; NULL for a flag, which sets the bool at target */
    const char *help;
    const char *expected; /* completes "'x' is not ..." */
    option_parser *parse;
    void *target;
};

option_parser parse_any_size; /* size_t: 0, 1000, 64KiB, 4MiB, 1GiB */
option_parser parse_size;     /* the same, a power of two */
option_parser parse_seconds;  /* double, > 0, at most a day */
option_parser parse_seed;     /* uint64_t, decimal */
option_parser parse_text;     /* const char *, not empty */

/* --- the launch */

struct common_options {
    size_t min_size, max_size; /* bytes per rank; only for kernels that sweep sizes */
    double budget;             /* seconds for the whole run */
    uint64_t seed;
    bool help;
};

/* Which rank is on which node. */
struct topology {
    int rank, ranks;
    int nodes;
    int *node_of;        /* [ranks], numbered in order of first appearance: rank 0 is on node 0 */
    int *ranks_on;       /* [nodes] */
    char *names;         /* [nodes][MPI_MAX_PROCESSOR_NAME] */
    bool oversubscribed; /* some node has more ranks than processors */
};

/* Sum of value over the ranks on this rank's node, UINT64_MAX on overflow. Collective. */
uint64_t topology_node_sum(const struct topology *topology, uint64_t value);

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
    bool after_barrier;     /* starts after MPI_Barrier; the seconds are the largest duration */

    /* Change what the next timed call sends, outside of the timed interval. NULL: nothing. */
    void (*prepare)(const struct operation *operation);

    /* Overwrite the destination: an old result must not pass for a new one. */
    void (*clear)(const struct operation *operation);
    /* Once, only what is timed. levels is NULL except while levels are probed. */
    void (*perform)(const struct operation *operation, struct level *levels);
    /* Whether the data on this rank are right; if not, why. */
    bool (*verify)(const struct operation *operation, char why[REASON_LENGTH]);
};

struct run {
    struct topology topology;
    struct common_options options;
    size_t size_unit; /* of what blocks hold, such as a key; 1 unless accept sets it */
    /* A sample is one call from a start that all nodes share, by synchronised clocks; samples with
     * a late rank never count. False unless accept sets it. */
    bool from_common_start;
    struct operation operations[MAX_OPERATIONS];
    int operation_count;
};

/* Adds an operation to the run, to be filled by the caller. */
struct operation *add_operation(struct run *run, const char *name, const char *variant);

/* The next size of the sweep: 0, the unit, then twice the size, and at last max_size. */
size_t size_after(const struct run *run, size_t size);

/* --- memory */

/* a * b and a + b, or UINT64_MAX on overflow. */
uint64_t bytes_product(uint64_t a, uint64_t b);
uint64_t bytes_sum(uint64_t a, uint64_t b);

/* Page-aligned memory with all pages written: unwritten pages map to the kernel's zero page, which
 * shows up to 2.5 times the real bandwidth. Aborts the launch if there is no memory. */
void *allocate(size_t bytes);

/* Small memory for modules without MPI: n elements (also 0), all bytes 0, to be freed. Aborts the
 * process if there is no memory. */
static inline void *zeroed(size_t n, size_t size) {
    void *memory = calloc(n > 0 ? n : 1, size);
    if (memory == NULL)
        abort();
    return memory;
}

/* Physical memory of this node in bytes. */
uint64_t physical_memory(void);

/* A resource that a machine lacks is neither an error nor a value: the result is "not available".
 * Ends the program with status 0 on all ranks if any lacks something; rank 0 prints what the lowest
 * such rank does, in a line that the job script knows. Collective. */
void end_if_lacking(const char *kernel, bool lacks, char why[REASON_LENGTH]);

/* --- time: on Linux all processes on a node read the same CLOCK_MONOTONIC */

/* Nanoseconds since an arbitrary moment. One call costs 20 to 30 ns. */
int64_t clock_now(void);

/* A moment of this rank's clock on rank 0's, by the model learned last; without one, the same. */
int64_t clock_common(int64_t moment);

/* How far that was off at most since the last call, in ns: the bound (half of the fastest round
 * trips to rank 0), and what a model was found to be off when the next one was learned. */
enum { CLOCK_BOUND, CLOCK_FOUND, CLOCK_ERRORS };
void clock_errors(int64_t errors[CLOCK_ERRORS]);

/* Seconds since such a moment. */
double seconds_since(int64_t start);

/* How ranks start a sample together, chosen by what the machine offers. */
struct sync {
    const char *name;
    const char *clock;
    const char *seconds; /* meaning of a sample's seconds, for the header */
    bool shared_clock;   /* times of different ranks may be compared */
    bool yield;          /* more ranks than processors: yield while waiting */
    bool learned;        /* by models, which are learned again and again */
    int64_t margin;      /* nanoseconds between agreement and start, on rank 0 */
    int64_t max_margin;
    int64_t tolerance; /* nanoseconds: a rank that starts later was without a CPU: late, too */
    /* Returns when this rank is to start; false if it was late. Collective. */
    bool (*start)(const struct sync *sync);
};

/* Adapts the margin to what the ranks need, a message's time, after n starts of which some were
 * late. Ranks that are late despite the largest were not running: waiting longer would not help. */
void sync_adapt(struct sync *sync, int late, int n);

/* Rank 0's decision, on all ranks. Collective. */
int sync_decided(int decision);

/* Whether rank 0's clock is before the moment; the same answer on all ranks. Collective. */
bool sync_before(int64_t moment);

/* Whether it is true on all ranks. Collective. */
bool sync_all(bool mine);

/* --- a measurement */

#define BLOCK_SECONDS 10e-6 /* shortest timed block */
#define WARMUP_FRACTION 0.1 /* of the budget, at most */

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
    int late;             /* beside the samples: a rank was late for the start */
    double *seconds;      /* [MAX_SAMPLES]: of one call, in order of time */
    double *ends;         /* [MAX_SAMPLES]: of the block on this rank, from the common start */
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

static inline bool is_root(const struct measurement *m) { return m->run->topology.rank == 0; }

/* For look_further: after a timed block of one operation, outside the timed interval: whether its
 * calls brought this rank the right data (correct and why of the measurement), and how many bytes
 * that covers. Collective. */
void measure_check(struct measurement *measurement, const struct series *series);

/* For kernels with loops of their own: measurements in which this rank was ready to run and had no
 * CPU are counted by parts. The name of the part that begins, NULL for none; names must last. A
 * part that goes on later is the same one. */
void hits_of(const char *part);

/* Nanoseconds of waiting for a CPU so far; 0 where Linux does not count them. Takes about 0.3 us.
 */
int64_t waiting_so_far(void);

/* Counts one measurement of this rank in the present part; before: waiting_so_far at its start;
 * duration in ns. */
void hits_count(int64_t before, int64_t duration);

/* Quantile of n > 0 values, between neighbours in proportion; the values are not reordered. */
double quantile(const double *values, int n, double fraction);
double median(const double *values, int n);

/* --- the output, by rank 0 only */

/* One header line, #@key=value; line breaks in the value become spaces. */
void output_header(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One row, counted. */
void output_row(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends to a text, after the separator unless the text is empty; cut at the text's size. */
void text_append(char *text, size_t size, const char *separator, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
