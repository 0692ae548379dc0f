/* What the files of this folder call of each other. Each calls only those above it here; main.c,
 * which calls all of them, comes last. */
#ifndef INTERNAL_H
#define INTERNAL_H

#include "kernel.h"

/* --- options.c */

/* Parses the command line; false and a reason on error. */
bool parse_options(int argc, char **argv, const struct kernel *kernel,
                   struct common_options *common, char why[REASON_LENGTH]);

/* Prints --help: usage, the kernel's options, the common ones with their defaults. */
void print_help(const struct kernel *kernel);

/* --- output.c */

/* Starts the output; must come first. */
void output_begin(const char *kernel);

/* Whether any row was printed. */
bool output_has_rows(void);

/* The end mark. False when some of the output could not be written, such as on a full disk. */
bool output_end(const char *status);

/* --- sampling.c: when to stop; no MPI */

/* Whether a and b differ by at most the given fraction of the smaller. */
bool agree(double a, double b, double fraction);

/* Order-statistic interval of the median, coverage at least 95 %. False if n is too small. */
bool median_interval(const double *values, int n, double *low, double *high);

/* Whether the interval of the median lies within 2 % of it and the medians of both halves agree
 * within 2 %. */
bool is_converged(const double *values, int n);

/* --- clock.c */

/* Opens the account of how long this thread was ready to run and had no CPU; false where there is
 * none. */
bool waiting_open(void);

#define HIT_SHARE 0.1         /* a measurement is hit if the rank waited for more of its time */
#define HIT_NANOSECONDS 20000 /* and longer than that: a wake-up of a sleeping rank takes less */

/* Whether the rank waited too long in a measurement of this duration (ns); before: waiting_so_far
 * at its start. */
bool waiting_hit(int64_t before, int64_t duration);

/* A header line "hit_parts": of each part how many measurements of ranks were hit, and of how many;
 * none without parts. known: whether all ranks have an account. Collective. */
void hits_report(bool known);

/* --- topology.c */

/* Collective. MPI's processor names distinguish the nodes. */
void topology_find(struct topology *topology);

const char *topology_name(const struct topology *topology, int node);

/* --- sync/offset.c: clocks of other ranks, by round trips */

/* Whether all ranks read one clock. Collective. */
bool sync_clock_is_shared(const struct topology *topology);

/* Learns a model of rank 0's clock on all others, and again when a tenth of a second has passed.
 * Collective. */
void clocks_learn(const struct topology *topology);
void clocks_refresh(const struct topology *topology);

/* How far apart the ranks leave the start, in seconds: the median over some starts, and the error
 * of the clocks' offsets. */
struct skew {
    double seconds, error;
};

/* On rank 0, for ranks without a shared clock. Collective. */
struct skew sync_skew(const struct sync *sync, const struct topology *topology);

/* --- sync/start.c */

/* The best start for this launch: at an agreed time on a shared clock, else after a barrier or, if
 * the start must be common, on learned clocks. Collective. */
void sync_choose(struct sync *sync, const struct run *run);

/* --- measure.c: all operations at one size: blocks, warm-up, windows, adaptive stopping, levels */

enum { WINDOW = 10 };         /* samples between checks of the clock and the statistics */
#define WARMUP_AGREEMENT 0.05 /* between consecutive windows */

/* Number of sizes of the sweep. */
int size_count(const struct run *run);

/* Chooses the synchronisation and starts the budget. Collective. */
void measure_begin(struct measurement *measurement, const struct run *run);

/* Fills the series of all operations at one size. Collective. */
void measure_size(struct measurement *measurement, size_t size);

/* Whether the data of an operation's last call are right: correct and why of the measurement. */
void measure_verify(struct measurement *measurement, const struct operation *operation);

/* --- report.c: what is printed about a run, thinned to a compact output */

/* Header lines. Collective. */
void report_header(const struct kernel *kernel, const struct measurement *measurement);

/* The rows of one size; correct: whether the data of all operations were. Collective. */
void report_size(const struct measurement *measurement, bool correct);

/* What is known at the end only: time, repeated samples, checked bytes. Rank 0. */
void report_end(const struct measurement *measurement);

#endif
