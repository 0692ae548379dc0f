/* The trees of a run: --tree NAME[,NAME...], their shapes, and this rank's part in them. */
#ifndef TREE_LIST_H
#define TREE_LIST_H

#include "kernel.h"
#include "tree.h"
#include "tree_tuned.h"

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
