/* Two-way merge of sorted keys. */
#ifndef MERGE_H
#define MERGE_H

#include <stddef.h>
#include <stdint.h>

/* out[0 .. na + nb) = the keys of a and b in order; out overlaps neither. Portable: four
 * independent chains by merge path (Odeh, Green, Mwassi, Shmueli, Birk 2012), so that the processor
 * follows four dependent chains of loads at once and no branch depends on the keys. */
void merge_u32(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *out);
void merge_u64(const uint64_t *a, size_t na, const uint64_t *b, size_t nb, uint64_t *out);

/* The textbook merge with a branch for each key: the reference in tests and measurements. */
void merge_branchy_u32(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *out);
void merge_branchy_u64(const uint64_t *a, size_t na, const uint64_t *b, size_t nb, uint64_t *out);

#endif
