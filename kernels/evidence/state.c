/* The state of the machine under a rank, measured below the operating system: the round trip of a
 * cache line between ranks of a node, the rate of a CPU's clock, and a copy that no cache holds.
 *
 * The ranks of a node meet in memory of their own, without MPI. All is bounded: a partner who is
 * late or gone is "not probed". Where anything is lacking, nothing is measured.
 *
 *   MPICAMPAIGN_LOCAL_RANK, MPICAMPAIGN_LOCAL_RANKS   the rank on its node, and how many there are
 */
#define _GNU_SOURCE
#include "cpu_sysfs.h"
#include "early_libc.h"
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    START = 1, /* the number of the first moment */
    MAX_RANKS = 1024,
    MAX_NUMA = 256,
    LINE = 128, /* bytes: two cache lines, since processors load pairs of them */
    BLOCKS = 8,
    ROUND_TRIPS = 250, /* in a block */
    LONGEST = 2000,    /* ns; between sockets it is less than half of that */
    TURNS = 2,
    CHAIN = 20000,    /* dependent additions: 5 to 10 microseconds */
    CHAINS = 16,      /* 0.2 ms */
    COPY = 1 << 20,   /* bytes */
    COPIES = 4,       /* 2 ms with the pages */
    ROOM = 256 << 20, /* bytes: no copy where less is left of a limit */
};

/* A turn takes up to 0.8 ms; longer only where a rank loses its CPU. */
static const int64_t TURN_NS = 20000000, WAIT_NS = 50000000;

/* How two ranks meet in one turn: the first one waits, the second one begins. */
enum { WAITING = 1, BEGUN = 2, GONE = 3 };

struct turn {
    _Alignas(LINE) atomic_llong meeting; /* time (ns) of the first one's arrival * 4 + its state */
    _Alignas(LINE) atomic_int ball;
};

struct local_rank {
    struct turn
        turns[TURNS];  /* with the next rank: of even ones in turn 0, of odd ones in turn 1 */
    atomic_int number; /* the rank */
};

struct node {
    atomic_int joined;            /* ranks */
    atomic_long copied[MAX_NUMA]; /* the last moment in which a rank of this NUMA domain copied */
    struct local_rank ranks[];
};

static struct node *node;
static char name[64];
static int own, count; /* local rank, ranks of the node */

