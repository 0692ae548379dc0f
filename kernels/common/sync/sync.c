#include "sync/sync.h"

#include "between_parts.h"
#include "clock.h"

#include <mpi.h>

void sync_answer(int times, int tag) {
    for (int i = 0; i < times; i++) {
        int64_t now;
        MPI_Recv(&now, 1, MPI_INT64_T, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        now = clock_now();
        MPI_Send(&now, 1, MPI_INT64_T, 0, tag, MPI_COMM_WORLD);
    }
}

int sync_decided(int decision) {
    MPI_Bcast(&decision, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Pcontrol(BETWEEN_PARTS); /* nothing is being measured: the evidence library may look at the
                                    machine */
    return decision;
}

bool sync_before(int64_t moment) { return sync_decided(clock_now() < moment) != 0; }

bool sync_all(bool mine) {
    int own = mine, all;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

void sync_choose(struct sync *sync, const struct topology *topology) {
    if (sync_clock_available(topology))
        sync_clock(sync, topology);
    else
        sync_barrier(sync);
}
