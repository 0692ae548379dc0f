/* Every process exchanges messages with both neighbours in a ring, by two methods. */
#ifndef RING_EXCHANGE_H
#define RING_EXCHANGE_H

#include "ring_order.h"
#include "two_way.h"

enum ring_method {
    RING_SENDRECV,    /* two MPI_Sendrecv, first to the right, then to the left */
    RING_NONBLOCKING, /* two MPI_Irecv, two MPI_Isend, MPI_Waitall */
    RING_METHODS
};

/* This rank's seconds for so many exchanges, after one that is not timed. Collective. */
double ring_seconds(const struct two_way *messages, const struct neighbours *neighbours,
                    enum ring_method method, int loops);

/* One exchange into cleared memory; whether the messages of both neighbours are there. Collective.
 */
bool ring_verify(const struct two_way *messages, const struct neighbours *neighbours,
                 enum ring_method method, char *why, size_t length);

#endif
