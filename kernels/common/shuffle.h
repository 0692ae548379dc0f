/* Random orders that are the same on every machine. No MPI. */
#ifndef SHUFFLE_H
#define SHUFFLE_H

#include <stdint.h>

/* Shuffles the numbers, all orders being equally likely (Fisher and Yates); advances the state. */
void shuffle(int *numbers, int count, uint64_t *state);

#endif
