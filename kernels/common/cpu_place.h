/* Where a rank runs, according to Linux in /sys; hwloc reads the same files. */
#ifndef CPU_PLACE_H
#define CPU_PLACE_H

struct cpu_place {
    int node;                    /* of struct topology */
    int cpu, socket, core, numa; /* -1: unknown */
};

/* Of the calling process now. MPICAMPAIGN_SYSFS replaces /sys, as in the evidence library. */
void cpu_place_find(struct cpu_place *place, int node);

/* enum pair_level of pair/pair.h; -1 if unknown. */
int cpu_place_level(const struct cpu_place *a, const struct cpu_place *b);

#endif
