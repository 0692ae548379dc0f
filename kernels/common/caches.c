#define _GNU_SOURCE
#include "caches.h"

#include "cpu_sysfs.h"

#include <mpi.h>
#include <sched.h>
#include <string.h>

enum { MAX_CPUS = 8 * sizeof(cpu_set_t), MAX_CACHES = 16 };

/* The first word of a file of a cache, such as "Unified" or "32K". */
static bool read_fact(int cpu, int cache, const char *fact, char text[32]) {
    char path[CPU_PATH_LENGTH], inside[64];
    snprintf(inside, sizeof inside, "cache/index%d/%s", cache, fact);
    FILE *file = cpu_path(path, cpu, inside) ? fopen(path, "re") : NULL;
    if (file == NULL)
        return false;
    bool found = fscanf(file, "%31s", text) == 1;
    fclose(file);
    return found;
}

static uint64_t size_of(const char *text) {
    unsigned long long number = 0;
    char unit = '\0';
    if (sscanf(text, "%llu%c", &number, &unit) < 1)
        return 0;
    return (uint64_t)number << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

/* Of one cache, unless a processor with a smaller number shares it and is in use, too. */
static uint64_t counted_once(const cpu_set_t *used, int cpu, int cache, bool *unknown) {
    char type[32], size[32], shared[32];
    int first;
    if (!read_fact(cpu, cache, "type", type))
        return 0; /* no further cache */
    if (strcmp(type, "Instruction") == 0)
        return 0;
    if (!read_fact(cpu, cache, "size", size) || !read_fact(cpu, cache, "shared_cpu_list", shared) ||
        sscanf(shared, "%d", &first) != 1 || size_of(size) == 0) {
        *unknown = true;
        return 0;
    }
    for (int other = first; other < cpu; other++) {
        char of_other[32];
        if (CPU_ISSET(other, used) && read_fact(other, cache, "shared_cpu_list", of_other) &&
            strcmp(of_other, shared) == 0)
            return 0;
    }
    return size_of(size);
}

static uint64_t sum_of(const cpu_set_t *used) {
    uint64_t sum = 0;
    bool unknown = false;
    for (int cpu = 0; cpu < MAX_CPUS; cpu++)
        for (int cache = 0; CPU_ISSET(cpu, used) && cache < MAX_CACHES; cache++)
            sum += counted_once(used, cpu, cache, &unknown);
    return unknown ? 0 : sum;
}

uint64_t caches_of_node(const struct topology *topology) {
    MPI_Comm node;
    cpu_set_t own, used;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    MPI_Comm_split(MPI_COMM_WORLD, topology->node_of[topology->rank], topology->rank, &node);
    MPI_Allreduce(&own, &used, sizeof own, MPI_BYTE, MPI_BOR, node);
    MPI_Comm_free(&node);
    return sum_of(&used);
}
