#include "internal.h"

#include <mpi.h>
#include <stdio.h>

/* Limits that keep the whole output under 300 kB. */
enum { MAX_KEPT = 60, SAMPLE_ROWS = 2200, LEVEL_ROWS = 1000 };

static int kept_samples(const struct run *run) {
    int fitting = SAMPLE_ROWS / (size_count(run) * run->operation_count);
    return fitting < MAX_KEPT ? fitting : MAX_KEPT;
}

/* Number of ranks with level rows: all, 1 (the root), or 0. */
static int level_ranks(const struct run *run) {
    int levels = 0, edges = 0;
    for (int i = 0; i < run->operation_count; i++) {
        levels += run->operations[i].levels;
        edges += run->operations[i].levels > 0 ? run->topology.ranks - 1 : 0;
    }
    if (edges * size_count(run) <= LEVEL_ROWS)
        return run->topology.ranks;
    return levels * size_count(run) <= LEVEL_ROWS ? 1 : 0;
}

static void report_hosts(const struct topology *topology) {
    size_t capacity = (size_t)topology->nodes * (MPI_MAX_PROCESSOR_NAME + 16), length = 0;
    char *hosts = allocate(capacity);
    for (int node = 0; node < topology->nodes; node++)
        length += (size_t)snprintf(hosts + length, capacity - length, "%s%s:%d", node ? "," : "",
                                   topology_name(topology, node), topology->ranks_on[node]);
    output_header("hosts", "%s", hosts);
    free(hosts);
}

/* The first lines of the library's version text; MPICH appends its whole configuration. */
static void report_library(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, lines = 0;
    MPI_Get_library_version(version, &length);
    for (char *c = version; *c; c++) {
        lines += *c == '\n';
        if (*c == '\n' || *c == '\t')
            *c = lines < 4 ? ' ' : '\0';
    }
    output_header("mpi_library", "%s", version);
}

static void report_launch(const struct run *run, int version) {
    const struct topology *topology = &run->topology;
    output_header("version", "%d", version);
    report_library();
    output_header("ranks", "%d", topology->ranks);
    output_header("nodes", "%d", topology->nodes);
    report_hosts(topology);
    output_header("oversubscribed", "%s", topology->oversubscribed ? "yes" : "no");
    output_header("seed", "%llu", (unsigned long long)run->options.seed);
    output_header("budget_seconds", "%g", run->options.budget);
}

static void report_synchronisation(const struct sync *sync, const char *seconds,
                                   const struct skew *skew) {
    output_header("clock", "%s", sync->clock);
    output_header("sync", "%s", sync->name);
    if (!sync->shared_clock) {
        output_header("sync_skew_seconds", "%.3g", skew->seconds);
        output_header("sync_skew_error_seconds", "%.3g", skew->error);
    }
    output_header("seconds", "%s", seconds != NULL ? seconds : sync->seconds);
}

static void report_sweep(const struct measurement *m) {
    output_header("min_size", "%zu", m->run->options.min_size);
    output_header("max_size", "%zu", m->run->options.max_size);
    if (m->run->from_common_start)
        output_header("block", "one call");
    else
        output_header("block", "calls back to back, %g s or more", BLOCK_SECONDS);
    output_header("warmup",
                  "windows of up to %d samples until two agree within %g, at most %g of "
                  "the budget",
                  WINDOW, WARMUP_AGREEMENT, WARMUP_FRACTION);
    output_header("stopping",
                  "order-statistic interval of the median within 0.02 and halves agree, "
                  "or budget spent");
    if (m->hits_known)
        output_header("hit",
                      "samples in which a rank waited for a CPU for more than %g of the block and "
                      "more than %g s; they count like all others",
                      HIT_SHARE, HIT_NANOSECONDS * 1e-9);
    else
        output_header("hit", "not examined: the kernel keeps no account of waiting (schedstat)");
    output_header("samples_kept", "at most %d of each operation and size, evenly spaced",
                  kept_samples(m->run));
    int ranks = level_ranks(m->run);
    output_header("levels_ranks", "%s", ranks > 1 ? "all" : ranks == 1 ? "root" : "none");
}

