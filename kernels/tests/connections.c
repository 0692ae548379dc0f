/* An MPI program with TCP connections of its own, for tests of the evidence library.
 *
 *   connections CASE
 *
 *   one       sends 1000 B over a connection to itself on 127.0.0.1, closes both ends
 *   open      the same, and closes nothing
 *   six       the same over ::1
 *   mapped    from an IPv6 socket to an IPv4 address
 *   dup       sends 1000 B, closes a duplicate, sends 500 B more, closes
 *   fork      sends 1000 B; a child closes both ends and exits; sends 500 B more, closes
 *   again     1000 B, closed; then 500 B between the same two addresses
 *   ended     1000 B; both sides end the connection before either closes
 *   vfork     as fork, by a child that shares the memory
 *   thread    as one, by MPI_Init_thread
 *   abort     as one, then MPI_Abort
 *   many      600 connections with 10 B each
 *   thousands 3000 connections with 10 B each, both ends closed by the same rank: more than are
 * kept errno     close(-1) must fail with EBADF, and a good close must leave errno alone */
#define _GNU_SOURCE
#include <mpi.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void demand(int holds, const char *what) {
    if (holds)
        return;
    perror(what);
    exit(4);
}

static int listening, ends[2]; /* the sender's and the receiver's */

static void listen_on(int family, const char *address, struct sockaddr_storage *at) {
    socklen_t length = sizeof *at;
    memset(at, 0, sizeof *at);
    at->ss_family = (sa_family_t)family;
    if (family == AF_INET)
        inet_pton(AF_INET, address, &((struct sockaddr_in *)at)->sin_addr);
    else
        inet_pton(AF_INET6, address, &((struct sockaddr_in6 *)at)->sin6_addr);
    listening = socket(family, SOCK_STREAM, 0);
    demand(listening >= 0 && bind(listening, (struct sockaddr *)at, sizeof *at) == 0, "bind");
    demand(listen(listening, 1024) == 0, "listen");
    demand(getsockname(listening, (struct sockaddr *)at, &length) == 0, "getsockname");
}

/* From an address that no other program uses, so that its port is free when it is wanted again. */
static void bind_to_own_address(int descriptor) {
    struct sockaddr_in own = {.sin_family = AF_INET};
    inet_pton(AF_INET, "127.7.7.7", &own.sin_addr);
    demand(bind(descriptor, (struct sockaddr *)&own, sizeof own) == 0, "bind to 127.7.7.7");
}

static void connect_ends(const struct sockaddr_storage *to, int from_own_address) {
    ends[0] = socket(to->ss_family, SOCK_STREAM, 0);
    if (from_own_address)
        bind_to_own_address(ends[0]);
    demand(ends[0] >= 0 && connect(ends[0], (const struct sockaddr *)to, sizeof *to) == 0,
           "connect");
    ends[1] = accept(listening, NULL, NULL);
    demand(ends[1] >= 0, "accept");
}

static void send_bytes(size_t count) {
    char bytes[1000] = {0};
    demand(write(ends[0], bytes, count) == (ssize_t)count, "write");
    for (size_t got = 0; got < count;) {
        ssize_t n = read(ends[1], bytes, count - got);
        demand(n > 0, "read");
        got += (size_t)n;
    }
}

static void close_ends(void) {
    close(ends[0]);
    close(ends[1]);
}

static void close_in_a_child(void) {
    pid_t child = fork();
    if (child == 0) {
        close_ends();
        _exit(0);
    }
    demand(waitpid(child, NULL, 0) == child, "waitpid");
}

/* A child by vfork may only leave, but what close does to memory stays. */
static void close_in_a_sharing_child(void) {
    pid_t child = vfork();
    if (child == 0) {
        close(ends[0]);
        _exit(0);
    }
    demand(waitpid(child, NULL, 0) == child, "waitpid");
}

/* Closed by a reset, so that the addresses are free at once. */
static void close_at_once(void) {
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    demand(setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0, "SO_LINGER");
    close_ends();
}

static void connect_again(const struct sockaddr_storage *to) {
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    int reuse = 1;
    demand(getsockname(ends[0], (struct sockaddr *)&from, &length) == 0, "getsockname");
    close_at_once();
    ends[0] = socket(to->ss_family, SOCK_STREAM, 0);
    setsockopt(ends[0], SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    demand(bind(ends[0], (struct sockaddr *)&from, length) == 0, "bind again");
    demand(connect(ends[0], (const struct sockaddr *)to, sizeof *to) == 0, "connect again");
    ends[1] = accept(listening, NULL, NULL);
    demand(ends[1] >= 0, "accept");
}

/* Afterwards the kernel names no peer of the second end. */
static void end_both(void) {
    char byte;
    shutdown(ends[0], SHUT_WR);
    demand(read(ends[1], &byte, 1) == 0, "end of the first");
    shutdown(ends[1], SHUT_WR);
    demand(read(ends[0], &byte, 1) == 0, "end of the second");
}

static void check_errno(void) {
    errno = 0;
    demand(close(-1) == -1 && errno == EBADF, "close(-1)");
    errno = ENOENT;
    close(open("/dev/null", O_RDONLY)); /* no socket: the library's question fails */
    close_ends();
    demand(errno == ENOENT, "close");
}

/* A connection from an IPv6 socket to an IPv4 address. */
static struct sockaddr_storage mapped(const struct sockaddr_storage *four) {
    struct sockaddr_storage at = {.ss_family = AF_INET6};
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&at;
    six->sin6_port = ((const struct sockaddr_in *)four)->sin_port;
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &six->sin6_addr);
    return at;
}

static const char *name = "";

static int is(const char *wanted) { return strcmp(name, wanted) == 0; }

static void start(int *argc, char ***argv) {
    int provided;
    if (is("thread"))
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(argc, argv);
}

static struct sockaddr_storage listen_for_case(void) {
    struct sockaddr_storage at;
    if (is("six"))
        listen_on(AF_INET6, "::1", &at);
    else
        listen_on(AF_INET, "127.0.0.1", &at);
    return is("mapped") ? mapped(&at) : at;
}

static void send_by_many(const struct sockaddr_storage *at, int count) {
    for (int i = 0; i < count; i++) {
        connect_ends(at, 0);
        send_bytes(10);
        close_ends();
    }
}

static void send_by_one(const struct sockaddr_storage *at) {
    connect_ends(at, is("again"));
    send_bytes(1000);
    if (is("dup"))
        close(dup(ends[0]));
    if (is("fork"))
        close_in_a_child();
    if (is("vfork"))
        close_in_a_sharing_child();
    if (is("again"))
        connect_again(at);
    if (is("dup") || is("fork") || is("vfork") || is("again"))
        send_bytes(500);
    if (is("ended"))
        end_both();
    if (is("errno"))
        check_errno();
    else if (!is("open"))
        close_ends();
}

int main(int argc, char **argv) {
    name = argc > 1 ? argv[1] : "";
    start(&argc, &argv);
    struct sockaddr_storage at = listen_for_case();
    if (is("many") || is("thousands"))
        send_by_many(&at, is("many") ? 600 : 3000);
    else
        send_by_one(&at);
    if (is("abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
