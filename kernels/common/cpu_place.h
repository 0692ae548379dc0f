/* Where a rank runs, as Linux says in /sys; hwloc reads the same files. */
#ifndef CPU_PLACE_H
#define CPU_PLACE_H

struct cpu_place {
    int node;                    /* of struct topology */
    int cpu, socket, core, numa; /* -1: not known */
};

/* Of the calling process now. MPICAMPAIGN_SYSFS stands for /sys, as in the evidence library. */
void cpu_place_find(struct cpu_place *place, int node);

/* enum pair_level of pair.h; -1 where it is not known. */
int cpu_place_level(const struct cpu_place *a, const struct cpu_place *b);

#endif
