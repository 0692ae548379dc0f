/* min-inter: which node stands at each place of a tree so that few messages cross. No MPI. */
#ifndef TREE_FEW_CROSSINGS_H
#define TREE_FEW_CROSSINGS_H

/* Fills node_at[ranks] (virtual rank -> node); each node gets as many places as it has ranks, and
 * node 0 the root. Of two arrangements the one with fewer crossings: each node's places side by
 * side; or whole subtrees, for each node the largest that fits first, each of which sends one
 * message to another node at most. */
void tree_few_crossings(int *node_at, int ranks, const int *node_of, int nodes);

#endif
