/* What a rank sent and received over each of its TCP connections, by the kernel's account
 * (TCP_INFO).
 *
 * Connections that were closed before MPI_Finalize are kept by `before_close`; not seen are closes
 * that bypass close(2): a raw system call, dup2 over a socket, close_range, fclose.
 */
#define _GNU_SOURCE
#include "early_libc.h"
#include "lines.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* An address as text with its port apart; IPv4 within IPv6 as IPv4, so that both ends name it
 * alike. */
struct end {
    char address[INET6_ADDRSTRLEN];
    unsigned port;
};

struct connection {
    unsigned long long cookie; /* the kernel's name for the socket: addresses may be used again */
    struct end local, peer;
    unsigned long long sent, received;
};

/* Beyond MAX_LINES connections are summed up per interface: a rank of a large job has thousands. */
enum {
    MAX_LINES = 256,
    MAX_CONNECTIONS = 4096,
    PLACES = 2 * MAX_CONNECTIONS,
    MAX_INTERFACES = 16,
    MAX_TRIES = 1 << 20
};

static const char UNKNOWN[] = "?"; /* peer, interface */

static struct {
    struct connection list[MAX_CONNECTIONS];
    short place[PLACES]; /* by cookie: index in list + 1 */
    int count;
    atomic_int lost;
    atomic_flag busy;
} seen = {.busy = ATOMIC_FLAG_INIT};

/* Never for ever: a signal handler that closes a socket may have interrupted the one that holds it.
 */
static bool occupy(void) {
    for (int tries = 0; atomic_flag_test_and_set(&seen.busy); tries++)
        if (tries == MAX_TRIES)
            return false;
    return true;
}

static bool read_end(const struct sockaddr_storage *from, struct end *end) {
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)from;
        end->port = ntohs(four->sin_port);
        return inet_ntop(AF_INET, &four->sin_addr, end->address, sizeof end->address) != NULL;
    }
    if (from->ss_family != AF_INET6)
        return false;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    end->port = ntohs(six->sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        return inet_ntop(AF_INET, &six->sin6_addr.s6_addr[12], end->address, sizeof end->address) !=
               NULL;
    return inet_ntop(AF_INET6, &six->sin6_addr, end->address, sizeof end->address) != NULL;
}

/* Fields of the kernel's struct tcp_info by their offset: older headers lack them. */
enum { BYTES_ACKED = 120, BYTES_RECEIVED = 128, BYTES_SENT = 200, BYTES_RETRANSMITTED = 208 };

static unsigned long long field(const char *info, size_t offset) {
    unsigned long long value;
    memcpy(&value, info + offset, sizeof value);
    return value;
}

/* Before Linux 4.12 by inode and ports: an inode is used again once its socket is closed. */
static unsigned long long cookie_of(int descriptor, const struct connection *found) {
    uint64_t cookie = 0;
    socklen_t length = sizeof cookie;
    struct stat file;
#ifdef SO_COOKIE
    if (getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 &&
        length == sizeof cookie)
        return cookie;
#endif
    if (file_status(descriptor, &file) != 0)
        return 0;
    return (uint64_t)file.st_ino << 32 | (uint64_t)found->local.port << 16 | found->peer.port;
}

/* The kernel no longer names the peer of a connection that both sides have ended. */
static bool read_ends(int descriptor, struct connection *found) {
    struct sockaddr_storage local, peer;
    socklen_t local_length = sizeof local, peer_length = sizeof peer;
    if (getsockname(descriptor, (struct sockaddr *)&local, &local_length) != 0 ||
        !read_end(&local, &found->local))
        return false;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &peer_length) == 0)
        return read_end(&peer, &found->peer);
    strcpy(found->peer.address, UNKNOWN);
    return true;
}

static bool has_peer(const struct connection *one) {
    return strcmp(one->peer.address, UNKNOWN) != 0;
}

static void read_bytes(const char *info, socklen_t length, struct connection *found) {
    found->received = field(info, BYTES_RECEIVED);
    found->sent = length < BYTES_RETRANSMITTED + 8
                      ? field(info, BYTES_ACKED)
                      : field(info, BYTES_SENT) - field(info, BYTES_RETRANSMITTED);
}

enum account { NO_CONNECTION, WHOLE, LOST };

/* LOST where there is a connection whose bytes are unknown: kernels before 4.2 do not count them.
 */
static enum account read_connection(int descriptor, struct connection *found) {
    char info[512];
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &length) != 0)
        return NO_CONNECTION;
    memset(found, 0, sizeof *found);
    if (!read_ends(descriptor, found))
        return LOST;
    if (length < BYTES_RECEIVED + 8)
        return has_peer(found) ? LOST : NO_CONNECTION;
    read_bytes(info, length, found);
    if (!has_peer(found) && found->sent == 0 && found->received == 0)
        return NO_CONNECTION; /* it listens, or was never connected */
    found->cookie = cookie_of(descriptor, found);
    return found->cookie != 0 ? WHOLE : LOST;
}

