#include "internal.h"

#include <mpi.h>
#include <string.h>
#include <unistd.h>

const char *topology_name(const struct topology *topology, int node) {
    return topology->names + (size_t)node * MPI_MAX_PROCESSOR_NAME;
}

static int find_node(const struct topology *topology, const char *name) {
    int node = 0;
    while (node < topology->nodes && strcmp(topology_name(topology, node), name) != 0)
        node++;
    return node;
}

static char *all_names(int ranks) {
    char own[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    MPI_Get_processor_name(own, &length);
    for (char *c = own; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == ',' || *c == ':')
            *c = '_'; /* these separate names in the header */
    char *names = allocate((size_t)ranks * sizeof own);
    MPI_Allgather(own, sizeof own, MPI_CHAR, names, sizeof own, MPI_CHAR, MPI_COMM_WORLD);
    return names;
}

static bool any_oversubscribed(const struct topology *topology) {
    int here = topology->ranks_on[topology->node_of[topology->rank]];
    return !sync_all(here <= sysconf(_SC_NPROCESSORS_ONLN));
}

void topology_find(struct topology *topology) {
    MPI_Comm_rank(MPI_COMM_WORLD, &topology->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &topology->ranks);
    size_t ranks = (size_t)topology->ranks;
    topology->names = all_names(topology->ranks);
    topology->node_of = allocate(ranks * sizeof(int));
    topology->ranks_on = allocate(ranks * sizeof(int));
    topology->nodes = 0;
    for (size_t rank = 0; rank < ranks; rank++) {
        const char *name = topology->names + rank * MPI_MAX_PROCESSOR_NAME;
        int node = find_node(topology, name);
        if (node == topology->nodes) {
            memmove(topology->names + (size_t)node * MPI_MAX_PROCESSOR_NAME, name,
                    MPI_MAX_PROCESSOR_NAME);
            topology->ranks_on[node] = 0;
            topology->nodes++;
        }
        topology->node_of[rank] = node;
        topology->ranks_on[node]++;
    }
    topology->oversubscribed = any_oversubscribed(topology);
}

uint64_t topology_node_sum(const struct topology *topology, uint64_t value) {
    uint64_t *values = allocate((size_t)topology->ranks * sizeof *values);
    MPI_Allgather(&value, 1, MPI_UINT64_T, values, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    uint64_t sum = 0;
    for (int rank = 0; rank < topology->ranks; rank++)
        if (topology->node_of[rank] == topology->node_of[topology->rank])
            sum = bytes_sum(sum, values[rank]);
    free(values);
    return sum;
}
