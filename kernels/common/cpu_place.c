#define _GNU_SOURCE
#include "cpu_place.h"

#include "cpu_sysfs.h"
#include "pair/pair.h"

#include <sched.h>

void cpu_place_find(struct cpu_place *place, int node) {
    int cpu = sched_getcpu();
    *place = (struct cpu_place){node, cpu, -1, -1, -1};
    if (cpu < 0)
        return;
    place->socket = cpu_number(cpu, "topology/physical_package_id");
    place->core = cpu_number(cpu, "topology/core_id");
    place->numa = cpu_numa(cpu);
}

int cpu_place_level(const struct cpu_place *a, const struct cpu_place *b) {
    if (a->node != b->node)
        return OTHER_NODE;
    if (a->socket < 0 || b->socket < 0 || a->core < 0 || b->core < 0)
        return -1;
    if (a->socket != b->socket)
        return OTHER_SOCKET;
    if (a->core == b->core)
        return SAME_CORE;
    return a->numa == b->numa ? SAME_NUMA_NODE : SAME_SOCKET;
}
