/* The process that takes the most CPU time beside the ranks, where a rank waited for a CPU. */
#define _GNU_SOURCE
#include "early_libc.h"
#include "lines.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PROCESSES = 8192, WINDOW_NS = 100000000, LEAST_TICKS = 2, MAX_NAME = 15 };

static const char OURS[] = "MPICAMPAIGN_EVIDENCE_"; /* ranks, and what launches them */

struct process {
    int pid;
    unsigned user;
    unsigned long long ticks; /* CPU time of all its threads */
    char name[MAX_NAME + 1];
};

/* What a quiet run waits, while it starts, is not worth a look at other processes. */
static bool waited(void) {
    char text[128];
    unsigned long long ran, wait;
    read_line("/proc/self/schedstat", text, sizeof text);
    return sscanf(text, "%llu %llu", &ran, &wait) == 2 && wait > 20000000 &&
           wait > (ran + wait) / 10;
}

static bool read_process(const char *pid, struct process *process) {
    char path[64], text[512], *name, *end;
    struct stat owner;
    snprintf(path, sizeof path, "/proc/%.16s/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    bool known = file_status(fileno(file), &owner) == 0;
    fclose(file);
    text[length] = '\0';
    name = strchr(text, '(');
    end = strrchr(text, ')'); /* the name may hold one, too */
    if (!known || name == NULL || end == NULL || end <= name)
        return false;
    *end = '\0';
    snprintf(process->name, sizeof process->name, "%s", name + 1);
    for (char *c = process->name; *c; c++)
        if (*c < ' ' || *c > '~') /* anybody may choose a name */
            *c = '?';
    unsigned long long user, system;
    if (sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) !=
        2)
        return false;
    process->pid = atoi(pid);
    process->user = owner.st_uid;
    process->ticks = user + system;
    return true;
}

/* A process whose environment cannot be read is another user's. */
static bool is_rank(int pid) {
    char path[64], *text = NULL;
    size_t capacity = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (!found && getdelim(&text, &capacity, '\0', file) > 0)
        found = strncmp(text, OURS, sizeof OURS - 1) == 0;
    free(text);
    fclose(file);
    return found;
}

/* Calls `visit` with each process. */
static void visit_all(void (*visit)(const struct process *)) {
    struct process process;
    DIR *folder = opendir("/proc");
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_process(entry->d_name, &process))
            visit(&process);
    closedir(folder);
}

static struct {
    int pid;
    unsigned long long ticks;
} before[MAX_PROCESSES]; /* in the order of /proc, by number */
static int known, at;
static struct process busiest; /* its ticks are those of the window */

static void keep(const struct process *process) {
    if (known < MAX_PROCESSES) {
        before[known].pid = process->pid;
        before[known++].ticks = process->ticks;
    }
}

static void compare(const struct process *process) {
    while (at < known && before[at].pid < process->pid)
        at++;
    if (at == known || before[at].pid != process->pid)
        return;
    unsigned long long used = process->ticks - before[at].ticks;
    if (used < LEAST_TICKS || used <= busiest.ticks || is_rank(process->pid))
        return;
    busiest = *process;
    busiest.ticks = used;
}

void add_neighbours(struct lines *lines) {
    const struct timespec window = {.tv_nsec = WINDOW_NS};
    struct timespec begin, end;
    if (!computes() || !waited())
        return;
    visit_all(keep);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    nanosleep(&window, NULL);
    visit_all(compare);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (busiest.ticks > 0)
        add(lines, "busy_process", "%s (pid %d, uid %u) %.1f", busiest.name, busiest.pid,
            busiest.user, (double)busiest.ticks / (double)sysconf(_SC_CLK_TCK) / seconds);
}
