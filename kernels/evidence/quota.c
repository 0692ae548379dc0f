/* Quotas of CPU time: a control group that has used up its part of a period gets no CPU until the
 * next one begins. The kernel counts both (its documents: admin-guide/cgroup-v2,
 * scheduler/sched-bwc).
 */
#define _GNU_SOURCE
#include "lines.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TEXT = 512 };

static bool has_cpu(const char *list) {
    char text[MAX_TEXT + 2];
    snprintf(text, sizeof text, ",%s,", list);
    return strstr(text, ",cpu,") != NULL;
}

/* The line of this process's group in the hierarchy: "0::/a/b" of cgroup v2, "4:cpu,cpuacct:/a/b".
 */
static bool read_group(bool v2, char path[PATH_LENGTH]) {
    char line[PATH_LENGTH], controllers[MAX_TEXT];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = v2 ? sscanf(line, "0::%4095[^\n]", path) == 1
                   : sscanf(line, "%*d:%511[^:]:%4095[^\n]", controllers, path) == 2 &&
                         has_cpu(controllers);
    if (file != NULL)
        fclose(file);
    return found;
}

/* Where the hierarchy is mounted, and what of the group's path lies below. A container sees a part.
 */
static bool read_mount(bool v2, const char *group, char folder[PATH_LENGTH], size_t *top) {
    char line[PATH_LENGTH], root[MAX_TEXT], type[16], options[MAX_TEXT];
    bool found = false;
    FILE *file = fopen("/proc/self/mountinfo", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *rest = strstr(line, " - cgroup");
        if (rest == NULL || sscanf(rest, " - %15s %*s %511s", type, options) != 2 ||
            sscanf(line, "%*d %*d %*s %511s %511s", root, folder) != 2 ||
            (v2 ? strcmp(type, "cgroup2") != 0 : !has_cpu(options)))
            continue;
        size_t above = strcmp(root, "/") == 0 ? 0 : strlen(root);
        found = strncmp(group, root, above) == 0 && strchr("/", group[above]) != NULL;
        *top = strlen(folder);
        group += strcmp(group + above, "/") == 0; /* the mount's own group */
        snprintf(folder + *top, PATH_LENGTH - *top, "%s", group + above);
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static bool read_in(const char *folder, const char *name, char text[MAX_TEXT]) {
    char path[PATH_LENGTH + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_text(path, text, MAX_TEXT);
}

static unsigned long long counted(const char *text, const char *name) {
    unsigned long long count = 0;
    const char *line = strstr(text, name);
    return line != NULL && sscanf(line + strlen(name), "%llu", &count) == 1 ? count : 0;
}

static void add_quota(struct lines *lines, const char *folder, bool v2, int level) {
    char key[32], text[MAX_TEXT];
    double quota = 0, period = 0;
    if (v2 && read_in(folder, "cpu.max", text) && sscanf(text, "%lf %lf", &quota, &period) != 2)
        quota = 0; /* "max 100000" */
    if (!v2 && read_in(folder, "cpu.cfs_quota_us", text) && sscanf(text, "%lf", &quota) == 1 &&
        read_in(folder, "cpu.cfs_period_us", text))
        sscanf(text, "%lf", &period);
    quota = quota > 0 && period > 0 ? quota / period : 0;
    read_in(folder, "cpu.stat", text);
    unsigned long long periods = counted(text, "nr_periods ");
    snprintf(key, sizeof key, "cpu_quota.%d", level);
    if (quota > 0 || periods > 0)
        add(lines, key, "%.6g %llu %llu", quota, periods, counted(text, "nr_throttled "));
}

/* Of the process's group and of those above it: CPUs (0: none now), periods, and those in which the
 * group was throttled. */
void add_quotas(struct lines *lines) {
    char group[PATH_LENGTH], folder[PATH_LENGTH];
    size_t top;
    for (int v2 = 0, level = 0; v2 < 2; v2++) {
        if (!read_group(v2, group) || !read_mount(v2, group, folder, &top))
            continue;
        for (char *end = folder + strlen(folder); end != NULL; end = strrchr(folder + top, '/')) {
            *end = '\0';
            add_quota(lines, folder, v2, level++);
        }
    }
}
