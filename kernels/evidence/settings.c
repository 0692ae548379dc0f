/* The files by which users and sites steer an MPI library and the layers below it. The paths are
 * those that the libraries ask for, whatever release and prefix they are of: open and fopen of all
 * libraries come by here. Launchers are other processes: of these the places are known.
 *
 *   Open MPI 4.1 and 5.0 (opal/mca/base/mca_base_var.c), PMIx 5 (src/mca/base/pmix_mca_base_var.c),
 *   PRRTE 3 (src/runtime/prte_init.c), UCX 1.18 (src/ucs/config/parser.c), libfabric 2
 *   (src/var.c; prov/psm3: /etc/psm3.conf), MPICH 5 (--with-configfile, csel.c; Hydra:
 *   mpiexec/get_parameters.c), Intel MPI 2021 (as seen) */
#define _GNU_SOURCE
#include "early_libc.h"
#include "lines.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { MAX_NOTED = 128, MAX_PATH = 512, MAX_LINES = 64, MAX_LINE = 256 };

extern char **environ;

/* Texts that are noted once, as far as there is room; also within a signal handler. */
struct noted {
    atomic_int count;
    char texts[MAX_NOTED][MAX_PATH];
};

static struct noted opened, asked; /* files; variables that were asked for and are set */
static const void *readers[MAX_NOTED];
static int files; /* that were recorded */

static const char *const endings[] = {".conf", ".ini", ".json", ".dat"};
static const char *const elsewhere[] = {"/proc/", "/sys/", "/dev/"};

static bool ends_like_settings(const char *path) {
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* Whether a variable that steers a library names the file, which then may have any name. */
static bool is_named(const char *path) {
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        const char *at = steers(*variable) ? strstr(*variable, path) : NULL;
        if (at > *variable && strchr("=,:", at[-1]) != NULL &&
            strchr(",:", at[strlen(path)]) != NULL)
            return true;
    }
    return false;
}

static bool is_noted(const struct noted *noted, const char *text) {
    for (int i = 0; i < noted->count && i < MAX_NOTED; i++)
        if (strcmp(noted->texts[i], text) == 0)
            return true;
    return false;
}

/* The place of a new text that fits; -1 of another. */
static int place_of(struct noted *noted, const char *text) {
    if (strlen(text) >= MAX_PATH || is_noted(noted, text))
        return -1;
    int place = atomic_fetch_add(&noted->count, 1);
    if (place >= MAX_NOTED)
        return -1;
    strcpy(noted->texts[place], text);
    return place;
}

static void note(const char *path, const void *reader) {
    if (path == NULL) /* an error that the next function reports */
        return;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strncmp(path, elsewhere[i], strlen(elsewhere[i])) == 0)
            return;
    if (!ends_like_settings(path) && !is_named(path))
        return;
    int place = place_of(&opened, path);
    if (place >= 0)
        readers[place] = reader;
}

/* How many characters of a path name the user's home; 0 elsewhere. Where HOME is / nothing is. */
static size_t home_of(const char *path) {
    const char *home = getenv("HOME");
    size_t length = home != NULL ? strlen(home) : 0;
    while (length > 0 && home[length - 1] == '/')
        length--;
    return length > 0 && strncmp(path, home, length) == 0 && path[length] == '/' ? length : 0;
}

/* How many characters of a library's path name its prefix: before the last folder lib or lib64. */
static size_t prefix_of(const char *library) {
    const char *folder = NULL;
    for (const char *at = library; (at = strstr(at, "/lib")) != NULL; at++)
        if (strchr(at + 1, '/') != NULL)
            folder = at;
    return folder != NULL ? (size_t)(folder - library) : 0;
}

/* The user's are below the home, but not with the library below it, and where the program starts.
 */
static bool is_users(const char *path, const char *library) {
    size_t prefix = prefix_of(library);
    bool beside = prefix > home_of(path) && strncmp(path, library, prefix) == 0;
    return *path != '/' || (home_of(path) > 0 && !beside);
}