static int64_t now_ns(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void relax(void) {
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* The ranks of one run on one node find the same name: that of the folder of their evidence, with
 * the node's, since nodes that are containers may share this memory. */
static bool name_of_run(char text[static 64]) {
    char place[PATH_LENGTH + 256] = "";
    const char *path = getenv("MPICAMPAIGN_EVIDENCE_FILE");
    const char *end = path != NULL ? strrchr(path, '/') : NULL;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    if (end == NULL || end - path >= PATH_LENGTH || gethostname(place, 255) != 0)
        return false;
    strncat(place, path, (size_t)(end - path));
    for (const char *c = place; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    snprintf(text, 64, "/dev/shm/mpicampaign-%u-%016llx", geteuid(), (unsigned long long)hash);
    return true;
}

/* Only a file of this user's that nobody else can write; its memory is reserved, as a full /dev/shm
 * would end the program at the first access. */
static struct node *map_node(size_t size) {
    struct stat file;
    int descriptor = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (descriptor < 0)
        return NULL;
    if (file_status(descriptor, &file) == 0 && file.st_uid == geteuid() &&
        (file.st_mode & 077) == 0 && posix_fallocate(descriptor, 0, (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return memory != MAP_FAILED ? memory : NULL;
}

static int number_of(const char *variable) {
    const char *text = getenv(variable);
    char *end;
    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    long value = strtol(text, &end, 10);
    return *end == '\0' && value <= MAX_RANKS ? (int)value : -1;
}

static bool join_node(const char *rank) {
    own = number_of("MPICAMPAIGN_LOCAL_RANK");
    count = number_of("MPICAMPAIGN_LOCAL_RANKS");
    if (own < 0 || own >= count || !name_of_run(name))
        return false;
    node = map_node(sizeof *node + (size_t)count * sizeof *node->ranks);
    if (node == NULL)
        return false;
    node->ranks[own].number = atoi(rank);
    if (atomic_fetch_add(&node->joined, 1) + 1 == count)
        unlink(name); /* a run that is killed later leaves nothing behind */
    return true;
}

/* A meeting of another moment, or of a run that was killed, is older than anybody waits. */
static bool meet(struct turn *turn) {
    int64_t began = now_ns();
    long long word = turn->meeting, fresh = began * 4 + WAITING;
    if ((word & 3) == WAITING && began - (word >> 2) < WAIT_NS)
        return atomic_compare_exchange_strong(&turn->meeting, &word, (word & ~3LL) | BEGUN);
    turn->ball = 0;
    if (!atomic_compare_exchange_strong(&turn->meeting, &word, fresh))
        return (word & 3) == WAITING &&
               atomic_compare_exchange_strong(&turn->meeting, &word, (word & ~3LL) | BEGUN);
    while (now_ns() - began < WAIT_NS) {
        if (turn->meeting != fresh)
            return true;
        sched_yield(); /* the partner may need this CPU to get here */
    }
    return !atomic_compare_exchange_strong(&turn->meeting, &fresh, (fresh & ~3LL) | GONE);
}

/* Waits until the ball has a value; false where the partner has lost its CPU. Ranks that are not
 * bound may be on one CPU, until the kernel moves one of them. */
static bool await(atomic_int *ball, int value, int64_t end) {
    for (int spins = 1; atomic_load_explicit(ball, memory_order_acquire) != value; spins++) {
        if (spins % 1024 == 0) {
            if (now_ns() > end)
                return false;
            sched_yield();
        }
        relax();
    }
    return true;
}

static double of_blocks(int64_t fastest) {
    double ns = (double)fastest / ROUND_TRIPS;
    return ns < LONGEST ? ns : 0;
}

/* The fastest block, in ns per round trip; 0 without a partner, or where the kernel passed the ball
 * on. Both ranks take part; the lower one serves. */
static double round_trip(struct turn *turn, bool serves) {
    int64_t fastest = INT64_MAX, end;
    if (!meet(turn))
        return 0;
    end = now_ns() + TURN_NS;
    for (int block = 0, value = 0; block < BLOCKS; block++) {
        int64_t began = now_ns();
        for (int i = 0; i < ROUND_TRIPS; i++, value += 2) {
            if (serves)
                atomic_store_explicit(&turn->ball, value + 1, memory_order_release);
            if (!await(&turn->ball, value + (serves ? 2 : 1), end))
                return of_blocks(fastest);
            if (!serves)
                atomic_store_explicit(&turn->ball, value + 2, memory_order_release);
        }
        int64_t took = now_ns() - began;
        fastest = took < fastest ? took : fastest;
    }
    return of_blocks(fastest);
}

/* To the next rank of the node; that to the one before stands in its lines. */
static void add_round_trips(struct lines *lines) {
    for (int turn = 0; turn < TURNS; turn++) {
        bool serves = own % 2 == turn;
        int first = serves ? own : own - 1;
        if (first < 0 || first + 1 >= count)
            continue;
        double ns = round_trip(&node->ranks[first].turns[turn], serves);
        int partner = node->ranks[first + 1].number;
        if (serves && ns > 0)
            add(lines, "round_trip_ns", "%.1f to rank %d", ns, partner);
        else if (serves)
            add(lines, "round_trip_ns", "not probed");
    }
}

/* Additions that each wait for the one before take one cycle on all processors in use. */
static void add_clock_rate(struct lines *lines) {
    int64_t fastest = INT64_MAX;
    for (int i = 0; i < CHAINS; i++) {
        int64_t began = now_ns();
        for (unsigned long sum = 0, left = CHAIN / 10; left > 0; left--)
#define FIVE "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
#if defined __x86_64__
            __asm__ volatile(FIVE FIVE : "+r"(sum) : "r"(1UL) : "cc");
#elif defined __aarch64__
            __asm__ volatile("add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
                             "add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
                             "add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
                             "add %0, %0, %1\n\t"
                             : "+r"(sum)
                             : "r"(1UL));
#else
            return;
#endif
        int64_t took = now_ns() - began;
        fastest = took < fastest ? took : fastest;
    }
    add(lines, "clock_ghz", "%.3f", (double)CHAIN / (double)fastest);
}

/* Copies by one rank of a NUMA domain. The source is in no cache, and the target's stores pass them
 * by: so a small copy shows the memory's bandwidth, however large the caches are. */
#if defined __x86_64__
#include <emmintrin.h>

static void flush(const char *source) {
    for (size_t i = 0; i < COPY; i += 64)
        _mm_clflush(source + i);
    _mm_mfence();
}

static void copy(char *target, const char *source) {
    for (size_t i = 0; i < COPY; i += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(void *)(target + i),
                         _mm_load_si128((const __m128i *)(const void *)(source + i)));
    _mm_sfence();
}

enum { CAN_FLUSH = 1 };
#elif defined __aarch64__
static void flush(const char *source) {
    for (size_t i = 0; i < COPY; i += 64)
        __asm__ volatile("dc civac, %0" : : "r"(source + i) : "memory");
    __asm__ volatile("dsb sy" : : : "memory");
}

static void copy(char *target, const char *source) {
    for (size_t i = 0; i < COPY; i += 16)
        __asm__ volatile("ldp x9, x10, [%0]\n\tstnp x9, x10, [%1]"
                         :
                         : "r"(source + i), "r"(target + i)
                         : "x9", "x10", "memory");
    __asm__ volatile("dsb sy" : : : "memory");
}

enum { CAN_FLUSH = 1 };
#else
static void flush(const char *source) { (void)source; }
static void copy(char *target, const char *source) { memcpy(target, source, COPY); }

enum { CAN_FLUSH = 0 };
#endif

/* A number in a file of the job's control group; `otherwise` where there is none, or "max". */
static long long of_group(const char *group, const char *file, long long otherwise) {
    char path[PATH_LENGTH + 64], text[64];
    long long value;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, file);
    read_line(path, text, sizeof text);
    return sscanf(text, "%lld", &value) == 1 ? value : otherwise;
}

/* Whether the group and all above it have room. Version 2 has one line, "0::/path"; version 1 has
 * limits of its own kind, "4:memory:/path". */
static bool group_has_room(char *line) {
    char group[PATH_LENGTH];
    char *version1 = strstr(line, ":memory:"), *path = strrchr(line, ':') + 1;
    const char *limit = version1 ? "memory.limit_in_bytes" : "memory.max";
    const char *used = version1 ? "memory.usage_in_bytes" : "memory.current";
    if (version1 == NULL && strncmp(line, "0::", 3) != 0)
        return true;
    for (path[strcspn(path, "\n")] = '\0';; *strrchr(path, '/') = '\0') {
        snprintf(group, sizeof group, "%s%s", version1 ? "/memory" : "", path);
        if (of_group(group, limit, INT64_MAX) - of_group(group, used, 0) < ROOM)
            return false;
        if (strrchr(path, '/') == NULL)
            return true;
    }
}

static bool has_room(void) {
    struct rlimit limit;
    char *line = NULL;
    size_t capacity = 0;
    bool room = sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) >= ROOM &&
                getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (room && file != NULL && getline(&line, &capacity, file) > 0)
        room = strrchr(line, ':') == NULL || group_has_room(line);
    free(line);
    if (file != NULL)
        fclose(file);
    return room;
}

/* One rank of a domain and moment: the first one that comes. */
static bool is_first_of_domain(long moment) {
    int cpu = sched_getcpu(), numa = cpu >= 0 ? cpu_numa(cpu) : -1;
    long last;
    if (numa >= MAX_NUMA)
        return false;
    last = node->copied[numa < 0 ? 0 : numa];
    return last < moment &&
           atomic_compare_exchange_strong(&node->copied[numa < 0 ? 0 : numa], &last, moment);
}

static void add_copy(struct lines *lines, long moment) {
    int64_t fastest = INT64_MAX;
    if (!CAN_FLUSH || !is_first_of_domain(moment) || !has_room())
        return;
    char *memory = mmap(NULL, 2 * COPY, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return;
    memset(memory, 1, COPY); /* pages that were never written may all be one page of zeros */
    for (int i = 0; i < COPIES; i++) {
        flush(memory);
        int64_t began = now_ns();
        copy(memory + COPY, memory);
        int64_t took = now_ns() - began;
        fastest = took < fastest ? took : fastest;
    }
    munmap(memory, 2 * COPY);
    add(lines, "copy_gbs", "%.2f", (double)COPY / (double)fastest);
}

/* The copy comes last: partners do not wait for it. */
static void measure(struct lines *lines, long moment) {
    int64_t began = now_ns(), met;
    add_clock_rate(lines);
    add_round_trips(lines);
    met = now_ns();
    add_copy(lines, moment);
    add(lines, "probe_us", "%lld + %lld", (long long)(met - began) / 1000,
        (long long)(now_ns() - met) / 1000);
}

void add_state(struct lines *lines) {
    bool begins = node == NULL;
    if (begins && !join_node(lines->rank))
        return;
    measure(lines, begins ? START : LONG_MAX);
    if (!begins && own == 0)
        unlink(name); /* where some rank has never come */
}

/* All ranks of the program make the call. */
void add_state_between_parts(struct lines *lines) {
    static char moment[32];
    static int within;
    if (node == NULL)
        return;
    snprintf(moment, sizeof moment, "within%d", ++within);
    lines->moment = moment;
    measure(lines, START + within);
}
