/* Keys to merge: made, sorted, summed up. The key type is chosen at run time. No MPI. */
#ifndef KEYS_H
#define KEYS_H

#include "merge.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_type {
    const char *name;
    size_t size;
    void (*make)(void *keys, size_t n, uint64_t seed); /* random, uniform over all values */
    bool (*is_sorted)(const void *keys, size_t n);
    uint64_t (*value)(const void *keys, size_t i);
};

extern const struct key_type KEY_TYPES[];

/* NULL when there is no such type. */
const struct key_type *key_type_find(const char *name);

/* The merge of keys of this type in one version. */
merge_function *keys_merge(const struct key_type *type, const struct merge_version *version);

/* Sorts n keys by that merge of them; scratch holds as many. */
void keys_sort(const struct key_type *type, merge_function *merge, void *keys, void *scratch,
               size_t n);

/* What a merge must preserve: how many keys, their sum, and the exclusive or of their hashes. */
struct key_digest {
    uint64_t count, sum, mixed;
};

struct key_digest keys_digest(const struct key_type *type, const void *keys, size_t n);

#endif
