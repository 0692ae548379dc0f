/* The caches of the processors that the ranks of this node may use. */
#ifndef CACHES_H
#define CACHES_H

#include "topology.h"

#include <stdint.h>

/* Bytes of all data and unified caches that the processors of this node's ranks can reach, each
 * cache once; 0 where Linux does not say. Collective. */
uint64_t caches_of_node(const struct topology *topology);

#endif
