#include "kernel.h"

#include "buffers.h"
#include "clock.h"
#include "measure.h"
#include "output.h"
#include "report.h"
#include "waiting.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

struct operation *add_operation(struct run *run, const char *name, const char *variant) {
    if (run->operation_count == MAX_OPERATIONS) {
        fprintf(stderr, "more than %d operations in one kernel\n", MAX_OPERATIONS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct operation *operation = &run->operations[run->operation_count++];
    *operation = (struct operation){.name = name, .variant = variant};
    return operation;
}

bool all_ranks(const char *kernel, bool ok, char why[REASON_LENGTH]) {
    int rank, mine, failing;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = ok ? INT_MAX : rank;
    MPI_Allreduce(&mine, &failing, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (failing == INT_MAX)
        return true;
    MPI_Bcast(why, REASON_LENGTH, MPI_CHAR, failing, MPI_COMM_WORLD);
    if (rank == 0) {
        fflush(stdout);
        fprintf(stderr, "%s: %s\n", kernel, why);
    }
    return false;
}

static bool enough_ranks(const struct kernel *kernel, const struct run *run, char *why) {
    snprintf(why, REASON_LENGTH, "needs at least %d ranks, was started with %d: mpirun -n %d %s",
             kernel->minimum_ranks, run->topology.ranks, kernel->minimum_ranks, kernel->name);
    return run->topology.ranks >= kernel->minimum_ranks;
}

/* Checked before anything large is allocated: at most half of a node's memory. */
static bool fits_memory(const struct kernel *kernel, const struct run *run, char *why) {
    uint64_t needed = topology_node_sum(&run->topology, kernel->memory(run));
    uint64_t limit = physical_memory() / 2;
    snprintf(
        why, REASON_LENGTH,
        "needs %.3g GiB on one node, more than half of its memory (%.3g GiB); choose a smaller %s",
        (double)needed / (1 << 30), (double)limit / (1 << 29), kernel->size_option);
    return needed <= limit;
}

static struct command_line command_line(const struct kernel *kernel) {
    return (struct command_line){kernel->name, kernel->purpose, kernel->measure == NULL,
                                 kernel->default_budget, kernel->options};
}

static void help(const struct kernel *kernel) {
    const struct command_line line = command_line(kernel);
    print_help(&line);
}

static bool refused(const struct kernel *kernel, struct run *run, int argc, char **argv) {
    char why[REASON_LENGTH] = "";
    const struct command_line line = command_line(kernel);
    bool ok = parse_options(argc, argv, &line, &run->options, why, sizeof why);
    if (!all_ranks(kernel->name, ok, why))
        return true;
    if (run->options.help)
        return false;
    ok = enough_ranks(kernel, run, why) && (kernel->accept == NULL || kernel->accept(run, why));
    if (!all_ranks(kernel->name, ok, why))
        return true;
    ok = fits_memory(kernel, run, why);
    return !all_ranks(kernel->name, ok, why);
}

static bool verify(const struct operation *operation, char why[REASON_LENGTH]) {
    char detail[REASON_LENGTH] = "";
    if (operation->verify(operation, detail))
        return true;
    snprintf(why, REASON_LENGTH, "wrong data in %s %s at %zu B: %.150s", operation->name,
             operation->variant, operation->size, detail);
    return false;
}

/* After the timed part, one more call into cleared memory: an old result must not pass. */
static bool verify_operation(const struct kernel *kernel, const struct operation *operation) {
    char why[REASON_LENGTH] = "";
    operation->clear(operation);
    operation->perform(operation, NULL);
    return all_ranks(kernel->name, verify(operation, why), why);
}

size_t size_after(const struct run *run, size_t size) {
    size_t largest = run->options.max_size;
    if (size > largest / 2)
        return largest;
    return size > 0 ? 2 * size : run->size_unit < largest ? run->size_unit : largest;
}

int sizes_from(const struct run *run, size_t size) {
    int count = 1;
    for (; size < run->options.max_size; size = size_after(run, size))
        count++;
    return count;
}

static bool run_sizes(const struct kernel *kernel, struct run *run, struct measurement *m) {
    for (size_t size = run->options.min_size;; size = size_after(run, size)) {
        kernel->set_size(run, size);
        measure_size(m, size);
        bool correct = all_ranks(kernel->name, m->correct, m->why);
        if (correct && kernel->look_further != NULL) {
            kernel->look_further(m);
            correct = all_ranks(kernel->name, m->correct, m->why);
        }
        for (int i = 0; i < run->operation_count && correct; i++)
            correct = verify_operation(kernel, &run->operations[i]);
        report_size(m, correct);
        if (!correct || size == run->options.max_size)
            return correct;
    }
}

/* Each rank counted the bytes that it received. */
static void add_up_bytes(struct measurement *m) {
    uint64_t own[2] = {m->bytes_timed, m->bytes_checked}, all[2] = {0, 0};
    MPI_Reduce(own, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    m->bytes_timed = all[0];
    m->bytes_checked = all[1];
}

/* With the loops and repetitions of the original. */
static bool run_original(const struct kernel *kernel, struct measurement *m) {
    char why[REASON_LENGTH] = "wrong data";
    bool correct = kernel->measure(m, why);
    add_up_bytes(m);
    return all_ranks(kernel->name, correct, why);
}

/* An output without rows, or one that was lost, is a failure on all ranks. */
static bool finish(const struct kernel *kernel, const struct run *run, struct measurement *m,
                   bool correct) {
    char nothing[REASON_LENGTH] = "nothing was measured: the output has no rows";
    char lost[REASON_LENGTH] = "the output could not be written completely";
    bool measured = true, written = true;
    hits_report(m->hits_known);
    if (run->topology.rank == 0) {
        measured = !correct || output_has_rows(); /* what is wrong has been said already */
        report_end(m);
        written = output_end(correct && measured ? "ok" : "failed");
    }
    return all_ranks(kernel->name, measured, nothing) && all_ranks(kernel->name, written, lost) &&
           correct;
}

static int measure_kernel(const struct kernel *kernel, struct run *run) {
    static struct measurement measurement; /* too large for a stack */
    if (kernel->set_up != NULL)
        kernel->set_up(run);
    measure_begin(&measurement, run);
    report_header(kernel, &measurement, kernel->memory(run));
    bool correct = kernel->measure != NULL ? run_original(kernel, &measurement)
                                           : run_sizes(kernel, run, &measurement);
    return finish(kernel, run, &measurement, correct) ? 0 : 1;
}

int kernel_main(int argc, char **argv, const struct kernel *kernel) {
    static struct run run;
    MPI_Init(&argc, &argv);
    topology_find(&run.topology);
    run.size_unit = 1;
    int status = 0;
    if (refused(kernel, &run, argc, argv))
        status = 2;
    else if (!run.options.help)
        status = measure_kernel(kernel, &run);
    else if (run.topology.rank == 0)
        help(kernel);
    MPI_Finalize();
    return status;
}
