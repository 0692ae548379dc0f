/* Pretends to be another machine: loaded by LD_PRELOAD.
 *
 *   PRETEND_NODES=N    ranks are spread over N nodes, block by block
 *   PRETEND_PAGES=N    the node has N pages of memory
 *   PRETEND_PROCESSORS=N  and N processors
 *   PRETEND_LATE=RANK  after its first broadcast the clock of this rank is 0.2 s ahead: it is late
 *                      for each agreed start and ends after all others */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int MPI_Get_processor_name(char *name, int *length) {
    const char *nodes = getenv("PRETEND_NODES");
    int rank, ranks;
    if (nodes == NULL)
        return PMPI_Get_processor_name(name, length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    *length = sprintf(name, "node%d", rank * atoi(nodes) / ranks);
    return MPI_SUCCESS;
}

long sysconf(int name) {
    const char *pages = getenv("PRETEND_PAGES"), *processors = getenv("PRETEND_PROCESSORS");
    long (*real)(int);
    if (name == _SC_PHYS_PAGES && pages != NULL)
        return atol(pages);
    if (name == _SC_NPROCESSORS_ONLN && processors != NULL)
        return atol(processors);
    *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return real(name);
}

static int ahead;

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    const char *late = getenv("PRETEND_LATE");
    int rank, result = PMPI_Bcast(buffer, count, type, root, comm);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ahead = late != NULL && rank == atoi(late);
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    now->tv_nsec += ahead ? 200000000 : 0;
    now->tv_sec += now->tv_nsec / 1000000000;
    now->tv_nsec %= 1000000000;
    return result;
}
