/* The level of MPI_Pcontrol with which all ranks of a kernel say, now and then, that nothing is
 * being measured. MPI leaves the meaning of a level above 2 to the library that looks on: here, the
 * evidence library. */
#ifndef BETWEEN_PARTS_H
#define BETWEEN_PARTS_H

enum { BETWEEN_PARTS = 28003 };

#endif
