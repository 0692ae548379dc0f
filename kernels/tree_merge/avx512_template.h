/* The merge of one key type by bitonic merging networks (Batcher 1968) of 512-bit vectors (after
 * Chhugani et al. 2008). Included by template.h. No include guard. */

#define AVX512 __attribute__((target("avx512f")))
#define OF_KEYS(u32, u64) (sizeof(KEY) == 4 ? (u32) : (u64))

enum { NAMED(WIDTH) = 64 / sizeof(KEY) };

AVX512 static inline __m512i NAMED(smaller)(__m512i x, __m512i y) {
    return OF_KEYS(_mm512_min_epu32(x, y), _mm512_min_epu64(x, y));
}

AVX512 static inline __m512i NAMED(larger)(__m512i x, __m512i y) {
    return OF_KEYS(_mm512_max_epu32(x, y), _mm512_max_epu64(x, y));
}

AVX512 static inline __m512i NAMED(reversed)(__m512i v) {
    const __m512i u32 = _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i u64 = _mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return OF_KEYS(_mm512_permutexvar_epi32(u32, v), _mm512_permutexvar_epi64(u64, v));
}

/* Two vectors; keys at the same index are compared. */
struct NAMED(pairs) {
    __m512i x, y;
};

AVX512 static inline struct NAMED(pairs) NAMED(compared)(struct NAMED(pairs) v) {
    return (struct NAMED(pairs)){NAMED(smaller)(v.x, v.y), NAMED(larger)(v.x, v.y)};
}

/* Regroups the keys for the stages of the network that compare at distances of 32, 16, 8 and 4
 * bytes: fewer instructions than for separate vectors, which also need blends. */
AVX512 static inline struct NAMED(pairs) NAMED(by_32_bytes)(struct NAMED(pairs) v) {
    return (struct NAMED(pairs)){_mm512_shuffle_i64x2(v.x, v.y, 0x44),
                                 _mm512_shuffle_i64x2(v.x, v.y, 0xEE)};
}

AVX512 static inline struct NAMED(pairs) NAMED(by_16_bytes)(struct NAMED(pairs) v) {
    return (struct NAMED(pairs)){_mm512_shuffle_i64x2(v.x, v.y, 0x88),
                                 _mm512_shuffle_i64x2(v.x, v.y, 0xDD)};
}

AVX512 static inline struct NAMED(pairs) NAMED(by_8_bytes)(struct NAMED(pairs) v) {
    return (struct NAMED(pairs)){_mm512_unpacklo_epi64(v.x, v.y), _mm512_unpackhi_epi64(v.x, v.y)};
}

AVX512 static inline struct NAMED(pairs) NAMED(by_4_bytes)(struct NAMED(pairs) v) {
    const __m512 x = _mm512_castsi512_ps(v.x), y = _mm512_castsi512_ps(v.y);
    return (struct NAMED(pairs)){_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0x88)),
                                 _mm512_castps_si512(_mm512_shuffle_ps(x, y, 0xDD))};
}

/* Undoes all regrouping: x the smaller half, rising, and y the larger half, falling. */
AVX512 static inline struct NAMED(pairs) NAMED(in_order)(struct NAMED(pairs) v) {
    const __m512i x32 = _mm512_setr_epi32(0, 16, 2, 18, 1, 17, 3, 19, 8, 24, 10, 26, 9, 25, 11, 27);
    const __m512i y32 =
        _mm512_setr_epi32(31, 15, 29, 13, 30, 14, 28, 12, 23, 7, 21, 5, 22, 6, 20, 4);
    const __m512i x64 = _mm512_setr_epi64(0, 8, 1, 9, 4, 12, 5, 13);
    const __m512i y64 = _mm512_setr_epi64(15, 7, 14, 6, 11, 3, 10, 2);
    return (struct NAMED(pairs)){
        OF_KEYS(_mm512_permutex2var_epi32(v.x, x32, v.y), _mm512_permutex2var_epi64(v.x, x64, v.y)),
        OF_KEYS(_mm512_permutex2var_epi32(v.x, y32, v.y),
                _mm512_permutex2var_epi64(v.x, y64, v.y))};
}

/* The bitonic merging network: x rising and y falling, on input and output. */
AVX512 static inline struct NAMED(pairs) NAMED(merged)(struct NAMED(pairs) v) {
    v = NAMED(compared)(v);
    v = NAMED(compared)(NAMED(by_32_bytes)(v));
    v = NAMED(compared)(NAMED(by_16_bytes)(v));
    v = NAMED(compared)(NAMED(by_8_bytes)(v));
    if (sizeof(KEY) == 4)
        v = NAMED(compared)(NAMED(by_4_bytes)(v));
    return NAMED(in_order)(v);
}

/* A chain in progress: i keys of a and d in all have been taken; the largest, falling, are held
 * back, the others are written. */
struct NAMED(cursor) {
    size_t i, d;
    __m512i held;
};

/* Takes the next vector from the input with the smaller head. Afterwards fewer than one vector of
 * the taken keys is larger than the heads, so all but one vector can be written. No branch depends
 * on the keys: it would often be mispredicted. */
