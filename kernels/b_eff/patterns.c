#include "effective.h"

#include "kernel.h"
#include "random.h"

#include <limits.h>
#include <stdio.h>

static int smaller(int a, int b) { return a < b ? a : b; }
static int larger(int a, int b) { return a > b ? a : b; }

static void begin(struct pattern *pattern, const char *set, int ranks) {
    *pattern = (struct pattern){.set = set, .ranks = ranks, .smallest = INT_MAX};
}

/* A further direction, without rings so far. */
static void add_direction(struct pattern *pattern) {
    int *left = zeroed((size_t)pattern->ranks, sizeof(int)),
        *right = zeroed((size_t)pattern->ranks, sizeof(int));
    for (int rank = 0; rank < pattern->ranks; rank++)
        left[rank] = right[rank] = -1;
    pattern->left[pattern->directions] = left;
    pattern->right[pattern->directions] = right;
    pattern->directions++;
}

/* Closes a ring over the members in the direction added last. */
static void add_ring(struct pattern *pattern, const int *members, int size) {
    int direction = pattern->directions - 1;
    for (int i = 0; i < size; i++) {
        int next = members[(i + 1) % size];
        pattern->right[direction][members[i]] = next;
        pattern->left[direction][next] = members[i];
    }
    pattern->rings++;
    pattern->smallest = smaller(pattern->smallest, size);
    pattern->largest = larger(pattern->largest, size);
}

static int target_size(int ranks, int index) {
    const int targets[RING_PATTERNS] = {2,    4, 8, larger(16, ranks / 4), larger(32, ranks / 2),
                                        ranks};
    return smaller(targets[index], ranks);
}

int ring_sizes(int ranks, int index, int *sizes) {
    int wanted = (int)((double)ranks / target_size(ranks, index) + 0.4);
    int rings = larger(1, smaller(wanted, ranks / 2));
    int size = ranks / rings, longer = ranks % rings; /* rings of one process more */
    for (int i = 0; i < rings; i++)                   /* those of the even size come first */
        sizes[i] = size + (size % 2 == 0 ? i >= rings - longer : i < longer);
    return rings;
}

void pattern_ring(struct pattern *pattern, int ranks, int index) {
    static const char *const names[RING_PATTERNS] = {"ring-2",       "ring-4",    "ring-8",
                                                     "ring-quarter", "ring-half", "ring-all"};
    int *sizes = zeroed((size_t)ranks, sizeof(int)), *members = zeroed((size_t)ranks, sizeof(int)),
        first = 0;
    begin(pattern, "ring", ranks);
    snprintf(pattern->name, sizeof pattern->name, "%s", names[index]);
    add_direction(pattern);
    for (int rank = 0; rank < ranks; rank++)
        members[rank] = rank;
    int rings = ring_sizes(ranks, index, sizes);
    for (int i = 0; i < rings; first += sizes[i++])
        add_ring(pattern, members + first, sizes[i]);
    free(sizes);
    free(members);
}

void pattern_random(struct pattern *pattern, int ranks, int index, uint64_t seed) {
    int *order = zeroed((size_t)ranks, sizeof(int));
    ring_random(order, ranks, seed, index);
    begin(pattern, "random", ranks);
    snprintf(pattern->name, sizeof pattern->name, "random-%d", index + 1);
    add_direction(pattern);
    add_ring(pattern, order, ranks);
    free(order);
}

/* size = a b c with a >= b >= c as even as possible; ones at the end for fewer dimensions. */
static void factors(int size, int dimensions, int shape[MAX_DIRECTIONS]) {
    int best = INT_MAX;
    for (int c = 1; c == 1 || (dimensions == 3 && c * c * c <= size); c++)
        for (int b = c; size % c == 0 && (b == 1 || b * b <= size / c); b++) {
            int a = size / c / b;
            bool allowed = a * b * c == size && (dimensions > 1 || b == 1);
            if (!allowed || a + b + c >= best)
                continue;
            best = a + b + c;
            shape[0] = a;
            shape[1] = b;
            shape[2] = c;
        }
}

