#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include <mpi.h>
#include <sched.h>
#include <time.h>

enum { TAG = 2, SECOND = 1000000000 };
enum { MIN_MARGIN = 1000, MAX_MARGIN = 100000, LONG_WAIT = 500000 }; /* ns */

/* Agreed start time: rank 0 names a moment on the shared clock, all ranks wait for it. */
static bool start_at_agreed_time(const struct sync *sync) {
    int64_t start = clock_common(clock_now()) + sync->margin;
    MPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    int64_t now = clock_common(clock_now()), sleep = start - now - LONG_WAIT;
    bool on_time = now < start;
    if (sleep > 0) /* who spins long is without a CPU when it matters */
        nanosleep(&(struct timespec){sleep / SECOND, sleep % SECOND}, NULL);
    for (now = clock_common(clock_now()); now < start; now = clock_common(clock_now()))
        if (sync->yield)
            sched_yield();
    return on_time && now - start <= sync->tolerance;
}

/* Our own dissemination barrier, the same with every MPI library; for ranks without a shared
 * clock. */
static bool start_after_barrier(const struct sync *sync) {
    (void)sync;
    int rank, ranks;
    char token = 0, other;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int distance = 1; distance < ranks; distance *= 2)
        MPI_Sendrecv(&token, 1, MPI_CHAR, (rank + distance) % ranks, TAG, &other, 1, MPI_CHAR,
                     (rank - distance + ranks) % ranks, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
}

void sync_adapt(struct sync *sync, int late, int n) {
    if (5 * late >= n && sync->margin < sync->max_margin)
        sync->margin += sync->margin / 2;
    else if (late == 0 && sync->margin > MIN_MARGIN)
        sync->margin -= sync->margin / 20;
}

/* The first margin is some times what the moment needs to all ranks. */
static void learn_clocks(struct sync *sync, const struct topology *topology) {
    clocks_learn(topology);
    int64_t errors[CLOCK_ERRORS], largest;
    clock_errors(errors);
    MPI_Allreduce(errors, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    sync->clock = "CLOCK_MONOTONIC of rank 0, by linear models of the other clocks";
    sync->learned = true;
    sync->margin += 4 * largest;
    sync->max_margin += 20 * largest;
    sync->tolerance += largest / 10;
}

void sync_choose(struct sync *sync, const struct run *run) {
    const struct topology *topology = &run->topology;
    bool shared = sync_clock_is_shared(topology);
    if (shared || run->from_common_start)
        *sync = (struct sync){.name = "agreed_start_time",
                              .clock = "CLOCK_MONOTONIC (shared)",
                              .seconds = "latest end - earliest start over ranks",
                              .shared_clock = true,
                              .yield = topology->oversubscribed,
                              .margin = 2000,
                              .max_margin = MAX_MARGIN,
                              .tolerance = run->from_common_start ? 1000 : INT64_MAX,
                              .start = start_at_agreed_time};
    else
        *sync = (struct sync){.name = "dissemination_barrier",
                              .clock = "CLOCK_MONOTONIC (of each node)",
                              .seconds = "largest duration over ranks",
                              .start = start_after_barrier};
    if (!shared && run->from_common_start)
        learn_clocks(sync, topology);
}
