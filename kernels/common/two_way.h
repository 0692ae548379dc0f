/* Messages to two neighbours: buffers of their own for each direction, and what must arrive. */
#ifndef TWO_WAY_H
#define TWO_WAY_H

#include "blocks.h"

enum direction { TO_RIGHT, TO_LEFT, DIRECTIONS };

struct two_way {
    struct blocks out[DIRECTIONS], in[DIRECTIONS];
};

/* Bytes that two_way_allocate takes for messages up to the given size. */
uint64_t two_way_memory(size_t largest);

/* The pattern of a message depends on seed, sender and direction. */
void two_way_allocate(struct two_way *messages, size_t largest, uint64_t seed);

/* Messages of this size from this rank. */
void two_way_fill(struct two_way *messages, size_t size, int rank);

/* Overwrites what has arrived, so that an old message never passes for a new one. */
void two_way_clear(const struct two_way *messages);

/* Whether all of the sender's message for this direction is there; if not, why. */
bool two_way_check(const struct two_way *messages, enum direction direction, int sender, char *why,
                   size_t length);

#endif
