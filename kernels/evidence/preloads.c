/* Libraries that were mapped before the program's own, which did not ask for them: LD_PRELOAD,
 * /etc/ld.so.preload, the linker's --preload. The folder does not tell: a preloaded library may lie
 * beside those of the system. */
#define _GNU_SOURCE
#include "early_libc.h"
#include "lines.h"

#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OBJECTS = 1024, MAX_PRELOADS = 16 };

/* What a preloaded library may not define: clocks, and functions of MPI that measure or send. */
static const char *const measured_by[] = {
    "clock_gettime", "gettimeofday", "time",         "MPI_Wtime",    "MPI_Wtick",   "MPI_Send",
    "MPI_Isend",     "MPI_Ssend",    "MPI_Recv",     "MPI_Irecv",    "MPI_Wait",    "MPI_Waitall",
    "MPI_Waitany",   "MPI_Test",     "MPI_Sendrecv", "MPI_Put",      "MPI_Get",     "MPI_Barrier",
    "MPI_Bcast",     "MPI_Reduce",   "MPI_Gather",   "MPI_Gatherv",  "MPI_Scatter", "MPI_Allreduce",
    "MPI_Allgather", "MPI_Alltoall", "MPI_Startall", "MPI_Win_fence"};

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The string table of a mapped object; some machines keep its address relative. */
static const char *strings_of(const struct link_map *object) {
    for (const ElfW(Dyn) *entry = object->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            return (const char *)(entry->d_un.d_ptr < object->l_addr
                                      ? entry->d_un.d_ptr + object->l_addr
                                      : entry->d_un.d_ptr);
    return NULL;
}

static bool is_called(const struct link_map *object, const char *name) {
    const char *strings = strings_of(object);
    if (strcmp(base_name(object->l_name), base_name(name)) == 0)
        return true;
    for (const ElfW(Dyn) *entry = object->l_ld; strings != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME)
            return strcmp(strings + entry->d_un.d_val, name) == 0;
    return false;
}

/* The mapped objects in the linker's order: the program, those preloaded, then those needed. */
struct objects {
    struct link_map *list[MAX_OBJECTS];
    bool asked[MAX_OBJECTS]; /* needed by the program or this library, directly or not */
    int count;
    int last_needed; /* the last one that the program itself names */
};

static void ask(struct objects *all, int asker) {
    const struct link_map *object = all->list[asker];
    const char *strings = strings_of(object);
    for (const ElfW(Dyn) *entry = object->l_ld; strings != NULL && entry->d_tag != DT_NULL; entry++)
        for (int i = 1; entry->d_tag == DT_NEEDED && i < all->count; i++)
            if (is_called(all->list[i], strings + entry->d_un.d_val)) {
                if (asker == 0 && i > all->last_needed)
                    all->last_needed = i;
                if (!all->asked[i]) {
                    all->asked[i] = true;
                    ask(all, i);
                }
                break;
            }
}

static void list_objects(struct objects *all) {
    Dl_info self;
    const void *here = dladdr((const void *)measured_by, &self) != 0 ? self.dli_fbase : NULL;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    int own = 0;
    memset(all, 0, sizeof *all);
    for (struct link_map *each = program; each != NULL && all->count < MAX_OBJECTS;
         each = each->l_next) {
        if (here != NULL && each->l_addr == (ElfW(Addr))here)
            own = all->count;
        all->list[all->count++] = each;
    }
    if (all->count == 0)
        return;
    ask(all, 0);
    all->asked[own] = true;
    ask(all, own);
    if (program != NULL)
        dlclose(program);
}

/* Whether the object itself, not one that it needs, defines a function. */
static bool defines(const struct link_map *object, void *handle, const char *name) {
    Dl_info found;
    void *function = handle != NULL ? dlsym(handle, name) : NULL;
    return function != NULL && dladdr(function, &found) != 0 &&
           found.dli_fbase == (void *)object->l_addr;
}

/* "PATH", and the functions of the clock or of MPI that it defines. */
static void add_preload(struct lines *lines, int number, const struct link_map *object) {
    char key[48], functions[512] = "";
    size_t length = 0;
    void *handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof measured_by / sizeof *measured_by; i++)
        if (defines(object, handle, measured_by[i]))
            length += (size_t)snprintf(functions + length, sizeof functions - length, "%s%s",
                                       length > 0 ? " " : "", measured_by[i]);
    snprintf(key, sizeof key, "preload.%d", number);
    add(lines, key, "%s", object->l_name);
    snprintf(key, sizeof key, "preload_build_id.%d", number);
    add_build_id(lines, key, object->l_ld);
    snprintf(key, sizeof key, "preload_defines.%d", number);
    if (length > 0)
        add(lines, key, "%s", functions);
    if (handle != NULL)
        dlclose(handle);
}

/* The kernel's own object (vdso) is no file. */
static bool is_file(const struct link_map *object) { return strchr(object->l_name, '/') != NULL; }

void add_preloads(struct lines *lines) {
    static struct objects all;
    int count = 0;
    list_objects(&all);
    for (int i = 1; i < all.last_needed && count < MAX_PRELOADS; i++)
        if (!all.asked[i] && is_file(all.list[i]))
            add_preload(lines, count++, all.list[i]);
    add(lines, "preloads", "%d", count);
}
