#include "internal.h"

#include <mpi.h>
#include <sched.h>

enum { TAG = 2 };

/* Agreed start time: rank 0 names a moment on the shared clock, all ranks wait for it. */
static bool start_at_agreed_time(const struct sync *sync) {
    int64_t start = clock_now() + sync->margin;
    MPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    bool on_time = clock_now() < start;
    while (clock_now() < start)
        if (sync->yield)
            sched_yield();
    return on_time;
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

void sync_choose(struct sync *sync, const struct topology *topology) {
    if (sync_clock_is_shared(topology))
        *sync = (struct sync){.name = "agreed_start_time",
                              .clock = "CLOCK_MONOTONIC (shared)",
                              .seconds = "latest end - earliest start over ranks",
                              .shared_clock = true,
                              .yield = topology->oversubscribed,
                              .margin = 2000,
                              .start = start_at_agreed_time};
    else
        *sync = (struct sync){.name = "dissemination_barrier",
                              .clock = "CLOCK_MONOTONIC (of each node)",
                              .seconds = "largest duration over ranks",
                              .start = start_after_barrier};
}
