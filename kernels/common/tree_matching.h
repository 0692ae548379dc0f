/* max-inter for any number of nodes: level by level, match survivors on different nodes. */
#ifndef TREE_MATCHING_H
#define TREE_MATCHING_H

#include <stdbool.h>

/* Reorders order[ranks] (virtual -> rank, order[0] stays first) so that many tree edges cross
 * nodes.
 *
 * On level l the survivors are the leaders of chunks of 2^l virtual ranks; a pair of neighbouring
 * chunks is one message. Pairs are taken from the two nodes with most survivors, which gives as
 * many crossing pairs as possible on that level; the receiver is the one whose node has fewer
 * receivers so far, so that the next level finds partners on different nodes. The last chunk stays
 * last when it is shorter than the others. */
void tree_match(int *order, int ranks, const int *node_of, int nodes);

#endif
