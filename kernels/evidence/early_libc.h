/* Early versions of the C library's symbols. A library that asks for a later one than a container
 * has cannot be loaded there, and a program that it is preloaded into ends.
 *
 * Before glibc 2.34 the functions of dlfcn.h are in libdl. They are NULL in programs without it,
 * which have no MPI library either. */
#ifndef EARLY_LIBC_H
#define EARLY_LIBC_H

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma weak dlsym
#pragma weak dlopen
#pragma weak dlclose
#pragma weak dladdr

#ifdef __GLIBC__
#if defined __x86_64__
#define EARLY "GLIBC_2.2.5"
#elif defined __aarch64__
#define EARLY "GLIBC_2.17"
#endif
#endif

#ifdef EARLY
__asm__(".symver dlsym, dlsym@" EARLY);
__asm__(".symver dlopen, dlopen@" EARLY);
__asm__(".symver dlclose, dlclose@" EARLY);
__asm__(".symver dladdr, dladdr@" EARLY);
/* fstat is a symbol since glibc 2.33. */
static inline int file_status(int descriptor, struct stat *status) {
    return (int)syscall(SYS_fstat, descriptor, status);
}
#else
#define file_status fstat
#endif

#endif
