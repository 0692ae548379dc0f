#include "measure.h"

#include "buffers.h"
#include "clock.h"
#include "sampling.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static bool is_root(const struct measurement *m) { return m->run->topology.rank == 0; }

void measure_begin(struct measurement *m, const struct run *run) {
    memset(m, 0, sizeof *m);
    m->run = run;
    m->correct = true;
    sync_choose(&m->sync, &run->topology);
    m->deadline = clock_now() + (int64_t)(run->options.budget * 1e9);
    for (int i = 0; i < run->operation_count; i++) {
        m->series[i].seconds = allocate(MAX_SAMPLES * sizeof(double));
        m->series[i].levels = allocate(MAX_LEVELS * sizeof(struct level));
    }
}

/* One timed block on this rank. times: start and end, in ns of clock_now. */
static bool timed_block(const struct measurement *m, const struct series *s, int64_t times[2]) {
    const struct operation *operation = s->operation;
    bool on_time = m->sync.start(&m->sync);
    times[0] = clock_now();
    for (int i = 0; i < s->block; i++)
        operation->perform(operation, NULL);
    times[1] = clock_now();
    return on_time;
}

/* Adapts the margin to what the ranks need: a message's time, more if processors are shared. */
static void adapt_margin(struct sync *sync, int late, int n) {
    if (5 * late >= n && sync->margin < SYNC_MAX_MARGIN)
        sync->margin += sync->margin / 2;
    else if (late == 0 && sync->margin > SYNC_MIN_MARGIN)
        sync->margin -= sync->margin / 20;
}

/* Neither the earliest start nor the latest end, and never late. */
static void leave_out(int64_t *first, int64_t *last, int *late) {
    *first = INT64_MAX;
    *last = INT64_MIN;
    *late = 0;
}

/* Seconds of n blocks from each rank's times: rank 0 gets the blocks without a late rank and
 * returns their number. If all are late at the largest margin, all are kept. */
