/* The merge of one key type by bitonic merging networks (Batcher 1968) of 512-bit vectors (after
 * Chhugani et al. 2008). Included by merge_template.h. No include guard. */

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

/* One stage: the smaller key of each pair goes to its lower place. exchanged is v with the keys of
 * each pair exchanged; upper has a bit for each 32 bits of an upper place. */
AVX512 static inline __m512i NAMED(stage)(__m512i v, __m512i exchanged, __mmask16 upper) {
    return _mm512_mask_mov_epi32(NAMED(smaller)(v, exchanged), upper, NAMED(larger)(v, exchanged));
}

/* Sorts a bitonic sequence: pairs at a distance of 32, 16, 8 and, for short keys, 4 bytes. */
AVX512 static inline __m512i NAMED(sort_bitonic)(__m512i v) {
    v = NAMED(stage)(v, _mm512_shuffle_i64x2(v, v, 0x4E), 0xFF00);
    v = NAMED(stage)(v, _mm512_shuffle_i64x2(v, v, 0xB1), 0xF0F0);
    v = NAMED(stage)(v, _mm512_shuffle_epi32(v, _MM_PERM_BADC), 0xCCCC);
    if (sizeof(KEY) == 4)
        v = NAMED(stage)(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB), 0xAAAA);
    return v;
}

/* A chain under way: i keys of a and d in all are taken; the largest of them, in order, are held
 * back, the others are out. */
struct NAMED(cursor) {
    size_t i, d;
    __m512i held;
};

/* The next vector of the input with the smaller head. Afterwards fewer than one vector of the keys
 * taken is larger than the heads, so that all but a vector can go out. Both inputs are loaded,
 * since a branch on the heads would often be mispredicted. */
AVX512 static inline __m512i NAMED(take)(struct NAMED(cursor) * c, const KEY *a, const KEY *b) {
    a += c->i;
    b += c->d - c->i;
    size_t from_a = *a <= *b;
    c->i += from_a * NAMED(WIDTH);
    c->d += NAMED(WIDTH);
    return _mm512_mask_loadu_epi32(_mm512_loadu_si512(b), (__mmask16)(0 - from_a), a);
}

AVX512 static inline struct NAMED(cursor)
    NAMED(begin)(const struct NAMED(arrays) * arrays, const struct NAMED(chain) * chain) {
    struct NAMED(cursor) c = {chain->i, chain->d, _mm512_setzero_si512()};
    c.held = NAMED(take)(&c, arrays->a, arrays->b);
    return c;
}

/* Two sorted vectors, one of them reversed, make a bitonic sequence: its first stage parts the
 * smaller half, which goes out, from the larger one, which is held. */
AVX512 static inline void NAMED(step)(struct NAMED(cursor) * c, const KEY *a, const KEY *b,
                                      KEY *out) {
    out += c->d - NAMED(WIDTH);
    __m512i taken = NAMED(reversed)(NAMED(take)(c, a, b));
    _mm512_storeu_si512(out, NAMED(sort_bitonic)(NAMED(smaller)(c->held, taken)));
    c->held = NAMED(sort_bitonic)(NAMED(larger)(c->held, taken));
}

/* The keys held are given back: the merge path tells how many of those out were of a. */
static void NAMED(end)(const struct NAMED(arrays) * arrays, struct NAMED(chain) * chain,
                       const struct NAMED(cursor) * c) {
    size_t i = chain->i, j = chain->d - chain->i, out = c->d - NAMED(WIDTH) - chain->d;
    chain->i += NAMED(split)(arrays->a + i, c->i - i, arrays->b + j, c->d - c->i - j, out);
    chain->d += out;
}

AVX512 static void NAMED(advance_vectors)(const struct NAMED(arrays) * arrays,
                                          struct NAMED(chain) * chains, size_t steps) {
    const KEY *a = arrays->a, *b = arrays->b;
    struct NAMED(cursor) first = NAMED(begin)(arrays, &chains[0]);
    struct NAMED(cursor) second = NAMED(begin)(arrays, &chains[1]);
    for (size_t step = 1; step < steps; step++) {
        NAMED(step)(&first, a, b, arrays->out);
        NAMED(step)(&second, a, b, arrays->out);
    }
    NAMED(end)(arrays, &chains[0], &first);
    NAMED(end)(arrays, &chains[1], &second);
}

static void NAMED(merge_avx512)(const void *a, size_t na, const void *b, size_t nb, void *out) {
    static const struct NAMED(way) way = {
        2, NAMED(WIDTH), 4, NAMED(advance_vectors), 16 * NAMED(WIDTH), NAMED(merge_portable)};
    NAMED(merge_by_path)(&way, a, na, b, nb, out);
}

#undef AVX512
#undef OF_KEYS
