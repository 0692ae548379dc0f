/* All merges of one key type. merge.c sets KEY and NAMED and includes this once for each type. No
 * include guard. */

static void NAMED(merge_branchy)(const void *first, size_t na, const void *second, size_t nb,
                                 void *merged) {
    const KEY *a = first, *a_end = a + na, *b = second, *b_end = b + nb;
    KEY *out = merged;
    while (a < a_end && b < b_end) {
        if (*b < *a)
            *out++ = *b++;
        else
            *out++ = *a++;
    }
    while (a < a_end)
        *out++ = *a++;
    while (b < b_end)
        *out++ = *b++;
}

/* --- merge path: independent chains (Odeh, Green, Mwassi, Shmueli, Birk 2012) */

struct NAMED(arrays) {
    const KEY *a, *b;
    KEY *out;
};

/* One chain makes out[d .. d_end) from a[i .. i_end) and b[d - i .. d_end - i_end). */
struct NAMED(chain) {
    size_t i, d, i_end, d_end;
};

/* A way to advance several chains at once, so that the processor overlaps their dependent loads. A
 * step of a chain takes some keys from one of its inputs. */
struct NAMED(way) {
    size_t chains, keys_in_step, fewest_steps;
    void (*advance)(const struct NAMED(arrays) * arrays, struct NAMED(chain) * chains,
                    size_t steps);
    size_t shortest; /* below this many keys splitting does not pay: shorter merges them */
    merge_function *shorter;
    size_t aligned; /* in keys: where each chain's output begins */
};

/* How many of the first d merged keys come from a (equal keys of a come first). */
static size_t NAMED(split)(const KEY *a, size_t na, const KEY *b, size_t nb, size_t d) {
    size_t low = d > nb ? d - nb : 0, high = d < na ? d : na;
    while (low < high) {
        size_t i = low + (high - low) / 2;
        if (b[d - i - 1] < a[i])
            high = i;
        else
            low = i + 1;
    }
    return low;
}

static size_t NAMED(left_of_a)(const struct NAMED(chain) * chain) {
    return chain->i_end - chain->i;
}

static size_t NAMED(left_of_b)(const struct NAMED(chain) * chain) {
    return chain->d_end - chain->d - NAMED(left_of_a)(chain);
}

/* Chains for nearly equal parts of the output. */
static void NAMED(cut)(const struct NAMED(way) * way, const struct NAMED(arrays) * arrays,
                       size_t na, size_t nb, struct NAMED(chain) * chains) {
    size_t n = na + nb, i = 0, d = 0, part = n / way->chains / way->aligned * way->aligned;
    for (size_t chain = 0; chain < way->chains; chain++) {
        size_t d_end = chain + 1 == way->chains ? n : part * (chain + 1);
        size_t i_end = NAMED(split)(arrays->a, na, arrays->b, nb, d_end);
        chains[chain] = (struct NAMED(chain)){i, d, i_end, d_end};
        i = i_end;
        d = d_end;
    }
}

/* Steps that all chains can take before any input may run out. */
static size_t NAMED(safe_steps)(const struct NAMED(way) * way, const struct NAMED(chain) * chains) {
    size_t keys = SIZE_MAX;
    for (const struct NAMED(chain) *chain = chains; chain < chains + way->chains; chain++) {
        size_t a = NAMED(left_of_a)(chain), b = NAMED(left_of_b)(chain);
        keys = a < keys ? a : keys;
        keys = b < keys ? b : keys;
    }
    return keys / way->keys_in_step;
}

enum { NAMED(MOST_CHAINS) = 5 };

/* When one chain can go no further, the rest of each chain is merged in the same way. Pieces with
 * only one input, the usual case for very unlike inputs, are copied. */
static void NAMED(merge_by_path)(const struct NAMED(way) * way, const KEY *a, size_t na,
                                 const KEY *b, size_t nb, KEY *out) {
    if (na == 0 || nb == 0) {
        if (na + nb > 0)
            memcpy(out, na > 0 ? a : b, (na + nb) * sizeof(KEY));
        return;
    }
    if (na + nb < way->shortest) {
        way->shorter(a, na, b, nb, out);
        return;
    }
    const struct NAMED(arrays) arrays = {a, b, out};
    struct NAMED(chain) chains[NAMED(MOST_CHAINS)];
    NAMED(cut)(way, &arrays, na, nb, chains);
    for (size_t steps; (steps = NAMED(safe_steps)(way, chains)) >= way->fewest_steps;)
        way->advance(&arrays, chains, steps);
    for (const struct NAMED(chain) *rest = chains; rest < chains + way->chains; rest++)
        NAMED(merge_by_path)
    (way, a + rest->i, NAMED(left_of_a)(rest), b + (rest->d - rest->i), NAMED(left_of_b)(rest),
     out + rest->d);
}

/* --- portable: key by key */

/* Outputs the smaller head. No branch depends on the keys; one comparison selects the key and the
 * input to advance. */
#define STEP(n)                                                                                    \
    do {                                                                                           \
        KEY x = a[i##n], y = b[d##n - i##n];                                                       \
        out[d##n++] = x < y ? x : y;                                                               \
        i##n += x < y;                                                                             \
    } while (0)

static void NAMED(advance_keys)(const struct NAMED(arrays) * arrays, struct NAMED(chain) * chains,
                                size_t steps) {
    const KEY *a = arrays->a, *b = arrays->b;
    KEY *out = arrays->out;
    struct NAMED(chain) *c = chains;
    size_t i0 = c[0].i, i1 = c[1].i, i2 = c[2].i, i3 = c[3].i, i4 = c[4].i;
    size_t d0 = c[0].d, d1 = c[1].d, d2 = c[2].d, d3 = c[3].d, d4 = c[4].d;
    for (size_t step = 0; step < steps; step++) {
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
        STEP(4);
    }
    c[0].i = i0, c[1].i = i1, c[2].i = i2, c[3].i = i3, c[4].i = i4;
    c[0].d = d0, c[1].d = d1, c[2].d = d2, c[3].d = d3, c[4].d = d4;
}

#undef STEP

static void NAMED(merge_portable)(const void *a, size_t na, const void *b, size_t nb, void *out) {
    static const struct NAMED(way) way = {.chains = 5,
                                          .keys_in_step = 1,
                                          .fewest_steps = 1,
                                          .advance = NAMED(advance_keys),
                                          .shortest = 64,
                                          .shorter = NAMED(merge_branchy),
                                          .aligned = 1};
    NAMED(merge_by_path)(&way, a, na, b, nb, out);
}

#if defined(__x86_64__)
#include "avx512_template.h"
#endif
