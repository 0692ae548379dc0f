#include "internal.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_SAMPLES = 10000, /* of one operation at one size */
    MIN_SAMPLES = 5,     /* even when the share of a size is spent */
    LATE_SAMPLES = 2,    /* even when the whole budget is */
    FIRST_SAMPLES = 3,   /* to choose the block */
    MAX_PROBES = 9,      /* of the levels */
    EVEN_PARTS = 16      /* a size's share of the budget grows with size + max_size / EVEN_PARTS */
};

#define RESERVE 0.1 /* of the budget, for what begins before its end */

struct operation *add_operation(struct run *run, const char *name, const char *variant) {
    if (run->operation_count == MAX_OPERATIONS) {
        fprintf(stderr, "more than %d operations in one kernel\n", MAX_OPERATIONS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct operation *operation = &run->operations[run->operation_count++];
    *operation = (struct operation){.name = name, .variant = variant};
    return operation;
}

size_t size_after(const struct run *run, size_t size) {
    size_t largest = run->options.max_size;
    if (size > largest / 2)
        return largest;
    return size > 0 ? 2 * size : run->size_unit < largest ? run->size_unit : largest;
}

int size_count(const struct run *run) {
    int count = 1;
    for (size_t size = run->options.min_size; size < run->options.max_size; count++)
        size = size_after(run, size);
    return count;
}

void measure_begin(struct measurement *m, const struct run *run) {
    memset(m, 0, sizeof *m);
    m->run = run;
    m->correct = true;
    m->hits_known = sync_all(waiting_open());
    sync_choose(&m->sync, run);
    m->begun = clock_now();
    m->deadline = m->begun + (int64_t)(run->options.budget * 1e9);
    for (int i = 0; i < run->operation_count; i++) {
        m->series[i].seconds = allocate(MAX_SAMPLES * sizeof(double));
        m->series[i].ends = allocate(MAX_SAMPLES * sizeof(double));
        m->series[i].levels = allocate(MAX_LEVELS * sizeof(struct level));
    }
}

/* What one rank knows of a timed block. */
struct block {
    int64_t start, end; /* ns of clock_now */
    bool late;          /* for the agreed start */
    bool hit;           /* it waited for a CPU */
};

/* The account of waiting is read outside the timed interval. */
static struct block timed_block(const struct measurement *m, const struct series *s) {
    const struct operation *operation = s->operation;
    if (operation->prepare != NULL)
        operation->prepare(operation);
    int64_t waited = waiting_so_far();
    struct block block = {.late = !operation->after_barrier && !m->sync.start(&m->sync)};
    if (operation->after_barrier)
        MPI_Barrier(MPI_COMM_WORLD);
    block.start = clock_now();
    for (int i = 0; i < s->block; i++)
        operation->perform(operation, NULL);
    block.end = clock_now();
    block.hit = waiting_hit(waited, block.end - block.start);
    return block;
}

enum { LATE, HIT, FLAGS };

/* Of one window: seconds of one call, and when the block ended on this rank. */
struct samples {
    int count, hits;
    bool hopeless; /* the next ones will hardly be punctual */
    double seconds[WINDOW], ends[WINDOW];
};

static double middle(const struct samples *samples) {
    return samples->count > 0 ? median(samples->seconds, samples->count) : 0;
}

/* The blocks of a window over all ranks. */
struct window {
    int64_t first[WINDOW], last[WINDOW]; /* earliest start, latest end */
    int flags[WINDOW][FLAGS];            /* 1: on some rank */
};

/* An idle rank has neither the earliest start nor the latest end, is never late and never hit. */
static void add_idle_block(struct window *window, int i) {
    window->first[i] = INT64_MAX;
    window->last[i] = INT64_MIN;
    window->flags[i][LATE] = window->flags[i][HIT] = 0;
}

static void add_block(struct window *window, int i, const struct block *block, int64_t origin) {
    window->first[i] = clock_common(block->start) - origin;
    window->last[i] = clock_common(block->end) - origin;
    window->flags[i][LATE] = block->late;
    window->flags[i][HIT] = block->hit;
}

static void over_ranks(const struct window *own, struct window *all, int n) {
    MPI_Allreduce(own->first, all->first, n, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(own->last, all->last, n, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(own->flags, all->flags, FLAGS * n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

/* The samples of n blocks from all ranks' times: those without a late rank. If all are late at the
 * largest margin, or when the budget is spent, all are kept, since ranks without a CPU are late
 * again; none where the start must be common. */
static struct samples keep(struct measurement *m, const struct series *s, const struct window *own,
                           const struct window *all, int n) {
    struct samples samples = {.count = 0};
    int late = 0;
    for (int i = 0; i < n; i++)
        late += all->flags[i][LATE];
    samples.hopeless = m->sync.margin >= m->sync.max_margin || clock_now() > m->deadline;
    bool keep_all = late == n && samples.hopeless && !m->run->from_common_start;
    for (int i = 0; i < n; i++) {
        if (!keep_all && all->flags[i][LATE])
            continue;
        double seconds = (double)(all->last[i] - all->first[i]) * 1e-9;
        if (m->run->from_common_start) /* no rank is idle */
            samples.ends[samples.count] = (double)(own->last[i] - all->first[i]) * 1e-9;
        samples.seconds[samples.count++] = seconds / s->block;
        samples.hits += all->flags[i][HIT];
    }
    m->late += late;
    if (!s->operation->after_barrier)
        sync_adapt(&m->sync, late, n);
    return samples;
}

void measure_verify(struct measurement *m, const struct operation *operation) {
    char detail[REASON_LENGTH] = "";
    if (!m->correct || operation->verify(operation, detail))
        return;
    m->correct = false;
    snprintf(m->why, REASON_LENGTH, "wrong data in %s %s at %zu B: %.150s", operation->name,
             operation->variant, operation->size, detail);
}

/* No rank starts another call before all have looked: its messages would seem left over, and it
 * would have to wait for the others in the timed interval. */
void measure_check(struct measurement *m, const struct series *s) {
    const struct operation *operation = s->operation;
    m->bytes_timed += operation->useful_bytes * (uint64_t)s->block;
    m->bytes_checked +=
        operation->useful_bytes + operation->checked_bytes * (uint64_t)(s->block - 1);
    measure_verify(m, operation);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An untimed call restores what other operations, and the check of the data, evicted from the
 * caches. */
static void restore_caches(const struct series *s) { s->operation->perform(s->operation, NULL); }

/* One window of n <= WINDOW samples. */
static struct samples take_window(struct measurement *m, const struct series *s, int n) {
    struct window own, all;
    if (m->sync.learned)
        clocks_refresh(&m->run->topology);
    bool shared_clock = m->sync.shared_clock && !s->operation->after_barrier;
    for (int i = 0; i < n; i++) {
        restore_caches(s);
        struct block block = timed_block(m, s);
        measure_check(m, s);
        if (s->operation->idle)
            add_idle_block(&own, i);
        else
            add_block(&own, i, &block, shared_clock ? 0 : clock_common(block.start));
    }
    over_ranks(&own, &all, n);
    return keep(m, s, &own, &all, n);
}

/* A window with a punctual sample: the margin grows until there is one, or hope is lost. */
static struct samples take_samples(struct measurement *m, const struct series *s, int n) {
    struct samples samples;
    do
        samples = take_window(m, s, n);
    while (sync_decided(samples.count == 0 && !samples.hopeless));
    return samples;
}

/* Calls that make a block long enough to time, at most ten times the current number. */
static int needed_block(const struct series *s, double call) {
    double needed = 1.2 * BLOCK_SECONDS / (call > 1e-9 ? call : 1e-9);
    if (call * s->block >= BLOCK_SECONDS || needed <= s->block)
        return s->block;
    return needed < 10.0 * s->block ? (int)needed + 1 : 10 * s->block;
}

/* Makes the block longer if it is too short; call: seconds of one call, on rank 0. From a common
 * start a block is one call: those after it would not start together. */
static bool grow_block(const struct measurement *m, struct series *s, double call) {
    if (m->run->from_common_start)
        return false;
    int block = sync_decided(needed_block(s, call));
    bool grown = block > s->block;
    s->block = block;
    return grown;
}

static int window_for(double budget, double sample_seconds) {
    double fitting = budget / sample_seconds;
    return fitting >= WINDOW ? WINDOW : fitting < 1 ? 1 : (int)fitting;
}

/* Finds a first block; a window then holds as many samples, with all that belongs to them, as fit a
 * quarter of the time. The block of the size before, half as large, is where to start: a single
 * call that was long enough there is so here. */
static void choose_block(struct measurement *m, struct series *s, double budget) {
    double call, sample;
    int n = s->block == 1 ? 1 : FIRST_SAMPLES;
    s->block = s->block > 1 ? s->block / 2 : 1;
    do {
        int64_t start = clock_now();
        struct samples samples = take_samples(m, s, n);
        sample = seconds_since(start) / n;
        call = middle(&samples);
        s->warmup_samples += samples.count;
    } while (grow_block(m, s, call));
    s->window = sync_decided(window_for(budget / 4, sample));
}

/* Drops windows until two in a row agree or its share of the time is spent. */
static void warm_up(struct measurement *m, struct series *s, double budget) {
    int64_t start = clock_now();
    double before = 0;
    choose_block(m, s, budget);
    bool more = true;
    while (more) {
        struct samples samples = take_samples(m, s, s->window);
        double call = middle(&samples);
        s->settled = before > 0 && agree(before, call, WARMUP_AGREEMENT);
        s->warmup_samples += samples.count;
        before = grow_block(m, s, call) ? 0 : call;
        more = sync_decided(!s->settled && seconds_since(start) <= budget);
    }
}

static void add_samples(struct series *s, const struct samples *samples) {
    memcpy(s->seconds + s->samples, samples->seconds, (size_t)samples->count * sizeof(double));
    memcpy(s->ends + s->samples, samples->ends, (size_t)samples->count * sizeof(double));
    s->samples += samples->count;
    s->hits += samples->hits;
}

/* One more window for one operation; then rank 0 checks the statistics and the clock. */
static void continue_series(struct measurement *m, struct series *s, int64_t until) {
    int least = sync_decided(clock_now() < m->deadline ? MIN_SAMPLES : LATE_SAMPLES);
    long late = m->late;
    struct samples samples = take_samples(m, s, s->window < least ? least : s->window);
    s->late += (int)(m->late - late);
    add_samples(s, &samples);
    if (grow_block(m, s, is_root(m) && s->samples > 0 ? median(s->seconds, s->samples) : 0)) {
        s->warmup_samples += s->samples; /* faster than during the warm-up: start again */
        s->samples = s->hits = s->late = 0;
    } else if (is_root(m)) {
        bool few = s->samples < least && !m->run->from_common_start;
        s->converged = is_converged(s->seconds, s->samples);
        s->done =
            s->converged || s->samples > MAX_SAMPLES - WINDOW || (!few && clock_now() > until);
    }
    s->done = sync_decided(s->done) != 0;
}

/* Times of each level, probed apart from the samples: reading the clock would lengthen those. */
static void probe_levels(struct measurement *m, struct series *s, int64_t until) {
    struct level probes[MAX_PROBES][MAX_LEVELS];
    int n = 0;
    memset(probes, 0, sizeof probes);
    do {
        restore_caches(s);
        m->sync.start(&m->sync);
        for (int i = 0; i < s->block; i++)
            s->operation->perform(s->operation, probes[n]);
        measure_check(m, s);
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
    s->samples = s->hits = s->late = s->warmup_samples = 0;
    s->done = s->converged = false;
}

/* The share of the time left for this size. Larger ones take longer, so a size counts in part by
 * its bytes; what small ones leave goes to them, too. */
static int64_t share_of_time(const struct measurement *m, size_t size, int64_t left) {
    const double even = (double)m->run->options.max_size / EVEN_PARTS + 1;
    double own = even + (double)size, all = own;
    while (size < m->run->options.max_size) {
        size = size_after(m->run, size);
        all += even + (double)size;
    }
    return left > 0 ? (int64_t)((double)left * own / all) : 0;
}

void measure_size(struct measurement *m, size_t size) {
    int count = m->run->operation_count, running = count;
    int64_t now = clock_now(), reserve = (int64_t)(RESERVE * m->run->options.budget * 1e9);
    int64_t share = share_of_time(m, size, m->deadline - reserve - now);
    int64_t until = now + share - share / 10;
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
