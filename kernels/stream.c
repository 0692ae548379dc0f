/* stream: the bandwidth of memory while all ranks use it at once.
 *
 * Purpose: what the memory of a node delivers to each of its ranks; the denominator of many codes.
 * Usage:   mpirun -n RANKS stream [--array 2GiB] [--repetitions 10]
 * Metrics: bytes that the operation names / seconds of its best repetition, for each process.
 * Source:  McCalpin, Memory bandwidth and machine balance in current high performance computers
 *          (1995); the operations and their bytes, and HPC Challenge's "star" form of them: all
 *          processes at once. The code is ours. Differences: docs/kernels.md.
 */
#define _GNU_SOURCE
#include "cpu_sysfs.h"
#include "kernel.h"

#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>

enum { LEAST_REPETITIONS = 3, MOST_REPETITIONS = 200, UNIT = 64, OPERATIONS = 4, ARRAYS = 3 };

#define TIMES_CACHES 4 /* an array has at least so many times the size of the caches */
#define SCALE 3.0
#define TOLERANCE 1e-13 /* relative, of the mean over an array */

static double *a, *b, *c; /* [count] */
static size_t count;      /* elements of one array on this rank */
static size_t array; /* option: bytes of one array over the ranks of a node; 0: by the caches */
static uint64_t repetitions = 10;
static uint64_t caches; /* bytes, of this node; 0: unknown */

/* The elements of each array are written and read in order by the rank that owns them. */
static void copy(double *restrict to, const double *restrict from) {
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

static void scale(double *restrict to, const double *restrict from) {
    for (size_t i = 0; i < count; i++)
        to[i] = SCALE * from[i];
}

static void add(double *restrict to, const double *restrict one, const double *restrict other) {
    for (size_t i = 0; i < count; i++)
        to[i] = one[i] + other[i];
}

static void triad(double *restrict to, const double *restrict one, const double *restrict other) {
    for (size_t i = 0; i < count; i++)
        to[i] = one[i] + SCALE * other[i];
}

static void perform_copy(void) { copy(c, a); }
static void perform_scale(void) { scale(b, c); }
static void perform_add(void) { add(c, a, b); }
static void perform_triad(void) { triad(a, b, c); }

static const struct {
    const char *name;
    void (*perform)(void);
    int arrays; /* that it reads or writes; reading a line before writing it is not counted */
} STEPS[OPERATIONS] = {{"copy", perform_copy, 2},
                       {"scale", perform_scale, 2},
                       {"add", perform_add, 3},
                       {"triad", perform_triad, 3}};

/* --- the caches of the processors that the ranks of this node may use */

enum { MAX_CPUS = 8 * sizeof(cpu_set_t), MAX_CACHES = 16 };

/* The first word of a file of a cache, such as "Unified" or "32K". */
static bool read_fact(int cpu, int cache, const char *fact, char text[32]) {
    char path[CPU_PATH_LENGTH], inside[64];
    snprintf(inside, sizeof inside, "cache/index%d/%s", cache, fact);
    FILE *file = cpu_path(path, cpu, inside) ? fopen(path, "re") : NULL;
    if (file == NULL)
        return false;
    bool found = fscanf(file, "%31s", text) == 1;
    fclose(file);
    return found;
}

static uint64_t size_of(const char *text) {
    unsigned long long number = 0;
    char unit = '\0';
    if (sscanf(text, "%llu%c", &number, &unit) < 1)
        return 0;
    return (uint64_t)number << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

/* Of one cache, unless a processor with a smaller number shares it and is in use, too. */
static uint64_t counted_once(const cpu_set_t *used, int cpu, int cache, bool *unknown) {
    char type[32], size[32], shared[32];
    int first;
    if (!read_fact(cpu, cache, "type", type))
        return 0; /* no further cache */
    if (strcmp(type, "Instruction") == 0)
        return 0;
    if (!read_fact(cpu, cache, "size", size) || !read_fact(cpu, cache, "shared_cpu_list", shared) ||
        sscanf(shared, "%d", &first) != 1 || size_of(size) == 0) {
        *unknown = true;
        return 0;
    }
    for (int other = first; other < cpu; other++) {
        char of_other[32];
        if (CPU_ISSET(other, used) && read_fact(other, cache, "shared_cpu_list", of_other) &&
            strcmp(of_other, shared) == 0)
            return 0;
    }
    return size_of(size);
}

static uint64_t sum_of(const cpu_set_t *used) {
    uint64_t sum = 0;
    bool unknown = false;
    for (int cpu = 0; cpu < MAX_CPUS; cpu++)
        for (int cache = 0; CPU_ISSET(cpu, used) && cache < MAX_CACHES; cache++)
            sum += counted_once(used, cpu, cache, &unknown);
    return unknown ? 0 : sum;
}

/* Bytes of all data and unified caches that the processors of this node's ranks can reach, each
 * cache once; 0 where Linux does not say. Collective. */
static uint64_t caches_of_node(const struct topology *topology) {
    MPI_Comm node;
    cpu_set_t own, used;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    MPI_Comm_split(MPI_COMM_WORLD, topology->node_of[topology->rank], topology->rank, &node);
    MPI_Allreduce(&own, &used, sizeof own, MPI_BYTE, MPI_BOR, node);
    MPI_Comm_free(&node);
    return sum_of(&used);
}

/* --- the size */

static uint64_t array_of_node(void) { return array > 0 ? array : TIMES_CACHES * caches; }

static uint64_t array_of_rank(const struct run *run) {
    uint64_t ranks = (uint64_t)run->topology.ranks_on[run->topology.node_of[run->topology.rank]];
    uint64_t share = (array_of_node() + ranks - 1) / ranks;
    return bytes_sum(share, UNIT - 1) / UNIT * UNIT;
}

static uint64_t memory(const struct run *run) { return bytes_product(ARRAYS, array_of_rank(run)); }

static double gib(uint64_t bytes) { return (double)bytes / (1 << 30); }

/* Why this machine cannot give a bandwidth of memory, and not of its caches. */
static bool lacks(const struct run *run, char why[REASON_LENGTH]) {
    caches = caches_of_node(&run->topology);
    uint64_t needed = topology_node_sum(&run->topology, memory(run)), has = physical_memory();
    if (array == 0 && caches == 0) {
        snprintf(why, REASON_LENGTH,
                 "the sizes of the caches are unknown here: choose an array with --array");
        return true;
    }
    snprintf(why, REASON_LENGTH,
             "three arrays take %.3g GiB on a node, more than half of its memory (%.3g GiB)%s",
             gib(needed), gib(has),
             array > 0 ? "" : "; each has four times the caches: --array takes a smaller one");
    return needed > has / 2;
}

static bool accept(struct run *run, char why[REASON_LENGTH]) {
    snprintf(why, REASON_LENGTH, "--repetitions is a number from %d to %d", LEAST_REPETITIONS,
             MOST_REPETITIONS);
    if (repetitions < LEAST_REPETITIONS || repetitions > MOST_REPETITIONS)
        return false;
    bool lacking = lacks(run, why);
    end_if_lacking("stream", lacking, why);
    return true;
}

/* --- the run */

/* The rank that uses the elements writes them first: their pages lie in its own memory. */
static void set_up(struct run *run) {
    count = array_of_rank(run) / sizeof *a;
    a = allocate(count * sizeof *a);
    b = allocate(count * sizeof *b);
    c = allocate(count * sizeof *c);
    for (size_t i = 0; i < count; i++) {
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    }
}

/* Seconds from the common start to the end of the last rank. */
static double time_step(const struct measurement *m, int step) {
    int64_t waited = waiting_so_far();
    m->sync.start(&m->sync);
    int64_t start = clock_now();
    STEPS[step].perform();
    int64_t taken = clock_now() - start, longest;
    hits_count(waited, taken);
    MPI_Allreduce(&taken, &longest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return (double)longest * 1e-9;
}

static void measure_repetition(struct measurement *m, int repetition) {
    for (int step = 0; step < OPERATIONS; step++) {
        uint64_t bytes = (uint64_t)STEPS[step].arrays * count * sizeof *a;
        hits_of(STEPS[step].name);
        double seconds = time_step(m, step);
        m->bytes_timed += bytes;
        if (is_root(m))
            output_row("repetitions %s %d %llu %.6e", STEPS[step].name, repetition,
                       (unsigned long long)bytes, seconds);
    }
}

/* Each element of an array must have the value that the same steps give a single number: a wrong
 * one in any repetition changes all that follow. */
static bool right(const char *name, const double *elements, double wanted,
                  char why[REASON_LENGTH]) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs(elements[i] - wanted) <= TOLERANCE * wanted)) {
            snprintf(why, REASON_LENGTH, "element %zu of array %s is %.17g, not %.17g", i, name,
                     elements[i], wanted);
            return false;
        }
    return true;
}

