#define _GNU_SOURCE
#include "cpu_place.h"

#include "pair.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_LENGTH = 4096 };

static void cpu_path(char path[PATH_LENGTH], int cpu, const char *inside) {
    const char *sysfs = getenv("MPICAMPAIGN_SYSFS");
    snprintf(path, PATH_LENGTH, "%s/devices/system/cpu/cpu%d/%s",
             sysfs != NULL && *sysfs != '\0' ? sysfs : "/sys", cpu, inside);
}

/* Linux itself reports -1 for unknown. */
static int read_number(int cpu, const char *inside) {
    char path[PATH_LENGTH];
    int value = -1;
    cpu_path(path, cpu, inside);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &value) != 1 || value < 0)
        value = -1;
    fclose(file);
    return value;
}

/* The NUMA node is in the name of a link, such as node0. */
static int find_numa(int cpu) {
    char path[PATH_LENGTH];
    int node, end, found = -1;
    cpu_path(path, cpu, "");
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (sscanf(entry->d_name, "node%d%n", &node, &end) == 1 && entry->d_name[end] == '\0')
            found = node;
    closedir(folder);
    return found;
}

void cpu_place_find(struct cpu_place *place, int node) {
    int cpu = sched_getcpu();
    *place = (struct cpu_place){node, cpu, -1, -1, -1};
    if (cpu < 0)
        return;
    place->socket = read_number(cpu, "topology/physical_package_id");
    place->core = read_number(cpu, "topology/core_id");
    place->numa = find_numa(cpu);
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
