/* What steers a process and is none of its variables: how it is scheduled, who traces it, which
 * calls are filtered, what was changed by prctl(2). */
#define _GNU_SOURCE
#include "lines.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { MAX_VALUE = 64, MAX_ATTRIBUTES = 1024 };

static const struct {
    const char *field, *name;
} fields[] = {{"TracerPid", "tracer"},
              {"Seccomp", "seccomp"},
              {"THP_enabled", "huge_pages"},
              {"Speculation_Store_Bypass", "store_bypass"},
              {"SpeculationIndirectBranch", "indirect_branch"}};
static const char *const policies[] = {"other", "fifo", "rr", "batch", "iso", "idle", "deadline"};

/* One token. */
static void add_token(char text[MAX_ATTRIBUTES], const char *name, char *value) {
    size_t length = strlen(text);
    value[strcspn(value, "\n")] = '\0';
    for (char *c = value; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~') /* anybody may choose a name */
            *c = '_';
    snprintf(text + length, MAX_ATTRIBUTES - length, "%s%s=%s", length > 0 ? " " : "", name, value);
}

static void add_number(char text[MAX_ATTRIBUTES], const char *name, long long number) {
    char value[MAX_VALUE];
    snprintf(value, sizeof value, "%lld", number);
    add_token(text, name, value);
}

/* The name of the process that traces this one. */
static void name_tracer(char value[MAX_VALUE]) {
    char path[MAX_VALUE];
    long tracer = strtol(value, NULL, 10);
    snprintf(path, sizeof path, "/proc/%ld/comm", tracer);
    FILE *file = tracer > 0 ? fopen(path, "re") : NULL;
    strcpy(value, tracer > 0 ? "unknown" : "none");
    if (file != NULL) {
        if (fgets(path, sizeof path, file) != NULL)
            strcpy(value, path);
        fclose(file);
    }
}

static void add_status(char text[MAX_ATTRIBUTES]) {
    char line[PATH_LENGTH], value[MAX_VALUE];
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            size_t length = strlen(fields[i].field);
            if (strncmp(line, fields[i].field, length) != 0 || line[length] != ':')
                continue;
            snprintf(value, sizeof value, "%.*s", MAX_VALUE - 1,
                     line + length + 1 + strspn(line + length + 1, " \t"));
            if (i == 0)
                name_tracer(value);
            add_token(text, fields[i].name, value);
        }
    if (file != NULL)
        fclose(file);
}

void add_attributes(struct lines *lines) {
    char text[MAX_ATTRIBUTES] = "", policy[MAX_VALUE] = "";
    struct rlimit locked;
    size_t number = (size_t)(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK);
    if (number < sizeof policies / sizeof *policies)
        snprintf(policy, sizeof policy, "%s", policies[number]);
    add_token(text, "scheduler", policy);
    add_number(text, "personality", personality(0xffffffff));
    add_number(text, "timer_slack", prctl(PR_GET_TIMERSLACK));
    if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0) /* RDMA needs it */
        add_number(text, "memlock",
                   locked.rlim_cur == RLIM_INFINITY ? -1 : (long long)locked.rlim_cur);
    add_status(text);
    add(lines, "attributes", "%s", text);
}
