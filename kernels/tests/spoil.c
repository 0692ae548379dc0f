/* Changes one element of the array that was allocated as number SPOIL_ARRAY (from 1), while the
 * program measures: loaded by LD_PRELOAD. Smaller allocations than 1 MiB do not count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

enum { LARGE = 1 << 20, CALLS = 50 }; /* of the clock after the last allocation */

static double *array;
static size_t middle;
static int allocations, calls;

int posix_memalign(void **memory, size_t alignment, size_t size) {
    static int (*real)(void **, size_t, size_t);
    const char *number = getenv("SPOIL_ARRAY");
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "posix_memalign");
    int status = real(memory, alignment, size);
    if (status == 0 && size >= LARGE && number != NULL) {
        calls = 0;
        if (++allocations == atoi(number)) {
            array = *memory;
            middle = size / sizeof *array / 2;
        }
    }
    return status;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    if (array != NULL && ++calls == CALLS)
        array[middle] += 1;
    return real(clock, now);
}
