/* Damages what is received, to show that verification notices: loaded by LD_PRELOAD.
 *
 *   DAMAGE=byte     flips one bit in the middle of each message that the victim receives
 *   DAMAGE=tail     what arrives lacks its last byte (the memory behind keeps what it held)
 *   DAMAGE=unsort   exchanges the first and the last eight bytes of a message
 *   DAMAGE=gather   flips one bit in the last byte that MPI_Gather delivers
 *   DAMAGE_RANK     the victim, the rank that receives (0)
 *   DAMAGE_CALL     only what this call receives: MPI_Recv, MPI_Sendrecv, MPI_Irecv
 *   DAMAGE_TAG      only messages received with this tag
 *   DAMAGE_SMALLEST messages of fewer bytes are left alone (64: the kernels' own synchronisation
 *                   uses those)
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_REQUESTS = 64 };

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

static void exchange_ends(unsigned char *bytes, int length) {
    unsigned char first[8];
    memcpy(first, bytes, sizeof first);
    memcpy(bytes, bytes + length - sizeof first, sizeof first);
    memcpy(bytes + length - sizeof first, first, sizeof first);
}

/* What a receive is to find in place of its last byte, to undo that it arrived. */
static unsigned char last_byte(const unsigned char *bytes, int length) {
    return length > 0 ? bytes[length - 1] : 0;
}

static int bytes_of(int count, MPI_Datatype type) {
    int size;
    MPI_Type_size(type, &size);
    return count * size;
}

/* last: of the memory before the message came. */
static void damage(const char *call, int tag, unsigned char *bytes, int length,
                   unsigned char last) {
    const char *only = getenv("DAMAGE_CALL"), *only_tag = getenv("DAMAGE_TAG");
    if (only_tag != NULL && atoi(only_tag) != tag)
        return;
    if (length < smallest() || length == 0 || (only != NULL && strcmp(only, call) != 0))
        return;
    if (asked_for("byte"))
        bytes[length / 2] ^= 1;
    if (asked_for("tail"))
        bytes[length - 1] = last;
    if (asked_for("unsort"))
        exchange_ends(bytes, length);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status) {
    int length = bytes_of(count, type);
    unsigned char last = last_byte(buffer, length);
    int result = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    damage("MPI_Recv", tag, buffer, length, last);
    return result;
}

int MPI_Sendrecv(const void *from, int from_count, MPI_Datatype from_type, int to_rank, int to_tag,
                 void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Status *status) {
    int length = bytes_of(count, type);
    unsigned char last = last_byte(buffer, length);
    int result = PMPI_Sendrecv(from, from_count, from_type, to_rank, to_tag, buffer, count, type,
                               source, tag, comm, status);
    damage("MPI_Sendrecv", tag, buffer, length, last);
    return result;
}

/* Receives under way: their data are there after MPI_Waitall. */
static struct {
    unsigned char *bytes, last;
    int length, tag;
} pending[MOST_REQUESTS];
static int pending_count;

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request) {
    int length = bytes_of(count, type);
    if (pending_count == MOST_REQUESTS)
        abort();
    pending[pending_count].bytes = buffer;
    pending[pending_count].last = last_byte(buffer, length);
    pending[pending_count].tag = tag;
    pending[pending_count++].length = length;
    return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    int result = PMPI_Waitall(count, requests, statuses);
    for (; pending_count > 0; pending_count--)
        damage("MPI_Irecv", pending[pending_count - 1].tag, pending[pending_count - 1].bytes,
               pending[pending_count - 1].length, pending[pending_count - 1].last);
    return result;
}

int MPI_Gather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm) {
    int result = PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm);
    int ranks, length = bytes_of(to_count, to_type);
    MPI_Comm_size(comm, &ranks);
    if (asked_for("gather") && length >= smallest())
        ((unsigned char *)to)[(size_t)ranks * (size_t)length - 1] ^= 1;
    return result;
}
