#include "random.h"

/* Uniform below the bound: the few values that would bias the result are drawn again. */
static uint64_t random_below(uint64_t *state, uint64_t bound) {
    uint64_t skewed = UINT64_MAX - UINT64_MAX % bound, value;
    do
        value = random_next(state);
    while (value >= skewed);
    return value % bound;
}

void shuffle(int *numbers, int count, uint64_t *state) {
    for (int i = count - 1; i > 0; i--) {
        int other = (int)random_below(state, (uint64_t)i + 1), number = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = number;
    }
}
