#include "ping_pong.h"

#include "random.h"

#include <math.h>

enum { FEWEST_CLIENTS = 5 };

int pair_stride(int ranks, double affordable_pairs) {
    double clients = floor(sqrt(affordable_pairs));
    int stride = (int)(ranks / fmax(clients, FEWEST_CLIENTS) + 0.9);
    if (stride <= 1)
        return 1;
    if (stride <= 3)
        return 3;
    /* Beyond a third of the ranks too few clients would remain. */
    while (!is_prime(stride) && stride <= ranks / 3)
        stride++;
    return stride;
}

struct pair_set pair_set_strided(int ranks, int stride) {
    return (struct pair_set){0, (ranks - 1) % stride, (ranks - 1) / stride + 1, stride};
}

struct pair_set pair_set_single(int client, int server) {
    return (struct pair_set){client, server, 1, 1};
}

int pair_set_client(const struct pair_set *set, int i) {
    return set->first_client + i * set->stride;
}

int pair_set_server(const struct pair_set *set, int i) {
    return set->first_server + i * set->stride;
}

static int has(const struct pair_set *set, int first, int rank) {
    int distance = rank - first;
    return distance >= 0 && distance % set->stride == 0 && distance / set->stride < set->count;
}

int pair_set_has_client(const struct pair_set *set, int rank) {
    return has(set, set->first_client, rank);
}

int pair_set_has_server(const struct pair_set *set, int rank) {
    return has(set, set->first_server, rank);
}
