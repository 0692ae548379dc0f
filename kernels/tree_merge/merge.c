#define _GNU_SOURCE
#include "merge.h"

#include <string.h>
#include <unistd.h>

/* AVX-512 code is in every x86-64 binary and chosen at run time: no -march is needed. */
#if defined(__x86_64__)
#include <immintrin.h>
#define WITH_AVX512(function) function
#else
#define WITH_AVX512(function) NULL
#endif

size_t merge_streaming_size;

enum { USUAL_CACHE = 32 << 20 }; /* bytes, if the system does not report its own */

static size_t merge_streams_from(void) {
    if (merge_streaming_size == 0) {
        long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
        merge_streaming_size = cache > 0 ? (size_t)cache : USUAL_CACHE;
    }
    return merge_streaming_size;
}

#define KEY uint32_t
#define NAMED(name) name##_u32
#include "template.h"
#undef KEY
#undef NAMED

#define KEY uint64_t
#define NAMED(name) name##_u64
#include "template.h"

static bool everywhere(void) { return true; }

static bool has_avx512(void) {
#if defined(__x86_64__)
    __builtin_cpu_init(); /* not every compiler runtime does this before main */
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

const struct merge_version MERGE_VERSIONS[] = {
    {"branchy", everywhere, merge_branchy_u32, merge_branchy_u64},
    {"portable", everywhere, merge_portable_u32, merge_portable_u64},
    {"avx512", has_avx512, WITH_AVX512(merge_avx512_u32), WITH_AVX512(merge_avx512_u64)},
    {NULL, NULL, NULL, NULL}};

const struct merge_version *merge_version_find(const char *name) {
    for (const struct merge_version *version = MERGE_VERSIONS; version->name != NULL; version++)
        if (strcmp(version->name, name) == 0)
            return version;
    return NULL;
}

const struct merge_version *merge_version_best(void) {
    const struct merge_version *best = MERGE_VERSIONS;
    for (const struct merge_version *version = MERGE_VERSIONS; version->name != NULL; version++)
        if (version->supported())
            best = version;
    return best;
}
