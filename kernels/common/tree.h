/* Binomial trees over virtual ranks, and which rank stands at which place. No MPI.
 *
 * On level l every virtual rank v with v mod 2^(l+1) = 2^l sends all it holds to v - 2^l and is
 * done; ceil(log2 P) levels, P - 1 messages. Virtual rank 0 is rank 0, the root, in every tree. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREE_MAX_LEVELS = 31 };

struct tree {
    const char *name;
    int ranks, levels;
    int crossing;    /* messages between different nodes, of ranks - 1 */
    int *rank_of;    /* [ranks]: virtual -> rank */
    int *virtual_of; /* [ranks]: rank -> virtual */
};

/* What one rank does: receive in this order, then send all its blocks to the parent. */
struct tree_role {
    int virtual_rank;
    int blocks; /* held in the end, its own included: those of virtual ranks v, v + 1, ... */
    int receives;
    struct {
        int level;
        int peer;   /* rank */
        int first;  /* position of the first received block among those held */
        int blocks; /* number received */
    } receive[TREE_MAX_LEVELS];
    int parent; /* rank; -1 for the root */
};

/* The names that tree_make knows, NULL at the end:
 * max-inter: as many messages as possible cross nodes; min-inter: few do, see tree_few_crossings.h;
 * natural: virtual rank = rank; random: shuffled by the seed. */
extern const char *const TREE_NAMES[];

/* Makes the named tree; node_of[rank] in 0..nodes-1, rank 0 on node 0. False: unknown name. */
bool tree_make(struct tree *tree, const char *name, int ranks, const int *node_of, int nodes,
               uint64_t seed);

/* How many messages go between different nodes. */
int tree_crossing(const struct tree *tree, const int *node_of);

void tree_free(struct tree *tree);

/* Virtual ranks below v, its own included: v, v + 1, ... */
int tree_places_under(int v, int ranks);

/* The role of a rank in the tree. */
void tree_role(const struct tree *tree, int rank, struct tree_role *role);

#endif
