/* evidence.so: a rank's facts about itself right after MPI_Init and right before MPI_Finalize.
 *
 * Loaded by LD_PRELOAD into any MPI program. It needs no MPI headers and no MPI library of its own:
 * the functions that it wraps take no MPI handles, so their prototypes are the same everywhere.
 *
 *   MPICAMPAIGN_RANK           the rank, digits only; otherwise nothing is written
 *   MPICAMPAIGN_EVIDENCE_FILE  where lines are appended: "rank R start.KEY=VALUE", then
 *                              "rank R end.KEY=VALUE"
 *   MPICAMPAIGN_SYSFS          replaces /sys, for tests
 *
 * It must do no harm: it writes nothing to stdout or stderr, preserves errno, and omits values
 * that it cannot read. LD_PRELOAD stays set, since a script may start the program; a process that
 * never calls MPI_Init does nothing here.
 */
#define _GNU_SOURCE
#include "cpu_sysfs.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_NODES = 256, PATH_LENGTH = 4096, TEXT_LENGTH = 16384, MAX_BUILD_ID = 64 };

/* The lines of one moment, written at once so that ranks that share a file do not interleave. */
struct lines {
    const char *rank, *moment;
    size_t length;
    char text[TEXT_LENGTH];
};

__attribute__((format(printf, 3, 4))) static void add(struct lines *lines, const char *key,
                                                      const char *format, ...) {
    char value[PATH_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    if (length <= 0 || length >= (int)sizeof value)
        return;
    for (char *c = value; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?'; /* a value never starts a new line */
    size_t room = sizeof lines->text - lines->length;
    int written = snprintf(lines->text + lines->length, room, "rank %s %s.%s=%s\n", lines->rank,
                           lines->moment, key, value);
    if (written > 0 && (size_t)written < room)
        lines->length += (size_t)written;
}

static void add_time(struct lines *lines) {
    struct timespec now;
    struct tm utc;
    char text[32];
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || gmtime_r(&now.tv_sec, &utc) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        return;
    add(lines, "time", "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void add_host(struct lines *lines) {
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) == 0)
        add(lines, "host", "%s", host);
}

static void add_allowed(struct lines *lines) {
    static const char field[] = "Cpus_allowed_list:";
    char line[PATH_LENGTH];
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, sizeof field - 1) == 0) {
            char *value = line + sizeof field - 1;
            value += strspn(value, " \t");
            value[strcspn(value, "\n")] = '\0';
            add(lines, "allowed", "%s", value);
        }
    fclose(file);
}

static void add_known(struct lines *lines, const char *key, int value) {
    if (value >= 0)
        add(lines, key, "%d", value);
}

static void add_cpu(struct lines *lines) {
    int cpu = sched_getcpu();
    if (cpu < 0)
        return;
    add(lines, "cpu", "%d", cpu);
    add_known(lines, "socket", cpu_number(cpu, "topology/physical_package_id"));
    add_known(lines, "core", cpu_number(cpu, "topology/core_id"));
    add_known(lines, "numa", cpu_numa(cpu));
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

static void add_program(struct lines *lines) {
    char path[PATH_LENGTH];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    add(lines, "program", "%s", path);
}

static void add_switches(struct lines *lines) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    add(lines, "voluntary_switches", "%ld", usage.ru_nvcsw);
    add(lines, "involuntary_switches", "%ld", usage.ru_nivcsw);
}

/* The build-id in a note segment, as hexadecimal digits; unchanged if there is none. */
static void read_build_id(const char *note, size_t size, char text[2 * MAX_BUILD_ID + 1]) {
    const ElfW(Nhdr) * header;
    for (size_t at = 0; at + sizeof *header <= size;) {
        header = (const ElfW(Nhdr) *)(note + at);
        size_t name = (header->n_namesz + 3U) & ~3U, length = (header->n_descsz + 3U) & ~3U;
        const unsigned char *id = (const unsigned char *)(header + 1) + name;
        at += sizeof *header + name + length;
        if (at > size || header->n_type != NT_GNU_BUILD_ID || header->n_namesz != 4 ||
            memcmp(header + 1, "GNU", 4) != 0 || header->n_descsz > MAX_BUILD_ID)
            continue;
        for (size_t i = 0; i < header->n_descsz; i++)
            sprintf(text + 2 * i, "%02x", id[i]);
        return;
    }
}

