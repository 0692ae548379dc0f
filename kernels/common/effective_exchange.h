/* One exchange of a pattern of the effective bandwidth (b_eff), by one of several methods. */
#ifndef EFFECTIVE_EXCHANGE_H
#define EFFECTIVE_EXCHANGE_H

#include "effective.h"
#include "effective_data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_LINKS = 2 * MAX_DIRECTIONS, METHODS = 3, ALL_METHODS = 5 };

/* A neighbour with whom one message is exchanged each way. Messages lie in slots of the buffers:
 * what the neighbour sends from its slot is received in the one of the same number here. */
struct link {
    int peer;
    int send_slot, receive_slot;
};

struct exchange {
    unsigned char *send, *receive; /* [walk.capacity] */
    struct walk walk;
    uint64_t seed;
    int rank, ranks;

    struct link links[MAX_LINKS]; /* of the present pattern; 0 links: no part in it */
    int count, slots;
    size_t length; /* of the present messages */
    int *counts_send, *counts_receive, *offsets_send, *offsets_receive; /* [ranks], Alltoallv */
};

struct method {
    const char *name;
    void (*perform)(struct exchange *exchange, size_t first); /* first: where slot 0 begins */
};

/* sendrecv, alltoallv, nonblocking; then the split ones: irecv_send, isend_recv. */
extern const struct method EXCHANGES[ALL_METHODS];

/* One message there, then one back; of patterns of pairs. */
extern const struct method PING_PONG;

/* Buffers for messages up to the length, all written. */
uint64_t exchange_memory(int ranks, size_t largest);
void exchange_set_up(struct exchange *exchange, int rank, int ranks, size_t largest, uint64_t seed);

void exchange_set_pattern(struct exchange *exchange, const struct pattern *pattern);
void exchange_set_length(struct exchange *exchange, size_t length);

/* So many exchanges back to back. */
void exchange_perform(struct exchange *exchange, const struct method *method, int loops);

/* One exchange into cleared memory: whether what arrived is right; if not, why. */
bool exchange_verify(struct exchange *exchange, const struct method *method, char *why,
                     size_t length);

#endif