void cartesian_shape(int ranks, int dimensions, int shape[MAX_DIRECTIONS]) {
    int size = ranks;
    if (dimensions > 1 && ranks > 4)
        size -= size % 2;
    factors(size, dimensions, shape);
    while (ranks > 8 && shape[dimensions - 1] == 1) {
        size -= 2; /* reached with two and three dimensions only: it stays even */
        factors(size, dimensions, shape);
    }
}

/* All rings of one direction: ranks are numbered as MPI_Cart_create does, the last one fastest. */
static void add_lines(struct pattern *pattern, const int shape[MAX_DIRECTIONS], int direction) {
    int stride = 1, size = shape[0] * shape[1] * shape[2], length = shape[direction];
    int *members = zeroed((size_t)length, sizeof(int));
    for (int i = direction + 1; i < MAX_DIRECTIONS; i++)
        stride *= shape[i];
    add_direction(pattern);
    for (int first = 0; first < size; first++) {
        if (first / stride % length != 0)
            continue;
        for (int i = 0; i < length; i++)
            members[i] = first + i * stride;
        add_ring(pattern, members, length);
    }
    free(members);
}

bool pattern_cartesian(struct pattern *pattern, int ranks, int index) {
    static const struct {
        const char *name;
        int dimensions, first, last;
    } list[CARTESIAN_PATTERNS] = {{"1d-x", 1, 0, 0},  {"2d-x", 2, 0, 0},  {"2d-y", 2, 1, 1},
                                  {"2d-xy", 2, 0, 1}, {"3d-x", 3, 0, 0},  {"3d-y", 3, 1, 1},
                                  {"3d-z", 3, 2, 2},  {"3d-xyz", 3, 0, 2}};
    int shape[MAX_DIRECTIONS] = {1, 1, 1};
    cartesian_shape(ranks, list[index].dimensions, shape);
    begin(pattern, "cartesian", ranks);
    snprintf(pattern->name, sizeof pattern->name, "%s", list[index].name);
    for (int direction = list[index].first; direction <= list[index].last; direction++)
        if (shape[direction] > 1)
            add_lines(pattern, shape, direction);
    return pattern->directions > 0;
}

static void add_pair(struct pattern *pattern, int a, int b) {
    const int members[2] = {a, b};
    add_ring(pattern, members, 2);
}

void pattern_grouping(struct pattern *pattern, int ranks, int index) {
    begin(pattern, "first", ranks);
    snprintf(pattern->name, sizeof pattern->name, "%s", index == 0 ? "best" : "worst");
    add_direction(pattern);
    for (int i = 0; i < ranks / 2; i++)
        if (index == 0)
            add_pair(pattern, 2 * i, 2 * i + 1);
        else
            add_pair(pattern, i, ranks - 1 - i);
}

void pattern_pair(struct pattern *pattern, int ranks) {
    begin(pattern, "pair", ranks);
    snprintf(pattern->name, sizeof pattern->name, "ranks-0-1");
    add_direction(pattern);
    add_pair(pattern, 0, 1);
}

void pattern_free(struct pattern *pattern) {
    for (int direction = 0; direction < pattern->directions; direction++) {
        free(pattern->left[direction]);
        free(pattern->right[direction]);
    }
    pattern->directions = 0;
}

int pattern_messages(const struct pattern *pattern) {
    int messages = 0;
    for (int direction = 0; direction < pattern->directions; direction++)
        for (int rank = 0; rank < pattern->ranks; rank++) {
            int left = pattern->left[direction][rank], right = pattern->right[direction][rank];
            messages += left < 0 ? 0 : left == right ? 1 : 2;
        }
    return messages;
}

int pattern_sides(const struct pattern *pattern) { return pattern->largest > 2 ? 2 : 1; }

int pattern_processes(const struct pattern *pattern) {
    int processes = 0;
    for (int rank = 0; rank < pattern->ranks; rank++)
        processes += pattern->left[0][rank] >= 0;
    return processes;
}
