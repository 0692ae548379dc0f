#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double seconds_since(int64_t start) { return (double)(clock_now() - start) * 1e-9; }

/* --- waiting for a CPU, as Linux counts it, and the measurements that this hit */

enum { MAX_PARTS = 8 };

static int account = -1;

/* Alike on all ranks: they enter the parts in the same order. */
static const char *parts[MAX_PARTS];
static long counts[MAX_PARTS][2]; /* hit, and all */
static int part_count, part = -1;

/* "RUN WAIT SLICES": nanoseconds on a CPU, nanoseconds of waiting for one, and a count. */
static bool read_account(long long *run, long long *wait) {
    char text[80];
    ssize_t length = account < 0 ? 0 : pread(account, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return sscanf(text, "%lld %lld", run, wait) == 2;
}

/* A kernel that does not count prints zeros: but this thread has run. */
bool waiting_open(void) {
    long long run, wait;
    account = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    return read_account(&run, &wait) && run > 0;
}

int64_t waiting_so_far(void) {
    long long run, wait;
    return read_account(&run, &wait) ? wait : 0;
}

bool waiting_hit(int64_t before, int64_t duration) {
    int64_t waited = waiting_so_far() - before;
    return waited > HIT_NANOSECONDS && (double)waited > HIT_SHARE * (double)duration;
}

void hits_of(const char *name) {
    part = -1;
    if (name == NULL)
        return;
    for (part = 0; part < part_count && strcmp(parts[part], name) != 0;)
        part++;
    if (part == MAX_PARTS)
        part = -1; /* not counted, rather than in a wrong part */
    else if (part == part_count)
        parts[part_count++] = name;
}

void hits_count(int64_t before, int64_t duration) {
    if (part < 0)
        return;
    counts[part][0] += waiting_hit(before, duration);
    counts[part][1]++;
}

void hits_report(bool known) {
    long sums[MAX_PARTS][2] = {{0}};
    char text[512] = "";
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(counts, sums, 2 * MAX_PARTS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < part_count; i++)
        text_append(text, sizeof text, ",", "%s:%ld/%ld", parts[i], sums[i][0], sums[i][1]);
    if (rank == 0 && part_count > 0)
        output_header("hit_parts", "%s", known ? text : "not examined: no account of waiting");
}
