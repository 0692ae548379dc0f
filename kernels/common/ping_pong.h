/* Ping-pong of many pairs, one pair at a time; all other ranks are blocked in a receive. */
#ifndef PING_PONG_H
#define PING_PONG_H

#include "pair_set.h"
#include "two_way.h"

#include <stdbool.h>

/* The best measurement of one pair. */
struct ping_pong {
    double seconds; /* of all loops */
    int loops;      /* round trips */
};

struct ping_pongs {
    struct pair_set pairs;
    int repetitions, loops; /* loops: grow until a measurement takes 10 us */
    const struct two_way *messages;
    struct ping_pong *best; /* [servers]: of this rank as client; that with itself has no loops */
    double pair_seconds;    /* the least that this rank's turn as client took, checks included */
    bool correct;           /* what this rank received; stays false */
    char *why;              /* [REASON_LENGTH], where it was not */
};

/* Measures all pairs; each measurement begins with one round trip that is not timed and ends with
 * one whose data are checked. Collective. */
void ping_pong_measure(struct ping_pongs *ping_pongs);

#endif
