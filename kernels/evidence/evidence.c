/* evidence.so: a rank's facts about itself right after MPI_Init and right before MPI_Finalize.
 *
 * Loaded by LD_PRELOAD into any MPI program. It needs no MPI headers and no MPI library of its own:
 * the functions that it wraps take no MPI handles, so their prototypes are the same everywhere.
 *
 *   MPICAMPAIGN_RANK           the rank, digits only; otherwise nothing is written
 *   MPICAMPAIGN_EVIDENCE_FILE  where lines are appended: "rank R start.KEY=VALUE", then
 *                              "rank R end.KEY=VALUE"
 *   MPICAMPAIGN_LOCAL_RANK     the rank on its node; number 0 computes checksums
 *   MPICAMPAIGN_ENVIRONMENT    the file with the variables of the job script
 *   MPICAMPAIGN_CHECKSUMS      a folder that keeps checksums for the next run
 *   MPICAMPAIGN_SYSFS          replaces /sys, for tests
 *
 * Without a job script MPICAMPAIGN_EVIDENCE_FOLDER is set instead (folder.c), and ranks that never
 * call MPI_Init leave lines, too, when they end.
 *
 * It must do no harm: it writes nothing to stdout or stderr, preserves errno, and omits values
 * that it cannot read. LD_PRELOAD stays set, since a script may start the program: launchers,
 * shells and their tools load this library, too, and leave no lines.
 */
#define _GNU_SOURCE
#include "between_parts.h"
#include "early_libc.h"
#include "folder.h"
#include "lines.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The offset is that of the program's own local time. */
static void add_time(struct lines *lines) {
    struct timespec now;
    struct tm utc, local;
    char text[32];
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || gmtime_r(&now.tv_sec, &utc) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        return;
    add(lines, "time", "%s.%03ldZ", text, now.tv_nsec / 1000000);
    if (localtime_r(&now.tv_sec, &local) != NULL)
        add(lines, "utc_offset", "%ld", local.tm_gmtoff);
}

/* The name of the host, which a namespace may replace, and the boot of its kernel, which none does.
 */
static void add_host(struct lines *lines) {
    char host[256] = "", boot[64];
    if (gethostname(host, sizeof host - 1) == 0)
        add(lines, "host", "%s", host);
    if (read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot))
        add(lines, "boot_id", "%s", boot);
}

/* Looks in every loaded library: one that a program opened privately is not in the global order. */
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

/* The next library's function of this name, so that other tools that interpose still take part. */
static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function != NULL)
        return function;
    void *search[2] = {(void *)(size_t)name, NULL};
    dl_iterate_phdr(search_object, search);
    return search[1];
}

/* As the program finds it: data of a library may be copied into the program. */
static void *found(const char *name) {
    void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol != NULL ? symbol : next(name);
}

static double (*wtime(void))(void) {
    double (*function)(void);
    *(void **)&function = found("MPI_Wtime");
    return function;
}

/* PMPI functions are interposed by nobody: they are in the MPI library itself. */
static struct mpi library(const void *fallback) {
    struct mpi mpi = {next("PMPI_Init"), next("PMPI_Get_library_version")};
    if (mpi.init == NULL)
        mpi.init = fallback;
    return mpi;
}

static atomic_long recording; /* between MPI_Init and MPI_Finalize the rank's process, else 0 */
static struct lines lines;    /* MPI allows one Init and one Finalize, each by one thread */
static struct lines between;  /* of the moments within the run, kept until its end */

/* Sockets that a child closes are not traffic of the rank; a child by vfork even shares its memory.
 */
static bool is_recording(void) { return recording != 0 && recording == getpid(); }

/* False where nothing is to be recorded, or was: a library may call its own Init_thread from Init.
 */
static int begin(const char *moment) {
    const char *rank = getenv("MPICAMPAIGN_RANK"), *path = getenv("MPICAMPAIGN_EVIDENCE_FILE");
    if (lines.moment != NULL && strcmp(lines.moment, moment) == 0)
        return 0;
    if (!is_number(rank) || path == NULL || *path == '\0')
        return 0;
    lines.rank = rank;
    lines.moment = moment;
    lines.length = 0;
    return 1;
}

static void add_moment(const struct mpi *mpi) {
    add_place(&lines);
    add_status(&lines);
    add_time(&lines);
    add_host(&lines);
    add(&lines, "pid", "%ld", (long)getpid());
    add_program(&lines, mpi);
}

/* Before MPI_Init, in which a library may set variables of its own. */
static void record_launch(void) {
    int saved = errno;
    if (begin("start")) {
        add_size(&lines);
        add_launch(&lines);
        note_init();
    }
    errno = saved;
}

/* Whether the start is to be recorded, and was not. */
static bool has_started(void) {
    return recording == 0 && lines.moment != NULL && strcmp(lines.moment, "start") == 0;
}

/* The use of CPU time is read last at the start and first at the end: what is read beside it is no
 * part of the run. */
static void record_start(const void *init) {
    int saved = errno;
    if (has_started()) {
        add_startup(&lines);
        struct mpi mpi = library(init);
        add_moment(&mpi);
        add_gpus(&lines, false);
        add_world(&lines, next("PMPI_Comm_size"), found("ompi_mpi_comm_world"));
        add_state(&lines);
        watch_stops();
        add_quotas(&lines);
        add_clocks(&lines, wtime());
        add_usage(&lines);
        append(getenv("MPICAMPAIGN_EVIDENCE_FILE"), &lines);
        recording = getpid();
    }
    errno = saved;
}

