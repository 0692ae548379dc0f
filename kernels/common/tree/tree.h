/* Binomial trees over virtual ranks, and the rank at each place. */
#ifndef TREE_H
#define TREE_H

#include "kernel.h"

/* --- one tree; tree.c, min_inter.c and max_inter.c call no MPI */

/* On level l every virtual rank v with v mod 2^(l+1) = 2^l sends all it holds to v - 2^l and is
 * done: ceil(log2 P) levels, P - 1 messages. Virtual rank 0 is rank 0, the root, in every tree. */

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
    int blocks; /* held at the end, including its own: those of virtual ranks v, v + 1, ... */
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
 * max-inter: as many messages as possible cross nodes; min-inter: few do, see tree_few_crossings;
 * natural: virtual rank = rank; random: shuffled by the seed. */
extern const char *const TREE_NAMES[];

/* Makes the named tree; node_of[rank] in 0..nodes-1, rank 0 on node 0. False: unknown name. */
bool tree_make(struct tree *tree, const char *name, int ranks, const int *node_of, int nodes,
               uint64_t seed);

/* Messages between different nodes. */
int tree_crossing(const struct tree *tree, const int *node_of);

void tree_free(struct tree *tree);

/* Virtual ranks of the subtree of v: v, v + 1, ... */
int tree_places_under(int v, int ranks);

/* The role of a rank in the tree. */
void tree_role(const struct tree *tree, int rank, struct tree_role *role);

/* min-inter. Fills node_at[ranks] (virtual rank -> node); each node gets as many places as it has
 * ranks, and node 0 gets the root. Takes the better of two arrangements: each node's places side by
 * side; or whole subtrees, the largest that fit each node first, each of which sends at most one
 * message to another node. */
void tree_few_crossings(int *node_at, int ranks, const int *node_of, int nodes);

/* max-inter, for any number of nodes. Reorders order[ranks] (virtual -> rank, order[0] stays
 * first) so that many messages cross nodes.
 *
 * On level l the survivors are the leaders of chunks of 2^l virtual ranks; a pair of neighbouring
 * chunks is one message. Taking pairs from the two nodes with most survivors gives as many crossing
 * pairs as possible on that level. The node with fewer receivers so far receives, so that the next
 * level finds partners on different nodes. A last chunk shorter than the others stays last. */
void tree_match(int *order, int ranks, const int *node_of, int nodes);

/* --- the tuned tree: measurements find groups of closely connected ranks, and messages cross
 * between groups as often as possible */

extern const char TREE_TUNED[]; /* its name */

/* Found at the start of the run; the same on all ranks. */
struct tuning {
    int groups, *group_of; /* [ranks] */
    long pairs, measured;
    int classes;        /* of latency */
    int between_groups; /* messages of the tree, of ranks - 1 */
};

/* Measures and makes the tree; false and a reason if that is impossible. Collective. */
bool tree_tuned_make(struct tree *tree, struct tuning *tuning, const struct run *run,
                     char why[REASON_LENGTH]);

/* Header lines. */
void tree_tuned_describe(const struct tuning *tuning, const struct tree *tree);

/* --- the trees of a run: --tree NAME[,NAME...], their shapes, and this rank's part in them */

enum { MAX_TREES = 8 };

struct tree_list {
    const char *names; /* from the command line */
    int count;
    struct tree tree[MAX_TREES];
    struct tree_role role[MAX_TREES]; /* of this rank */
    int blocks;                       /* the most that this rank holds in any tree */
    struct tuning tuning;             /* groups 0: no tree is tuned */
};

/* The --tree option, for a kernel's table. */
#define TREE_OPTION(list)                                                                          \
    {"--tree",                                                                                     \
     "NAME[,NAME]",                                                                                \
     "max-inter, min-inter, natural, random, all of these, tuned (all)",                           \
     "a list of trees",                                                                            \
     parse_text,                                                                                   \
     &(list).names}

/* Makes the trees named in list->names; false and a reason if there is no such tree. */
bool tree_list_make(struct tree_list *list, const struct run *run, char why[REASON_LENGTH]);

/* Adds the first operations of the run, one for each tree: its role in parameters, else as like. */
void tree_list_add(struct tree_list *list, struct run *run, const struct operation *like);

/* Sets the sizes of these operations. */
void tree_list_set_size(const struct tree_list *list, struct run *run, size_t size);

/* Whether the bytes of the largest message fit MPI's int count. */
bool tree_list_countable(const struct run *run, char why[REASON_LENGTH]);

/* Header lines: trees, levels, messages that cross nodes. */
void tree_list_describe(const struct tree_list *list);

#endif
