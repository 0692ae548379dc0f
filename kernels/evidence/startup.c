/* When the program began and when it was in MPI_Init, by the wall clock: it was launched on a host
 * with another monotonic clock. */
#define _GNU_SOURCE
#include "lines.h"

#include <time.h>

static long long began, init_began; /* us since 1970; 0: unknown */

static long long now_us(void) {
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) == 0 ? now.tv_sec * 1000000LL + now.tv_nsec / 1000
                                                    : 0;
}

/* Before main: what the launcher and the loader do is then over. */
__attribute__((constructor)) static void note_begin(void) { began = now_us(); }

void note_init(void) { init_began = now_us(); }

void add_startup(struct lines *lines) {
    add(lines, "startup_us", "%lld %lld %lld", began, init_began, now_us());
}
