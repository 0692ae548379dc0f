/* The program of the toy suite: two ranks or more pass a message on, each to its right neighbour. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST (1 << 20)

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, rounds = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *out = calloc(1, MOST), *in = calloc(1, MOST);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    if (rank == 0) printf("Toy Ring 1.2 on %d ranks, %d rounds\n", ranks, rounds);
    for (int size = 1; size <= MOST; size *= 32) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int round = 0; round < rounds; round++)
            MPI_Sendrecv(out, size, MPI_CHAR, right, 0, in, size, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        double mine = (MPI_Wtime() - start) / rounds, longest, shortest;
        MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(&mine, &shortest, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("ring %d B: %.3f us, imbalance %.3f\n", size, longest * 1e6, longest / shortest);
    }
    if (rank == 0) printf("Toy Ring ends\n");
    MPI_Finalize();
    return 0;
}
