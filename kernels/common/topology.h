/* Which rank is on which node. */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

struct topology {
    int rank, ranks;
    int nodes;
    int *node_of;        /* [ranks], numbered in order of first appearance: rank 0 is on node 0 */
    int *ranks_on;       /* [nodes] */
    char *names;         /* [nodes][MPI_MAX_PROCESSOR_NAME] */
    bool oversubscribed; /* some node has more ranks than processors */
};

/* Collective. MPI's processor names distinguish the nodes. */
void topology_find(struct topology *topology);

const char *topology_name(const struct topology *topology, int node);

/* Sum of value over the ranks on this rank's node, UINT64_MAX on overflow. Collective. */
uint64_t topology_node_sum(const struct topology *topology, uint64_t value);

#endif
