/* How the program was started behind the launcher: its arguments and nice value, and the variables
 * in which it differs from the job script. */
#define _GNU_SOURCE
#include "lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

enum { MAX_NAME = 256, MAX_VARIABLES = 64 };

extern char **environ;

/* What steers MPI libraries and the layers below them, GPUs, the linker and the C library. Of PMIx
 * and Open MPI the settings alone: their launchers also number the ranks by such variables. */
static const char *const prefixes[] = {
    "I_MPI_", "FI_",   "UCX_",     "UCC_",   "HCOLL_", "OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_",
    "MPIR",   "MPICH", "MPIEXEC_", "HYDRA_", "MV2_",   "PSM",       "OMP_",      "KMP_",
    "LD_",    "GLIBC", "MALLOC_",  "CUDA_",  "NCCL_",  "RCCL_",     "ROCR_",     "HIP_"};
static const char *const secrets[] = {"TOKEN", "SECRET", "PASS", "PWD",
                                      "KEY",   "CRED",   "AUTH", "COOKIE"};
/* Recorded by the script but unlike in each rank, recorded as preloaded libraries, or what Hydra
 * tells of the machine. */
static const char *const others[] = {
    "SLURM_", "LSB_", "PATH=", "LD_PRELOAD=", "I_MPI_INFO_", "HYDRA_BSTRAP_"};

static bool begins_with_any(const char *text, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}
#define BEGINS_WITH(text, list) begins_with_any(text, list, sizeof list / sizeof *list)

bool steers(const char *variable) {
    return BEGINS_WITH(variable, prefixes) && !BEGINS_WITH(variable, others);
}

/* The text up to its end or '=', if it fits. */
static bool copy_name(const char *variable, char name[MAX_NAME]) {
    size_t length = strcspn(variable, "=");
    if (variable[length] != '=' || length >= MAX_NAME)
        return false;
    memcpy(name, variable, length);
    name[length] = '\0';
    return true;
}

bool is_secret(const char *name) {
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (strcasestr(name, secrets[i]) != NULL)
            return true;
    return false;
}

/* A whole file of this process or the job; NULL where it cannot be read. Its end is a null byte. */
static char *read_whole(const char *path, size_t *length) {
    char *text = NULL;
    size_t capacity = 0;
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    if (file == NULL)
        return NULL;
    *length = 0;
    do {
        char *larger = realloc(text, capacity += PATH_LENGTH);
        if (larger == NULL)
            break;
        text = larger;
        *length += fread(text + *length, 1, capacity - *length - 1, file);
        text[*length] = '\0';
    } while (*length == capacity - 1);
    fclose(file);
    return text;
}

static char *command_line; /* as before main, which may cut it apart, as OSU's does */
static size_t command_length;

__attribute__((constructor)) static void keep_arguments(void) {
    if (getenv("MPICAMPAIGN_RANK") != NULL)
        command_line = read_whole("/proc/self/cmdline", &command_length);
}

/* Joined by blanks, as the script's own. */
static void add_arguments(struct lines *lines) {
    size_t length = command_length;
    char *text = command_line != NULL ? command_line : read_whole("/proc/self/cmdline", &length);
    command_line = NULL;
    if (text == NULL || length == 0) {
        free(text);
        return;
    }
    size_t first = strlen(text) + 1;
    for (size_t i = first; i + 1 < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    one_line(text + (first < length ? first : length));
    add(lines, "arguments", "%s", first < length ? text + first : "");
    free(text);
}

static void add_nice(struct lines *lines) {
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, 0);
    if (errno == 0)
        add(lines, "nice", "%d", nice);
}

/* A variable that the rank has, with another value than in the script or only there. */
static void add_variable(struct lines *lines, const char *name, const char *value, int *count) {
    char key[MAX_NAME + 8];
    if (++*count > MAX_VARIABLES)
        return;
    snprintf(key, sizeof key, "env.%s", name);
    char *copy = strdup(value);
    if (copy == NULL)
        return;
    one_line(copy);
    add(lines, key, "%s", copy);
    free(copy);
}

static void add_unset(struct lines *lines, const char *name) {
    char key[MAX_NAME + 8];
    snprintf(key, sizeof key, "unset.%s", name);
    add(lines, key, "%s", "");
}

static bool is_alike(const char *value, const char *recorded) {
    for (; *value != '\0'; value++, recorded++)
        if ((iscntrl((unsigned char)*value) ? ' ' : *value) != *recorded)
            return false;
    return *recorded == '\0';
}

/* The variables of the script that have another value here, or none. */
static void compare_recorded(struct lines *lines, char *recorded, int *count) {
    static const char scope[] = "job env.";
    char name[MAX_NAME];
    for (char *rest, *line = strtok_r(recorded, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, scope, sizeof scope - 1) != 0)
            continue;
        char *variable = line + sizeof scope - 1;
        if (BEGINS_WITH(variable, others) || !copy_name(variable, name))
            continue;
        const char *here = value_of(name); /* that nothing asks for */
        if (here != NULL && !is_alike(here, variable + strlen(name) + 1))
            add_variable(lines, name, here, count);
        else if (here == NULL)
            add_unset(lines, name);
    }
}

static bool is_recorded(const char *recorded, const char *name) {
    char line[MAX_NAME + 16];
    snprintf(line, sizeof line, "\njob env.%s=", name);
    return strncmp(recorded, line + 1, strlen(line + 1)) == 0 || strstr(recorded, line) != NULL;
}

static void add_new(struct lines *lines, const char *recorded, int *count) {
    char name[MAX_NAME];
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        if (!steers(*variable) || !copy_name(*variable, name) || is_secret(name))
            continue;
        if (!is_recorded(recorded, name))
            add_variable(lines, name, *variable + strlen(name) + 1, count);
    }
}

/* Only what differs: the script has recorded its own, and a job may have thousands of ranks. */
static void add_variables(struct lines *lines) {
    size_t length = 0;
    int count = 0;
    char *recorded = read_whole(getenv("MPICAMPAIGN_ENVIRONMENT"), &length);
    if (recorded == NULL)
        return;
    add_new(lines, recorded, &count);
    compare_recorded(lines, recorded, &count);
    add(lines, "variables", "%d", count);
    free(recorded);
}

void add_launch(struct lines *lines) {
    add_arguments(lines);
    add_nice(lines);
    add_variables(lines);
    add_preloads(lines);
}
