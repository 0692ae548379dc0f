/* The BLAS library that a rank mapped: it decides how fast a program with linear algebra is. Asked
 * at the end, since the first call of some libraries (MKL) fixes how they work. */
#define _GNU_SOURCE
#include "early_libc.h"
#include "lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(PATH_LENGTH >= PATH_MAX, "realpath writes up to PATH_MAX bytes");

enum { MAX_VERSION = 256 };

/* Text of a function without arguments: OpenBLAS's configuration, BLIS's version. Looked for in the
 * library itself and in what it needs: another BLAS may be mapped beside it, and not be used. */
static void add_text(struct lines *lines, const char *key, void *library, const char *name) {
    char *(*function)(void);
    *(void **)&function = dlsym(library, name);
    const char *text = function != NULL ? function() : NULL;
    if (text != NULL)
        add(lines, key, "%.*s", MAX_VERSION, text);
}

/* MKL is a layer of several libraries; which of them is needed by which, the program decides. */
static void add_mkl(struct lines *lines) {
    char text[MAX_VERSION] = "";
    void (*function)(char *, int);
    *(void **)&function = dlsym(RTLD_DEFAULT, "mkl_get_version_string");
    if (function == NULL)
        return;
    function(text, sizeof text - 1);
    add(lines, "blas_mkl", "%s", text);
}

static void add_versions(struct lines *lines, const char *file) {
    void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (strstr(file, "/libmkl") != NULL)
        add_mkl(lines);
    if (library == NULL)
        return;
    add_text(lines, "blas_openblas", library, "openblas_get_config");
    add_text(lines, "blas_blis", library, "bli_info_get_version_str");
    dlclose(library);
}

/* Nothing where no BLAS function can be found: there is none, or it is part of the program. */
void add_blas(struct lines *lines) {
    const char *names[] = {"dgemm_", "cblas_dgemm", "dgemm"};
    const void *function = NULL;
    char path[PATH_LENGTH];
    for (size_t i = 0; i < sizeof names / sizeof *names && function == NULL; i++)
        function = dlsym(RTLD_DEFAULT, names[i]);
    const char *file = file_of(function);
    if (file == NULL)
        return;
    /* Debian's alternatives: libblas.so.3 is a link to one of several libraries. */
    add(lines, "blas", "%s", realpath(file, path) != NULL ? path : file);
    add_build_id(lines, "blas_build_id", function);
    add_versions(lines, file);
}
