/* Preloaded in tests: a kernel whose struct tcp_info ends before the counts of bytes (before
 * Linux 4.2), or with HAS_BYTES_ACKED=1 before bytes_sent (before 4.19). It names no cookie, and
 * keeps no account of waiting and of migrations. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BEFORE_BYTES = 104, BEFORE_BYTES_SENT = 160 };

int getsockopt(int descriptor, int level, int option, void *restrict value,
               socklen_t *restrict length) {
    int (*function)(int, int, int, void *, socklen_t *);
    socklen_t shown = getenv("HAS_BYTES_ACKED") != NULL ? BEFORE_BYTES_SENT : BEFORE_BYTES;
    *(void **)&function = dlsym(RTLD_NEXT, "getsockopt");
#ifdef SO_COOKIE
    if (level == SOL_SOCKET && option == SO_COOKIE) {
        errno = ENOPROTOOPT;
        return -1;
    }
#endif
    if (level == IPPROTO_TCP && option == TCP_INFO && *length > shown)
        *length = shown;
    return function(descriptor, level, option, value, length);
}

FILE *fopen(const char *restrict path, const char *restrict mode) {
    FILE *(*function)(const char *, const char *);
    const char *name = strrchr(path, '/');
    if (name != NULL && (strcmp(name, "/sched") == 0 || strcmp(name, "/schedstat") == 0)) {
        errno = ENOENT;
        return NULL;
    }
    *(void **)&function = dlsym(RTLD_NEXT, "fopen");
    return function(path, mode);
}
