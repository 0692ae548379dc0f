/* Binomial trees over virtual ranks, and which rank stands at which place. */
#ifndef TREE_H
#define TREE_H

#include "kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- one tree; tree.c, tree_few_crossings.c and tree_matching.c call no MPI */

/* On level l every virtual rank v with v mod 2^(l+1) = 2^l sends all it holds to v - 2^l and is
 * done; ceil(log2 P) levels, P - 1 messages. Virtual rank 0 is rank 0, the root, in every tree. */

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
 * max-inter: as many messages as possible cross nodes; min-inter: few do, see tree_few_crossings;
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

/* min-inter. Fills node_at[ranks] (virtual rank -> node); each node gets as many places as it has
 * ranks, and node 0 the root. Of two arrangements the one with fewer crossings: each node's places
 * side by side; or whole subtrees, for each node the largest that fits first, each of which sends
 * one message to another node at most. */
void tree_few_crossings(int *node_at, int ranks, const int *node_of, int nodes);

/* max-inter, for any number of nodes. Reorders order[ranks] (virtual -> rank, order[0] stays
 * first) so that many messages cross nodes.
 *
 * On level l the survivors are the leaders of chunks of 2^l virtual ranks; a pair of neighbouring
 * chunks is one message. Pairs are taken from the two nodes with most survivors, which gives as
 * many crossing pairs as possible on that level; the receiver is the one whose node has fewer
 * receivers so far, so that the next level finds partners on different nodes. The last chunk stays
 * last when it is shorter than the others. */
void tree_match(int *order, int ranks, const int *node_of, int nodes);

/* --- the tree that is tuned to the machine: measuring finds groups of directly connected ranks,
 * and messages cross between them as often as possible */

extern const char TREE_TUNED[]; /* its name */

/* What was found at the start of the run; the same on all ranks. */
struct tuning {
    int groups, *group_of; /* [ranks] */
    long pairs, measured;
    int classes;        /* of latency */
    int between_groups; /* messages of the tree, of ranks - 1 */
};

/* Measures and makes the tree; false and why where that cannot be. Collective. */
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
    struct tuning tuning;             /* groups: 0 where no tree is tuned */
};

/* The --tree option, for a kernel's table. */
#define TREE_OPTION(list)                                                                          \
    {"--tree",                                                                                     \
     "NAME[,NAME]",                                                                                \
     "max-inter, min-inter, natural, random, all of these, tuned (all)",                           \
     "a list of trees",                                                                            \
     parse_text,                                                                                   \
     &(list).names}

/* Makes the trees that list->names asks for; false and why where there is no such tree. */
bool tree_list_make(struct tree_list *list, const struct run *run, char why[REASON_LENGTH]);

/* Bytes of all messages of one gather along the tree with blocks of size bytes. */
uint64_t tree_wire_bytes(const struct tree *tree, size_t size);

/* Whether the largest message is one that MPI can count in an int of bytes. */
bool tree_list_countable(const struct run *run, char why[REASON_LENGTH]);

/* Header lines: trees, levels, how many of the messages cross nodes. */
void tree_list_describe(const struct tree_list *list);

#endif
