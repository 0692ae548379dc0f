/* How long this rank's thread was ready to run and had no CPU, as the kernel counts it. */
#ifndef WAITING_H
#define WAITING_H

#include <stdbool.h>
#include <stdint.h>

/* Opens the kernel's account of the calling thread; false where there is none. */
bool waiting_open(void);

/* Nanoseconds of waiting so far; 0 where there is no account. Takes about 0.3 us. */
int64_t waiting_so_far(void);

#endif
