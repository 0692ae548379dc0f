#define _POSIX_C_SOURCE 200809L
#include "clock.h"
#include "sync/sync.h"

#include <mpi.h>
#include <sched.h>

enum { CHECKS = 3, TAG = 1 };

/* A clock is shared if no message arrives before it was sent, in either direction. */
static bool causal_with(int peer) {
    bool causal = true;
    for (int i = 0; i < CHECKS; i++) {
        int64_t theirs, before = clock_now();
        MPI_Send(&before, 1, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        causal = causal && before <= theirs && theirs <= clock_now();
    }
    return causal;
}

bool sync_clock_available(const struct topology *topology) {
    if (topology->nodes > 1)
        return false;
    int causal = 1;
    if (topology->rank != 0)
        sync_answer(CHECKS, TAG);
    else
        for (int peer = 1; peer < topology->ranks; peer++)
            causal = causal_with(peer) && causal;
    MPI_Bcast(&causal, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return causal != 0;
}

static bool start_at_agreed_time(const struct sync *sync) {
    int64_t start = clock_now() + sync->margin;
    MPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    bool on_time = clock_now() < start;
    while (clock_now() < start)
        if (sync->yield)
            sched_yield();
    return on_time;
}

void sync_clock(struct sync *sync, const struct topology *topology) {
    *sync = (struct sync){.name = "agreed_start_time",
                          .clock = "CLOCK_MONOTONIC (shared)",
                          .seconds = "latest end - earliest start over ranks",
                          .shared_clock = true,
                          .yield = topology->oversubscribed,
                          .margin = 2000,
                          .start = start_at_agreed_time};
}
