/* Included by merge.c once for each key type: KEY and NAMED are set there. No include guard. */

void NAMED(merge_branchy)(const KEY *a, size_t na, const KEY *b, size_t nb, KEY *out) {
    const KEY *a_end = a + na, *b_end = b + nb;
    while (a < a_end && b < b_end)
        *out++ = *b < *a ? *b++ : *a++;
    while (a < a_end)
        *out++ = *a++;
    while (b < b_end)
        *out++ = *b++;
}

/* How many keys of a are among the first d of the merged keys (equal keys of a come first). */
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

/* One chain: a piece of both inputs that makes one piece of the output. */
struct NAMED(chain) {
    const KEY *a, *a_end, *b, *b_end;
    KEY *out;
};

/* Steps that the chain can take before one of its inputs may run out. */
static size_t NAMED(safe_steps)(const struct NAMED(chain) * chain) {
    size_t a = (size_t)(chain->a_end - chain->a), b = (size_t)(chain->b_end - chain->b);
    return a < b ? a : b;
}

/* The smaller head goes out; its index advances. No branch. */
#define STEP(i)                                                                                    \
    do {                                                                                           \
        KEY x = *a##i, y = *b##i;                                                                  \
        size_t from_b = y < x;                                                                     \
        *o##i++ = from_b ? y : x;                                                                  \
        b##i += from_b;                                                                            \
        a##i += 1 - from_b;                                                                        \
    } while (0)

static void NAMED(advance_four)(struct NAMED(chain) c[4], size_t steps) {
    const KEY *a0 = c[0].a, *a1 = c[1].a, *a2 = c[2].a, *a3 = c[3].a;
    const KEY *b0 = c[0].b, *b1 = c[1].b, *b2 = c[2].b, *b3 = c[3].b;
    KEY *o0 = c[0].out, *o1 = c[1].out, *o2 = c[2].out, *o3 = c[3].out;
    for (size_t i = 0; i < steps; i++) {
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
    }
    c[0].a = a0, c[1].a = a1, c[2].a = a2, c[3].a = a3;
    c[0].b = b0, c[1].b = b1, c[2].b = b2, c[3].b = b3;
    c[0].out = o0, c[1].out = o1, c[2].out = o2, c[3].out = o3;
}

#undef STEP

static void NAMED(run_four)(struct NAMED(chain) c[4]) {
    for (;;) {
        size_t steps = SIZE_MAX;
        for (int i = 0; i < 4; i++) {
            size_t safe = NAMED(safe_steps)(&c[i]);
            steps = safe < steps ? safe : steps;
        }
        if (steps == 0)
            return;
        NAMED(advance_four)(c, steps);
    }
}

void NAMED(merge)(const KEY *a, size_t na, const KEY *b, size_t nb, KEY *out) {
    const size_t n = na + nb;
    if (na == 0 || nb == 0) {
        if (n > 0)
            memcpy(out, na > 0 ? a : b, n * sizeof(KEY));
        return;
    }
    if (n < 64) { /* splitting would cost more than it saves */
        NAMED(merge_branchy)(a, na, b, nb, out);
        return;
    }
    struct NAMED(chain) c[4];
    for (size_t i = 0, from = 0; i < 4; i++) {
        size_t start = n / 4 * i, end = i == 3 ? n : n / 4 * (i + 1);
        size_t to = NAMED(split)(a, na, b, nb, end);
        c[i] = (struct NAMED(chain)){a + from, a + to, b + (start - from), b + (end - to),
                                     out + start};
        from = to;
    }
    NAMED(run_four)(c);
    for (int i = 0; i < 4; i++) /* what is left of each chain is at most a quarter */
        NAMED(merge)
    (c[i].a, (size_t)(c[i].a_end - c[i].a), c[i].b, (size_t)(c[i].b_end - c[i].b), c[i].out);
}
