/* Rings and pairs without MPI:
 *   ring RANKS SEED NUMBER      the ranks in their order
 *   neighbours RANKS SEED NUMBER RANK   the neighbours of a rank
 *   stride RANKS PAIRS          the stride for this many affordable pairs
 *   pairs RANKS STRIDE          "client server" of each pair, one per line
 *   tournament RANKS 0          the partners of all ranks, one round per line */
#include "latency_bandwidth/ping_pong.h"
#include "pair/pair.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_ring(const int *order, int ranks) {
    for (int i = 0; i < ranks; i++)
        printf("%d%c", order[i], i + 1 < ranks ? ' ' : '\n');
}

static void print_pairs(const struct pair_set *set, int ranks) {
    for (int from = 0; from < ranks; from++)
        for (int i = 0; pair_set_has_client(set, from) && i < set->count; i++)
            if (pair_set_server(set, i) != from)
                printf("%d %d\n", from, pair_set_server(set, i));
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    int ranks = atoi(argv[2]), *order = malloc((size_t)ranks * sizeof *order);
    if (order == NULL)
        return 2;
    if (argc > 4)
        ring_random(order, ranks, strtoull(argv[3], NULL, 10), atoi(argv[4]));
    if (strcmp(argv[1], "ring") == 0 && argc == 5) {
        print_ring(order, ranks);
    } else if (strcmp(argv[1], "neighbours") == 0 && argc == 6) {
        struct neighbours found = ring_neighbours(order, ranks, atoi(argv[5]));
        printf("%d %d\n", found.left, found.right);
    } else if (strcmp(argv[1], "stride") == 0) {
        printf("%d\n", pair_stride(ranks, atof(argv[3])));
    } else if (strcmp(argv[1], "pairs") == 0) {
        struct pair_set set = pair_set_strided(ranks, atoi(argv[3]));
        print_pairs(&set, ranks);
    } else if (strcmp(argv[1], "tournament") == 0) {
        for (int round = 0; round < tournament_rounds(ranks); round++)
            for (int rank = 0; rank < ranks; rank++)
                printf("%d%c", tournament_partner(ranks, round, rank),
                       rank + 1 < ranks ? ' ' : '\n');
    } else {
        return 2;
    }
    free(order);
    return 0;
}
