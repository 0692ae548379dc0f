#include "core_pairs.h"

#include "random.h"

#include <math.h>
#include <mpi.h>

enum { BEGIN = 31, RUNNING, END, ENDED };

/* The part of one rank. */
struct part {
    const struct pair_timing *how;
    struct ping_buffers buffers;
    int rank;
    int64_t end; /* this rank's clock: no sample begins later */
};

static void tell(int peer, int tag) { MPI_Send(NULL, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD); }

static int hear(int peer, int tag) {
    MPI_Status status;
    MPI_Recv(NULL, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status);
    return status.MPI_TAG;
}

static double least_of(struct part *part, int peer) {
    return ping_least(&part->buffers, part->how, peer, INT64_MAX);
}

/* The sender of the timed pair leads. */
static void lead(struct part *part, struct contention *sample) {
    if (clock_now() < part->end) {
        sample->alone = least_of(part, sample->to);
        tell(sample->other_from, BEGIN);
        hear(sample->other_from, RUNNING);
        sample->together = least_of(part, sample->to);
        ping_verify(&part->buffers, sample->to);
    }
    tell(sample->other_from, END);
    ping_stop(sample->to);
    hear(sample->other_from, ENDED);
}

/* The sender of the other pair is busy from BEGIN to END. */
static void disturb(struct part *part, const struct contention *sample) {
    int end = hear(sample->from, MPI_ANY_TAG) == END;
    if (!end) {
        ping(&part->buffers, sample->other_to, 1);
        tell(sample->from, RUNNING);
        while (!end) {
            ping(&part->buffers, sample->other_to, 1);
            MPI_Iprobe(sample->from, END, MPI_COMM_WORLD, &end, MPI_STATUS_IGNORE);
        }
        hear(sample->from, END);
    }
    ping_stop(sample->other_to);
    tell(sample->from, ENDED);
}

/* One sample at a time: the turn passes from leader to leader. */
static void take_part(struct part *part, struct contention *sample, int before) {
    pass_turn(part->rank, before, sample->from);
    if (part->rank == sample->from)
        lead(part, sample);
    else if (part->rank == sample->other_from)
        disturb(part, sample);
    else if (part->rank == sample->to)
        pong(&part->buffers, sample->from);
    else if (part->rank == sample->other_to)
        pong(&part->buffers, sample->other_from);
}

/* Four different ranks, the same on all ranks. */
static struct contention draw(int ranks, uint64_t *random) {
    int chosen[4];
    for (int i = 0; i < 4; i++) {
        bool again = true;
        while (again) {
            chosen[i] = (int)(random_next(random) % (uint64_t)ranks);
            again = false;
            for (int j = 0; j < i; j++)
                again = again || chosen[j] == chosen[i];
        }
    }
    return (struct contention){chosen[0], chosen[1], chosen[2], chosen[3], NAN, NAN};
}

/* Only the leader has the times: the others hold NAN, which the maximum over ranks replaces. */
static void collect(struct contentions *contentions) {
    double own[MAX_CONTENTIONS][2], all[MAX_CONTENTIONS][2];
    for (int i = 0; i < contentions->count; i++) {
        const struct contention *sample = &contentions->of[i];
        own[i][0] = isnan(sample->alone) ? -1 : sample->alone;
        own[i][1] = isnan(sample->together) ? -1 : sample->together;
    }
    MPI_Allreduce(own, all, 2 * contentions->count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < contentions->count; i++) {
        contentions->of[i].alone = all[i][0] < 0 ? NAN : all[i][0];
        contentions->of[i].together = all[i][1] < 0 ? NAN : all[i][1];
    }
}

void contentions_measure(struct contentions *contentions, const struct pair_timing *how,
                         double budget, uint64_t seed) {
    struct part part = {.how = how};
    int ranks, before = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ping_buffers_make(&part.buffers, how->bytes, seed);
    contentions->count = MAX_CONTENTIONS;
    for (int i = 0; i < contentions->count; i++)
        contentions->of[i] = draw(ranks, &seed);
    MPI_Barrier(MPI_COMM_WORLD);
    part.end = clock_now() + (int64_t)(budget * 1e9);
    for (int i = 0; i < contentions->count; i++) {
        take_part(&part, &contentions->of[i], before);
        before = contentions->of[i].from;
    }
    contentions->correct = ping_intact(&part.buffers);
    contentions->bytes_timed = part.buffers.bytes_timed;
    contentions->bytes_checked = part.buffers.bytes_checked;
    collect(contentions);
    ping_buffers_free(&part.buffers);
}
