#include "effective/effective.h"

/* Each rank's message to the left lies in the first slot of a direction, the one to the right in
 * the next: what arrives from the left neighbour was sent from its next slot. */
static void add_direction(struct exchange *x, int left, int right, int slot) {
    if (left == right) {
        exchange_add(x, (struct message){left, slot}, (struct message){left, slot});
    } else {
        exchange_add(x, (struct message){left, slot}, (struct message){left, slot + 1});
        exchange_add(x, (struct message){right, slot + 1}, (struct message){right, slot});
    }
}

void exchange_set_pattern(struct exchange *x, const struct pattern *pattern) {
    int sides = pattern_sides(pattern);
    exchange_begin(x, sides * pattern->directions);
    for (int direction = 0; direction < pattern->directions; direction++) {
        int left = pattern->left[direction][x->rank], right = pattern->right[direction][x->rank];
        if (left >= 0)
            add_direction(x, left, right, sides * direction);
    }
    x->answers = x->count > 0 && x->rank > x->sent[0].peer;
}
