#define _GNU_SOURCE
#include "core_pairs.h"

#include "cpu_sysfs.h"

#include <sched.h>

const char *const PAIR_LEVEL_NAMES[PAIR_LEVELS] = {"same_core", "same_numa_node", "same_socket",
                                                   "other_socket", "other_node"};

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

static long largest(const long counts[PAIR_LEVELS]) {
    long most = 0;
    for (int level = 0; level < PAIR_LEVELS; level++)
        most = counts[level] > most ? counts[level] : most;
    return most;
}

void pair_agreement_count(const struct pair_classes *classes, const int *level_of,
                          struct pair_agreement *agreement) {
    size_t ranks = (size_t)classes->ranks;
    *agreement = (struct pair_agreement){0};
    for (size_t from = 0; from < ranks; from++)
        for (size_t to = from + 1; to < ranks; to++) {
            int which = classes->class_of[from * ranks + to], level = level_of[from * ranks + to];
            if (which < 0 || level < 0)
                continue;
            agreement->known++;
            agreement->pairs[which][level]++;
        }
    for (int which = 0; which < classes->count; which++)
        agreement->agreeing += largest(agreement->pairs[which]);
}
