#include "lacking.h"

#include "output.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void end_if_lacking(const char *kernel, bool lacks, char why[REASON_LENGTH]) {
    int rank, mine, first;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = lacks ? rank : INT_MAX;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == INT_MAX)
        return;
    MPI_Bcast(why, REASON_LENGTH, MPI_CHAR, first, MPI_COMM_WORLD);
    if (rank == 0) {
        output_begin(kernel);
        output_header("not_available", "%s", why);
        fflush(stdout);
    }
    MPI_Finalize();
    exit(0);
}
