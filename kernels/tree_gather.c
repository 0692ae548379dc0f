/* tree_gather: gathers one block of every rank at rank 0 along binomial trees.
 *
 * Purpose: the bandwidth of a gather as a function of where the tree's messages go: between nodes
 *          as often as possible (max-inter), rarely (min-inter), by rank number, at random.
 * Usage:   mpirun -n RANKS tree_gather --tree max-inter,natural --max-size 4MiB --budget 10
 * Metrics: useful = (P - 1) m bytes; wire = all message bytes; both over the same seconds.
 * Source:  after Freedman and Valles (2018), phases two and three; the trees are this project's.
 */
#include "kernel.h"
#include "tree/gather.h"
#include "tree/tree.h"

#include <mpi.h>

enum { TAG = 10 };

static struct tree_list trees;
static struct blocks blocks; /* own block first, then those of the next virtual ranks */

static bool accept(struct run *run, char why[REASON_LENGTH]) {
    return tree_list_countable(run, why) && tree_list_make(&trees, run, why);
}

/* The root holds all blocks in every tree, as MPI_Gather needs. */
static uint64_t memory(const struct run *run) {
    return bytes_product((uint64_t)trees.blocks, run->options.max_size);
}

static unsigned char *block(int position) { return blocks.bytes + (size_t)position * blocks.size; }

static void receive(const struct tree_role *role, int i) {
    MPI_Recv(block(role->receive[i].first), role->receive[i].blocks * (int)blocks.size, MPI_BYTE,
             role->receive[i].peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    blocks_look(&blocks, role->receive[i].first, role->receive[i].blocks);
}

static void receive_timed(const struct tree_role *role, int i, struct level *levels) {
    struct level *level = &levels[role->receive[i].level];
    int64_t start = clock_now();
    receive(role, i);
    level->receive_seconds += seconds_since(start);
    level->bytes = (uint64_t)role->receive[i].blocks * blocks.size;
}

static void perform(const struct operation *operation, struct level *levels) {
    const struct tree_role *role = operation->parameters;
    blocks_next(&blocks);
    for (int i = 0; i < role->receives; i++)
        if (levels != NULL)
            receive_timed(role, i, levels);
        else
            receive(role, i);
    if (role->parent >= 0)
        MPI_Send(blocks.bytes, role->blocks * (int)blocks.size, MPI_BYTE, role->parent, TAG,
                 MPI_COMM_WORLD);
}

static void clear(const struct operation *operation) {
    const struct tree_role *role = operation->parameters;
    blocks_clear(&blocks, 1, role->blocks);
}

static const struct tree *tree_of(const struct operation *operation) {
    return &trees.tree[(const struct tree_role *)operation->parameters - trees.role];
}

static bool verify(const struct operation *operation, char why[REASON_LENGTH]) {
    const struct tree_role *role = operation->parameters;
    const int *rank_of = tree_of(operation)->rank_of + role->virtual_rank;
    for (int i = 0; i < role->blocks; i++)
        if (!blocks_check(&blocks, i, rank_of[i], why))
            return false;
    return true;
}

static void set_up(struct run *run) {
    blocks.bytes = allocate((size_t)memory(run) + BLOCKS_SLACK);
    blocks.seed = run->options.seed;
    const struct operation like = {
        .name = "tree_gather", .clear = clear, .perform = perform, .verify = verify};
    tree_list_add(&trees, run, &like);
    baseline_add(run, &blocks);
}

static void set_size(struct run *run, size_t size) {
    blocks_fill(&blocks, size, run->topology.rank);
    tree_list_set_size(&trees, run, size);
    baseline_set_size(run, size);
}

static void describe(const struct run *run) {
    (void)run;
    tree_list_describe(&trees);
    baseline_describe();
    output_header("checked_lengths",
                  "ends of all blocks; all bytes of the last of calls back to back");
}

static const struct kernel_option options[] = {TREE_OPTION(trees), BASELINE_OPTION, {0}};

int main(int argc, char **argv) {
    const struct kernel kernel = {
        .name = "tree_gather",
        .version = 3,
        .purpose =
            "Gathers one block of every rank at rank 0 along binomial trees whose messages cross\n"
            "between nodes as often as possible (max-inter), as seldom (min-inter), by rank\n"
            "number (natural) or at random; MPI_Gather of the same blocks beside it.",
        .variant_column = "tree",
        .minimum_ranks = 2,
        .default_budget = 10,
        .size_option = "--max-size",
        .options = options,
        .accept = accept,
        .memory = memory,
        .set_up = set_up,
        .set_size = set_size,
        .describe = describe};
    return kernel_main(argc, argv, &kernel);
}