struct build_id {
    uintptr_t address; /* of a function in the object */
    char text[2 * MAX_BUILD_ID + 1];
};

static int find_build_id(struct dl_phdr_info *object, size_t size, void *data) {
    struct build_id *wanted = data;
    bool inside = false;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        inside |= part->p_type == PT_LOAD && wanted->address >= start &&
                  wanted->address < start + part->p_memsz;
    }
    for (int i = 0; inside && i < object->dlpi_phnum && wanted->text[0] == '\0'; i++)
        if (object->dlpi_phdr[i].p_type == PT_NOTE)
            read_build_id((const char *)object->dlpi_addr + object->dlpi_phdr[i].p_vaddr,
                          object->dlpi_phdr[i].p_memsz, wanted->text);
    return inside;
}

/* The file of the MPI library, and the build-id as mapped: the file may have been replaced. */
static void add_library(struct lines *lines, const void *function) {
    struct build_id id = {.address = (uintptr_t)function};
    Dl_info info;
    if (function == NULL || dladdr(function, &info) == 0 || info.dli_fname == NULL)
        return;
    add(lines, "library", "%s", info.dli_fname);
    dl_iterate_phdr(find_build_id, &id);
    if (id.text[0] != '\0')
        add(lines, "library_build_id", "%s", id.text);
}

static int is_number(const char *text) {
    return text != NULL && *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static void append(const char *path, const struct lines *lines) {
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    for (size_t done = 0; done < lines->length;) {
        ssize_t n = write(file, lines->text + done, lines->length - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(file);
}

static void record(const char *moment, const void *function) {
    static struct lines lines; /* MPI allows one Init and one Finalize, each from one thread */
    if (lines.moment != NULL && strcmp(lines.moment, moment) == 0)
        return; /* the library calls its own Init_thread from Init */
    const char *rank = getenv("MPICAMPAIGN_RANK"), *path = getenv("MPICAMPAIGN_EVIDENCE_FILE");
    int saved = errno;
    if (!is_number(rank) || strlen(rank) > 9 || path == NULL || *path == '\0')
        return;
    lines.rank = rank;
    lines.moment = moment;
    lines.length = 0;
    add_cpu(&lines);
    add_time(&lines);
    add_host(&lines);
    add(&lines, "pid", "%ld", (long)getpid());
    add_allowed(&lines);
    add_memory(&lines);
    add_program(&lines);
    add_switches(&lines);
    add_library(&lines, function);
    append(path, &lines);
    errno = saved;
}

/* Searches every loaded library: one opened with RTLD_LOCAL is not in the global scope. */
static int search_object(struct dl_phdr_info *object, size_t size, void *search) {
    void **found = ((void **)search) + 1;
    (void)size;
    if (object->dlpi_name == NULL || strstr(object->dlpi_name, "libmpi") == NULL)
        return 0;
    void *library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return 0;
    *found = dlsym(library, *(char **)search);
    dlclose(library);
    return *found != NULL;
}

/* The next library's function of this name, so that other interposers still take part. */
static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function != NULL)
        return function;
    void *search[2] = {(void *)(size_t)name, NULL};
    dl_iterate_phdr(search_object, search);
    return search[1];
}

/* A function of the MPI library itself: nobody interposes PMPI_Init. */
static const void *library_function(const void *fallback) {
    const void *function = dlsym(RTLD_DEFAULT, "PMPI_Init");
    return function != NULL ? function : fallback;
}

enum { FAILED = 1 }; /* no MPI library found: any value but MPI_SUCCESS */

#define EXPORT __attribute__((visibility("default")))

EXPORT int MPI_Init(int *argc, char ***argv) {
    int (*function)(int *, char ***);
    *(void **)&function = next("MPI_Init");
    int status = function != NULL ? function(argc, argv) : FAILED;
    if (status == 0)
        record("start", library_function(*(void **)&function));
    return status;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*function)(int *, char ***, int, int *);
    *(void **)&function = next("MPI_Init_thread");
    int status = function != NULL ? function(argc, argv, required, provided) : FAILED;
    if (status == 0)
        record("start", library_function(*(void **)&function));
    return status;
}

EXPORT int MPI_Finalize(void) {
    int (*function)(void);
    *(void **)&function = next("MPI_Finalize");
    if (function == NULL)
        return FAILED;
    record("end", library_function(*(void **)&function));
    return function();
}
