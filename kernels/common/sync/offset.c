#include "internal.h"

#include <mpi.h>
#include <string.h>

enum { EXCHANGES = 20, BARRIERS = 21, MOMENTS = 8, TAG = 3 };

#define REFRESH_SECONDS 0.1

/* A round trip: this rank's clock before and after, the peer's common clock in between, and how far
 * that may be off. */
struct trip {
    int64_t before, theirs, error, after;
};

static struct trip ask(int peer) {
    struct trip trip = {.before = clock_now()};
    int64_t reply[2];
    MPI_Send(&trip.before, 1, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD);
    MPI_Recv(reply, 2, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    trip.after = clock_now();
    trip.theirs = reply[0];
    trip.error = reply[1];
    return trip;
}

/* Rank 0's clock as this rank knows it: a line through the moments at which it was last learned. */
static struct {
    int64_t at[MOMENTS], offset[MOMENTS]; /* of the own clock; rank 0's minus that */
    int count;
    int64_t learned;     /* when all ranks had */
    double drift;        /* of the offset */
    int64_t half, bound; /* of the last trip; summed up to rank 0 */
    int64_t largest[CLOCK_ERRORS];
} model;

int64_t clock_common(int64_t moment) {
    if (model.count == 0)
        return moment;
    int last = (model.count - 1) % MOMENTS;
    return moment + model.offset[last] + (int64_t)(model.drift * (double)(moment - model.at[last]));
}

void clock_errors(int64_t errors[CLOCK_ERRORS]) {
    memcpy(errors, model.largest, sizeof model.largest);
    model.largest[CLOCK_BOUND] = model.bound;
    model.largest[CLOCK_FOUND] = 0;
}

/* The other side of several round trips. */
static void answer(int peer) {
    for (int i = 0; i < EXCHANGES; i++) {
        int64_t reply[2] = {0, model.bound};
        MPI_Recv(reply, 1, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        reply[0] = clock_common(clock_now());
        MPI_Send(reply, 2, MPI_INT64_T, peer, TAG, MPI_COMM_WORLD);
    }
}

/* The fastest of several round trips: its error, half of it, is the least. */
static struct trip fastest_trip(int peer) {
    struct trip fastest = ask(peer);
    for (int i = 1; i < EXCHANGES; i++) {
        struct trip trip = ask(peer);
        if (trip.after - trip.before < fastest.after - fastest.before)
            fastest = trip;
    }
    return fastest;
}

static void note_error(int which, int64_t error) {
    if (error > model.largest[which])
        model.largest[which] = error;
}

/* The drift is that since the oldest moment kept: long enough that errors of the ends matter
 * little, short enough to follow a clock whose rate changes. */
static void learn_from(int parent) {
    struct trip trip = fastest_trip(parent);
    model.half = (trip.after - trip.before + 1) / 2;
    int64_t at = trip.before + model.half;
    int place = model.count % MOMENTS, oldest = model.count < MOMENTS ? 0 : (place + 1) % MOMENTS;
    if (model.count > 0)
        note_error(CLOCK_FOUND, llabs(clock_common(at) - trip.theirs));
    model.at[place] = at;
    model.offset[place] = trip.theirs - at;
    model.bound = model.half + trip.error;
    note_error(CLOCK_BOUND, model.bound);
    if (model.count++ > 0)
        model.drift =
            (double)(model.offset[place] - model.offset[oldest]) / (double)(at - model.at[oldest]);
}

/* Along a binomial tree, from the root: as HCA3 (Hunold and Carpen-Amarie 2018), each rank learns
 * rank 0's clock from one that knows it already. */
void clocks_learn(const struct topology *topology) {
    int rank = topology->rank, distance = 1;
    while (distance < topology->ranks && !(rank & distance))
        distance *= 2;
    if (rank > 0)
        learn_from(rank - distance);
    while ((distance /= 2) > 0)
        if (rank + distance < topology->ranks)
            answer(rank + distance);
    model.learned = clock_now();
}

/* A clock is shared if no message arrives before it was sent, in either direction. */
bool sync_clock_is_shared(const struct topology *topology) {
    if (topology->nodes > 1)
        return false;
    clocks_learn(topology);
    bool shared = sync_all(llabs(model.offset[0]) <= model.bound); /* of all trips to rank 0 */
    memset(&model, 0, sizeof model);
    return shared;
}

void clocks_refresh(const struct topology *topology) {
    if (sync_decided(seconds_since(model.learned) > REFRESH_SECONDS))
        clocks_learn(topology);
}

struct skew sync_skew(const struct sync *sync, const struct topology *topology) {
    double ends[BARRIERS];
    clocks_learn(topology);
    int64_t origin = clock_now(); /* of rank 0: times since then are small enough for a double */
    MPI_Bcast(&origin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BARRIERS; i++) {
        sync->start(sync);
        ends[i] = (double)(clock_common(clock_now()) - origin);
    }
    double earliest[BARRIERS] = {0}, latest[BARRIERS] = {0}, error = (double)model.bound, largest;
    MPI_Reduce(ends, earliest, BARRIERS, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(ends, latest, BARRIERS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BARRIERS; i++)
        latest[i] -= earliest[i];
    return (struct skew){median(latest, BARRIERS) * 1e-9, largest * 1e-9};
}
