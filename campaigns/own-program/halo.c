/* halo: the exchange of rows between neighbours of a grid, and the step that it serves.
 *
 * A small program of one's own, for docs/own-programs.md: Jacobi steps on a square grid whose rows
 * are divided among the ranks. It reads the number of steps from halo.in and prints, for rows of
 * several sizes, the time of an exchange, then the rate of whole steps.
 *
 *   mpicc -O2 -o halo halo.c
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 1 << 17, EXCHANGES = 200, COLUMNS = 1024, ROWS = 256 };

static int rank, ranks;
static double *grid, *next; /* [(ROWS + 2) * LARGEST]: own rows between those of the neighbours */

/* The first and the last own row go to the neighbours; theirs come in beside. The ends have none.
 */
static void exchange(double *cells, int columns) {
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int down = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    double *first = cells + columns, *last = cells + (size_t)ROWS * (size_t)columns;
    MPI_Sendrecv(first, columns, MPI_DOUBLE, up, 0, last + columns, columns, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, columns, MPI_DOUBLE, down, 1, cells, columns, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double slowest(double seconds) {
    double longest;
    MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

static void time_exchanges(int columns) {
    exchange(grid, columns);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < EXCHANGES; i++)
        exchange(grid, columns);
    double seconds = slowest(MPI_Wtime() - start) / EXCHANGES;
    if (rank == 0)
        printf("exchange of %zu B: %.3f us\n", (size_t)columns * sizeof *grid, seconds * 1e6);
}

static void step(void) {
    exchange(grid, COLUMNS);
    for (int row = 1; row <= ROWS; row++)
        for (int column = 1; column < COLUMNS - 1; column++) {
            double *cell = grid + row * COLUMNS + column;
            next[row * COLUMNS + column] =
                0.25 * (cell[-1] + cell[1] + cell[-COLUMNS] + cell[COLUMNS]);
        }
    double *swap = grid;
    grid = next;
    next = swap;
}

static int steps_of(const char *file) {
    int steps = 0;
    FILE *input = fopen(file, "r");
    if (input == NULL || fscanf(input, "steps %d", &steps) != 1 || steps < 1) {
        fprintf(stderr, "%s: no line such as: steps 100\n", file);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(input);
    return steps;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int steps = steps_of("halo.in");
    grid = calloc((size_t)(ROWS + 2) * LARGEST, sizeof *grid);
    next = calloc((size_t)(ROWS + 2) * COLUMNS, sizeof *next);
    if (grid == NULL || next == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int columns = 1; columns <= LARGEST; columns *= 2)
        time_exchanges(columns);
    for (int i = 0; i < COLUMNS; i++)
        grid[COLUMNS + i] = next[COLUMNS + i] = 1;
    double start = MPI_Wtime();
    for (int i = 0; i < steps; i++)
        step();
    double seconds = slowest(MPI_Wtime() - start);
    if (rank == 0)
        printf("%.1f steps per second\ndone\n", steps / seconds);
    MPI_Finalize();
    return 0;
}
