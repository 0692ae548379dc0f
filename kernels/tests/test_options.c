/* What kernels refuse, without mpirun: one process for each rank, with the few MPI calls that a
 * kernel makes before it measures.
 *
 *   test_options RANKS KERNEL [OPTION...]    exit statuses go to the file that STATUSES names
 *
 * All ranks have the same command line and machine, so each rank's own value is the result of any
 * reduction. A kernel that refuses nothing ends at its next MPI call, since MPI is not initialised.
 * Tests with mpirun cover ranks that differ. */
#define _DEFAULT_SOURCE
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* KERNELS comes from the Makefile: KERNEL(tree_gather) KERNEL(tree_merge) ... */
typedef int program(int argc, char **argv);
#define KERNEL(name) program name##_main;
KERNELS
#undef KERNEL
#define KERNEL(name) {#name, name##_main},
static const struct {
    const char *name;
    program *run;
} PROGRAMS[] = {KERNELS{NULL, NULL}};

static int rank, ranks;

/* --- the part of MPI that a refusal needs */

int MPI_Init(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    return MPI_SUCCESS;
}

int MPI_Finalize(void) { return MPI_SUCCESS; }

int MPI_Comm_rank(MPI_Comm comm, int *found) {
    (void)comm;
    *found = rank;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *found) {
    (void)comm;
    *found = ranks;
    return MPI_SUCCESS;
}

int MPI_Get_processor_name(char *name, int *length) {
    *length = sprintf(name, "node");
    return MPI_SUCCESS;
}

static size_t size_of(MPI_Datatype type) {
    size_t size = type == MPI_CHAR       ? sizeof(char)
                  : type == MPI_INT      ? sizeof(int)
                  : type == MPI_UINT64_T ? sizeof(uint64_t)
                                         : 0;
    if (size == 0)
        abort(); /* no kernel uses it before it measures */
    return size;
}

/* Minimum and maximum of equal values. */
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    (void)comm;
    if (op != MPI_MIN && op != MPI_MAX)
        abort();
    memcpy(to, from, (size_t)count * size_of(type));
    return MPI_SUCCESS;
}

int MPI_Allgather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
    size_t size = (size_t)from_count * size_of(from_type);
    (void)comm;
    if (size != (size_t)to_count * size_of(to_type))
        abort();
    for (int i = 0; i < ranks; i++)
        memcpy((char *)to + (size_t)i * size, from, size);
    return MPI_SUCCESS;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    (void)buffer;
    (void)count;
    (void)type;
    (void)root;
    (void)comm;
    return MPI_SUCCESS;
}

/* --- the ranks, one after the other */

static program *find(const char *name) {
    for (int i = 0; PROGRAMS[i].name != NULL; i++)
        if (strcmp(PROGRAMS[i].name, name) == 0)
            return PROGRAMS[i].run;
    return NULL;
}

/* A rank killed by a signal has the status that a shell would give. */
static int status_of(program *run, int argc, char **argv) {
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(run(argc, argv));
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
    program *run = argc > 2 ? find(argv[2]) : NULL;
    const char *path = getenv("STATUSES");
    FILE *statuses = run != NULL && path != NULL ? fopen(path, "w") : NULL;
    if (statuses == NULL)
        return 64;
    ranks = atoi(argv[1]);
    for (rank = 0; rank < ranks; rank++)
        fprintf(statuses, "%d\n", status_of(run, argc - 2, argv + 2));
    return fclose(statuses) == 0 ? 0 : 1;
}