static void record_end(const void *init) {
    int saved = errno;
    if (is_recording() && begin("end")) {
        struct mpi mpi = library(init);
        add_usage(&lines);
        add_clocks(&lines, wtime());
        add_quotas(&lines);
        add_stops(&lines);
        recording = 0;
        add_sockets(&lines);
        add_state(&lines);
        add_moment(&mpi);
        add_blas(&lines);
        add_gpus(&lines, true);
        add_checksums(&lines, &mpi);
        add_settings_files(&lines, &mpi);
        add_neighbours(&lines);
        append(getenv("MPICAMPAIGN_EVIDENCE_FILE"), &between);
        append(getenv("MPICAMPAIGN_EVIDENCE_FILE"), &lines);
    }
    errno = saved;
}

/* A call of the bundled kernels, which other programs may make, too. */
static void record_between_parts(void) {
    int saved = errno;
    if (is_recording()) {
        between.rank = lines.rank;
        add_state_between_parts(&between);
    }
    errno = saved;
}

static struct lines first; /* the start of what may never call MPI_Init */
static pid_t first_process;

__attribute__((constructor)) static void begin_without_mpi(int count, char **arguments) {
    const struct mpi none = {0};
    int saved = errno;
    (void)count;
    if (dlsym != NULL && begin_in_folder(arguments) && begin("start")) {
        add(&lines, "mpi", "none");
        add_size(&lines);
        add_launch(&lines);
        add_moment(&none);
        add_quotas(&lines);
        add_clocks(&lines, NULL);
        add_usage(&lines);
        first = lines;
        first_process = getpid();
    }
    lines.moment = NULL;
    errno = saved;
}

/* A child that did not exec has this library's memory, too. */
__attribute__((destructor)) static void end_without_mpi(void) {
    const struct mpi none = {0};
    char path[PATH_LENGTH];
    if (first_process != getpid() || lines.moment != NULL || !begin("end") ||
        !path_without_mpi(path))
        return;
    add_usage(&lines);
    add_clocks(&lines, NULL);
    add_quotas(&lines);
    add_moment(&none);
    add_neighbours(&lines);
    append(path, &first);
    append(path, &lines);
}

enum { FAILED = 1 }; /* no MPI library has been found: any value but MPI_SUCCESS */

#define EXPORT __attribute__((visibility("default")))

EXPORT int MPI_Init(int *argc, char ***argv) {
    int (*function)(int *, char ***);
    *(void **)&function = next("MPI_Init");
    record_launch();
    int status = function != NULL ? function(argc, argv) : FAILED;
    if (status == 0)
        record_start(*(void **)&function);
    return status;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*function)(int *, char ***, int, int *);
    *(void **)&function = next("MPI_Init_thread");
    record_launch();
    int status = function != NULL ? function(argc, argv, required, provided) : FAILED;
    if (status == 0)
        record_start(*(void **)&function);
    return status;
}

EXPORT int MPI_Finalize(void) {
    int (*function)(void);
    *(void **)&function = next("MPI_Finalize");
    if (function == NULL)
        return FAILED;
    record_end(*(void **)&function);
    return function();
}

EXPORT int MPI_Pcontrol(const int level, ...) {
    int (*function)(int, ...);
    *(void **)&function = next("MPI_Pcontrol");
    if (level == BETWEEN_PARTS)
        record_between_parts();
    return function != NULL ? function(level) : 0;
}

/* Fortran programs: Open MPI's Fortran libraries, and mpi_f08 of MPICH and Intel MPI, call
 * PMPI_Init itself. Where they call MPI_Init instead, each moment is still recorded once. Status
 * may be NULL in mpi_f08, where the argument is optional. */
static void leave(int *status, int found) {
    if (status != NULL)
        *status = found;
}

/* `required`: NULL for MPI_Init. */
static void fortran_init(const char *name, int *required, int *provided, int *status) {
    void (*init)(int *), (*init_thread)(int *, int *, int *);
    int found = FAILED;
    *(void **)&init = *(void **)&init_thread = next(name);
    record_launch();
    if (init != NULL && required != NULL)
        init_thread(required, provided, &found);
    else if (init != NULL)
        init(&found);
    leave(status, found);
    if (found == 0)
        record_start(*(void **)&init);
}

static void fortran_finalize(const char *name, int *status) {
    void (*function)(int *);
    int found = FAILED;
    *(void **)&function = next(name);
    if (function != NULL) {
        record_end(*(void **)&function);
        function(&found);
    }
    leave(status, found);
}

EXPORT void mpi_init_(int *status) { fortran_init("mpi_init_", NULL, NULL, status); }
EXPORT void mpi_init_f08_(int *status) { fortran_init("mpi_init_f08_", NULL, NULL, status); }
EXPORT void mpi_init_thread_(int *required, int *provided, int *status) {
    fortran_init("mpi_init_thread_", required, provided, status);
}
EXPORT void mpi_init_thread_f08_(int *required, int *provided, int *status) {
    fortran_init("mpi_init_thread_f08_", required, provided, status);
}
EXPORT void mpi_finalize_(int *status) { fortran_finalize("mpi_finalize_", status); }
EXPORT void mpi_finalize_f08_(int *status) { fortran_finalize("mpi_finalize_f08_", status); }

static int (*next_close)(int);

/* Early, since close may be called where dlsym must not be: in a signal handler. */
__attribute__((constructor)) static void find_close(void) {
    if (dlsym != NULL)
        *(void **)&next_close = dlsym(RTLD_NEXT, "close");
}

/* What a connection has carried is known only until it is closed. */
EXPORT int close(int descriptor) {
    if (next_close == NULL)
        find_close();
    if (is_recording()) {
        int saved = errno;
        before_close(descriptor);
        errno = saved;
    }
    return next_close != NULL ? next_close(descriptor) : (int)syscall(SYS_close, descriptor);
}
