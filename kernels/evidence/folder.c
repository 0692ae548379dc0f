/* Any command, as it is: no job script has numbered its ranks, so the launcher's variables do.
 *
 *   MPICAMPAIGN_EVIDENCE_FOLDER   where each rank writes PROGRAM/RANK.TIME.HOST.PID; without
 *                                 MPI_Init PROGRAM/RANK.TIME.HOST.PID.none, or the file command
 *   MPICAMPAIGN_EVIDENCE_PROGRAM  PROGRAM: all ranks of one launch have it from their launcher
 *   MPICAMPAIGN_EVIDENCE_PROCESS  "RANK:PID": the process that a rank began as, or ":PID" of the
 *                                 command itself; what it starts is not the rank
 *
 * The rest of the library finds the variables that a job script would set. They are set before
 * main, where there are no threads yet.
 */
#define _GNU_SOURCE
#include "folder.h"
#include "early_libc.h"
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COUNT(list) (sizeof list / sizeof *list)

#define FOLDER "MPICAMPAIGN_EVIDENCE_FOLDER"
#define FILE_NAME "MPICAMPAIGN_EVIDENCE_FILE"
#define PROGRAM "MPICAMPAIGN_EVIDENCE_PROGRAM"
#define PROCESS "MPICAMPAIGN_EVIDENCE_PROCESS"

/* Those of launchers first: inside a job step of one task their ranks see the step's number, too.
 */
static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                    "MPI_RANKID", "PMIX_RANK"};
static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
static const char *const local_ranks[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "MV2_COMM_WORLD_LOCAL_RANK"};
static const char *const local_sizes[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                          "MV2_COMM_WORLD_LOCAL_SIZE"};
static const char *const launchers[] = {
    "mpirun",          "mpiexec",      "mpiexec.hydra", "mpirun_rsh",
    "orterun",         "prterun",      "prun",          "srun",
    "jsrun",           "aprun",        "palsrun",       "mpirun.openmpi",
    "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich"};
/* What launchers start on each host, by srun as tasks of a step: no ranks. */
static const char *const daemons[] = {"orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy"};

/* The C library's own functions: a shell has others of these names, for its variables. */
static void put(const char *name, const char *value) {
    int (*set)(const char *, const char *, int), (*unset)(const char *);
    *(void **)&set = dlsym(RTLD_NEXT, "setenv");
    *(void **)&unset = dlsym(RTLD_NEXT, "unsetenv");
    if (value != NULL && set != NULL)
        set(name, value, 1);
    else if (unset != NULL)
        unset(name);
}

bool is_number(const char *text) {
    return text != NULL && *text != '\0' && strlen(text) < 10 &&
           text[strspn(text, "0123456789")] == '\0';
}

static const char *first_number(const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is_number(getenv(names[i])))
            return getenv(names[i]);
    return NULL;
}

/* A batch script and a login to a job also have SLURM_PROCID, but no step with a number of its own;
 * the special steps count down from 2^32. */
static const char *of_step(const char *name) {
    const char *step = getenv("SLURM_STEP_ID");
    return is_number(step) && is_number(getenv(name)) ? getenv(name) : NULL;
}

static const char *launched_as(const char *const *names, size_t count, const char *of_slurm) {
    const char *number = first_number(names, count);
    return number != NULL ? number : of_step(of_slurm);
}

/* Slurm's tasks of this node: "2(x3),1" by the number of the node. */
static int tasks_of_node(void) {
    const char *text = getenv("SLURM_STEP_TASKS_PER_NODE"), *node = of_step("SLURM_NODEID");
    long left = node != NULL ? strtol(node, NULL, 10) : -1;
    for (char *end; text != NULL && left >= 0; text = end + 1) {
        long tasks = strtol(text, &end, 10), times = 1;
        if (end == text)
            return 0;
        if (strncmp(end, "(x", 2) == 0)
            times = strtol(end + 2, &end, 10);
        if (left < times)
            return (int)tasks;
        left -= times;
        end += *end == ')';
        if (*end != ',')
            return 0;
    }
    return 0;
}

