/* Units of b_eff without MPI.
 *
 *   test_patterns patterns FIRST LAST   for FIRST .. LAST processes, one per line:
 *                 ranks set name processes directions rings smallest largest messages sound
 *   test_patterns order RANKS SEED N    the ring of random pattern N (0 ...), from rank 0 on
 *   test_patterns sizes RANKS           the sizes of the rings of the six patterns, one per line
 *   test_patterns shape RANKS D         lengths of the cyclic topology of D dimensions
 *   test_patterns lmax MEMORY           Lmax for a process' memory, and the lengths up to it
 *   test_patterns plan SECONDS EXCHANGE VERIFICATION
 *                                       the plan: loop, repetitions, random patterns, seconds, what
 * it lacks test_patterns data                  exit status 0 if contents and checks of buffers are
 * right
 *
 * sound: in every direction each active process is in exactly one closed ring, and the active
 * processes are those of the first direction. */
#include "b_eff/effective.h"
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Follows right neighbours; the ring's size, 0 if it does not close or links disagree. */
static int ring_from(const struct pattern *pattern, int direction, int first, int *seen) {
    int size = 0, rank = first;
    do {
        int next = pattern->right[direction][rank];
        if (next < 0 || next >= pattern->ranks || seen[rank]++ ||
            pattern->left[direction][next] != rank)
            return 0;
        rank = next;
        size++;
    } while (rank != first && size <= pattern->ranks);
    return rank == first ? size : 0;
}

static int direction_is_sound(const struct pattern *pattern, int direction, int *rings) {
    int *seen = calloc((size_t)pattern->ranks, sizeof *seen), sound = 1;
    for (int rank = 0; rank < pattern->ranks && sound; rank++) {
        int idle = pattern->left[direction][rank] < 0;
        sound =
            idle == (pattern->right[direction][rank] < 0) && idle == (pattern->left[0][rank] < 0);
        if (!sound || idle || seen[rank])
            continue;
        int size = ring_from(pattern, direction, rank, seen);
        sound = size >= pattern->smallest && size <= pattern->largest && size >= 2;
        ++*rings;
    }
    free(seen);
    return sound;
}

static int is_sound(const struct pattern *pattern) {
    int rings = 0, sound = 1;
    for (int direction = 0; direction < pattern->directions; direction++)
        sound = direction_is_sound(pattern, direction, &rings) && sound;
    return sound && rings == pattern->rings;
}

static void show(struct pattern *pattern) {
    printf("%d %s %s %d %d %d %d %d %d %d\n", pattern->ranks, pattern->set, pattern->name,
           pattern_processes(pattern), pattern->directions, pattern->rings, pattern->smallest,
           pattern->largest, pattern_messages(pattern), is_sound(pattern));
    pattern_free(pattern);
}

static void patterns(int ranks) {
    struct pattern pattern;
    for (int i = 0; i < RING_PATTERNS; i++) {
        pattern_ring(&pattern, ranks, i);
        show(&pattern);
    }
    for (int i = 0; i < RANDOM_PATTERNS; i++) {
        pattern_random(&pattern, ranks, i, 7);
        show(&pattern);
    }
    for (int i = 0; i < CARTESIAN_PATTERNS; i++)
        if (pattern_cartesian(&pattern, ranks, i))
            show(&pattern);
    for (int i = 0; i < GROUPINGS; i++) {
        pattern_grouping(&pattern, ranks, i);
        show(&pattern);
    }
    pattern_pair(&pattern, ranks);
    show(&pattern);
}

static void order(int ranks, uint64_t seed, int index) {
    struct pattern pattern;
    pattern_random(&pattern, ranks, index, seed);
    int rank = 0;
    do {
        printf("%d ", rank);
        rank = pattern.right[0][rank];
    } while (rank != 0);
    printf("\n");
    pattern_free(&pattern);
}

static void sizes(int ranks) {
    int *ring = malloc((size_t)ranks * sizeof *ring);
    for (int index = 0; index < RING_PATTERNS; index++) {
        int rings = ring_sizes(ranks, index, ring);
        for (int i = 0; i < rings; i++)
            printf("%d ", ring[i]);
        printf("\n");
    }
    free(ring);
}

static void shape(int ranks, int dimensions) {
    int lengths[MAX_DIRECTIONS];
    cartesian_shape(ranks, dimensions, lengths);
    for (int i = 0; i < dimensions; i++)
        printf("%d ", lengths[i]);
    printf("\n");
}

static void show_lengths(uint64_t memory) {
    size_t lengths[LENGTHS], lmax = effective_lmax(memory);
    effective_lengths(lmax, lengths);
    printf("%zu\n", lmax);
    for (int i = 0; i < LENGTHS; i++)
        printf("%zu ", lengths[i]);
    printf("\n");
}

