/* Two-way merge of sorted keys, in several versions. */
#ifndef MERGE_H
#define MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* out[0 .. na + nb) = the keys of a and b in order; out overlaps neither. */
typedef void merge_function(const void *a, size_t na, const void *b, size_t nb, void *out);

struct merge_version {
    const char *name;
    bool (*supported)(void); /* by this processor; without it the functions must not be called */
    merge_function *u32, *u64;
};

/* From the slowest to the fastest, ended by one without a name:
 *
 * branchy   the textbook merge, a branch for each key: the reference in tests and measurements
 * portable  several independent chains by merge path, no branch depends on the keys
 * avx512    the same with bitonic merging networks of 512-bit vectors */
extern const struct merge_version MERGE_VERSIONS[];

/* NULL when there is no such version. */
const struct merge_version *merge_version_find(const char *name);

/* The fastest that this processor supports. */
const struct merge_version *merge_version_best(void);

#endif
