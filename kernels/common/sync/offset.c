#include "internal.h"

#include <mpi.h>

enum { CHECKS = 3, EXCHANGES = 20, BARRIERS = 21, TAG = 3 };

/* A round trip of rank 0: its clock before and after, and the peer's in between. */
struct trip {
    int64_t before, theirs, after;
};

static struct trip ask(int peer) {
    struct trip trip = {.before = clock_now()};
    MPI_Send(&trip.before, 1, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD);
    MPI_Recv(&trip.theirs, 1, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    trip.after = clock_now();
    return trip;
}

/* The other side of several round trips. */
static void answer(int times) {
    for (int i = 0; i < times; i++) {
        int64_t now;
        MPI_Recv(&now, 1, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        now = clock_now();
        MPI_Send(&now, 1, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD);
    }
}

/* A clock is shared if no message arrives before it was sent, in either direction. */
static bool causal_with(int peer) {
    bool causal = true;
    for (int i = 0; i < CHECKS; i++) {
        struct trip trip = ask(peer);
        causal = causal && trip.before <= trip.theirs && trip.theirs <= trip.after;
    }
    return causal;
}

bool sync_clock_is_shared(const struct topology *topology) {
    if (topology->nodes > 1)
        return false;
    int causal = 1;
    if (topology->rank != 0)
        answer(CHECKS);
    else
        for (int peer = 1; peer < topology->ranks; peer++)
            causal = causal_with(peer) && causal;
    MPI_Bcast(&causal, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return causal != 0;
}

/* The peer's clock minus ours, from the fastest of several round trips; error: half of that trip.
 */
static double offset_of(int peer, double *error) {
    int64_t least = INT64_MAX;
    double offset = 0;
    for (int i = 0; i < EXCHANGES; i++) {
        struct trip trip = ask(peer);
        if (trip.after - trip.before >= least)
            continue;
        least = trip.after - trip.before;
        offset = (double)(trip.theirs - trip.before) - (double)least / 2;
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
        answer(EXCHANGES);
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
