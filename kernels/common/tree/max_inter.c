#include "tree/tree.h"

#include <string.h>

/* One level: chunks of the order, and which are still unmatched. */
struct level_state {
    const int *order, *node_of;
    int ranks, nodes, chunk, chunks;
    bool *taken;    /* [chunks] */
    int *left;      /* [nodes]: chunks not taken, by the node of their leader */
    int *receivers; /* [nodes]: leaders that go on to the next level */
};

static int node_of_chunk(const struct level_state *state, int chunk) {
    return state->node_of[state->order[chunk * state->chunk]];
}

static void take(struct level_state *state, int chunk) {
    state->taken[chunk] = true;
    state->left[node_of_chunk(state, chunk)]--;
}

/* The node other than `except` with most chunks left; -1 if none. */
static int fullest(const struct level_state *state, int except) {
    int best = -1;
    for (int node = 0; node < state->nodes; node++)
        if (node != except && state->left[node] > 0 &&
            (best < 0 || state->left[node] > state->left[best]))
            best = node;
    return best;
}

static int first_left_on(const struct level_state *state, int node) {
    int chunk = 0;
    while (state->taken[chunk] || node_of_chunk(state, chunk) != node)
        chunk++;
    return chunk;
}

/* The chunk without a partner: the short one, or one from the fullest node, never the root's. */
static int choose_single(const struct level_state *state) {
    if (state->ranks % state->chunk != 0)
        return state->chunks - 1;
    int node = fullest(state, -1), chunk = state->chunks - 1;
    while (chunk > 1 && node_of_chunk(state, chunk) != node)
        chunk--;
    return node_of_chunk(state, chunk) == node ? chunk : state->chunks - 1;
}

static int partner_of(struct level_state *state, int chunk) {
    int node = fullest(state, node_of_chunk(state, chunk));
    return first_left_on(state, node >= 0 ? node : fullest(state, -1));
}

static void swap(int *a, int *b) {
    int old = *a;
    *a = *b;
    *b = old;
}

/* Matches a chunk that is already taken; pair[0] receives from pair[1]. */
static void match(struct level_state *state, int chunk, int *pair) {
    pair[0] = chunk;
    pair[1] = partner_of(state, chunk);
    take(state, pair[1]);
}

/* The chunk whose node has fewer receivers so far receives. */
static void balance(struct level_state *state, int *pair) {
    if (state->receivers[node_of_chunk(state, pair[1])] <
        state->receivers[node_of_chunk(state, pair[0])])
        swap(&pair[0], &pair[1]);
    state->receivers[node_of_chunk(state, pair[0])]++;
}

/* Fills pairs[2 * i], pairs[2 * i + 1] with receiver and sender: the root's pair first, the pair
 * with the short chunk last; a chunk without a partner comes at the very end. */
static void match_level(struct level_state *state, int *pairs) {
    int count = state->chunks / 2, end = count;
    bool last_short = state->ranks % state->chunk != 0;
    take(state, 0);
    if (state->chunks % 2 != 0) {
        pairs[2 * count] = choose_single(state);
        take(state, pairs[2 * count]);
    } else if (last_short && count > 1) {
        int *pair = &pairs[2 * --end];
        take(state, state->chunks - 1);
        match(state, state->chunks - 1, pair);
        swap(&pair[0], &pair[1]);
        state->receivers[node_of_chunk(state, pair[0])]++;
    }
    match(state, 0, pairs);
    state->receivers[node_of_chunk(state, 0)]++;
    for (int i = 1; i < end; i++) {
        int chunk = first_left_on(state, fullest(state, -1));
        take(state, chunk);
        match(state, chunk, &pairs[2 * i]);
        balance(state, &pairs[2 * i]);
    }
}

static void apply(const struct level_state *state, const int *pairs, int *reordered) {
    int length = 0;
    for (int i = 0; i < state->chunks; i++) {
        int first = pairs[i] * state->chunk;
        int size = state->chunk < state->ranks - first ? state->chunk : state->ranks - first;
        memcpy(reordered + length, state->order + first, (size_t)size * sizeof *reordered);
        length += size;
    }
}

static void reorder_level(int *order, int ranks, const int *node_of, int nodes, int chunk) {
    int chunks = (ranks + chunk - 1) / chunk;
    struct level_state state = {.order = order,
                                .node_of = node_of,
                                .ranks = ranks,
                                .nodes = nodes,
                                .chunk = chunk,
                                .chunks = chunks,
                                .taken = zeroed((size_t)chunks, sizeof(bool)),
                                .left = zeroed((size_t)nodes, sizeof(int)),
                                .receivers = zeroed((size_t)nodes, sizeof(int))};
    int *pairs = zeroed((size_t)chunks, sizeof *pairs),
        *reordered = zeroed((size_t)ranks, sizeof *reordered);
    for (int i = 0; i < chunks; i++)
        state.left[node_of_chunk(&state, i)]++;
    match_level(&state, pairs);
    apply(&state, pairs, reordered);
    memcpy(order, reordered, (size_t)ranks * sizeof *order);
    free(reordered);
    free(pairs);
    free(state.receivers);
    free(state.left);
    free(state.taken);
}

void tree_match(int *order, int ranks, const int *node_of, int nodes) {
    for (int chunk = 1; chunk < ranks; chunk *= 2)
        reorder_level(order, ranks, node_of, nodes, chunk);
}
