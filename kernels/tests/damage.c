/* Damages what is received, to show that verification notices: loaded by LD_PRELOAD.
 *
 *   DAMAGE=byte     flips one bit in the middle of each message of the victim
 *   DAMAGE=tail     what arrives lacks its last byte (the memory behind keeps what it held)
 *   DAMAGE=unsort   exchanges the first and the last eight bytes of a message
 *   DAMAGE=stale    nothing arrives (the memory keeps what it held)
 *   DAMAGE=twice    each message of the victim, which sends here, arrives a second time
 *   DAMAGE=gather   flips one bit in the last byte that MPI_Gather delivers
 *   DAMAGE_RANK     the victim, the rank that receives (0)
 *   DAMAGE_AFTER    so many messages that it receives are left alone first (0)
 *   DAMAGE_SMALLEST smaller messages are left alone (64: the kernels' own synchronisation uses
 *                   smaller ones) */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

static int smallest(void) {
    const char *asked = getenv("DAMAGE_SMALLEST");
    return asked != NULL ? atoi(asked) : 64;
}

static int asked_for(const char *damage) {
    const char *asked = getenv("DAMAGE"), *victim = getenv("DAMAGE_RANK");
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return asked != NULL && strcmp(asked, damage) == 0 &&
           rank == (victim != NULL ? atoi(victim) : 0);
}

/* Whether this message, which MPI_Recv waits for, is one to damage. */
static int is_due(int length) {
    static int seen;
    const char *after = getenv("DAMAGE_AFTER");
    return length >= smallest() && ++seen > (after != NULL ? atoi(after) : 0);
}

/* Where the message goes instead of into the caller's memory. */
static void *elsewhere(int length) {
    static void *memory;
    memory = realloc(memory, (size_t)length);
    return memory;
}

static void exchange_ends(unsigned char *bytes, int length) {
    unsigned char first[8];
    memcpy(first, bytes, sizeof first);
    memcpy(bytes, bytes + length - sizeof first, sizeof first);
    memcpy(bytes + length - sizeof first, first, sizeof first);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status) {
    unsigned char *bytes = buffer;
    int size;
    MPI_Type_size(type, &size);
    int length = count * size;
    unsigned char last = length > 0 ? bytes[length - 1] : 0;
    int due = is_due(length);
    if (due && asked_for("stale"))
        buffer = elsewhere(length);
    int result = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    if (!due)
        return result;
    if (asked_for("byte"))
        bytes[length / 2] ^= 1;
    if (asked_for("tail"))
        bytes[length - 1] = last;
    if (asked_for("unsort"))
        exchange_ends(bytes, length);
    return result;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    int size;
    MPI_Type_size(type, &size);
    if (count * size >= smallest() && asked_for("twice"))
        PMPI_Send(buffer, count, type, to, tag, comm);
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Gather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm) {
    int result = PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm);
    int ranks, size;
    MPI_Comm_size(comm, &ranks);
    MPI_Type_size(to_type, &size);
    if (asked_for("gather") && to_count * size >= smallest())
        ((unsigned char *)to)[(size_t)ranks * (size_t)to_count * (size_t)size - 1] ^= 1;
    return result;
}
