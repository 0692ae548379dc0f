/* Two-way merges of sorted keys, in several versions, and the keys. No MPI. */
#ifndef MERGE_H
#define MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* out[0 .. na + nb) = the keys of a and b in order; out overlaps neither. */
typedef void merge_function(const void *a, size_t na, const void *b, size_t nb, void *out);

struct merge_version {
    const char *name;
    bool (*supported)(void); /* by this processor; if not, the functions must not be called */
    merge_function *u32, *u64;
};

/* From the slowest to the fastest, ended by one without a name:
 *
 * branchy   the textbook merge, a branch for each key: the reference in tests and measurements
 * portable  several independent chains by merge path, no branch depends on the keys
 * avx512    the same with bitonic merging networks of 512-bit vectors */
extern const struct merge_version MERGE_VERSIONS[];

/* Outputs from this size (bytes) on bypass the caches in the avx512 version: the size of the
 * largest cache, unless set before the first merge. */
extern size_t merge_streaming_size;

/* NULL if there is no such version. */
const struct merge_version *merge_version_find(const char *name);

/* The fastest that this processor supports. */
const struct merge_version *merge_version_best(void);

/* --- keys: made, sorted, digested; their type is chosen at run time
 *
 * The smallest and the largest keys of each rank's block hold a sequence value of 16 bits and its
 * complement: in every message and every merged array the same keys are at the ends. */

enum { KEY_MARGIN = 1 << 16 }; /* other keys are KEY_MARGIN or more from either limit of the type */

/* How many keys of a block hold the value at its head, and its complement at its tail: 8 bytes of
 * each, or all keys of a shorter block. */
struct key_ends {
    size_t low, high;
};

struct key_type {
    const char *name;
    size_t size;
    void (*make)(void *keys, size_t n, uint64_t seed); /* random, uniform between the margins */
    void (*mark)(void *keys, size_t n, struct key_ends ends, uint16_t value);
    bool (*differ)(const void *keys, size_t n, struct key_ends ends, uint16_t value);
    bool (*is_sorted)(const void *keys, size_t n);
    uint64_t (*value)(const void *keys, size_t i);
};

extern const struct key_type KEY_TYPES[];

/* NULL if there is no such type. */
const struct key_type *key_type_find(const char *name);

/* Of a block of n keys. */
struct key_ends key_ends_of(const struct key_type *type, size_t n);

/* The merge of one version for this type. */
merge_function *keys_merge(const struct key_type *type, const struct merge_version *version);

/* Sorts n keys with this merge; scratch holds n keys. */
void keys_sort(const struct key_type *type, merge_function *merge, void *keys, void *scratch,
               size_t n);

/* What a merge must preserve: number of keys, their sum, and the exclusive or of their hashes. */
struct key_digest {
    uint64_t count, sum, mixed;
};

/* Adds a key that occurs several times. */
void digest_add(struct key_digest *digest, uint64_t value, uint64_t times);

struct key_digest keys_digest(const struct key_type *type, const void *keys, size_t n);

#endif