static void report_columns(const char *variant) {
    output_header("columns.samples",
                  "operation %s size sample block_messages seconds useful_bytes wire_bytes",
                  variant);
    output_header("columns.levels",
                  "operation %s size rank level receive_seconds merge_seconds bytes", variant);
    output_header("columns.sizes",
                  "operation %s size samples warmup_samples warmup_settled converged verified hit",
                  variant);
}

void report_header(const struct kernel *kernel, const struct measurement *m) {
    uint64_t memory = kernel->memory(m->run), largest;
    struct skew skew = {0, 0};
    if (!m->sync.shared_clock)
        skew = sync_skew(&m->sync, &m->run->topology);
    MPI_Reduce(&memory, &largest, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!is_root(m))
        return;
    output_begin(kernel->name);
    report_launch(m->run, kernel->version);
    output_header("memory_per_process_bytes", "%llu", (unsigned long long)largest);
    kernel->describe(m->run);
    report_synchronisation(&m->sync, kernel->seconds, &skew);
    if (kernel->measure != NULL)
        return;
    report_sweep(m);
    report_columns(kernel->variant_column);
}

static void report_samples(const struct series *s, int kept) {
    const struct operation *operation = s->operation;
    int shown = s->samples < kept ? s->samples : kept;
    for (int i = 0; i < shown; i++) {
        int sample = (int)((long)i * s->samples / shown);
        output_row("samples %s %s %zu %d %d %.6e %llu %llu", operation->name, operation->variant,
                   operation->size, sample, s->block, s->seconds[sample],
                   (unsigned long long)operation->useful_bytes,
                   (unsigned long long)operation->wire_bytes);
    }
}

static void report_rank_levels(const struct operation *operation, int rank,
                               const struct level *levels) {
    for (int i = 0; i < operation->levels; i++)
        if (levels[i].bytes > 0)
            output_row("levels %s %s %zu %d %d %.6e %.6e %llu", operation->name, operation->variant,
                       operation->size, rank, i, levels[i].receive_seconds, levels[i].merge_seconds,
                       (unsigned long long)levels[i].bytes);
}

static void report_levels(const struct run *run, const struct series *s) {
    int ranks = level_ranks(run), count = s->operation->levels;
    if (run->topology.rank == 0 && ranks == 1)
        report_rank_levels(s->operation, 0, s->levels);
    if (ranks <= 1)
        return;
    size_t bytes = (size_t)count * sizeof(struct level);
    struct level *all = allocate(bytes * (size_t)run->topology.ranks);
    MPI_Gather(s->levels, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int rank = 0; run->topology.rank == 0 && rank < ranks; rank++)
        report_rank_levels(s->operation, rank, all + rank * count);
    free(all);
}

static void report_series(const struct measurement *m, const struct series *s, bool correct) {
    char hits[16] = "-"; /* not examined */
    if (m->hits_known)
        snprintf(hits, sizeof hits, "%d", s->hits);
    output_row("sizes %s %s %zu %d %d %d %d %d %s", s->operation->name, s->operation->variant,
               s->operation->size, s->samples, s->warmup_samples, s->settled, s->converged, correct,
               hits);
}

void report_size(const struct measurement *m, bool correct) {
    bool root = is_root(m);
    for (int i = 0; i < m->run->operation_count; i++) {
        const struct series *s = &m->series[i];
        if (root && correct)
            report_samples(s, kept_samples(m->run));
        if (correct && s->operation->levels > 0)
            report_levels(m->run, s);
        if (root && s->samples > 0)
            report_series(m, s, correct);
    }
}

void report_end(const struct measurement *m) {
    output_header("spent_seconds", "%.3g", seconds_since(m->begun));
    output_header("late_starts", "%ld", m->late);
    output_header("start_margin_seconds", "%g", (double)m->sync.margin * 1e-9);
    if (m->bytes_timed > 0) {
        output_header("bytes_timed", "%llu", (unsigned long long)m->bytes_timed);
        output_header("bytes_checked", "%llu", (unsigned long long)m->bytes_checked);
    }
}