/* A setting without blanks at its ends; NULL for a comment, a section and an empty line. */
static char *setting(char *line) {
    while (isspace((unsigned char)*line))
        line++;
    char *end = line + strlen(line);
    while (end > line && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return *line == '\0' || *line == '#' || *line == ';' ? NULL : line;
}

/* Lines with their numbers, as far as there are few, and how many there are in all. */
static void add_settings(struct lines *lines, const char *name, FILE *file) {
    char key[64], text[MAX_LINE];
    int found = 0;
    for (int at = 1; fgets(text, sizeof text, file) != NULL; at++) {
        char *line = setting(text);
        snprintf(key, sizeof key, "%s.line.%d", name, at);
        if (line != NULL && found++ < MAX_LINES)
            add(lines, key, "%s", is_secret(line) ? "(may be a secret)" : line);
    }
    snprintf(key, sizeof key, "%s.count", name);
    add(lines, key, "%d", found);
}

/* `library`: that it belongs to. */
static void add_file(struct lines *lines, const char *path, const char *reader,
                     const char *library) {
    char name[32], key[64];
    size_t home = home_of(path);
    struct stat status;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (file_status(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
        fclose(file);
        return;
    }
    snprintf(name, sizeof name, "settings.%d", files++);
    snprintf(key, sizeof key, "%s.%s", name, is_users(path, library) ? "user" : "site");
    add(lines, key, "%s%s", home > 0 ? "~" : "", path + home);
    snprintf(key, sizeof key, "%s.reader", name);
    add(lines, key, "%s", strrchr(reader, '/') != NULL ? strrchr(reader, '/') + 1 : reader);
    snprintf(key, sizeof key, "%s.content", name);
    add_checksum(lines, key, path);
    if (strstr(path, ".dat") == NULL && strstr(path, ".json") == NULL)
        add_settings(lines, name, file);
    fclose(file);
}

/* The file of the library that opened it; NULL for the program, whose files are its input, unless
 * the library is linked into it. */
static const char *reader_of(const void *reader, const char *path) {
    const char *file = file_of(reader), *program = file_of((const void *)getauxval(AT_ENTRY));
    return file == program && strstr(path, ".conf") == NULL ? NULL : file;
}

/* What each launcher reads, by a variable that it gives to ranks. ^ is the folder of the MPI
 * library's prefix. */
static const struct {
    const char *variable, *launcher, *path;
} of_launchers[] = {
    {"PRTE_LAUNCHED", "prterun", "~/.openmpi/mca-params.conf"},
    {"PRTE_LAUNCHED", "prterun", "~/.prte/mca-params.conf"},
    {"PRTE_LAUNCHED", "prterun", "^/etc/prte-mca-params.conf"},
    {"PRTE_LAUNCHED", "prterun", "~/.pmix/mca-params.conf"},
    {"PRTE_LAUNCHED", "prterun", "^/etc/pmix-mca-params.conf"},
    {"PRTE_LAUNCHED", "prterun", "^/etc/pmix-mca-params-override.conf"},
    {"HYDI_CONTROL_FD", "mpiexec", "~/.mpiexec.hydra.conf"},
    {"HYDI_CONTROL_FD", "mpiexec", "^/etc/mpiexec.hydra.conf"},
    {"I_MPI_HYDRA_UUID", "mpiexec.hydra", "~/.mpiexec.conf"},
    {"I_MPI_HYDRA_UUID", "mpiexec.hydra", "./mpiexec.conf"},
    {"I_MPI_HYDRA_UUID", "mpiexec.hydra", "^/etc/mpiexec.conf"},
};

/* A path of the table; empty where its folder is not known. */
static void full_path(const char *path, const char *library, char text[MAX_PATH]) {
    const char *home = getenv("HOME") != NULL ? getenv("HOME") : "";
    const char *folder = *path == '~' ? home : *path == '^' ? library : ".";
    int length = (int)(*path == '^' ? prefix_of(library) : strlen(folder));
    snprintf(text, MAX_PATH, "%.*s%s", length, folder, path + 1);
    if (length == 0)
        *text = '\0';
}

/* The names of variables that steer, are set, and were asked for by any library. */
static void add_read(struct lines *lines) {
    char names[PATH_LENGTH] = "";
    size_t length = 0;
    for (int i = 0; i < asked.count && i < MAX_NOTED; i++)
        if (length + strlen(asked.texts[i]) + 2 < sizeof names)
            length += (size_t)sprintf(names + length, "%s%s", i > 0 ? " " : "", asked.texts[i]);
    if (asked.count <= MAX_NOTED)
        add(lines, "settings_read", "%s", names);
}

void add_settings_files(struct lines *lines, const struct mpi *mpi) {
    char path[MAX_PATH];
    const char *library = file_of(mpi->init) != NULL ? file_of(mpi->init) : "";
    if (!computes())
        return;
    for (int i = 0; i < opened.count && i < MAX_NOTED; i++) {
        const char *reader = reader_of(readers[i], opened.texts[i]);
        if (reader != NULL)
            add_file(lines, opened.texts[i], reader, reader);
    }
    for (size_t i = 0; i < sizeof of_launchers / sizeof *of_launchers; i++) {
        full_path(of_launchers[i].path, library, path);
        if (getenv(of_launchers[i].variable) != NULL && !is_noted(&opened, path))
            add_file(lines, path, of_launchers[i].launcher, library);
    }
    add(lines, "settings_files", "%d", files);
    add_read(lines);
}

#define EXPORT __attribute__((visibility("default")))

/* The next function of the same name: other preloaded tools take part. Early, since open may be
 * called where dlsym must not be: in a signal handler. */
#define NEXT(name) dlsym != NULL ? dlsym(RTLD_NEXT, #name) : NULL
static void *next_open, *next_open64, *next_fopen, *next_fopen64, *next_getenv, *next_secure_getenv;
__attribute__((constructor)) static void find_next(void) {
    next_open = NEXT(open);
    next_open64 = NEXT(open64);
    next_fopen = NEXT(fopen);
    next_fopen64 = NEXT(fopen64);
    next_getenv = NEXT(getenv);
    next_secure_getenv = NEXT(secure_getenv);
}

/* Without dlsym, in programs of early C libraries that have no libdl. */
static FILE *stream(const char *path, const char *mode) {
    int flags = *mode == 'r' ? 0 : O_CREAT | (*mode == 'w' ? O_TRUNC : O_APPEND);
    flags |= strchr(mode, '+') != NULL ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    flags |= strchr(mode, 'e') != NULL ? O_CLOEXEC : 0;
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0666);
    return descriptor >= 0 ? fdopen(descriptor, mode) : NULL;
}

static int opened_file(void *next, const char *path, int flags, mode_t mode) {
    int (*function)(const char *, int, ...);
    *(void **)&function = next;
    return function != NULL ? function(path, flags, mode)
                            : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static FILE *opened_stream(void *next, const char *path, const char *mode) {
    FILE *(*function)(const char *, const char *);
    *(void **)&function = next;
    return function != NULL ? function(path, mode) : stream(path, mode);
}

char *value_of(const char *name) {
    size_t length = strlen(name);
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
            return *variable + length + 1;
    return NULL;
}

/* Nothing but this tells whether a variable is known to a library: others ignore it silently. */
static char *asked_value(void *next, const char *name) {
    char *(*function)(const char *);
    *(void **)&function = next;
    char *value = function != NULL ? function(name) : value_of(name);
    if (value != NULL && steers(name))
        place_of(&asked, name);
    return value;
}

#define OPEN(name)                                                                                 \
    EXPORT int name(const char *path, int flags, ...) {                                            \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        bool creates = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;                        \
        mode_t mode = creates ? (mode_t)va_arg(rest, unsigned) : 0;                                \
        va_end(rest);                                                                              \
        note(path, __builtin_return_address(0));                                                   \
        if (next_##name == NULL)                                                                   \
            find_next();                                                                           \
        return opened_file(next_##name, path, flags, mode);                                        \
    }
#define FOPEN(name)                                                                                \
    EXPORT FILE *name(const char *path, const char *mode) {                                        \
        note(path, __builtin_return_address(0));                                                   \
        if (next_##name == NULL)                                                                   \
            find_next();                                                                           \
        return opened_stream(next_##name, path, mode);                                             \
    }
OPEN(open)
FOPEN(fopen)
#ifdef __GLIBC__
OPEN(open64)
FOPEN(fopen64)
#endif

EXPORT char *getenv(const char *name) { return asked_value(next_getenv, name); }
EXPORT char *secure_getenv(const char *name) { return asked_value(next_secure_getenv, name); }
