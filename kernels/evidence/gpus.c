/* The GPU that a rank uses, and the libraries through which it does. Only libraries that are mapped
 * are asked, by functions of their documented interfaces that start nothing: the CUDA driver tells
 * the device of the calling thread's context, NCCL its version. HIP, which may start itself when it
 * is asked, is asked at the end alone. */
#define _GNU_SOURCE
#include "early_libc.h"
#include "lines.h"

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(PATH_LENGTH >= PATH_MAX, "realpath writes up to PATH_MAX bytes");

enum { CUDA, HIP, NCCL, RCCL, KINDS, UUID_BYTES = 16, ADDRESS_LENGTH = 32 };
static const char *const names[KINDS] = {"/libcuda.so", "/libamdhip64.so", "/libnccl.so",
                                         "/librccl.so"};

struct libraries {
    void *handles[KINDS];
    char files[PATH_LENGTH];
};

static int find_library(struct dl_phdr_info *object, size_t size, void *data) {
    struct libraries *found = data;
    char path[PATH_LENGTH];
    (void)size;
    for (int kind = 0; object->dlpi_name != NULL && kind < KINDS; kind++) {
        if (strstr(object->dlpi_name, names[kind]) == NULL || found->handles[kind] != NULL)
            continue;
        found->handles[kind] = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        /* Behind the usual link the file's name has the version. */
        const char *file = realpath(object->dlpi_name, path) != NULL ? path : object->dlpi_name;
        size_t length = strlen(found->files);
        snprintf(found->files + length, sizeof found->files - length, "%s%s", length > 0 ? " " : "",
                 file);
    }
    return 0;
}

static void *function_of(void *library, const char *name) {
    return library != NULL ? dlsym(library, name) : NULL;
}

static void add_address(struct lines *lines, void *library, const char *name, int device) {
    char address[ADDRESS_LENGTH] = "";
    int (*function)(char *, int, int);
    *(void **)&function = function_of(library, name);
    if (function != NULL && function(address, sizeof address, device) == 0)
        add(lines, "gpu", "%.*s", ADDRESS_LENGTH - 1, address);
}

static void add_uuid(struct lines *lines, void *library, int device) {
    unsigned char uuid[UUID_BYTES] = {0};
    char text[2 * UUID_BYTES + 5] = "";
    int (*function)(unsigned char *, int);
    *(void **)&function = function_of(library, "cuDeviceGetUuid");
    if (function == NULL || function(uuid, device) != 0)
        return;
    for (int i = 0, at = 0; i < UUID_BYTES; i++)
        at +=
            sprintf(text + at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    add(lines, "gpu_uuid", "GPU-%s", text);
}

/* What a function writes: the device in use, a version; -1 where there is none. */
static int number_of(void *library, const char *name) {
    int number = -1, (*function)(int *);
    *(void **)&function = function_of(library, name);
    return function != NULL && function(&number) == 0 ? number : -1;
}

static void add_libraries(struct lines *lines, const struct libraries *found) {
    void *const *handles = found->handles;
    int version =
        number_of(handles[NCCL] != NULL ? handles[NCCL] : handles[RCCL], "ncclGetVersion");
    if (version >= 0)
        add(lines, "nccl_version", "%d", version);
    if (found->files[0] != '\0')
        add(lines, "gpu_libraries", "%s", found->files);
}

void add_gpus(struct lines *lines, bool at_end) {
    struct libraries found = {0};
    dl_iterate_phdr(find_library, &found);
    void *cuda = found.handles[CUDA], *hip = at_end ? found.handles[HIP] : NULL;
    int device = number_of(cuda, "cuCtxGetDevice");
    if (device >= 0) {
        add_address(lines, cuda, "cuDeviceGetPCIBusId", device);
        add_uuid(lines, cuda, device);
    } else if ((device = number_of(hip, "hipGetDevice")) >= 0) {
        add_address(lines, hip, "hipDeviceGetPCIBusId", device);
    }
    if (at_end)
        add_libraries(lines, &found);
    for (int kind = 0; kind < KINDS; kind++)
        if (found.handles[kind] != NULL)
            dlclose(found.handles[kind]);
}
