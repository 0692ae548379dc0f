/* Checks all versions of the merge, and sorting with them, against qsort. Prints one line for each
 * failure, and one for each version that this processor lacks; exit status 1 after failures.
 *
 *   test_merge speed BYTES ROUNDS
 *
 * measures instead, in turn: memcpy of BYTES, and all versions with the same bytes of output. */
#define _POSIX_C_SOURCE 200809L
#include "random.h"
#include "tree_merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHAPES = 8 };
static const char *const SHAPE_NAMES[SHAPES] = {"random",      "few values", "all equal",
                                                "all maximal", "disjoint",   "reversed",
                                                "skewed",      "in turn"};

/* Key i of n in input 0 or 1; inputs are sorted afterwards. */
static uint64_t shaped(int shape, int input, size_t i, size_t n, uint64_t *state) {
    switch (shape) {
    case 1:
        return random_next(state) % 3 + UINT64_MAX - 2; /* the largest values, in both key sizes */
    case 2:
        return 7;
    case 3:
        return UINT64_MAX;
    case 4:
        return input == 0 ? i : n + i;
    case 5:
        return input == 0 ? n + i : i;
    case 7:
        return 2 * i + (uint64_t)input;
    case 6:
        return input == 0 ? random_next(state) % 16 : random_next(state);
    default:
        return random_next(state);
    }
}

/* The input of one check. */
struct check {
    const struct key_type *type;
    int shape;
    size_t na, nb;
    size_t shift; /* keys between malloc's aligned start and the array */
};

static int compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_by_qsort(const struct key_type *type, void *keys, size_t n) {
    qsort(keys, n, type->size, type->size == 4 ? compare_u32 : compare_u64);
}

/* Memory for n keys, exact at the end, so that a sanitizer sees any overrun. */
static char *array(const struct check *check, size_t n) {
    return (char *)malloc((check->shift + n) * check->type->size + 1) +
           check->shift * check->type->size;
}

static void free_array(const struct check *check, char *keys) {
    free(keys - check->shift * check->type->size);
}

static char *input(const struct check *check, int which, size_t n, uint64_t *state) {
    char *keys = array(check, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = shaped(check->shape, which, i, n, state);
        if (check->type->size == 4)
            ((uint32_t *)(void *)keys)[i] = (uint32_t)key;
        else
            ((uint64_t *)(void *)keys)[i] = key;
    }
    sort_by_qsort(check->type, keys, n);
    return keys;
}

static int check_version(const struct check *check, const struct merge_version *version,
                         const char *a, const char *b, const char *expected) {
    size_t n = check->na + check->nb, bytes = n * check->type->size;
    char *out = array(check, n);
    memset(out, 0x5A, bytes);
    keys_merge(check->type, version)(a, check->na, b, check->nb, out);
    int wrong = memcmp(expected, out, bytes) != 0;
    if (wrong)
        printf("wrong: %s, %s, %s, %zu and %zu keys, start shifted by %zu\n", version->name,
               check->type->name, SHAPE_NAMES[check->shape], check->na, check->nb, check->shift);
    free_array(check, out);
    return wrong;
}

static int check_versions(const struct check *check) {
    const size_t size = check->type->size, n = check->na + check->nb;
    uint64_t state = check->na * 1000 + check->nb;
    char *a = input(check, 0, check->na, &state), *b = input(check, 1, check->nb, &state);
    char *expected = array(check, n);
    memcpy(expected, a, check->na * size);
    memcpy(expected + check->na * size, b, check->nb * size);
    sort_by_qsort(check->type, expected, n);
    int failures = 0;
    for (const struct merge_version *v = MERGE_VERSIONS; v->name != NULL; v++)
        if (v->supported())
            failures += check_version(check, v, a, b, expected);
    free_array(check, a), free_array(check, b), free_array(check, expected);
    return failures;
}

static int check_sort(const struct key_type *type, const struct merge_version *version, size_t n) {
    char *keys = malloc(n * type->size + 1), *scratch = malloc(n * type->size + 1);
    type->make(keys, n, n);
    struct key_digest before = keys_digest(type, keys, n);
    keys_sort(type, keys_merge(type, version), keys, scratch, n);
    struct key_digest after = keys_digest(type, keys, n);
    int wrong = !type->is_sorted(keys, n) || memcmp(&before, &after, sizeof before) != 0;
    if (wrong)
        printf("wrong: sort of %zu keys, %s, %s\n", n, type->name, version->name);
    free(keys), free(scratch);
    return wrong;
}