static int combine(struct measurement *m, bool idle, int64_t (*times)[2], int *late, int n,
                   double *seconds) {
    int64_t first[WINDOW], last[WINDOW], own_first[WINDOW], own_last[WINDOW];
    int any_late[WINDOW], kept = 0, late_count = 0;
    for (int i = 0; i < n; i++) {
        int64_t origin = m->sync.shared_clock ? 0 : times[i][0];
        own_first[i] = times[i][0] - origin;
        own_last[i] = times[i][1] - origin;
        if (idle)
            leave_out(&own_first[i], &own_last[i], &late[i]);
    }
    MPI_Reduce(own_first, first, n, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(own_last, last, n, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(late, any_late, n, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!is_root(m))
        return 0;
    for (int i = 0; i < n; i++)
        late_count += any_late[i];
    bool keep_all = late_count == n && m->sync.margin >= SYNC_MAX_MARGIN;
    for (int i = 0; i < n; i++)
        if (keep_all || !any_late[i])
            seconds[kept++] = (double)(last[i] - first[i]) * 1e-9;
    m->late += late_count;
    adapt_margin(&m->sync, late_count, n);
    return kept;
}

/* What the last timed call of a window brought, outside the timed interval. Before any rank can
 * start another call: its messages would look like left-over ones. */
static void check_last_call(struct measurement *m, const struct series *s, int n) {
    char detail[REASON_LENGTH] = "";
    const struct operation *operation = s->operation;
    m->bytes_timed += operation->useful_bytes * (uint64_t)s->block * (uint64_t)n;
    m->bytes_checked += operation->useful_bytes;
    if (m->correct && !operation->verify(operation, detail)) {
        m->correct = false;
        snprintf(m->why, REASON_LENGTH, "wrong data in %s %s at %zu B: %.150s", operation->name,
                 operation->variant, operation->size, detail);
    }
}

/* One window of n <= WINDOW samples; on rank 0 the seconds of one call and their number. An untimed
 * call first restores what other operations, and the check of the data, evicted from the caches. */
static int take_window(struct measurement *m, const struct series *s, int n, double *seconds) {
    int64_t times[WINDOW][2];
    int late[WINDOW];
    s->operation->perform(s->operation, NULL);
    for (int i = 0; i < n; i++)
        late[i] = !timed_block(m, s, times[i]);
    check_last_call(m, s, n);
    int kept = combine(m, s->operation->idle, times, late, n, seconds);
    for (int i = 0; i < kept; i++)
        seconds[i] /= s->block;
    return kept;
}

/* A window with at least one punctual sample: the margin grows until there is one. */
static int take_samples(struct measurement *m, const struct series *s, int n, double *seconds) {
    int kept;
    do
        kept = take_window(m, s, n, seconds);
    while (sync_decided(kept == 0));
    return kept;
}

/* Calls that make a block long enough to time, at most ten times the current number. */
static int needed_block(const struct series *s, double call) {
    double needed = 1.2 * BLOCK_SECONDS / (call > 1e-9 ? call : 1e-9);
    if (call * s->block >= BLOCK_SECONDS || needed <= s->block)
        return s->block;
    return needed < 10.0 * s->block ? (int)needed + 1 : 10 * s->block;
}

/* Makes the block longer if it is too short; call: seconds of one call, on rank 0. */
static bool grow_block(struct series *s, double call) {
    int block = sync_decided(needed_block(s, call));
    bool grown = block > s->block;
    s->block = block;
    return grown;
}

static int window_for(double budget, double block_seconds) {
    double fitting = budget / block_seconds;
    return fitting >= WINDOW ? WINDOW : fitting < 1 ? 1 : (int)fitting;
}

/* Finds a first block; a window then holds as many as fit a quarter of the time. */
static void choose_block(struct measurement *m, struct series *s, double budget) {
    double seconds[WINDOW], call = 0;
    s->block = 1;
    do {
        int kept = take_samples(m, s, 3, seconds);
        call = is_root(m) ? median(seconds, kept) : 0;
        s->warmup_samples += kept;
    } while (grow_block(s, call));
    s->window = sync_decided(window_for(budget / 4, call * s->block));
}

/* Drops windows until two in a row agree or its share of the time is spent. */
static void warm_up(struct measurement *m, struct series *s, double budget) {
    int64_t start = clock_now();
    double seconds[WINDOW], before = 0, call = 0;
    choose_block(m, s, budget);
    bool more = true;
    while (more) {
        int kept = take_samples(m, s, s->window, seconds);
        call = is_root(m) ? median(seconds, kept) : 0;
        s->settled = before > 0 && agree(before, call, WARMUP_AGREEMENT);
        s->warmup_samples += kept;
        before = grow_block(s, call) ? 0 : call;
        bool spent = (double)(clock_now() - start) * 1e-9 > budget;
        more = sync_decided(!s->settled && !spent);
    }
}

/* One more window for one operation; then rank 0 checks the statistics and the clock. */
static void continue_series(struct measurement *m, struct series *s, int64_t until) {
    int n = s->window < MIN_SAMPLES ? MIN_SAMPLES : s->window;
    s->samples += take_samples(m, s, n, s->seconds + s->samples);
    if (grow_block(s, is_root(m) ? median(s->seconds, s->samples) : 0)) {
        s->warmup_samples += s->samples; /* faster than during the warm-up: start again */
        s->samples = 0;
    } else if (is_root(m)) {
        s->converged = is_converged(s->seconds, s->samples);
        s->done = s->converged || s->samples > MAX_SAMPLES - WINDOW ||
                  (s->samples >= MIN_SAMPLES && clock_now() > until);
    }
    s->done = sync_decided(s->done) != 0;
}

/* Times of each level, probed apart from the samples: reading the clock would lengthen those. */
static void probe_levels(struct measurement *m, struct series *s, int64_t until) {
    struct level probes[MAX_PROBES][MAX_LEVELS];
    int n = 0;
    memset(probes, 0, sizeof probes);
    do {
        m->sync.start(&m->sync);
        for (int i = 0; i < s->block; i++)
            s->operation->perform(s->operation, probes[n]);
        n++;
    } while (sync_decided(n < MAX_PROBES && (n < 3 || clock_now() < until)));
    for (int level = 0; level < s->operation->levels; level++) {
        double receive[MAX_PROBES], merge[MAX_PROBES];
        for (int i = 0; i < n; i++) {
            receive[i] = probes[i][level].receive_seconds / s->block;
            merge[i] = probes[i][level].merge_seconds / s->block;
        }
        s->levels[level] =
            (struct level){median(receive, n), median(merge, n), probes[0][level].bytes};
    }
}

static void begin_series(struct series *s, const struct operation *operation) {
    s->operation = operation;
    s->samples = s->warmup_samples = 0;
    s->done = s->converged = false;
}

void measure_size(struct measurement *m, int sizes_left) {
    int count = m->run->operation_count, running = count;
    int64_t now = clock_now(), left = m->deadline - now;
    int64_t share = left > 0 ? left / sizes_left : 0, until = now + share - share / 10;
    for (int i = 0; i < count; i++) {
        begin_series(&m->series[i], &m->run->operations[i]);
        warm_up(m, &m->series[i], WARMUP_FRACTION * (double)share * 1e-9 / count);
    }
    /* In turn, so that drift affects all operations equally. */
    while (running > 0) {
        for (int i = 0; i < count; i++) {
            struct series *s = &m->series[i];
            if (s->done)
                continue;
            continue_series(m, s, until);
            running -= s->done;
        }
    }
    for (int i = 0; i < count; i++)
        if (m->series[i].operation->levels > 0)
            probe_levels(m, &m->series[i], now + share);
}
