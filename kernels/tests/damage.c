/* Damages received messages, to show that verification notices: loaded by LD_PRELOAD.
 *
 *   DAMAGE=byte     flips one bit in the middle of each message that the victim receives
 *   DAMAGE=tail     the last byte of a message is lost (the memory keeps its old value)
 *   DAMAGE=unsort   swaps the first and the last eight bytes of a message
 *   DAMAGE=stale    nothing arrives (the memory keeps its old content); MPI_Recv only
 *   DAMAGE=die      the victim exits silently when it is about to receive a message
 *   DAMAGE=twice    each message that the victim sends arrives a second time
 *   DAMAGE=gather   flips one bit in the last byte that MPI_Gather delivers
 *   DAMAGE=result   flips one bit in what MPI_Bcast, MPI_Allreduce or MPI_Alltoall deliver
 *   DAMAGE=barrier  the victim leaves each MPI_Barrier at once
 *   DAMAGE=ends     changes one random byte among the first or the last eight of exactly one
 *                   message, the one after DAMAGE_AFTER; blocks of MPI_Gather in place count, too
 *   DAMAGE=count    damages nothing
 *   DAMAGE_SEED     of the random byte (0)
 *   DAMAGE_RANK     the victim, the rank that receives (0)
 * Which messages:
 *   DAMAGE_AFTER    this many received messages are left intact first (0)
 *   DAMAGE_TIMES    only this many messages are damaged (all)
 *   DAMAGE_CALL     only messages received by this call, such as MPI_Sendrecv (any)
 *   DAMAGE_PEER     only messages from this rank (any)
 *   DAMAGE_TAG      only messages with this tag (any)
 *   DAMAGE_ABOVE    only messages with more bytes (any)
 *   DAMAGE_SMALLEST smaller messages stay intact (64: the kernels' synchronisation uses those)
 * With ends and count the victim prints in MPI_Finalize how many messages those were.
 * And:
 *   MOST_PEERS      no damage, but aborts when MPI_Alltoallv sends to more ranks than this */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int setting(const char *name, int otherwise) {
    const char *asked = getenv(name);
    return asked != NULL ? atoi(asked) : otherwise;
}

static int smallest(void) { return setting("DAMAGE_SMALLEST", 64); }

static int asked_for(const char *damage) {
    const char *asked = getenv("DAMAGE");
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return asked != NULL && strcmp(asked, damage) == 0 && rank == setting("DAMAGE_RANK", 0);
}

static int bytes_of(int count, MPI_Datatype type) {
    int size;
    MPI_Type_size(type, &size);
    return count * size;
}

static void change_an_end(unsigned char *bytes, int length, int number) {
    srand((unsigned)setting("DAMAGE_SEED", 0));
    int width = length < 8 ? length : 8, byte = rand() % width;
    if (rand() % 2)
        byte += length - width;
    bytes[byte] ^= (unsigned char)(1 + rand() % 255);
    fprintf(stderr, "damage: byte %d of the %d of message %d\n", byte, length, number);
}

static void exchange_ends(unsigned char *bytes, int length) {
    unsigned char first[8];
    memcpy(first, bytes, sizeof first);
    memcpy(bytes, bytes + length - sizeof first, sizeof first);
    memcpy(bytes + length - sizeof first, first, sizeof first);
}

/* One message that a call will receive. */
struct message {
    unsigned char *bytes;
    int length;
    int due;            /* to be damaged */
    int number;         /* among those that match, from 1; 0: does not match */
    unsigned char last; /* old value of its last byte */
};

static int matched; /* messages */

static int matches(const char *call, int length, int peer, int tag) {
    const char *only = getenv("DAMAGE_CALL");
    return length > 0 && length >= smallest() && (only == NULL || strcmp(only, call) == 0) &&
           peer == setting("DAMAGE_PEER", peer) && tag == setting("DAMAGE_TAG", tag) &&
           length > setting("DAMAGE_ABOVE", 0);
}

static struct message expect(const char *call, void *buffer, int count, MPI_Datatype type, int peer,
                             int tag) {
    int length = bytes_of(count, type);
    struct message message = {buffer, length, 0, 0, 0};
    if (matches(call, length, peer, tag))
        message.number = ++matched;
    int after = message.number - setting("DAMAGE_AFTER", 0);
    message.due = message.number > 0 && after > 0 && after <= setting("DAMAGE_TIMES", after);
    if (message.due && asked_for("die"))
        _exit(3);
    if (message.due)
        message.last = message.bytes[length - 1];
    return message;
}

static void damage(const struct message *message) {
    if (!message->due)
        return;
    if (asked_for("byte"))
        message->bytes[message->length / 2] ^= 1;
    if (asked_for("tail"))
        message->bytes[message->length - 1] = message->last;
    if (asked_for("unsort"))
        exchange_ends(message->bytes, message->length);
    if (asked_for("ends") && message->number == setting("DAMAGE_AFTER", 0) + 1)
        change_an_end(message->bytes, message->length, message->number);
}

