#include "sync.h"

void sync_choose(struct sync *sync, const struct topology *topology) {
    if (sync_clock_available(topology))
        sync_clock(sync, topology);
    else
        sync_barrier(sync);
}
