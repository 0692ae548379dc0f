#include "pair/pair.h"

#include "random.h"

#include <mpi.h>

enum { TAG = 30, BYTES = 8, EXCHANGES = 1000, STEP = 100 };

static void exchange(int partner) {
    char out[BYTES] = {0}, in[BYTES];
    for (int i = 0; i < STEP; i++)
        MPI_Sendrecv(out, BYTES, MPI_BYTE, partner, TAG, in, BYTES, MPI_BYTE, partner, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void every_pair(int rank, int ranks) {
    for (int round = 0; round < tournament_rounds(ranks); round++) {
        int partner = tournament_partner(ranks, round, rank);
        if (partner >= 0)
            exchange(partner);
    }
}

int pair_warm_up(double seconds) {
    int rank, ranks, done = 0;
    int64_t until = clock_now() + (int64_t)(seconds * 1e9);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    do {
        every_pair(rank, ranks);
        done += STEP;
    } while (done < EXCHANGES && sync_before(until));
    return done;
}

void pair_warm_up_describe(double fraction) {
    output_header("warmup",
                  "each pair exchanges %d B %d times, in at most %g of the budget; not timed",
                  BYTES, EXCHANGES, fraction);
}