static unsigned long long larger(unsigned long long one, unsigned long long other) {
    return one > other ? one : other;
}

/* Two descriptors may be one connection (dup), and two threads may close them at once: counts only
 * grow, so the larger ones are the later ones. */
static void update(struct connection *kept, const struct connection *found) {
    kept->sent = larger(kept->sent, found->sent);
    kept->received = larger(kept->received, found->received);
    if (!has_peer(kept))
        kept->peer = found->peer;
}

static void keep(const struct connection *found) {
    unsigned at = (unsigned)(found->cookie * 0x9E3779B97F4A7C15u >> 32) % PLACES;
    while (seen.place[at] != 0 && seen.list[seen.place[at] - 1].cookie != found->cookie)
        at = (at + 1) % PLACES;
    if (seen.place[at] == 0) {
        if (seen.count == MAX_CONNECTIONS) {
            seen.lost++;
            return;
        }
        seen.list[seen.count++] = *found;
        seen.place[at] = (short)seen.count;
    }
    update(&seen.list[seen.place[at] - 1], found);
}

void before_close(int descriptor) {
    struct connection found;
    enum account account = read_connection(descriptor, &found);
    if (account == NO_CONNECTION)
        return;
    if (account == LOST || !occupy()) {
        seen.lost++;
        return;
    }
    keep(&found);
    atomic_flag_clear(&seen.busy);
}

static bool keep_open_ones(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL)
        return false;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            before_close(atoi(entry->d_name));
    closedir(folder);
    return true;
}

/* The interface that has an address; NULL where none has it. */
static const char *owner(struct ifaddrs *interfaces, const struct end *wanted) {
    for (struct ifaddrs *each = interfaces; each != NULL; each = each->ifa_next) {
        struct sockaddr_storage from = {0};
        struct end end;
        int family = each->ifa_addr != NULL ? each->ifa_addr->sa_family : AF_UNSPEC;
        if (family != AF_INET && family != AF_INET6)
            continue;
        memcpy(&from, each->ifa_addr,
               family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
        if (read_end(&from, &end) && strcmp(end.address, wanted->address) == 0)
            return each->ifa_name;
    }
    return NULL;
}

/* Traffic between addresses of one host is on lo, whatever interface they belong to. */
static const char *interface_of(struct ifaddrs *interfaces, const struct connection *one) {
    const char *name = has_peer(one) ? owner(interfaces, &one->local) : NULL;
    return owner(interfaces, &one->peer) != NULL ? "lo" : name != NULL ? name : UNKNOWN;
}

struct sum {
    const char *interface;
    unsigned long long count, sent, received;
};

static void add_to(struct sum *sums, const char *interface, const struct connection *one) {
    int at = 0;
    while (at < MAX_INTERFACES - 1 && sums[at].interface != NULL &&
           strcmp(sums[at].interface, interface) != 0)
        at++;
    sums[at].interface = sums[at].interface == NULL ? interface : sums[at].interface;
    sums[at].count++;
    sums[at].sent += one->sent;
    sums[at].received += one->received;
}

static void add_connection(struct lines *lines, int number, const char *interface,
                           const struct connection *one) {
    char key[32];
    snprintf(key, sizeof key, "tcp.%d", number);
    add(lines, key, "%s %s %u %s %u %llu %llu", interface, one->local.address, one->local.port,
        one->peer.address, one->peer.port, one->sent, one->received);
}

static void add_sums(struct lines *lines, const struct sum *sums) {
    for (int i = 0; i < MAX_INTERFACES && sums[i].interface != NULL; i++) {
        char key[64];
        snprintf(key, sizeof key, "tcp_sum.%.32s", sums[i].interface);
        add(lines, key, "%llu %llu %llu", sums[i].count, sums[i].sent, sums[i].received);
    }
}

static void add_connections(struct lines *lines, struct ifaddrs *interfaces) {
    struct sum sums[MAX_INTERFACES] = {{0}};
    add(lines, "tcp", "%d", seen.count);
    for (int i = 0; i < seen.count; i++) {
        const char *interface = interface_of(interfaces, &seen.list[i]);
        if (i < MAX_LINES)
            add_connection(lines, i, interface, &seen.list[i]);
        else
            add_to(sums, interface, &seen.list[i]);
    }
    add_sums(lines, sums);
}

/* Where the descriptors or the interfaces cannot be listed, nothing is recorded. */
void add_sockets(struct lines *lines) {
    struct ifaddrs *interfaces = NULL;
    if (getifaddrs(&interfaces) != 0)
        return;
    if (keep_open_ones() && occupy()) {
        add_connections(lines, interfaces);
        atomic_flag_clear(&seen.busy);
        if (seen.lost > 0)
            add(lines, "tcp_lost", "%d", seen.lost);
    }
    freeifaddrs(interfaces);
}
