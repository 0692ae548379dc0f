/* The kernel's clock beside those by which the program measures: the C library's and MPI_Wtime, as
 * the program finds them. A preloaded library may replace these, but no instruction of this file.
 */
#define _GNU_SOURCE
#include "lines.h"

#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 10, CLOSE_ENOUGH = 20000 /* ns */ };

/* Not by syscall(2), which can be replaced, too. */
static long ask_kernel(struct timespec *now) {
#if defined __x86_64__
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_clock_gettime), "D"(CLOCK_MONOTONIC), "S"(now)
                     : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long number __asm__("x8") = SYS_clock_gettime;
    register long result __asm__("x0") = CLOCK_MONOTONIC;
    register struct timespec *where __asm__("x1") = now;
    __asm__ volatile("svc 0" : "+r"(result) : "r"(number), "r"(where) : "memory");
    return result;
#else
    return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, now);
#endif
}

static long long nanoseconds(const struct timespec *time) {
    return time->tv_sec * 1000000000LL + time->tv_nsec;
}

static long long raw(void) {
    struct timespec now = {0};
    return ask_kernel(&now) == 0 ? nanoseconds(&now) : 0;
}

/* Read again where the rank lost its CPU in between. */
void add_clocks(struct lines *lines, double (*wtime)(void)) {
    long long before, after, closest = LLONG_MAX, at = 0, libc = 0, mpi = 0;
    for (int i = 0; i < TRIES && closest > CLOSE_ENOUGH; i++) {
        struct timespec now = {0};
        before = raw();
        clock_gettime(CLOCK_MONOTONIC, &now);
        double seconds = wtime != NULL ? wtime() : 0;
        after = raw();
        if (after - before >= closest)
            continue;
        closest = after - before;
        at = before + closest / 2;
        libc = nanoseconds(&now);
        mpi = (long long)(seconds * 1e9);
    }
    if (at == 0)
        return;
    add(lines, "raw_ns", "%lld", at);
    add(lines, "libc_ns", "%lld", libc);
    if (wtime != NULL)
        add(lines, "wtime_ns", "%lld", mpi);
}