/* Three methods, fourteen fixed patterns, the same cost for every exchange. */
static void show_plan(double seconds, double exchange, double verification) {
    struct effective_cost cost = {.methods = 3, .fixed_patterns = 14, .overhead = 1e-5};
    char text[200];
    for (int method = 0; method < MAX_METHODS; method++)
        for (int i = 0; i < LENGTHS; i++)
            cost.exchange[method][i] = exchange;
    cost.verification = verification;
    struct effective_plan plan = plan_for(&cost, seconds);
    plan_shortened(&plan, text, sizeof text);
    printf("%g %d %d %.3f %s\n", plan.loop_seconds, plan.repetitions, plan.random_patterns,
           plan_seconds(&plan, &cost), text);
}

/* Every damaged byte is found, at every length; other ranks, seeds and positions differ. */
static int check_data(void) {
    unsigned char bytes[64];
    for (size_t length = 1; length <= sizeof bytes; length++) {
        data_clear(bytes, length, 7, 3, 160);
        if (data_differs(bytes, length, 7, 3, 160) != 0)
            return 1;
        data_fill(bytes, length, 7, 3, 160);
        if (data_differs(bytes, length, 7, 3, 160) != length)
            return 1;
        for (size_t i = 0; i < length; i++) {
            bytes[i] ^= 1;
            if (data_differs(bytes, length, 7, 3, 160) != i)
                return 1;
            bytes[i] ^= 1;
        }
    }
    return data_differs(bytes, 64, 7, 4, 160) == 64 || data_differs(bytes, 64, 7, 3, 176) == 64 ||
           data_differs(bytes, 64, 8, 3, 160) == 64;
}

static bool ends_differ(const struct ends *ends, const unsigned char *bytes, uint64_t value) {
    struct end_words wrong = {0, 0};
    ends_look(ends, bytes, value, &wrong);
    return wrong.head != 0 || wrong.tail != 0;
}

/* At every length, 0 B too: every damaged byte of the ends is found, none between or behind them;
 * so are the values before and after, and swapped ends. */
static int check_ends(void) {
    const uint64_t value = sequence_start(7, 3, 4, 0);
    for (size_t length = 0; length <= 48; length++) {
        unsigned char bytes[64] = {0};
        struct ends ends = ends_of(length);
        ends_write(&ends, bytes, value);
        if (ends_differ(&ends, bytes, value))
            return 1;
        for (size_t i = 0; i < sizeof bytes; i++) {
            bool end = i < length && (i < END_BYTES || i + END_BYTES >= length);
            bytes[i] ^= 1;
            if (ends_differ(&ends, bytes, value) != end)
                return 1;
            bytes[i] ^= 1;
        }
        if (length == 0)
            continue;
        for (int step = 1; step < 256; step++)
            if (!ends_differ(&ends, bytes, value + (uint64_t)step * SEQUENCE_STEP))
                return 1;
        struct end_words words = ends_get(&ends, bytes);
        ends_put(&ends, bytes, (struct end_words){words.tail, words.head});
        if (length >= 2 * END_BYTES && !ends_differ(&ends, bytes, value))
            return 1;
    }
    return sequence_start(7, 3, 4, 0) == sequence_start(7, 4, 3, 0) ||
           sequence_start(7, 3, 4, 0) == sequence_start(7, 3, 4, 1);
}

/* Messages follow one another and never pass the end. */
static int check_walk(void) {
    struct walk walk = {.capacity = 6 * (100 + ALIGNMENT)};
    for (int i = 0; i < 1000; i++) {
        size_t before = walk.next, length = 1 + (size_t)i * 37 % 100;
        size_t first = walk_forward(&walk, length, 1 + i % 6);
        if (first % ALIGNMENT != 0 || walk.next > walk.capacity || (first != before && first != 0))
            return 1;
        if (walk.next - first < length * (size_t)(1 + i % 6))
            return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "patterns") == 0 && argc == 4)
        for (int ranks = atoi(argv[2]); ranks <= atoi(argv[3]); ranks++)
            patterns(ranks);
    else if (strcmp(what, "order") == 0 && argc == 5)
        order(atoi(argv[2]), strtoull(argv[3], NULL, 10), atoi(argv[4]));
    else if (strcmp(what, "sizes") == 0 && argc == 3)
        sizes(atoi(argv[2]));
    else if (strcmp(what, "shape") == 0 && argc == 4)
        shape(atoi(argv[2]), atoi(argv[3]));
    else if (strcmp(what, "lmax") == 0 && argc == 3)
        show_lengths(strtoull(argv[2], NULL, 10));
    else if (strcmp(what, "plan") == 0 && argc == 5)
        show_plan(atof(argv[2]), atof(argv[3]), atof(argv[4]));
    else if (strcmp(what, "data") == 0)
        return check_data() || check_ends() || check_walk();
    else
        return 2;
    return 0;
}
