/* Checks the merges and the sort against qsort; "speed" compares them with memcpy.
 * Prints one line for each failure; exit status 1 if there was any. */
#define _POSIX_C_SOURCE 200809L
#include "keys.h"
#include "merge.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHAPES = 7 };
static const char *const SHAPE_NAMES[SHAPES] = {
    "random", "few values", "all equal", "all maximal", "disjoint", "reversed", "skewed"};

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
    case 6:
        return input == 0 ? random_next(state) % 16 : random_next(state);
    default:
        return random_next(state);
    }
}

#define DEFINE_CHECKS(suffix, KEY)                                                                 \
    static int compare_##suffix(const void *a, const void *b) {                                    \
        KEY x = *(const KEY *)a, y = *(const KEY *)b;                                              \
        return (x > y) - (x < y);                                                                  \
    }                                                                                              \
    static KEY *input_##suffix(int shape, int input, size_t n, uint64_t *state) {                  \
        KEY *keys = malloc(n * sizeof(KEY) + 1); /* exact, so that a sanitizer sees overruns */    \
        for (size_t i = 0; i < n; i++)                                                             \
            keys[i] = (KEY)shaped(shape, input, i, n, state);                                      \
        qsort(keys, n, sizeof(KEY), compare_##suffix);                                             \
        return keys;                                                                               \
    }                                                                                              \
    static int check_##suffix(int shape, size_t na, size_t nb) {                                   \
        uint64_t state = na * 1000 + nb;                                                           \
        size_t bytes = (na + nb) * sizeof(KEY);                                                    \
        KEY *a = input_##suffix(shape, 0, na, &state), *b = input_##suffix(shape, 1, nb, &state);  \
        KEY *expected = malloc(bytes + 1), *chains = malloc(bytes + 1),                            \
            *plain = malloc(bytes + 1);                                                            \
        memcpy(expected, a, na * sizeof(KEY));                                                     \
        memcpy(expected + na, b, nb * sizeof(KEY));                                                \
        qsort(expected, na + nb, sizeof(KEY), compare_##suffix);                                   \
        merge_##suffix(a, na, b, nb, chains);                                                      \
        merge_branchy_##suffix(a, na, b, nb, plain);                                               \
        int wrong = memcmp(expected, chains, bytes) != 0 || memcmp(expected, plain, bytes) != 0;   \
        if (wrong)                                                                                 \
            printf("wrong: %s, %s, %zu and %zu keys\n", #KEY, SHAPE_NAMES[shape], na, nb);         \
        free(a), free(b), free(expected), free(chains), free(plain);                               \
        return wrong;                                                                              \
    }

DEFINE_CHECKS(u32, uint32_t)
DEFINE_CHECKS(u64, uint64_t)

static int check_sort(const struct key_type *type, size_t n) {
    char *keys = malloc(n * type->size + 1), *scratch = malloc(n * type->size + 1);
    type->make(keys, n, n);
    struct key_digest before = keys_digest(type, keys, n);
    keys_sort(type, keys, scratch, n);
    struct key_digest after = keys_digest(type, keys, n);
    int wrong = !type->is_sorted(keys, n) || memcmp(&before, &after, sizeof before) != 0;
    if (wrong)
        printf("wrong: sort of %zu keys, %s\n", n, type->name);
    free(keys), free(scratch);
    return wrong;
}

/* The digest notices a lost, a doubled and a changed key; is_sorted notices two exchanged keys. */
static int check_digest(const struct key_type *type) {
    unsigned char keys[64 * 8], changed[64 * 8], scratch[64 * 8];
    type->make(keys, 64, 3);
    keys_sort(type, keys, scratch, 64);
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

static int check_all(void) {
    static const size_t lengths[] = {0, 1, 2, 3, 31, 32, 63, 64, 65, 100, 1000, 4097};
    const size_t count = sizeof lengths / sizeof *lengths;
    int failures = 0;
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++)
                failures += check_u32(shape, lengths[i], lengths[j]) +
                            check_u64(shape, lengths[i], lengths[j]);
    for (const struct key_type *type = KEY_TYPES; type->name != NULL; type++) {
        for (size_t i = 0; i < count; i++)
            failures += check_sort(type, lengths[i]);
        failures += check_digest(type);
    }
    return failures;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void branchy(const struct key_type *type, const void *a, size_t n, const void *b,
                    void *out) {
    if (type->size == 4)
        merge_branchy_u32(a, n, b, n, out);
    else
        merge_branchy_u64(a, n, b, n, out);
}

/* Best of five, in turn; GB/s of output. */
static void speed(const struct key_type *type, size_t bytes) {
    size_t n = bytes / 2 / type->size;
    char *in = malloc(bytes), *out = malloc(bytes);
    double best[3] = {1e9, 1e9, 1e9};
    for (int i = 0; i < 2; i++) {
        type->make(in + (size_t)i * n * type->size, n, (uint64_t)i);
        keys_sort(type, in + (size_t)i * n * type->size, out, n);
    }
    memset(out, 1, bytes);
    const char *b = in + n * type->size;
    for (int i = 0; i < 15; i++) {
        double start = now();
        if (i % 3 == 0)
            memcpy(out, in, bytes);
        else if (i % 3 == 1)
            branchy(type, in, n, b, out);
        else
            type->merge(in, n, b, n, out);
        double seconds = now() - start;
        best[i % 3] = seconds < best[i % 3] ? seconds : best[i % 3];
    }
    printf("%s %zu B: memcpy %.2f, branchy %.2f, four chains %.2f GB/s\n", type->name, bytes,
           1e-9 * (double)bytes / best[0], 1e-9 * (double)bytes / best[1],
           1e-9 * (double)bytes / best[2]);
    free(in), free(out);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "speed") == 0)
        for (const struct key_type *type = KEY_TYPES; type->name != NULL; type++)
            speed(type, (size_t)64 << 20);
    else
        return check_all() != 0;
    return 0;
}