static void set_local(void) {
    const char *rank = first_number(local_ranks, COUNT(local_ranks));
    const char *size = first_number(local_sizes, COUNT(local_sizes));
    char tasks[16];
    snprintf(tasks, sizeof tasks, "%d", tasks_of_node());
    if (rank == NULL || size == NULL) {
        rank = of_step("SLURM_LOCALID");
        size = tasks;
    }
    put("MPICAMPAIGN_LOCAL_RANK", NULL);
    put("MPICAMPAIGN_LOCAL_RANKS", NULL);
    if (rank == NULL)
        return;
    put("MPICAMPAIGN_LOCAL_RANK", rank);
    put("MPICAMPAIGN_LOCAL_RANKS", size);
}

static bool is_any_of(const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(program_invocation_short_name, names[i]) == 0)
            return true;
    return false;
}

enum { NAME_LENGTH = 128 };

/* TIME.HOST.PID: later ones are greater. */
static void name_process(char name[static NAME_LENGTH]) {
    struct timespec now = {0};
    char host[65] = "";
    clock_gettime(CLOCK_REALTIME, &now);
    gethostname(host, sizeof host - 1);
    snprintf(name, NAME_LENGTH, "%lld%09ld.%s.%ld", (long long)now.tv_sec, now.tv_nsec, host,
             (long)getpid());
}

/* Open MPI passes on to other hosts what a list names; Hydra and srun pass on all. Version 4
 * refuses that list beside -x. It has an inner one, which it refuses beside the other. */
static void pass_on(const char *launcher, char **arguments) {
    static const char *const passed[] = {
        "LD_PRELOAD",       FOLDER, PROGRAM, "MPICAMPAIGN_ENVIRONMENT", "MPICAMPAIGN_CHECKSUMS",
        "MPICAMPAIGN_SYSFS"};
    const char *list = "OMPI_MCA_mca_base_env_list";
    char names[TEXT_LENGTH / 16];
    if (strcmp(launcher, "orterun") != 0 && strcmp(launcher, "prterun") != 0)
        return;
    for (char **each = arguments; each != NULL && *each != NULL; each++)
        if (strcmp(*each, "mca_base_env_list") == 0)
            return;
    if (strcmp(launcher, "orterun") == 0 && getenv(list) == NULL)
        list = "OMPI_MCA_mca_base_env_list_internal";
    const char *given = getenv(list);
    int length = snprintf(names, sizeof names, "%s", given != NULL ? given : "");
    for (size_t i = 0; i < COUNT(passed) && length < (int)sizeof names; i++)
        if (getenv(passed[i]) != NULL)
            length += snprintf(names + length, sizeof names - (size_t)length, "%s%s",
                               length > 0 ? ";" : "", passed[i]);
    if (length < (int)sizeof names)
        put(list, names);
}

/* Behind its first word, if all fit into the line. */
static void add_words(struct lines *lines, const char *key, char **words) {
    size_t start = lines->length, room = TEXT_LENGTH - start;
    size_t length = (size_t)snprintf(lines->text + start, room, "%s", key);
    for (int i = 1; words[0] != NULL && words[i] != NULL && length < room; i++)
        length += (size_t)snprintf(lines->text + start + length, room - length, "%s%s",
                                   i > 1 ? " " : "", words[i]);
    if (length + 1 >= room)
        return;
    one_line(lines->text + start);
    lines->text[start + length] = '\n';
    lines->length = start + length + 1;
}

/* Ranks learn from their launcher which program is theirs; another launcher that it calls to reach
 * other hosts leaves that alone. */
static void begin_program(const char *folder, char **arguments) {
    char name[NAME_LENGTH], path[PATH_LENGTH], file[PATH_LENGTH];
    static struct lines launcher;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (getenv(PROGRAM) == NULL) {
        name_process(name);
        put(PROGRAM, name);
        launcher.length = (size_t)snprintf(launcher.text, TEXT_LENGTH, "job launcher=%s\n", path);
        add_words(&launcher, "job launcher_arguments=", arguments);
        if (snprintf(file, sizeof file, "%s/%s/launcher", folder, name) < PATH_LENGTH)
            append(file, &launcher);
    }
    pass_on(basename(path), arguments);
}

