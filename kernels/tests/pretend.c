/* Pretends to be another machine: loaded by LD_PRELOAD.
 *
 *   PRETEND_NODES=N    ranks are spread over N nodes, block by block
 *   PRETEND_PAGES=N    the node has N pages of memory
 *   PRETEND_PROCESSORS=N  and N processors
 *   PRETEND_LATE=RANK  after its first broadcast the clock of this rank is 0.2 s ahead: it is late
 *                      for each agreed start and ends after all others
 *   PRETEND_DRIFT=RANK  the clock of this rank is 10 % fast
 *   PRETEND_WAITING=N  by the account of waiting for a CPU, a rank waits N ns between two readings;
 *                      "none": there is no account; "zeros": the kernel does not count
 *   PRETEND_WAITING_RANK=RANK  only this rank; others never wait */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int fast;

int MPI_Get_processor_name(char *name, int *length) {
    const char *nodes = getenv("PRETEND_NODES");
    int rank, ranks;
    if (nodes == NULL)
        return PMPI_Get_processor_name(name, length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    fast = getenv("PRETEND_DRIFT") != NULL && rank == atoi(getenv("PRETEND_DRIFT"));
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
    if (fast)
        now->tv_nsec += (now->tv_sec * 1000000000 + now->tv_nsec) / 10;
    now->tv_nsec += ahead ? 200000000 : 0;
    now->tv_sec += now->tv_nsec / 1000000000;
    now->tv_nsec %= 1000000000;
    return result;
}

static int is_account(int file) {
    char link[64], path[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return strstr(path, "/schedstat") != NULL;
}

static int is_asked_to_wait(void) {
    const char *only = getenv("PRETEND_WAITING_RANK");
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return only == NULL || rank == atoi(only);
}

ssize_t pread(int file, void *buffer, size_t count, off_t offset) {
    static long long waited;
    ssize_t (*real)(int, void *, size_t, off_t);
    const char *waiting = getenv("PRETEND_WAITING");
    *(void **)&real = dlsym(RTLD_NEXT, "pread");
    if (waiting == NULL || !is_account(file))
        return real(file, buffer, count, offset);
    if (!is_asked_to_wait())
        return snprintf(buffer, count, "1 0 1\n");
    if (strcmp(waiting, "none") == 0)
        return -1;
    waited += atoll(waiting);
    return snprintf(buffer, count, "%d %lld 1\n", strcmp(waiting, "zeros") != 0, waited);
}