/* The digest notices a key replaced by a duplicate; is_sorted notices two swapped keys. */
static int check_digest(const struct key_type *type) {
    unsigned char keys[64 * 8], changed[64 * 8], scratch[64 * 8];
    type->make(keys, 64, 3);
    keys_sort(type, keys_merge(type, merge_version_best()), keys, scratch, 64);
    struct key_digest before = keys_digest(type, keys, 64), after;
    memcpy(changed, keys, sizeof keys);
    memcpy(changed, changed + type->size, type->size);
    after = keys_digest(type, changed, 64);
    int missed = memcmp(&before, &after, sizeof before) == 0;
    memcpy(changed, keys + type->size, type->size);
    memcpy(changed + type->size, keys, type->size);
    missed += type->is_sorted(changed, 64);
    if (missed)
        printf("wrong: damage is not noticed, %s\n", type->name);
    return missed;
}

/* Around vector widths, their multiples, and the lengths below which nothing is split. */
static const size_t LENGTHS[] = {0,  1,  2,  3,  7,  8,   9,   15,  16,  17,   31,
                                 32, 33, 63, 64, 65, 127, 128, 129, 513, 1000, 4097};
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS };

static int check_merges(const struct key_type *type) {
    int failures = 0;
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t i = 0; i < LENGTH_COUNT; i++)
            for (size_t j = 0; j < LENGTH_COUNT; j++)
                failures += check_versions(
                    &(struct check){type, shape, LENGTHS[i], LENGTHS[j], (i + j) % 3});
    return failures;
}

static int check_sorts(const struct key_type *type) {
    int failures = 0;
    for (const struct merge_version *v = MERGE_VERSIONS; v->name != NULL; v++)
        for (size_t i = 0; i < LENGTH_COUNT && v->supported(); i++)
            failures += check_sort(type, v, LENGTHS[i]);
    return failures;
}

static int check_all(void) {
    int failures = 0;
    for (const struct merge_version *v = MERGE_VERSIONS; v->name != NULL; v++)
        if (!v->supported())
            printf("skipped: this processor does not support %s\n", v->name);
    for (const struct key_type *type = KEY_TYPES; type->name != NULL; type++) {
        failures += check_merges(type) + check_sorts(type) + check_digest(type);
        merge_streaming_size = 1; /* all outputs bypass the caches */
        failures += check_merges(type) + check_sorts(type);
        merge_streaming_size = SIZE_MAX;
    }
    return failures;
}

/* --- speed */

/* CPU seconds of this process: time when others have the core does not count. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const struct key_type *type, const char *what, double start) {
    printf("%s %s %.9f\n", type->name, what, now() - start);
}

/* Two inputs and one output, as a merge has, with stores that bypass the caches where there are
 * any: the most that a merge could reach. */
#if defined(__x86_64__)
#include <immintrin.h>
__attribute__((target("avx512f"))) static void copy_512(const char *a, const char *b, size_t half,
                                                        char *out) {
    size_t i = 0;
    for (; i + 64 <= half; i += 64) {
        _mm512_stream_si512((void *)(out + 2 * i), _mm512_loadu_si512(a + i));
        _mm512_stream_si512((void *)(out + 2 * i + 64), _mm512_loadu_si512(b + i));
    }
    memcpy(out + 2 * i, a + i, half - i);
    memcpy(out + i + half, b + i, half - i);
    _mm_sfence();
}
#endif

static void copy_two_inputs(const char *a, const char *b, size_t half, char *out) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        copy_512(a, b, half, out);
        return;
    }
#endif
    memcpy(out, a, half);
    memcpy(out + half, b, half);
}

/* One line each: key type, operation, seconds. Two inputs of random keys, of equal length. */
static void speed(const struct key_type *type, size_t bytes, long rounds) {
    size_t n = bytes / 2 / type->size;
    char *in = aligned_alloc(64, bytes), *out = aligned_alloc(64, bytes);
    char *a = in, *b = in + n * type->size;
    for (int i = 0; i < 2; i++) {
        type->make(i == 0 ? a : b, n, (uint64_t)i);
        keys_sort(type, keys_merge(type, merge_version_best()), i == 0 ? a : b, out, n);
    }
    memset(out, 1, bytes);
    for (long round = 0; round < rounds; round++) {
        double start = now();
        memcpy(out, in, bytes);
        report(type, "memcpy", start);
        start = now();
        copy_two_inputs(a, b, n * type->size, out);
        report(type, "copy_of_two_inputs", start);
        for (const struct merge_version *v = MERGE_VERSIONS; v->name != NULL; v++) {
            if (!v->supported())
                continue;
            start = now();
            keys_merge(type, v)(a, n, b, n, out);
            report(type, v->name, start);
        }
    }
    free(in), free(out);
}

int main(int argc, char **argv) {
    if (argc != 4 || strcmp(argv[1], "speed") != 0)
        return check_all() != 0;
    for (const struct key_type *type = KEY_TYPES; type->name != NULL; type++)
        speed(type, (size_t)strtoull(argv[2], NULL, 10), strtol(argv[3], NULL, 10));
    return 0;
}
