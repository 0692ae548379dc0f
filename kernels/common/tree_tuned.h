/* The tree that is tuned to the machine: groups of directly connected ranks are found by measuring,
 * and messages cross between them as often as possible. */
#ifndef TREE_TUNED_H
#define TREE_TUNED_H

#include "kernel.h"
#include "tree.h"

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

#endif
