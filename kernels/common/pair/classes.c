#include "pair/pair.h"

#include <math.h>
#include <string.h>

/* An unordered pair, from < to. */
struct pair {
    double seconds;
    int from, to;
};

/* Pairs sorted by seconds, and where slower classes begin. */
struct cuts {
    const struct pair *pairs;
    int n, count;
    int *at; /* [count]: index of the first pair of the slower class, ascending */
};

static int slower(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The faster direction: in effect a further repetition. fmin ignores a NAN. */
static double pair_seconds(const double *seconds, int ranks, int from, int to) {
    size_t n = (size_t)ranks, a = (size_t)from, b = (size_t)to;
    return fmin(seconds[a * n + b], seconds[b * n + a]);
}

static int collect(const double *seconds, int ranks, struct pair *pairs) {
    int n = 0;
    for (int from = 0; from < ranks; from++)
        for (int to = from + 1; to < ranks; to++) {
            double both = pair_seconds(seconds, ranks, from, to);
            if (isfinite(both) && both > 0)
                pairs[n++] = (struct pair){both, from, to};
        }
    qsort(pairs, (size_t)n, sizeof *pairs, slower);
    return n;
}

static double gap_at(const struct cuts *cuts, int i) {
    return cuts->pairs[cuts->at[i]].seconds / cuts->pairs[cuts->at[i] - 1].seconds;
}

static void remove_cut(struct cuts *cuts, int i) {
    cuts->count--;
    memmove(cuts->at + i, cuts->at + i + 1, (size_t)(cuts->count - i) * sizeof *cuts->at);
}

static void find_gaps(struct cuts *cuts) {
    for (int i = 1; i < cuts->n; i++)
        if (cuts->pairs[i].seconds > CLASS_GAP * cuts->pairs[i - 1].seconds)
            cuts->at[cuts->count++] = i;
}

/* From the slowest class, so that several stragglers add up before they join a class. */
static void join_small_classes(struct cuts *cuts, int ranks) {
    int least = (2 * cuts->n + ranks - 1) / ranks; /* measured pairs of one rank */
    for (int i = cuts->count - 1; i >= 0; i--) {
        int end = i + 1 < cuts->count ? cuts->at[i + 1] : cuts->n;
        if (end - cuts->at[i] < least)
            remove_cut(cuts, i);
    }
}

static void keep_largest_gaps(struct cuts *cuts) {
    while (cuts->count > MAX_CLASSES - 1) {
        int smallest = 0;
        for (int i = 1; i < cuts->count; i++)
            if (gap_at(cuts, i) < gap_at(cuts, smallest))
                smallest = i;
        remove_cut(cuts, smallest);
    }
}

static void assign(struct pair_classes *classes, const struct cuts *cuts) {
    size_t ranks = (size_t)classes->ranks;
    classes->count = cuts->n > 0 ? cuts->count + 1 : 0;
    for (int which = 0; which < classes->count; which++) {
        int begin = which > 0 ? cuts->at[which - 1] : 0;
        int end = which < cuts->count ? cuts->at[which] : cuts->n;
        classes->pairs[which] = end - begin;
        classes->median[which] = cuts->pairs[begin + (end - begin) / 2].seconds;
        for (const struct pair *pair = cuts->pairs + begin; pair < cuts->pairs + end; pair++) {
            classes->class_of[(size_t)pair->from * ranks + (size_t)pair->to] = which;
            classes->class_of[(size_t)pair->to * ranks + (size_t)pair->from] = which;
        }
    }
}

void pair_classes_find(struct pair_classes *classes, const double *seconds, int ranks) {
    size_t all = (size_t)ranks * (size_t)ranks;
    struct pair *pairs = zeroed(all / 2, sizeof *pairs);
    struct cuts cuts = {.pairs = pairs, .at = zeroed(all / 2, sizeof(int))};
    *classes = (struct pair_classes){.ranks = ranks, .class_of = zeroed(all, sizeof(int))};
    for (size_t i = 0; i < all; i++)
        classes->class_of[i] = -1;
    cuts.n = collect(seconds, ranks, pairs);
    find_gaps(&cuts);
    join_small_classes(&cuts, ranks);
    keep_largest_gaps(&cuts);
    assign(classes, &cuts);
    free(cuts.at);
    free(pairs);
}

void pair_classes_free(struct pair_classes *classes) {
    free(classes->class_of);
    *classes = (struct pair_classes){0};
}

/* Gives the group to every rank connected to the first by pairs of the fastest class. */
static void spread_group(const struct pair_classes *classes, int first, int group, int *group_of,
                         int *waiting) {
    int count = 0;
    group_of[first] = group;
    waiting[count++] = first;
    while (count > 0) {
        const int *row = classes->class_of + (size_t)waiting[--count] * (size_t)classes->ranks;
        for (int rank = 0; rank < classes->ranks; rank++)
            if (row[rank] == 0 && group_of[rank] < 0) {
                group_of[rank] = group;
                waiting[count++] = rank;
            }
    }
}

int pair_groups(const struct pair_classes *classes, int *group_of) {
    bool one = classes->count <= 1;
    int groups = one ? 1 : 0, *waiting = zeroed((size_t)classes->ranks, sizeof *waiting);
    for (int rank = 0; rank < classes->ranks; rank++)
        group_of[rank] = one ? 0 : -1;
    for (int rank = 0; rank < classes->ranks; rank++)
        if (group_of[rank] < 0)
            spread_group(classes, rank, groups++, group_of, waiting);
    free(waiting);
    return groups;
}
