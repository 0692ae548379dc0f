/* Small memory for modules without MPI; buffers of messages come from buffers.h. */
#ifndef ZEROED_H
#define ZEROED_H

#include <stddef.h>
#include <stdlib.h>

/* Room for n elements, all bytes 0, to be freed; also for none. Ends the process where there is no
 * memory. */
static inline void *zeroed(size_t n, size_t size) {
    void *memory = calloc(n > 0 ? n : 1, size);
    if (memory == NULL)
        abort();
    return memory;
}

#endif
