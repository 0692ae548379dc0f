#include "clock.h"
#include "sampling.h"
#include "sync/sync.h"

#include <mpi.h>

enum { EXCHANGES = 20, BARRIERS = 21, TAG = 3 };

/* The peer's clock minus ours, from the fastest of several round trips; error: half of that trip.
 */
static double offset_of(int peer, double *error) {
    int64_t least = INT64_MAX, theirs, answer = 0;
    double offset = 0;
    for (int i = 0; i < EXCHANGES; i++) {
        int64_t before = clock_now();
        MPI_Send(&before, 1, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        answer = clock_now();
        if (answer - before >= least)
            continue;
        least = answer - before;
        offset = (double)(theirs - before) - (double)least / 2;
    }
    *error = (double)least / 2;
    return offset;
}

/* This rank's clock minus that of rank 0, in ns, with the largest error over ranks on rank 0. */
static double own_offset(const struct topology *topology, double *error) {
    double own = 0, largest = 0;
    for (int peer = 1; topology->rank == 0 && peer < topology->ranks; peer++) {
        double its_error, offset = offset_of(peer, &its_error);
        MPI_Send(&offset, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
        largest = its_error > largest ? its_error : largest;
    }
    if (topology->rank != 0) {
        sync_answer(EXCHANGES, TAG);
        MPI_Recv(&own, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    *error = largest;
    return own;
}

struct skew sync_skew(const struct sync *sync, const struct topology *topology) {
    double error, offset = own_offset(topology, &error), ends[BARRIERS];
    int64_t origin = clock_now(); /* of rank 0: times since then are small enough for a double */
    MPI_Bcast(&origin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BARRIERS; i++) {
        sync->start(sync);
        ends[i] = (double)(clock_now() - origin) - offset;
    }
    double earliest[BARRIERS] = {0}, latest[BARRIERS] = {0};
    MPI_Reduce(ends, earliest, BARRIERS, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(ends, latest, BARRIERS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BARRIERS; i++)
        latest[i] -= earliest[i];
    return (struct skew){median(latest, BARRIERS) * 1e-9, error * 1e-9};
}
