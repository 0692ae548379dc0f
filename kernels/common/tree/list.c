#include "tree/tree.h"

#include "data.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool is_name(const char *name, const char *text, size_t length) {
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

/* The known name equal to the first length characters; NULL if none. */
static const char *known_name(const char *text, size_t length) {
    for (const char *const *name = TREE_NAMES; *name != NULL; name++)
        if (is_name(*name, text, length))
            return *name;
    return is_name(TREE_TUNED, text, length) ? TREE_TUNED : NULL;
}

static bool has(const struct tree_list *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->tree[i].name, name) == 0)
            return true;
    return false;
}

static bool make(struct tree_list *list, const struct run *run, const char *name,
                 char why[REASON_LENGTH]) {
    const struct topology *topology = &run->topology;
    struct tree *tree = &list->tree[list->count];
    if (name == TREE_TUNED)
        return tree_tuned_make(tree, &list->tuning, run, why);
    return tree_make(tree, name, topology->ranks, topology->node_of, topology->nodes,
                     run->options.seed);
}

static bool add(struct tree_list *list, const struct run *run, const char *name,
                char why[REASON_LENGTH]) {
    int i = list->count;
    if (!make(list, run, name, why))
        return false;
    list->count++;
    tree_role(&list->tree[i], run->topology.rank, &list->role[i]);
    if (list->role[i].blocks > list->blocks)
        list->blocks = list->role[i].blocks;
    return true;
}

/* Without the tuned tree, which must be named: it measures before the run. */
static bool add_all(struct tree_list *list, const struct run *run, char why[REASON_LENGTH]) {
    for (const char *const *name = TREE_NAMES; *name != NULL; name++)
        if (!add(list, run, *name, why))
            return false;
    return true;
}

bool tree_list_make(struct tree_list *list, const struct run *run, char why[REASON_LENGTH]) {
    if (list->names == NULL || strcmp(list->names, "all") == 0)
        return add_all(list, run, why);
    for (const char *text = list->names; text != NULL;) {
        size_t length = strcspn(text, ",");
        const char *name = known_name(text, length);
        if (name == NULL || has(list, name)) {
            snprintf(why, REASON_LENGTH, "--tree: '%.*s' %s", (int)(length < 80 ? length : 80),
                     text,
                     name != NULL ? "is named twice"
                     : strncmp(text, "all", length) == 0 && length == 3
                         ? "cannot be combined with others"
                         : "is not a tree; there are max-inter, min-inter, natural, random, all of "
                           "these, and tuned");
            return false;
        }
        if (!add(list, run, name, why))
            return false;
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return true;
}

static int blocks_of(const struct tree *tree, int v) {
    struct tree_role role;
    tree_role(tree, tree->rank_of[v], &role);
    return role.blocks;
}

/* Bytes of all messages of one gather along the tree with blocks of size bytes. */
static uint64_t tree_wire_bytes(const struct tree *tree, size_t size) {
    uint64_t blocks = 0;
    for (int v = 1; v < tree->ranks; v++)
        blocks += (uint64_t)blocks_of(tree, v);
    return blocks * size;
}

/* The largest message holds at most the largest power of two of blocks below the ranks. */
bool tree_list_countable(const struct run *run, char why[REASON_LENGTH]) {
    uint64_t blocks = 1;
    while (2 * blocks < (uint64_t)run->topology.ranks)
        blocks *= 2;
    bool countable = run->options.max_size <= (uint64_t)INT_MAX / blocks;
    snprintf(why, REASON_LENGTH,
             "--max-size %zu makes messages of up to %llu blocks, more than the 2147483647 B that "
             "MPI counts; choose a smaller --max-size",
             run->options.max_size, (unsigned long long)blocks);
    return countable;
}

void tree_list_add(struct tree_list *list, struct run *run, const struct operation *like) {
    for (int i = 0; i < list->count; i++) {
        struct operation *operation = add_operation(run, like->name, list->tree[i].name);
        operation->levels = list->tree[i].levels;
        operation->parameters = &list->role[i];
        operation->clear = like->clear;
        operation->perform = like->perform;
        operation->verify = like->verify;
    }
}

void tree_list_set_size(const struct tree_list *list, struct run *run, size_t size) {
    for (int i = 0; i < list->count; i++) {
        run->operations[i].size = size;
        run->operations[i].useful_bytes = (uint64_t)(run->topology.ranks - 1) * size;
        run->operations[i].checked_bytes = (uint64_t)(run->topology.ranks - 1) * ends_bytes(size);
        run->operations[i].wire_bytes = tree_wire_bytes(&list->tree[i], size);
    }
}

void tree_list_describe(const struct tree_list *list) {
    char names[256] = "", crossing[512] = "";
    for (int i = 0; i < list->count; i++) {
        const struct tree *tree = &list->tree[i];
        text_append(names, sizeof names, ",", "%s", tree->name);
        text_append(crossing, sizeof crossing, ",", "%s:%d/%d", tree->name, tree->crossing,
                    tree->ranks - 1);
    }
    output_header("trees", "%s", names);
    output_header("tree_levels", "%d", list->tree[0].levels);
    output_header("tree_messages_between_nodes", "%s", crossing);
    for (int i = 0; i < list->count; i++)
        if (list->tree[i].name == TREE_TUNED)
            tree_tuned_describe(&list->tuning, &list->tree[i]);
}
