/* tree_merge: merge sort along binomial trees.
 *
 * Purpose: a gather in which every receiver works on its data: each rank sorts its block before
 *          timing; along the tree it receives, merges two ways and forwards; rank 0 ends with
 *          all keys.
 * Usage:   mpirun -n RANKS tree_merge --key uint64 --tree max-inter --max-size 4MiB
 * Metrics: useful = (P - 1) m bytes; wire = all message bytes; receive and merge seconds of each
 *          level and rank.
 * Source:  after Freedman and Valles (2018), phases two and three; the trees are this project's.
 */
#include "kernel.h"
#include "tree/gather.h"
#include "tree/tree.h"
#include "tree_merge/merge.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 11 };

static struct tree_list trees;
static const struct key_type *key_type;
static const struct merge_version *version; /* NULL until accept: the best of all ranks */
static merge_function *merge;
static struct blocks gathered; /* for the baseline; scratch for the sort */
static unsigned char *own, *received, *merged[2];
static size_t keys_in_block;
static struct key_ends ends;       /* of a block */
static uint16_t value;             /* of this call, at the ends; the same on all ranks */
static bool ends_differed;         /* in a message received so far */
static struct key_digest expected; /* of all ranks' keys between the ends, the same on all ranks */
static int ranks;

static bool parse_key_type(const char *text, void *target) {
    const struct key_type *type = key_type_find(text);
    *(const struct key_type **)target = type;
    return type != NULL;
}

static bool parse_version(const char *text, void *target) {
    const struct merge_version *found = merge_version_find(text);
    *(const struct merge_version **)target = found;
    return found != NULL || strcmp(text, "auto") == 0;
}

/* The best version that the processors of all ranks support: ranks stay comparable, and the header
 * holds for each. */
