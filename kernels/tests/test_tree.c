/* Prints "ranks levels crossing on_node_0 is_tree" for the named tree, ranks 2 .. LAST on NODES
 * equal nodes (block mapping). is_tree: every rank's blocks reach the root exactly once. */
#include "tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int holds_all(const struct tree *tree) {
    struct tree_role role;
    int received = 0, senders = 0;
    for (int rank = 0; rank < tree->ranks; rank++) {
        tree_role(tree, rank, &role);
        int sum = 1;
        for (int i = 0; i < role.receives; i++) {
            struct tree_role child;
            tree_role(tree, role.receive[i].peer, &child);
            if (child.parent != rank || child.blocks != role.receive[i].blocks ||
                role.receive[i].first != sum)
                return 0;
            sum += child.blocks;
            received++;
        }
        senders += role.parent >= 0;
        if (sum != role.blocks)
            return 0;
    }
    tree_role(tree, 0, &role);
    return received == tree->ranks - 1 && senders == tree->ranks - 1 &&
           role.blocks == tree->ranks && role.parent == -1;
}

static int is_permutation(const struct tree *tree) {
    for (int rank = 0; rank < tree->ranks; rank++)
        if (tree->virtual_of[rank] < 0 || tree->virtual_of[rank] >= tree->ranks ||
            tree->rank_of[tree->virtual_of[rank]] != rank)
            return 0;
    return tree->rank_of[0] == 0;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    int nodes = atoi(argv[2]), last = atoi(argv[3]);
    int *node_of = malloc((size_t)last * sizeof *node_of);
    for (int ranks = 2; ranks <= last; ranks++) {
        int on_node_0 = 0;
        for (int rank = 0; rank < ranks; rank++) {
            node_of[rank] = (int)((long)rank * nodes / ranks);
            on_node_0 += node_of[rank] == 0;
        }
        struct tree tree;
        if (!tree_make(&tree, argv[1], ranks, node_of, nodes, 7))
            return 2;
        printf("%d %d %d %d %d\n", ranks, tree.levels, tree.crossing, on_node_0,
               is_permutation(&tree) && holds_all(&tree));
        tree_free(&tree);
    }
    free(node_of);
    return 0;
}
