/* Pretends another machine than the real one: loaded by LD_PRELOAD.
 *
 *   PRETEND_NODES=N    ranks are spread over N nodes, block by block
 *   PRETEND_PAGES=N    the node has N pages of memory */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
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
    const char *pages = getenv("PRETEND_PAGES");
    long (*real)(int);
    if (name == _SC_PHYS_PAGES && pages != NULL)
        return atol(pages);
    *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return real(name);
}
