#include "sync.h"

#include "clock.h"

#include <mpi.h>

bool sync_before(int64_t moment) {
    int before = clock_now() < moment;
    MPI_Bcast(&before, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return before != 0;
}

void sync_choose(struct sync *sync, const struct topology *topology) {
    if (sync_clock_available(topology))
        sync_clock(sync, topology);
    else
        sync_barrier(sync);
}
