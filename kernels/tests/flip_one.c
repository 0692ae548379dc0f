/* Damages exactly one received message, to show that each timed block is checked: loaded by
 * LD_PRELOAD. FLIP_NUMBER is its number, from 1, among the messages of at least FLIP_SMALLEST bytes
 * that this rank receives by MPI_Recv; one bit in its middle is flipped. */
#include <mpi.h>

#include <stdlib.h>

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status) {
    static int seen;
    const char *smallest = getenv("FLIP_SMALLEST"), *number = getenv("FLIP_NUMBER");
    int size, result = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    MPI_Type_size(type, &size);
    if (smallest != NULL && number != NULL && count * size >= atoi(smallest) &&
        ++seen == atoi(number))
        ((unsigned char *)buffer)[count * size / 2] ^= 1;
    return result;
}
