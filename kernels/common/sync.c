#include "sync.h"

#include "clock.h"

#include <mpi.h>

int sync_decided(int decision) {
    MPI_Bcast(&decision, 1, MPI_INT, 0, MPI_COMM_WORLD);
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
