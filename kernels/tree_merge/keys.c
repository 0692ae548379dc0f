#include "merge.h"

#include "data.h"
#include "random.h"

#include <string.h>

#define DEFINE_KEYS(suffix, KEY)                                                                   \
    static void make_##suffix(void *keys, size_t n, uint64_t seed) {                               \
        const KEY span = (KEY) ~(KEY)(2 * KEY_MARGIN - 1);                                         \
        for (size_t i = 0; i < n; i++)                                                             \
            ((KEY *)keys)[i] = (KEY)(random_next(&seed) % span) + KEY_MARGIN;                      \
    }                                                                                              \
    static void mark_##suffix(void *keys, size_t n, struct key_ends ends, uint16_t value) {        \
        KEY *key = keys;                                                                           \
        for (size_t i = 0; i < ends.low; i++)                                                      \
            key[i] = value;                                                                        \
        for (size_t i = 0; i < ends.high; i++)                                                     \
            key[n - 1 - i] = (KEY) ~(KEY)value;                                                    \
    }                                                                                              \
    static bool differ_##suffix(const void *keys, size_t n, struct key_ends ends,                  \
                                uint16_t value) {                                                  \
        const KEY *key = keys;                                                                     \
        KEY different = 0;                                                                         \
        for (size_t i = 0; i < ends.low; i++)                                                      \
            different |= key[i] ^ value;                                                           \
        for (size_t i = 0; i < ends.high; i++)                                                     \
            different |= key[n - 1 - i] ^ (KEY) ~(KEY)value;                                       \
        return different != 0;                                                                     \
    }                                                                                              \
    static bool is_sorted_##suffix(const void *keys, size_t n) {                                   \
        const KEY *key = keys;                                                                     \
        size_t i = 1;                                                                              \
        while (i < n && key[i - 1] <= key[i])                                                      \
            i++;                                                                                   \
        return i >= n;                                                                             \
    }                                                                                              \
    static uint64_t value_##suffix(const void *keys, size_t i) { return ((const KEY *)keys)[i]; }

DEFINE_KEYS(u32, uint32_t)
DEFINE_KEYS(u64, uint64_t)

const struct key_type KEY_TYPES[] = {
    {"uint32", sizeof(uint32_t), make_u32, mark_u32, differ_u32, is_sorted_u32, value_u32},
    {"uint64", sizeof(uint64_t), make_u64, mark_u64, differ_u64, is_sorted_u64, value_u64},
    {NULL, 0, NULL, NULL, NULL, NULL, NULL}};

struct key_ends key_ends_of(const struct key_type *type, size_t n) {
    size_t most = END_BYTES / type->size, low = (n + 1) / 2 < most ? (n + 1) / 2 : most;
    return (struct key_ends){low, n - low < most ? n - low : most};
}

const struct key_type *key_type_find(const char *name) {
    for (const struct key_type *type = KEY_TYPES; type->name != NULL; type++)
        if (strcmp(type->name, name) == 0)
            return type;
    return NULL;
}

merge_function *keys_merge(const struct key_type *type, const struct merge_version *version) {
    return type->size == sizeof(uint32_t) ? version->u32 : version->u64;
}

static void merge_neighbours(const struct key_type *type, merge_function *merge, const char *from,
                             char *to, size_t n, size_t run) {
    for (size_t start = 0; start < n; start += 2 * run) {
        size_t na = run < n - start ? run : n - start;
        size_t nb = run < n - start - na ? run : n - start - na;
        const char *a = from + start * type->size;
        merge(a, na, a + na * type->size, nb, to + start * type->size);
    }
}

void keys_sort(const struct key_type *type, merge_function *merge, void *keys, void *scratch,
               size_t n) {
    char *from = keys, *to = scratch;
    for (size_t run = 1; run < n; run *= 2) {
        merge_neighbours(type, merge, from, to, n, run);
        char *done = to;
        to = from;
        from = done;
    }
    if (from != keys)
        memcpy(keys, from, n * type->size);
}

void digest_add(struct key_digest *digest, uint64_t value, uint64_t times) {
    digest->count += times;
    digest->sum += times * value;
    digest->mixed ^= times % 2 != 0 ? mix64(value) : 0;
}

struct key_digest keys_digest(const struct key_type *type, const void *keys, size_t n) {
    struct key_digest digest = {0};
    for (size_t i = 0; i < n; i++)
        digest_add(&digest, type->value(keys, i), 1);
    return digest;
}
