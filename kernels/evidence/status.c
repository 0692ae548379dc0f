/* The kernel's account of the process: the CPUs that it may use, and what steers it and is none of
 * its variables: how it is scheduled, who traces it, which calls are filtered, what was changed by
 * prctl(2). */
#define _GNU_SOURCE
#include "lines.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>

#define COUNT(list) (sizeof list / sizeof *list)

static const struct {
    const char *field, *name;
} fields[] = {
    {"\nTracerPid:", "tracer"}, {"\nSeccomp:", "seccomp"}, {"\nTHP_enabled:", "huge_pages"}};
static const char *const policies[] = {"other", "fifo", "rr", "batch", "iso", "idle", "deadline"};

static bool find_value(const char *status, const char *field, char value[PATH_LENGTH]) {
    const char *line = strstr(status, field);
    return line != NULL && sscanf(line + strlen(field), "%4095s", value) == 1;
}

/* In place of its number. */
static void name_tracer(char value[PATH_LENGTH]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/comm", value);
    if (strcmp(value, "0") == 0)
        strcpy(value, "none");
    else if (!read_line(path, value, PATH_LENGTH))
        strcpy(value, "unknown");
    for (char *c = value; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~') /* anybody may choose a name */
            *c = '_';
}

void add_status(struct lines *lines) {
    static char status[TEXT_LENGTH]; /* a user may be in thousands of groups */
    char value[PATH_LENGTH], text[512];
    size_t policy = (size_t)(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK);
    int length = snprintf(text, sizeof text, "scheduler=%s personality=%d timer_slack=%d",
                          policy < COUNT(policies) ? policies[policy] : "", personality(0xffffffff),
                          prctl(PR_GET_TIMERSLACK));
    read_text("/proc/self/status", status, sizeof status);
    if (find_value(status, "\nCpus_allowed_list:", value))
        add(lines, "allowed", "%s", value);
    for (size_t i = 0; i < COUNT(fields); i++) {
        if (!find_value(status, fields[i].field, value))
            continue;
        if (i == 0)
            name_tracer(value);
        length += snprintf(text + length, sizeof text - (size_t)length, " %s=%.63s", fields[i].name,
                           value);
    }
    add(lines, "attributes", "%s", text);
}
