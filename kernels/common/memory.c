#define _POSIX_C_SOURCE 200809L
#include "kernel.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t bytes_product(uint64_t a, uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t bytes_sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

void *allocate(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, bytes > 0 ? bytes : 1) != 0) {
        fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memset(memory, 0xA5, bytes);
    return memory;
}

uint64_t physical_memory(void) {
    return bytes_product((uint64_t)sysconf(_SC_PHYS_PAGES), (uint64_t)sysconf(_SC_PAGESIZE));
}
