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

static bool has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (; list != NULL; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, word, length) == 0 && strchr(",", list[length]) != NULL)
            return true;
    }
    return false;
}

/* The line of this process's group in the hierarchy: "0::/a/b" of cgroup v2, "4:cpu,cpuacct:/a/b".
 */
static bool read_group(bool v2, char path[PATH_LENGTH]) {
    char line[PATH_LENGTH];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *controllers = strchr(line, ':'), *end = NULL;
        if (controllers != NULL && (end = strchr(++controllers, ':')) != NULL) {
            *end++ = '\0';
            end[strcspn(end, "\n")] = '\0';
            found = v2 ? *controllers == '\0' : has_word(controllers, "cpu");
            memcpy(path, end, strlen(end) + 1);
        }
    }
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
            (v2 ? strcmp(type, "cgroup2") != 0 : !has_word(options, "cpu")))
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

static bool read_text(const char *folder, const char *name, char text[MAX_TEXT]) {
    char path[PATH_LENGTH + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    text[file != NULL ? fread(text, 1, MAX_TEXT - 1, file) : 0] = '\0';
    if (file != NULL)
        fclose(file);
    return *text != '\0';
}

static unsigned long long counted(const char *text, const char *name) {
    unsigned long long count = 0;
    const char *line = strstr(text, name);
    return line != NULL && sscanf(line + strlen(name), "%llu", &count) == 1 ? count : 0;
}

static void add_quota(struct lines *lines, const char *folder, bool v2, int level) {
    char key[32], text[MAX_TEXT];
    double quota = 0, period = 0;
    if (v2 && read_text(folder, "cpu.max", text) && sscanf(text, "%lf %lf", &quota, &period) != 2)
        quota = 0; /* "max 100000" */
    if (!v2 && read_text(folder, "cpu.cfs_quota_us", text) && sscanf(text, "%lf", &quota) == 1 &&
        read_text(folder, "cpu.cfs_period_us", text))
        sscanf(text, "%lf", &period);
    quota = quota > 0 && period > 0 ? quota / period : 0;
    read_text(folder, "cpu.stat", text);
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
