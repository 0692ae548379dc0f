#include "internal.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>

/* True if ok on all ranks; otherwise all get the lowest failing rank's reason. Collective. */
static bool agreed(bool ok, char why[REASON_LENGTH]) {
    int rank, mine, failing;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = ok ? INT_MAX : rank;
    MPI_Allreduce(&mine, &failing, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (failing != INT_MAX)
        MPI_Bcast(why, REASON_LENGTH, MPI_CHAR, failing, MPI_COMM_WORLD);
    return failing == INT_MAX;
}

static bool is_first_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

/* The same, and rank 0 prints the reason. */
static bool all_ranks(const struct kernel *kernel, bool ok, char why[REASON_LENGTH]) {
    bool all = agreed(ok, why);
    if (!all && is_first_rank()) {
        fflush(stdout);
        fprintf(stderr, "%s: %s\n", kernel->name, why);
    }
    return all;
}

void end_if_lacking(const char *kernel, bool lacks, char why[REASON_LENGTH]) {
    if (agreed(!lacks, why))
        return;
    if (is_first_rank()) {
        output_begin(kernel);
        output_header("not_available", "%s", why);
        fflush(stdout);
    }
    MPI_Finalize();
    exit(0);
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

static bool refused(const struct kernel *kernel, struct run *run, int argc, char **argv) {
    char why[REASON_LENGTH] = "";
    bool ok = parse_options(argc, argv, kernel, &run->options, why);
    if (!all_ranks(kernel, ok, why))
        return true;
    if (run->options.help)
        return false;
    ok = enough_ranks(kernel, run, why) && (kernel->accept == NULL || kernel->accept(run, why));
    if (!all_ranks(kernel, ok, why))
        return true;
    ok = fits_memory(kernel, run, why);
    return !all_ranks(kernel, ok, why);
}

/* After the timed part, one more call into cleared memory: an old result must not pass. */
static bool verify_operation(const struct kernel *kernel, struct measurement *m,
                             const struct operation *operation) {
    operation->clear(operation);
    operation->perform(operation, NULL);
    measure_verify(m, operation);
    return all_ranks(kernel, m->correct, m->why);
}

static bool run_sizes(const struct kernel *kernel, struct run *run, struct measurement *m) {
    for (size_t size = run->options.min_size;; size = size_after(run, size)) {
        kernel->set_size(run, size);
        measure_size(m, size);
        bool correct = all_ranks(kernel, m->correct, m->why);
        if (correct && kernel->look_further != NULL) {
            kernel->look_further(m);
            correct = all_ranks(kernel, m->correct, m->why);
        }
        for (int i = 0; i < run->operation_count && correct; i++)
            correct = verify_operation(kernel, m, &run->operations[i]);
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
    return all_ranks(kernel, correct, why);
}

/* An output without rows, or one that was lost, is a failure on all ranks. */
static bool finish(const struct kernel *kernel, struct measurement *m, bool correct) {
    char nothing[REASON_LENGTH] = "nothing was measured: the output has no rows";
    char lost[REASON_LENGTH] = "the output could not be written completely";
    bool measured = true, written = true;
    hits_report(m->hits_known);
    if (is_root(m)) {
        measured = !correct || output_has_rows(); /* what is wrong has been said already */
        report_end(m);
        written = output_end(correct && measured ? "ok" : "failed");
    }
    return all_ranks(kernel, measured, nothing) && all_ranks(kernel, written, lost) && correct;
}

static int measure_kernel(const struct kernel *kernel, struct run *run) {
    static struct measurement measurement; /* too large for a stack */
    if (kernel->set_up != NULL)
        kernel->set_up(run);
    measure_begin(&measurement, run);
    report_header(kernel, &measurement);
    bool correct = kernel->measure != NULL ? run_original(kernel, &measurement)
                                           : run_sizes(kernel, run, &measurement);
    return finish(kernel, &measurement, correct) ? 0 : 1;
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
        print_help(kernel);
    MPI_Finalize();
    return status;
}
