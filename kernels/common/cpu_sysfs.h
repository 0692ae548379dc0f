/* Facts about a processor from /sys, which MPICAMPAIGN_SYSFS replaces. In a header, since the
 * evidence library is linked with nothing else. Include after defining _GNU_SOURCE. */
#ifndef CPU_SYSFS_H
#define CPU_SYSFS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { CPU_PATH_LENGTH = 4096 };

static inline bool cpu_path(char path[CPU_PATH_LENGTH], int cpu, const char *inside) {
    const char *sysfs = getenv("MPICAMPAIGN_SYSFS");
    int length = snprintf(path, CPU_PATH_LENGTH, "%s/devices/system/cpu/cpu%d/%s",
                          sysfs != NULL && *sysfs != '\0' ? sysfs : "/sys", cpu, inside);
    return length > 0 && length < CPU_PATH_LENGTH;
}

/* The number in a file such as topology/core_id; -1 if unknown, as Linux itself reports. */
static inline int cpu_number(int cpu, const char *inside) {
    char path[CPU_PATH_LENGTH];
    int value = -1;
    FILE *file = cpu_path(path, cpu, inside) ? fopen(path, "re") : NULL;
    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &value) != 1 || value < 0)
        value = -1;
    fclose(file);
    return value;
}

/* The NUMA node, from the name of a link such as node0; -1 if unknown. */
static inline int cpu_numa(int cpu) {
    char path[CPU_PATH_LENGTH];
    int node, end, found = -1;
    DIR *folder = cpu_path(path, cpu, "") ? opendir(path) : NULL;
    if (folder == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (sscanf(entry->d_name, "node%d%n", &node, &end) == 1 && entry->d_name[end] == '\0')
            found = node;
    closedir(folder);
    return found;
}

#endif
