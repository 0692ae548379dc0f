/* The lines that a rank leaves in its evidence file: "rank R MOMENT.KEY=VALUE". */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { PATH_LENGTH = 4096, TEXT_LENGTH = 65536 };

/* The lines of one moment, written at once so that ranks sharing a file do not mix. */
struct lines {
    const char *rank, *moment;
    size_t length;
    char text[TEXT_LENGTH];
};

/* Adds one line; a value that does not fit is left out whole. */
__attribute__((format(printf, 3, 4))) void add(struct lines *lines, const char *key,
                                               const char *format, ...);
/* Control characters become spaces, as in the job script's own lines. */
void one_line(char *text);
/* Appends the lines to a file in one write. */
void append(const char *path, const struct lines *lines);

/* The beginning of a file, as far as it fits; false, and no text, where nothing can be read. */
bool read_text(const char *path, char *text, size_t size);
/* Of that the first line. */
bool read_line(const char *path, char *text, size_t size);

/* Functions of the MPI library; NULL where it has none. */
struct mpi {
    const void *init, *version;
};

/* What each file of this folder adds. */
void add_launch(struct lines *lines); /* arguments, nice value, variables, preloaded libraries */
void add_preloads(struct lines *lines);
void add_status(struct lines *lines); /* allowed CPUs; how it is scheduled, traced, filtered */
void add_clocks(struct lines *lines, double (*wtime)(void)); /* `wtime`: MPI_Wtime, or NULL */
void add_place(struct lines *lines);   /* CPU, socket, core, NUMA node, memory */
void add_usage(struct lines *lines);   /* CPU time, time that it waited for a CPU, migrations */
void add_quotas(struct lines *lines);  /* of CPU time, and how often they took the CPU */
void add_sockets(struct lines *lines); /* bytes over each TCP connection */
void add_blas(struct lines *lines); /* the library that computes, in programs with linear algebra */
void add_gpus(struct lines *lines, bool at_end); /* the one in use; at the end its libraries, too */
void add_program(struct lines *lines, const struct mpi *mpi);
void add_checksums(struct lines *lines, const struct mpi *mpi);
void add_settings_files(struct lines *lines, const struct mpi *mpi); /* that the libraries read */

/* The moments at which program and MPI_Init began and ended: before and after MPI_Init. */
void note_init(void);
void add_startup(struct lines *lines);

/* The process that takes the most CPU time beside the ranks, where the rank waited for a CPU. */
void add_neighbours(struct lines *lines);

/* Round trips of a cache line, clock rate and bandwidth of the memory; also before what ends. */
void add_state(struct lines *lines);
/* The same within the run, now and then; in a call that all ranks make. */
void add_state_between_parts(struct lines *lines);

/* "NAME_file" and "NAME_sha256", kept from run to run; `computes`: the first rank of a node does.
 */
void add_checksum(struct lines *lines, const char *name, const char *file);
bool computes(void);

/* A variable, as getenv gives it, which notes what libraries ask for. */
char *value_of(const char *name);

/* Whether a variable steers MPI or a layer below it; whether a text names what may be a secret. */
bool steers(const char *variable);
bool is_secret(const char *name);

/* The file that holds a function; NULL where that is not known. */
const char *file_of(const void *function);
/* Adds the build-id of the library that holds a function. */
void add_build_id(struct lines *lines, const char *key, const void *function);

/* From the first call on, counts how often the process was continued after a stop. */
void watch_stops(void);
void add_stops(struct lines *lines);

/* Keeps the account of a TCP connection that is about to be closed. */
void before_close(int descriptor);

#endif
