/* The CPU time of a rank, and how long it waited for a CPU: by that a disturbed run is known. */
#define _GNU_SOURCE
#include "lines.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void add_clock(struct lines *lines, const char *key, clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) == 0)
        add(lines, key, "%lld", now.tv_sec * 1000000000LL + now.tv_nsec);
}

/* The time (ns) that a thread was ready to run and had no CPU: the second number of its schedstat.
 */
static bool read_wait(const char *thread, unsigned long long *wait) {
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%.32s/schedstat", thread);
    return read_line(path, text, sizeof text) && sscanf(text, "%*u %llu", wait) == 1;
}

/* Over the threads that there are now; the kernel keeps no account of those that have ended. */
static void add_wait(struct lines *lines) {
    unsigned long long sum = 0, wait;
    int threads = 0;
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && read_wait(entry->d_name, &wait)) {
            sum += wait;
            threads++;
        }
    closedir(folder);
    if (threads > 0) {
        add(lines, "wait_ns", "%llu", sum);
        add(lines, "threads", "%d", threads);
    }
}

/* How often the first thread changed its CPU, where the kernel counts that (CONFIG_SCHED_DEBUG).
 * The first alone: threads that end take their counts along, and a library may move its helpers. */
static void add_migrations(struct lines *lines) {
    char path[64], text[PATH_LENGTH];
    unsigned long long count;
    snprintf(path, sizeof path, "/proc/self/task/%ld/sched", (long)getpid());
    read_text(path, text, sizeof text);
    const char *line = strstr(text, "\nse.nr_migrations");
    if (line != NULL && sscanf(line, "%*[^:]:%llu", &count) == 1)
        add(lines, "migrations", "%llu", count);
}

/* The clock ticks in which the node's CPUs ran any process. */
static void add_busy_ticks(struct lines *lines) {
    char text[256];
    unsigned long long user, nice, system, irq, softirq;
    read_line("/proc/stat", text, sizeof text);
    if (sscanf(text, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system, &irq,
               &softirq) == 5)
        add(lines, "busy_ticks", "%llu", user + nice + system + irq + softirq);
}

void add_usage(struct lines *lines) {
    struct rusage usage;
    add_migrations(lines);
    add_busy_ticks(lines);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        add(lines, "voluntary_switches", "%ld", usage.ru_nvcsw);
        add(lines, "involuntary_switches", "%ld", usage.ru_nivcsw);
    }
    add_wait(lines);
    /* CLOCK_PROCESS_CPUTIME_ID includes the threads that have ended. */
    add_clock(lines, "cpu_ns", CLOCK_PROCESS_CPUTIME_ID);
    add_clock(lines, "clock_ns", CLOCK_MONOTONIC);
}

static atomic_int continued;
static bool watching;

static void count_stop(int signal) {
    (void)signal;
    continued++;
}

/* The kernel tells nobody that a process was stopped, but it sends SIGCONT to end that. A program
 * with a handler of its own keeps it. Calls that the handler interrupts would start again without
 * it; those that SA_RESTART does not cover, such as nanosleep, end early in a run that was stopped
 * in any case. */
void watch_stops(void) {
    struct sigaction found, own = {.sa_handler = count_stop, .sa_flags = SA_RESTART};
    watching = sigaction(SIGCONT, NULL, &found) == 0 && (found.sa_flags & SA_SIGINFO) == 0 &&
               found.sa_handler == SIG_DFL && sigaction(SIGCONT, &own, NULL) == 0;
}

/* Nothing where the program has taken the signal over. */
void add_stops(struct lines *lines) {
    struct sigaction found, usual = {.sa_handler = SIG_DFL};
    if (!watching || sigaction(SIGCONT, NULL, &found) != 0 || found.sa_handler != count_stop)
        return;
    add(lines, "continued", "%d", continued);
    sigaction(SIGCONT, &usual, NULL);
}
