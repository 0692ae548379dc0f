/* SHA-256 (FIPS 180-4) of a file. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stdbool.h>

enum { CHECKSUM_DIGITS = 64 };

/* False where the file cannot be read to its end. */
bool sha256_of_file(int descriptor, char text[CHECKSUM_DIGITS + 1]);

#endif
