#include "tree/tree.h"

#include <string.h>

enum { FREE = -1 };

/* The lowest set bit of v, cut at the last rank. */
int tree_places_under(int v, int ranks) {
    int full = v == 0 ? ranks : v & -v;
    return full < ranks - v ? full : ranks - v;
}

/* free_before[v]: free places among 0 .. v - 1. */
static void count_free(const int *node_at, int ranks, int *free_before) {
    free_before[0] = 0;
    for (int v = 0; v < ranks; v++)
        free_before[v + 1] = free_before[v] + (node_at[v] == FREE);
}

/* The free place, not the root, whose subtree has most free places, at most `most`. A place without
 * free children always fits: only whole subtrees have been taken. */
static int largest_fitting(const int *node_at, int ranks, const int *free_before, int most) {
    int best = 0, best_size = 0;
    for (int v = 1; v < ranks; v++) {
        int size = free_before[v + tree_places_under(v, ranks)] - free_before[v];
        if (node_at[v] == FREE && size <= most && size > best_size) {
            best = v;
            best_size = size;
        }
    }
    return best;
}

/* Returns how many places were assigned. */
static int take_subtree(int *node_at, int ranks, int v, int node) {
    int taken = 0;
    for (int end = v + tree_places_under(v, ranks); v < end; v++)
        if (node_at[v] == FREE) {
            node_at[v] = node;
            taken++;
        }
    return taken;
}

static void place_subtrees(int *node_at, int ranks, const int *ranks_on, int nodes) {
    int *free_before = zeroed((size_t)ranks + 1, sizeof(int));
    for (int v = 0; v < ranks; v++)
        node_at[v] = FREE;
    for (int node = nodes - 1; node > 0; node--)
        for (int wanted = ranks_on[node]; wanted > 0;) {
            count_free(node_at, ranks, free_before);
            int v = largest_fitting(node_at, ranks, free_before, wanted);
            wanted -= take_subtree(node_at, ranks, v, node);
        }
    take_subtree(node_at, ranks, 0, 0);
    free(free_before);
}

static void place_side_by_side(int *node_at, const int *ranks_on, int nodes) {
    for (int node = 0; node < nodes; node++)
        for (int i = 0; i < ranks_on[node]; i++)
            *node_at++ = node;
}

static int crossings(const int *node_at, int ranks) {
    int count = 0;
    for (int v = 1; v < ranks; v++)
        count += node_at[v] != node_at[v & (v - 1)];
    return count;
}

void tree_few_crossings(int *node_at, int ranks, const int *node_of, int nodes) {
    int *ranks_on = zeroed((size_t)nodes, sizeof(int)),
        *side_by_side = zeroed((size_t)ranks, sizeof(int));
    for (int rank = 0; rank < ranks; rank++)
        ranks_on[node_of[rank]]++;
    place_subtrees(node_at, ranks, ranks_on, nodes);
    place_side_by_side(side_by_side, ranks_on, nodes);
    if (crossings(side_by_side, ranks) <= crossings(node_at, ranks))
        memcpy(node_at, side_by_side, (size_t)ranks * sizeof *node_at);
    free(side_by_side);
    free(ranks_on);
}
