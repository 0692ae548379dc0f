/* Evidence of any command: the launcher's variables number the ranks. */
#ifndef FOLDER_H
#define FOLDER_H

#include "lines.h"

#include <stdbool.h>

bool is_number(const char *text);

/* Before main: takes the numbers of this process. Whether it is what the launcher started: a rank,
 * even without MPI. */
bool begin_in_folder(char **arguments);

/* The file of such a process. */
bool path_without_mpi(char path[PATH_LENGTH]);

/* The folder of a program, which its first rank makes. */
bool make_folder_of(const char *path);

/* How many ranks the launcher started. */
void add_size(struct lines *lines);

/* How many ranks MPI_COMM_WORLD has: fewer, where the launcher is another library's. `comm_size`:
 * PMPI_Comm_size; `world`: Open MPI's communicator, or NULL. */
void add_world(struct lines *lines, const void *comm_size, void *world);

#endif
