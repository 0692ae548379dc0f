#include "tree/tree.h"

#include "random.h"

#include <string.h>

const char *const TREE_NAMES[] = {"max-inter", "min-inter", "natural", "random", NULL};

static void place_natural(struct tree *tree) {
    for (int v = 0; v < tree->ranks; v++)
        tree->rank_of[v] = v;
}

/* Each node's ranks take the places of that node in order. */
static void place_by_node(struct tree *tree, const int *node_of, int nodes, const int *node_at) {
    int *next = zeroed((size_t)nodes, sizeof(int));
    for (int v = 0; v < tree->ranks; v++) {
        int *rank = &next[node_at[v]];
        while (node_of[*rank] != node_at[v])
            ++*rank;
        tree->rank_of[v] = (*rank)++;
    }
    free(next);
}

static void place_apart(struct tree *tree, const int *node_of, int nodes) {
    int *node_at = zeroed((size_t)tree->ranks, sizeof(int));
    tree_few_crossings(node_at, tree->ranks, node_of, nodes);
    place_by_node(tree, node_of, nodes, node_at);
    free(node_at);
}

/* Rank 0 stays the root, as in MPI_Gather. */
static void place_random(struct tree *tree, uint64_t seed) {
    place_natural(tree);
    shuffle(tree->rank_of + 1, tree->ranks - 1, &seed);
}

static int parity(int v) { return __builtin_popcount((unsigned)v) % 2; }

/* Two nodes: node(v) = popcount(v) mod 2. Every edge clears one bit, so every message crosses. If a
 * node has too few ranks for that, leaves (odd v, one message each) move to the other. False if
 * there are not enough leaves. */
static bool place_by_parity(struct tree *tree, const int *node_of) {
    int next[2] = {0, 0}, surplus = 0; /* places of node 0 less ranks of node 0 */
    for (int v = 0; v < tree->ranks; v++)
        surplus += (parity(v) == 0) - (node_of[v] == 0);
    for (int v = 0; v < tree->ranks; v++) {
        int node = parity(v);
        if (v % 2 != 0 && surplus != 0 && node == (surplus < 0)) {
            surplus += surplus > 0 ? -1 : 1;
            node = 1 - node;
        }
        while (next[node] < tree->ranks && node_of[next[node]] != node)
            next[node]++;
        if (next[node] == tree->ranks)
            return false;
        tree->rank_of[v] = next[node]++;
    }
    return true;
}

static void place_crossing(struct tree *tree, const int *node_of, int nodes) {
    if (nodes == 2 && place_by_parity(tree, node_of))
        return;
    place_natural(tree);
    if (nodes > 1)
        tree_match(tree->rank_of, tree->ranks, node_of, nodes);
}

static bool place(struct tree *tree, const int *node_of, int nodes, uint64_t seed) {
    if (strcmp(tree->name, "max-inter") == 0)
        place_crossing(tree, node_of, nodes);
    else if (strcmp(tree->name, "min-inter") == 0)
        place_apart(tree, node_of, nodes);
    else if (strcmp(tree->name, "natural") == 0)
        place_natural(tree);
    else if (strcmp(tree->name, "random") == 0)
        place_random(tree, seed);
    else
        return false;
    return true;
}

int tree_crossing(const struct tree *tree, const int *node_of) {
    int crossing = 0;
    for (int v = 1; v < tree->ranks; v++)
        crossing += node_of[tree->rank_of[v]] != node_of[tree->rank_of[v & (v - 1)]];
    return crossing;
}

bool tree_make(struct tree *tree, const char *name, int ranks, const int *node_of, int nodes,
               uint64_t seed) {
    *tree = (struct tree){.name = name,
                          .ranks = ranks,
                          .rank_of = zeroed((size_t)ranks, sizeof(int)),
                          .virtual_of = zeroed((size_t)ranks, sizeof(int))};
    if (!place(tree, node_of, nodes, seed)) {
        tree_free(tree);
        return false;
    }
    while ((int64_t)1 << tree->levels < ranks)
        tree->levels++;
    for (int v = 0; v < ranks; v++)
        tree->virtual_of[tree->rank_of[v]] = v;
    tree->crossing = tree_crossing(tree, node_of);
    return true;
}

void tree_free(struct tree *tree) {
    free(tree->rank_of);
    free(tree->virtual_of);
    *tree = (struct tree){0};
}

void tree_role(const struct tree *tree, int rank, struct tree_role *role) {
    int v = tree->virtual_of[rank];
    *role = (struct tree_role){
        .virtual_rank = v, .blocks = tree_places_under(v, tree->ranks), .parent = -1};
    for (int level = 0; level < tree->levels; level++) {
        int step = 1 << level;
        if (v & step) {
            role->parent = tree->rank_of[v - step];
            return;
        }
        if (step >= tree->ranks - v)
            continue;
        int i = role->receives++;
        role->receive[i].level = level;
        role->receive[i].peer = tree->rank_of[v + step];
        role->receive[i].first = step;
        role->receive[i].blocks = tree_places_under(v + step, tree->ranks);
    }
}
