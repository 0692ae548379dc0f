/* Memory: overflow-checked sizes, pages touched before timing. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* a * b, or UINT64_MAX on overflow. */
uint64_t bytes_product(uint64_t a, uint64_t b);

/* a + b, or UINT64_MAX on overflow. */
uint64_t bytes_sum(uint64_t a, uint64_t b);

/* Page-aligned memory with all pages written: unwritten pages map to the kernel's zero page, which
 * shows up to 2.5 times the real bandwidth. Aborts the launch if there is no memory. */
void *allocate(size_t bytes);

/* Physical memory of this node in bytes. */
uint64_t physical_memory(void);

/* Small memory for modules without MPI: n elements (also 0), all bytes 0, to be freed. Aborts the
 * process if there is no memory. */
static inline void *zeroed(size_t n, size_t size) {
    void *memory = calloc(n > 0 ? n : 1, size);
    if (memory == NULL)
        abort();
    return memory;
}

#endif
