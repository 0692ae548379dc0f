/* Classes that common/pair/classes.c finds in a matrix, and the tuned tree over its groups.
 *
 *   test_pairs classes FILE   FILE: the number of ranks, then the matrix row by row in seconds,
 *                             "nan" where not measured
 *   test_pairs levels FILE    the same, then a matrix of levels (-1: unknown)
 *   test_pairs tree NAME NODE ...   crossing messages of the tree; the node of each rank */
#include "core_pairs/core_pairs.h"
#include "tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_matrix(const char *path, int *ranks) {
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%d", ranks) != 1 || *ranks < 1)
        exit(2);
    return file;
}

static double *read_matrix(FILE *file, int ranks) {
    size_t n = (size_t)ranks * (size_t)ranks;
    double *matrix = calloc(n, sizeof *matrix);
    for (size_t i = 0; i < n; i++)
        if (matrix == NULL || fscanf(file, "%lf", &matrix[i]) != 1)
            exit(2);
    return matrix;
}

static void print_groups(const struct pair_classes *classes) {
    int *group_of = calloc((size_t)classes->ranks, sizeof *group_of);
    if (group_of == NULL)
        exit(2);
    int groups = pair_groups(classes, group_of);
    struct tree tree;
    printf("groups");
    for (int rank = 0; rank < classes->ranks; rank++)
        printf(" %d", group_of[rank]);
    tree_make(&tree, "max-inter", classes->ranks, group_of, groups, 1);
    printf("\ncrossing %d\ntree", tree.crossing);
    for (int v = 0; v < tree.ranks; v++)
        printf(" %d", tree.rank_of[v]);
    printf("\n");
    tree_free(&tree);
    free(group_of);
}

static void print_classes(const struct pair_classes *classes) {
    printf("classes %d\npairs", classes->count);
    for (int i = 0; i < classes->count; i++)
        printf(" %ld", classes->pairs[i]);
    printf("\nmedian");
    for (int i = 0; i < classes->count; i++)
        printf(" %.3e", classes->median[i]);
    printf("\n");
    print_groups(classes);
}

static void print_agreement(FILE *file, const struct pair_classes *classes) {
    int n = classes->ranks * classes->ranks, *level_of = calloc((size_t)n, sizeof *level_of);
    struct pair_agreement agreement;
    for (int i = 0; i < n; i++)
        if (level_of == NULL || fscanf(file, "%d", &level_of[i]) != 1)
            exit(2);
    pair_agreement_count(classes, level_of, &agreement);
    printf("agreement %ld/%ld\n", agreement.agreeing, agreement.known);
    free(level_of);
}

static int print_crossing(int argc, char **argv) {
    int ranks = argc - 3, nodes = 0, *node_of = calloc((size_t)ranks, sizeof *node_of);
    struct tree tree;
    for (int rank = 0; rank < ranks; rank++) {
        node_of[rank] = atoi(argv[3 + rank]);
        nodes = node_of[rank] >= nodes ? node_of[rank] + 1 : nodes;
    }
    if (!tree_make(&tree, argv[2], ranks, node_of, nodes, 1))
        return 2;
    printf("%d\n", tree.crossing);
    tree_free(&tree);
    free(node_of);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 4 && strcmp(argv[1], "tree") == 0)
        return print_crossing(argc, argv);
    if (argc != 3)
        return 2;
    int ranks;
    struct pair_classes classes;
    FILE *file = open_matrix(argv[2], &ranks);
    double *seconds = read_matrix(file, ranks);
    pair_classes_find(&classes, seconds, ranks);
    print_classes(&classes);
    if (strcmp(argv[1], "levels") == 0)
        print_agreement(file, &classes);
    pair_classes_free(&classes);
    free(seconds);
    fclose(file);
    return 0;
}