static bool verify(int done, char why[REASON_LENGTH]) {
    double one = 1, two = 2, three = 0;
    for (int i = 0; i < done; i++) {
        three = one;
        two = SCALE * three;
        three = one + two;
        one = two + SCALE * three;
    }
    return right("a", a, one, why) && right("b", b, two, why) && right("c", c, three, why);
}

static bool measure(struct measurement *m, char why[REASON_LENGTH]) {
    int done = 0;
    while (done < (int)repetitions && (done < LEAST_REPETITIONS || sync_before(m->deadline)))
        measure_repetition(m, done++);
    bool correct = verify(done, why);
    m->bytes_checked = correct ? m->bytes_timed : 0;
    return correct;
}

static void describe(const struct run *run) {
    (void)run;
    output_header("array_bytes", "%llu", (unsigned long long)array_of_node());
    output_header("cache_bytes", "%llu", (unsigned long long)caches);
    output_header("repetitions", "%llu; the first is not counted", (unsigned long long)repetitions);
    output_header("columns.repetitions", "operation repetition bytes seconds");
}

int main(int argc, char **argv) {
    const struct kernel_option options[] = {
        {"--array", "SIZE", "each array, over the ranks of a node (4 x the caches)",
         "a number of bytes such as 256MiB or 2GiB", parse_any_size, &array},
        {"--repetitions", "NUMBER", "of each operation (10)", "a whole number", parse_seed,
         &repetitions},
        {0}};
    const struct kernel kernel = {
        .name = "stream",
        .version = 1,
        .purpose = "The bandwidth of memory as STREAM measures it: copy, scale, add and triad of\n"
                   "arrays that no cache holds, on all ranks at once.",
        .minimum_ranks = 1,
        .default_budget = 60,
        .size_option = "--array",
        .seconds = "from the common start to the end of the last rank",
        .options = options,
        .accept = accept,
        .memory = memory,
        .set_up = set_up,
        .describe = describe,
        .measure = measure};
    return kernel_main(argc, argv, &kernel);
}
