/* Shortens the 0.25 s that Intel MPI sleeps in MPI_Init to calibrate the clock behind MPI_Wtime:
 * loaded by LD_PRELOAD. No kernel uses that clock; other sleeps stay as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

enum { IN_INIT = 250000, SHORTER = 2000 }; /* microseconds */

int usleep(useconds_t time) {
    static int (*real)(useconds_t);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "usleep");
    return real(time == IN_INIT ? SHORTER : time);
}