/* Memory for messages that must not reach the caller. */
static void *elsewhere(int length) {
    static void *memory;
    memory = realloc(memory, (size_t)length);
    return memory;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status) {
    struct message message = expect("MPI_Recv", buffer, count, type, source, tag);
    if (message.due && asked_for("stale"))
        buffer = elsewhere(message.length);
    int result = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    damage(&message);
    return result;
}

int MPI_Sendrecv(const void *from, int from_count, MPI_Datatype from_type, int dest, int from_tag,
                 void *to, int to_count, MPI_Datatype to_type, int source, int to_tag,
                 MPI_Comm comm, MPI_Status *status) {
    struct message message = expect("MPI_Sendrecv", to, to_count, to_type, source, to_tag);
    int result = PMPI_Sendrecv(from, from_count, from_type, dest, from_tag, to, to_count, to_type,
                               source, to_tag, comm, status);
    damage(&message);
    return result;
}

/* Pending receives, damaged when the next MPI_Waitall has completed them. */
enum { MAX_BEGUN = 64 };
static struct message begun[MAX_BEGUN];
static int begun_count;

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request) {
    if (begun_count == MAX_BEGUN)
        abort();
    begun[begun_count++] = expect("MPI_Irecv", buffer, count, type, source, tag);
    return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    int result = PMPI_Waitall(count, requests, statuses);
    for (int i = 0; i < begun_count; i++)
        damage(&begun[i]);
    begun_count = 0;
    return result;
}

static void check_peers(const int *counts, int ranks) {
    const char *most = getenv("MOST_PEERS");
    int peers = 0;
    for (int rank = 0; rank < ranks; rank++)
        peers += counts[rank] > 0;
    if (most == NULL || peers <= atoi(most))
        return;
    fprintf(stderr, "MPI_Alltoallv sends to %d ranks\n", peers);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

int MPI_Alltoallv(const void *from, const int *from_counts, const int *from_offsets,
                  MPI_Datatype from_type, void *to, const int *to_counts, const int *to_offsets,
                  MPI_Datatype to_type, MPI_Comm comm) {
    int ranks, size;
    MPI_Comm_size(comm, &ranks);
    MPI_Type_size(to_type, &size);
    check_peers(from_counts, ranks);
    struct message *messages = malloc((size_t)ranks * sizeof *messages);
    for (int peer = 0; peer < ranks; peer++)
        messages[peer] =
            expect("MPI_Alltoallv", (unsigned char *)to + (long)to_offsets[peer] * size,
                   to_counts[peer], to_type, peer, -1);
    int result = PMPI_Alltoallv(from, from_counts, from_offsets, from_type, to, to_counts,
                                to_offsets, to_type, comm);
    for (int peer = 0; peer < ranks; peer++)
        damage(&messages[peer]);
    free(messages);
    return result;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (bytes_of(count, type) >= smallest() && asked_for("twice"))
        PMPI_Send(buffer, count, type, to, tag, comm);
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

/* One message from each rank but the root, whose own block is in place. */
static void damage_gathered(unsigned char *bytes, int count, MPI_Datatype type, int ranks,
                            int root) {
    int length = bytes_of(count, type);
    for (int peer = 0; peer < ranks; peer++) {
        if (peer == root)
            continue;
        struct message message =
            expect("MPI_Gather", bytes + (size_t)peer * (size_t)length, count, type, peer, -1);
        damage(&message);
    }
}

int MPI_Gather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm) {
    int result = PMPI_Gather(from, from_count, from_type, to, to_count, to_type, root, comm);
    int ranks, rank, length = bytes_of(to_count, to_type);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    if (asked_for("gather") && length >= smallest())
        ((unsigned char *)to)[(size_t)ranks * (size_t)length - 1] ^= 1;
    /* timed ones are in place, unlike those of the reports */
    if (rank == root && from == MPI_IN_PLACE && (asked_for("ends") || asked_for("count")))
        damage_gathered(to, to_count, to_type, ranks, root);
    return result;
}

static int damage_result(void *result, int count, MPI_Datatype type, int status) {
    if (bytes_of(count, type) >= smallest() && asked_for("result"))
        ((unsigned char *)result)[bytes_of(count, type) / 2] ^= 1;
    return status;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    return damage_result(buffer, count, type, PMPI_Bcast(buffer, count, type, root, comm));
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    return damage_result(to, count, type, PMPI_Allreduce(from, to, count, type, op, comm));
}

int MPI_Alltoall(const void *from, int from_count, MPI_Datatype from_type, void *to, int count,
                 MPI_Datatype type, MPI_Comm comm) {
    int status = PMPI_Alltoall(from, from_count, from_type, to, count, type, comm);
    return damage_result(to, count, type, status);
}

int MPI_Barrier(MPI_Comm comm) {
    static MPI_Request last = MPI_REQUEST_NULL;
    PMPI_Wait(&last, MPI_STATUS_IGNORE);
    int result = PMPI_Ibarrier(comm, &last);
    return asked_for("barrier") ? result : PMPI_Wait(&last, MPI_STATUS_IGNORE);
}

int MPI_Finalize(void) {
    if (asked_for("ends") || asked_for("count"))
        fprintf(stderr, "damage: %d messages matched\n", matched);
    return PMPI_Finalize();
}
