/* A resource that a machine lacks is neither an error nor a value: the result is "not available".
 */
#ifndef LACKING_H
#define LACKING_H

#include "kernel.h"

/* Ends the program with status 0 on all ranks if any lacks something; rank 0 prints what the lowest
 * such rank does, in a line that the job script knows. Collective. */
void end_if_lacking(const char *kernel, bool lacks, char why[REASON_LENGTH]);

#endif
