/* Ping-pong of many pairs, one pair at a time; all other ranks are blocked in a receive. */
#ifndef PING_PONG_H
#define PING_PONG_H

#include "pair.h"
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
    double turn_seconds;    /* what this rank's pairs as client take, checks included */
    bool correct;           /* what this rank received; stays false */
    char *why;              /* [REASON_LENGTH], where it was not */
};

/* Measures all pairs, each time after a round trip that is not timed. The data are checked in a
 * pass of its own at the end: checks in between cost up to a third of the bandwidth at 2 MB, since
 * they displace the messages from the caches. Collective. */
void ping_pong_measure(struct ping_pongs *ping_pongs);

#endif