AVX512 static inline __m512i NAMED(take)(struct NAMED(cursor) * c, const KEY *a, const KEY *b) {
    a += c->i;
    b += c->d - c->i;
    size_t from_a = *a <= *b;
    c->i += from_a * NAMED(WIDTH);
    c->d += NAMED(WIDTH);
    return _mm512_loadu_si512(from_a ? a : b);
}

AVX512 static inline struct NAMED(cursor)
    NAMED(begin)(const struct NAMED(arrays) * arrays, const struct NAMED(chain) * chain) {
    struct NAMED(cursor) c = {chain->i, chain->d, _mm512_setzero_si512()};
    c.held = NAMED(reversed)(NAMED(take)(&c, arrays->a, arrays->b));
    return c;
}

/* Writes the smaller half of the held and taken keys, holds the larger half. `stream`: past the
 * caches, to an aligned address. */
AVX512 static inline void NAMED(step)(struct NAMED(cursor) * c, const KEY *a, const KEY *b,
                                      KEY *out, bool stream) {
    out += c->d - NAMED(WIDTH);
    __m512i taken = NAMED(take)(c, a, b);
    struct NAMED(pairs) halves = NAMED(merged)((struct NAMED(pairs)){taken, c->held});
    if (stream)
        _mm512_stream_si512((void *)out, halves.x);
    else
        _mm512_storeu_si512(out, halves.x);
    c->held = halves.y;
}

/* Gives the held keys back: the merge path gives how many of the written keys came from a. */
static void NAMED(end)(const struct NAMED(arrays) * arrays, struct NAMED(chain) * chain,
                       const struct NAMED(cursor) * c) {
    size_t i = chain->i, j = chain->d - chain->i, out = c->d - NAMED(WIDTH) - chain->d;
    chain->i += NAMED(split)(arrays->a + i, c->i - i, arrays->b + j, c->d - c->i - j, out);
    chain->d += out;
}

AVX512 static inline __attribute__((always_inline)) void
NAMED(advance_three)(const struct NAMED(arrays) * arrays, struct NAMED(chain) * chains,
                     size_t steps, bool stream) {
    const KEY *a = arrays->a, *b = arrays->b;
    KEY *out = arrays->out;
    struct NAMED(cursor) first = NAMED(begin)(arrays, &chains[0]);
    struct NAMED(cursor) second = NAMED(begin)(arrays, &chains[1]);
    struct NAMED(cursor) third = NAMED(begin)(arrays, &chains[2]);
    for (size_t step = 1; step < steps; step++) {
        NAMED(step)(&first, a, b, out, stream);
        NAMED(step)(&second, a, b, out, stream);
        NAMED(step)(&third, a, b, out, stream);
    }
    NAMED(end)(arrays, &chains[0], &first);
    NAMED(end)(arrays, &chains[1], &second);
    NAMED(end)(arrays, &chains[2], &third);
}

AVX512 static void NAMED(advance_vectors)(const struct NAMED(arrays) * arrays,
                                          struct NAMED(chain) * chains, size_t steps) {
    NAMED(advance_three)(arrays, chains, steps, false);
}

AVX512 static void NAMED(advance_streams)(const struct NAMED(arrays) * arrays,
                                          struct NAMED(chain) * chains, size_t steps) {
    NAMED(advance_three)(arrays, chains, steps, true);
}

/* An output that no cache can hold is not read into it before it is written. */
static void NAMED(merge_streams)(const KEY *a, size_t na, const KEY *b, size_t nb, KEY *out) {
    static const struct NAMED(way) way = {.chains = 3,
                                          .keys_in_step = NAMED(WIDTH),
                                          .fewest_steps = 4,
                                          .advance = NAMED(advance_streams),
                                          .shortest = 16 * NAMED(WIDTH),
                                          .shorter = NAMED(merge_portable),
                                          .aligned = NAMED(WIDTH)};
    size_t head = -((uintptr_t)out / sizeof(KEY)) % NAMED(WIDTH);
    size_t i = NAMED(split)(a, na, b, nb, head);
    NAMED(merge_portable)(a, i, b, head - i, out);
    NAMED(merge_by_path)
    (&way, a + i, na - i, b + (head - i), nb - (head - i), out + head);
    _mm_sfence();
}

static void NAMED(merge_avx512)(const void *a, size_t na, const void *b, size_t nb, void *out) {
    static const struct NAMED(way) way = {.chains = 3,
                                          .keys_in_step = NAMED(WIDTH),
                                          .fewest_steps = 4,
                                          .advance = NAMED(advance_vectors),
                                          .shortest = 16 * NAMED(WIDTH),
                                          .shorter = NAMED(merge_portable),
                                          .aligned = 1};
    if (na + nb >= way.shortest && (na + nb) * sizeof(KEY) >= merge_streams_from())
        NAMED(merge_streams)(a, na, b, nb, out);
    else
        NAMED(merge_by_path)(&way, a, na, b, nb, out);
}

#undef AVX512
#undef OF_KEYS
