/* Where a rank runs, and where it has its memory. */
#define _GNU_SOURCE
#include "cpu_sysfs.h"
#include "lines.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NODES = 256 };

static void add_known(struct lines *lines, const char *key, int value) {
    if (value >= 0)
        add(lines, key, "%d", value);
}

/* The CPUs of a core with several, any of which is that core. */
static void add_siblings(struct lines *lines, int cpu) {
    char path[PATH_LENGTH], text[PATH_LENGTH];
    if (cpu_path(path, cpu, "topology/thread_siblings_list") &&
        read_line(path, text, sizeof text) && strpbrk(text, ",-") != NULL)
        add(lines, "siblings", "%s", text);
}

static void add_cpu(struct lines *lines) {
    int cpu = sched_getcpu();
    if (cpu < 0)
        return;
    add(lines, "cpu", "%d", cpu);
    add_known(lines, "socket", cpu_number(cpu, "topology/physical_package_id"));
    add_known(lines, "core", cpu_number(cpu, "topology/core_id"));
    add_known(lines, "numa", cpu_numa(cpu));
    add_known(lines, "l3", cpu_number(cpu, "cache/index3/shared_cpu_list")); /* its first CPU */
    add_siblings(lines, cpu);
}

/* Adds the N0=12 tokens of one line; counts are in pages of kernelpagesize_kB. */
static void count_pages(char *line, unsigned long long kilobytes[MAX_NODES], int *nodes) {
    unsigned long long pages[MAX_NODES] = {0}, count, page_size = 4;
    unsigned node;
    for (char *rest, *token = strtok_r(line, " \n", &rest); token;
         token = strtok_r(NULL, " \n", &rest))
        if (sscanf(token, "N%u=%llu", &node, &count) == 2 && node < MAX_NODES) {
            pages[node] += count;
            *nodes = (int)node >= *nodes ? (int)node + 1 : *nodes;
        } else {
            sscanf(token, "kernelpagesize_kB=%llu", &page_size);
        }
    for (int i = 0; i < *nodes; i++)
        kilobytes[i] += pages[i] * page_size;
}

/* Resident pages (of the base size) on each NUMA node. */
static void add_memory(struct lines *lines) {
    unsigned long long kilobytes[MAX_NODES] = {0};
    unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE) / 1024;
    int nodes = 0;
    char *line = NULL, text[PATH_LENGTH] = "";
    size_t capacity = 0, length = 0;
    FILE *file = fopen("/proc/self/numa_maps", "re");
    if (file == NULL)
        return;
    while (getline(&line, &capacity, file) > 0)
        count_pages(line, kilobytes, &nodes);
    free(line);
    fclose(file);
    for (int i = 0; i < nodes && length < sizeof text - 32; i++)
        length +=
            (size_t)sprintf(text + length, "%sN%d=%llu", i ? "," : "", i, kilobytes[i] / page);
    if (nodes > 0)
        add(lines, "memory", "%s", text);
}

/* Not the node's own topology. */
static void add_declared(struct lines *lines) {
    const char *sysfs = getenv("MPICAMPAIGN_SYSFS");
    if (sysfs != NULL && *sysfs != '\0')
        add(lines, "declared_topology", "%s", sysfs);
}

void add_place(struct lines *lines) {
    add_declared(lines);
    add_cpu(lines);
    add_memory(lines);
}
