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
 *   many      600 connections with 10 B each
 *   errno     close(-1) must fail with EBADF, and a good close must leave errno alone */
#define _GNU_SOURCE
#include <mpi.h>

#include <arpa/inet.h>
#include <errno.h>
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

static void connect_ends(const struct sockaddr_storage *to) {
    ends[0] = socket(to->ss_family, SOCK_STREAM, 0);
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

static void check_errno(void) {
    errno = 0;
    demand(close(-1) == -1 && errno == EBADF, "close(-1)");
    errno = ENOENT;
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

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    struct sockaddr_storage at;
    MPI_Init(&argc, &argv);
    if (strcmp(name, "six") == 0)
        listen_on(AF_INET6, "::1", &at);
    else
        listen_on(AF_INET, "127.0.0.1", &at);
    if (strcmp(name, "mapped") == 0)
        at = mapped(&at);
    for (int i = 0; i < (strcmp(name, "many") == 0 ? 599 : 0); i++) {
        connect_ends(&at);
        send_bytes(10);
        close_ends();
    }
    connect_ends(&at);
    send_bytes(strcmp(name, "many") == 0 ? 10 : 1000);
    if (strcmp(name, "dup") == 0)
        close(dup(ends[0]));
    if (strcmp(name, "fork") == 0)
        close_in_a_child();
    if (strcmp(name, "dup") == 0 || strcmp(name, "fork") == 0)
        send_bytes(500);
    if (strcmp(name, "errno") == 0)
        check_errno();
    else if (strcmp(name, "open") != 0)
        close_ends();
    MPI_Finalize();
    return 0;
}