static const struct merge_version *best_of_all_ranks(void) {
    int mine = (int)(merge_version_best() - MERGE_VERSIONS), common;
    MPI_Allreduce(&mine, &common, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return &MERGE_VERSIONS[common];
}

static bool accept_version(char why[REASON_LENGTH]) {
    if (version == NULL)
        version = best_of_all_ranks();
    merge = keys_merge(key_type, version);
    char host[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(host, &length);
    snprintf(why, REASON_LENGTH, "--merge %s: the processor of %.100s does not support it",
             version->name, host);
    return version->supported();
}

/* Blocks hold whole keys. */
static bool accept_key_size(struct run *run, char why[REASON_LENGTH]) {
    size_t least = run->options.min_size, largest = run->options.max_size;
    run->size_unit = key_type->size;
    snprintf(why, REASON_LENGTH, "%zu B are not a whole number of keys of %zu B",
             least % key_type->size != 0 ? least : largest, key_type->size);
    return least % key_type->size == 0 && largest % key_type->size == 0;
}

static bool accept(struct run *run, char why[REASON_LENGTH]) {
    if (key_type == NULL)
        key_type = key_type_find("uint32");
    if (!accept_key_size(run, why) || !tree_list_countable(run, why))
        return false;
    /* All ranks or none: making a tuned tree is collective. */
    bool mine = accept_version(why);
    return sync_all(mine) ? tree_list_make(&trees, run, why) : mine;
}

/* own; received (from the largest child, at most half of the blocks); two to merge between;
 * gathered. */
static uint64_t memory(const struct run *run) {
    uint64_t held = (uint64_t)trees.blocks;
    return bytes_product(1 + held / 2 + 3 * held, run->options.max_size);
}

/* Returns the merged keys, in one of merged. */
static const unsigned char *merge_received(const struct tree_role *role, int i,
                                           const unsigned char *keys) {
    unsigned char *out = merged[i % 2];
    merge(keys, (size_t)role->receive[i].first * keys_in_block, received,
          (size_t)role->receive[i].blocks * keys_in_block, out);
    return out;
}

static void receive(const struct tree_role *role, int i) {
    size_t n = keys_in_block * (size_t)role->receive[i].blocks;
    MPI_Recv(received, (int)(n * key_type->size), MPI_BYTE, role->receive[i].peer, TAG,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ends_differed |= key_type->differ(received, n, ends, value);
}

static const unsigned char *step_timed(const struct tree_role *role, int i,
                                       const unsigned char *keys, struct level *levels) {
    struct level *level = &levels[role->receive[i].level];
    int64_t start = clock_now();
    receive(role, i);
    int64_t arrived = clock_now();
    keys = merge_received(role, i, keys);
    level->receive_seconds += (double)(arrived - start) * 1e-9;
    level->merge_seconds += (double)(clock_now() - arrived) * 1e-9;
    level->bytes = (uint64_t)role->receive[i].blocks * keys_in_block * key_type->size;
    return keys;
}

static const unsigned char *step(const struct tree_role *role, int i, const unsigned char *keys) {
    receive(role, i);
    return merge_received(role, i, keys);
}

static void perform(const struct operation *operation, struct level *levels) {
    const struct tree_role *role = operation->parameters;
    const unsigned char *keys = own;
    key_type->mark(own, keys_in_block, ends, ++value);
    for (int i = 0; i < role->receives; i++)
        keys = levels != NULL ? step_timed(role, i, keys, levels) : step(role, i, keys);
    if (role->parent >= 0)
        MPI_Send(keys, role->blocks * (int)operation->size, MPI_BYTE, role->parent, TAG,
                 MPI_COMM_WORLD);
}

static void clear(const struct operation *operation) {
    const struct tree_role *role = operation->parameters;
    size_t held = (size_t)role->blocks, size = operation->size;
    memset(received, 0xA5, held / 2 * size);
    memset(merged[0], 0xA5, held * size);
    memset(merged[1], 0xA5, held * size);
}

static struct key_digest add_over_ranks(struct key_digest digest) {
    struct key_digest sum;
    MPI_Allreduce(&digest, &sum, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD); /* count, sum */
    MPI_Allreduce(&digest.mixed, &sum.mixed, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    return sum;
}

static const unsigned char *result(const struct tree_role *role) {
    return role->receives == 0 ? own : merged[(role->receives - 1) % 2];
}

/* The keys of all ranks, with those at the ends of this call. */
static struct key_digest expected_now(void) {
    struct key_digest digest = expected;
    uint64_t largest = key_type->size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
    digest_add(&digest, value, (uint64_t)ranks * ends.low);
    digest_add(&digest, largest - value, (uint64_t)ranks * ends.high);
    return digest;
}

/* On every rank the keys are in order; on the root they are exactly the keys of all ranks. */
static bool verify(const struct operation *operation, char why[REASON_LENGTH]) {
    const struct tree_role *role = operation->parameters;
    size_t n = (size_t)role->blocks * keys_in_block;
    if (ends_differed) {
        snprintf(why, REASON_LENGTH, "keys arrived with wrong values at their head or tail");
        return false;
    }
    if (!key_type->is_sorted(result(role), n)) {
        snprintf(why, REASON_LENGTH, "the merged keys are not in order");
        return false;
    }
    struct key_digest found = keys_digest(key_type, result(role), n), right = expected_now();
    snprintf(why, REASON_LENGTH, "the merged keys are not the keys that the ranks started with");
    return role->parent >= 0 ||
           (found.count == right.count && found.sum == right.sum && found.mixed == right.mixed);
}

static void set_up(struct run *run) {
    size_t size = run->options.max_size, held = (size_t)trees.blocks;
    own = allocate(size);
    received = allocate(held / 2 * size);
    merged[0] = allocate(held * size);
    merged[1] = allocate(held * size);
    gathered =
        (struct blocks){.bytes = allocate(held * size + BLOCKS_SLACK), .seed = run->options.seed};
    ranks = run->topology.ranks;
    const struct operation like = {
        .name = "tree_merge", .clear = clear, .perform = perform, .verify = verify};
    tree_list_add(&trees, run, &like);
    baseline_add(run, &gathered);
}

static void make_keys(const struct run *run) {
    uint64_t seed = run->options.seed + ((uint64_t)run->topology.rank << 40);
    unsigned char *between = own + ends.low * key_type->size;
    size_t n = keys_in_block - ends.low - ends.high;
    key_type->mark(own, keys_in_block, ends, value);
    key_type->make(between, n, seed);
    expected = add_over_ranks(keys_digest(key_type, between, n));
    keys_sort(key_type, merge, own, gathered.bytes, keys_in_block);
}

static void set_size(struct run *run, size_t size) {
    keys_in_block = size / key_type->size;
    ends = key_ends_of(key_type, keys_in_block);
    make_keys(run);
    blocks_fill(&gathered, size, run->topology.rank);
    tree_list_set_size(&trees, run, size);
    baseline_set_size(run, size);
}

static void describe(const struct run *run) {
    (void)run;
    tree_list_describe(&trees);
    baseline_describe();
    output_header("key", "%s", key_type->name);
    output_header("merge", "%s", version->name);
}

static const struct kernel_option options[] = {
    TREE_OPTION(trees),
    BASELINE_OPTION,
    {"--key", "TYPE", "uint32 or uint64 (uint32)", "a key type: uint32 or uint64", parse_key_type,
     &key_type},
    {"--merge", "VERSION", "auto, avx512, portable or branchy (auto: the fastest)",
     "a version: auto, avx512, portable or branchy", parse_version, &version},
    {0}};

int main(int argc, char **argv) {
    const struct kernel kernel = {
        .name = "tree_merge",
        .version = 3,
        .purpose =
            "Merge sort along binomial trees: every rank sorts its block before timing; then\n"
            "receive, two-way merge, forward, until rank 0 holds all keys in order. MPI_Gather\n"
            "of blocks of the same size beside it.",
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
