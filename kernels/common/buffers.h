/* Memory: checked sizes, pages touched before any timing. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* a * b, or UINT64_MAX where that overflows. */
uint64_t bytes_product(uint64_t a, uint64_t b);

/* a + b, or UINT64_MAX where that overflows. */
uint64_t bytes_sum(uint64_t a, uint64_t b);

/* Page-aligned memory whose pages have all been written: an unwritten page reads as the kernel's
 * zero page and reports up to 2.5 times the real bandwidth. Ends the launch where there is none. */
void *allocate(size_t bytes);

/* Physical memory of this node in bytes. */
uint64_t physical_memory(void);

/* Small memory, no buffer of messages, for modules without MPI: room for n elements, all bytes 0,
 * to be freed; also for none. Ends the process where there is no memory. */
static inline void *zeroed(size_t n, size_t size) {
    void *memory = calloc(n > 0 ? n : 1, size);
    if (memory == NULL)
        abort();
    return memory;
}

#endif