static bool begins_with(const char *text, const char *start) {
    return text != NULL && strncmp(text, start, strlen(start)) == 0;
}

/* Whether this process is what the launcher started, or the command itself, whatever it becomes by
 * exec. */
static bool is_first_process(const char *rank) {
    char start[16], own[32];
    const char *found = getenv(PROCESS);
    snprintf(start, sizeof start, "%s:", rank != NULL ? rank : "");
    snprintf(own, sizeof own, "%s%ld", start, (long)getpid());
    if (rank != NULL && !begins_with(found, start))
        put(PROCESS, own);
    found = getenv(PROCESS);
    return found != NULL && strcmp(found, own) == 0;
}

/* A program without a launcher is rank 0 of one. */
static bool take_place(const char *folder, const char *rank) {
    char name[NAME_LENGTH], file[PATH_LENGTH];
    const char *program = getenv(PROGRAM);
    name_process(name);
    if (rank == NULL) {
        rank = "0";
        program = name;
    }
    if (snprintf(file, sizeof file, "%s/%s/%s.%s", folder, program != NULL ? program : "unknown",
                 rank, name) >= PATH_LENGTH)
        return false;
    put(FILE_NAME, file);
    put("MPICAMPAIGN_RANK", rank);
    set_local();
    return true;
}

bool begin_in_folder(char **arguments) {
    const char *folder = getenv(FOLDER), *file = getenv(FILE_NAME);
    const char *rank = launched_as(ranks, COUNT(ranks), "SLURM_PROCID");
    if (folder == NULL || *folder != '/' || (file != NULL && !begins_with(file, folder)))
        return false; /* or a job script of its own keeps its evidence elsewhere */
    if (is_any_of(daemons, COUNT(daemons)))
        return false;
    if (is_any_of(launchers, COUNT(launchers))) {
        begin_program(folder, arguments);
        return false;
    }
    return take_place(folder, rank) && is_first_process(rank);
}

bool path_without_mpi(char path[PATH_LENGTH]) {
    const char *folder = getenv(FOLDER), *file = getenv(FILE_NAME);
    int length = begins_with(getenv(PROCESS), ":")
                     ? snprintf(path, PATH_LENGTH, "%s/command", folder)
                     : snprintf(path, PATH_LENGTH, "%s.none", file);
    return length < PATH_LENGTH;
}

/* In a run of a job script the folder is gone once the run has ended, and stays so. */
bool make_folder_of(const char *path) {
    char folder[PATH_LENGTH];
    const char *end = strrchr(path, '/');
    if (getenv(FOLDER) == NULL || !begins_with(path, getenv(FOLDER)) || end - path >= PATH_LENGTH)
        return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
    return mkdir(folder, 0755) == 0 || errno == EEXIST;
}

void add_size(struct lines *lines) {
    const char *size = launched_as(sizes, COUNT(sizes), "SLURM_STEP_NUM_TASKS");
    if (getenv(FOLDER) != NULL && size != NULL)
        add(lines, "ranks", "%s", size);
}

/* MPICH and the libraries with its ABI all have this handle, in a library of one of these names. */
static void *mpich_world(const void *comm_size) {
    const char *file = file_of(comm_size);
    bool is_one = file != NULL && (strstr(file, "/libmpi.so.12") || strstr(file, "/libmpich.so"));
    return is_one ? (void *)(size_t)0x44000000 : NULL;
}

void add_world(struct lines *lines, const void *comm_size, void *world) {
    int (*function)(void *, int *), size = 0;
    *(const void **)&function = comm_size;
    if (getenv(FOLDER) == NULL || function == NULL)
        return;
    world = world != NULL ? world : mpich_world(comm_size);
    if (world != NULL && function(world, &size) == 0)
        add(lines, "world", "%d", size);
}
