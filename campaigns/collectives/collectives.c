/* Times a collective over message sizes: collectives NAME SMALLEST LARGEST SECONDS. Sizes are bytes
   per rank.

   A time is the largest of all ranks, the median over calls that follow a barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 4096, FEWEST_CALLS = 16 };

static void call(const char *name, char *from, char *to, int bytes) {
    if (strcmp(name, "allreduce") == 0)
        MPI_Allreduce(from, to, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(name, "allgather") == 0)
        MPI_Allgather(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
    else
        MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static int by_value(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* The median time (s) of the calls that fit into the time, or of the fewest. */
static double median(const char *name, char *from, char *to, int bytes, double seconds) {
    static double times[MOST_CALLS];
    int calls = 0, more = 1;
    double begin = MPI_Wtime();
    call(name, from, to, bytes);
    while (more) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        call(name, from, to, bytes);
        double own = MPI_Wtime() - start;
        MPI_Allreduce(&own, &times[calls++], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        more = calls < FEWEST_CALLS || (calls < MOST_CALLS && MPI_Wtime() - begin < seconds);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    qsort(times, (size_t)calls, sizeof *times, by_value);
    return times[calls / 2];
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *name = argc == 5 ? argv[1] : "";
    int known =
        !strcmp(name, "allreduce") || !strcmp(name, "allgather") || !strcmp(name, "alltoall");
    int smallest = known ? atoi(argv[2]) : 0, largest = known ? atoi(argv[3]) : 0;
    if (!known || smallest < (int)sizeof(int) || largest < smallest || largest > 1 << 24) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: collectives allreduce|allgather|alltoall SMALLEST LARGEST SECONDS\n");
        MPI_Finalize();
        return 2;
    }
    char *from = calloc((size_t)ranks, (size_t)largest),
         *to = calloc((size_t)ranks, (size_t)largest);
    for (int bytes = smallest; from && to && bytes <= largest; bytes *= 8) {
        double time = median(name, from, to, bytes, atof(argv[4]));
        if (rank == 0)
            printf("%s of %d B: %.3f us\n", name, bytes, time * 1e6);
    }
    if (rank == 0)
        printf(from && to ? "done\n" : "out of memory\n");
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
