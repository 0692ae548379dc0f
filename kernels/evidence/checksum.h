/* SHA-256 (FIPS 180-4) of what a function such as read(2) gives. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stdbool.h>
#include <sys/types.h>

enum { CHECKSUM_DIGITS = 64 };

typedef ssize_t reading(int descriptor, void *buffer, size_t size);

/* False where it cannot be read to its end. */
bool sha256_of(reading *next, int descriptor, char text[CHECKSUM_DIGITS + 1]);

#endif
