/* The program that a rank became, and the MPI library that it mapped. */
#define _GNU_SOURCE
#include "checksum.h"
#include "early_libc.h"
#include "lines.h"

#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BUILD_ID = 64, MAX_VERSION = 8192, SHOWN_VERSION = 200, KEY_LENGTH = 160 };

/* The build-id in a note segment, as hexadecimal digits; empty where there is none. */
static void read_build_id(const char *note, size_t size, char text[2 * MAX_BUILD_ID + 1]) {
    const ElfW(Nhdr) * header;
    for (size_t at = 0; at + sizeof *header <= size;) {
        header = (const ElfW(Nhdr) *)(note + at);
        size_t name = (header->n_namesz + 3U) & ~3U, length = (header->n_descsz + 3U) & ~3U;
        const unsigned char *id = (const unsigned char *)(header + 1) + name;
        at += sizeof *header + name + length;
        if (at > size || header->n_type != NT_GNU_BUILD_ID || header->n_namesz != 4 ||
            memcmp(header + 1, "GNU", 4) != 0 || header->n_descsz > MAX_BUILD_ID)
            continue;
        for (size_t i = 0; i < header->n_descsz; i++)
            sprintf(text + 2 * i, "%02x", id[i]);
        return;
    }
}

struct build_id {
    uintptr_t address; /* of a function in the object */
    char text[2 * MAX_BUILD_ID + 1];
};

static int find_build_id(struct dl_phdr_info *object, size_t size, void *data) {
    struct build_id *wanted = data;
    bool inside = false;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        inside |= part->p_type == PT_LOAD && wanted->address >= start &&
                  wanted->address < start + part->p_memsz;
    }
    for (int i = 0; inside && i < object->dlpi_phnum && wanted->text[0] == '\0'; i++)
        if (object->dlpi_phdr[i].p_type == PT_NOTE)
            read_build_id((const char *)object->dlpi_addr + object->dlpi_phdr[i].p_vaddr,
                          object->dlpi_phdr[i].p_memsz, wanted->text);
    return inside;
}

/* Of what is mapped: the file may be replaced. */
void add_build_id(struct lines *lines, const char *key, const void *function) {
    struct build_id id = {.address = (uintptr_t)function};
    dl_iterate_phdr(find_build_id, &id);
    if (id.text[0] != '\0')
        add(lines, key, "%s", id.text);
}

const char *file_of(const void *function) {
    Dl_info info;
    bool is_found = function != NULL && dladdr != NULL && dladdr(function, &info) != 0;
    return is_found ? info.dli_fname : NULL;
}

/* What the library calls itself: `version` is its MPI_Get_library_version. */
static void add_version(struct lines *lines, const void *version) {
    char text[MAX_VERSION + 1] = "";
    int length = 0;
    int (*function)(char *, int *);
    *(const void **)&function = version;
    if (version == NULL || function(text, &length) != 0)
        return;
    text[strcspn(text, "\n")] = '\0';
    add(lines, "library_version", "%.*s", SHOWN_VERSION, text);
}

void add_program(struct lines *lines, const struct mpi *mpi) {
    char path[PATH_LENGTH];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) {
        path[length] = '\0';
        add(lines, "program", "%s", path);
    }
    if (file_of(mpi->init) != NULL) {
        add(lines, "library", "%s", file_of(mpi->init));
        add_build_id(lines, "library_build_id", mpi->init);
    }
    add_version(lines, mpi->version);
}

/* Names one state of a file on one host: a file that was written again has another one. */
static int file_key(int descriptor, char key[KEY_LENGTH]) {
    struct stat file;
    if (file_status(descriptor, &file) != 0 || !S_ISREG(file.st_mode))
        return 0;
    snprintf(key, KEY_LENGTH, "%llx-%llx-%llx-%llx.%09ld-%llx.%09ld",
             (unsigned long long)file.st_dev, (unsigned long long)file.st_ino,
             (unsigned long long)file.st_size, (unsigned long long)file.st_mtim.tv_sec,
             file.st_mtim.tv_nsec, (unsigned long long)file.st_ctim.tv_sec, file.st_ctim.tv_nsec);
    return 1;
}

/* FOLDER/HOST-KEY, where the checksum is kept for the next run on this host. */
static int kept_path(const char *key, char path[PATH_LENGTH]) {
    const char *folder = getenv("MPICAMPAIGN_CHECKSUMS");
    char host[256] = "";
    if (folder == NULL || *folder == '\0' || gethostname(host, sizeof host - 1) != 0)
        return 0;
    int length = snprintf(path, PATH_LENGTH, "%s/%s-%s", folder, host, key);
    return length > 0 && length < PATH_LENGTH;
}

/* Appears whole or not at all; where it cannot be kept the next run computes it again. */
static void keep(const char *path, const char *text) {
    char part[PATH_LENGTH + 32];
    snprintf(part, sizeof part, "%s.%ld", path, (long)getpid());
    int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    int whole = write(file, text, CHECKSUM_DIGITS) == CHECKSUM_DIGITS;
    if (close(file) != 0 || !whole || rename(part, path) != 0)
        unlink(part);
}

/* One rank of each node computes: MPICAMPAIGN_LOCAL_RANK is 0. */
bool computes(void) {
    const char *local_rank = getenv("MPICAMPAIGN_LOCAL_RANK");
    return local_rank != NULL && strcmp(local_rank, "0") == 0;
}

void add_checksum(struct lines *lines, const char *name, const char *file) {
    char field[64], key[KEY_LENGTH], path[PATH_LENGTH], text[CHECKSUM_DIGITS + 1] = "";
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (file_key(descriptor, key)) {
        snprintf(field, sizeof field, "%s_file", name);
        add(lines, field, "%s", key);
        snprintf(field, sizeof field, "%s_sha256", name);
        int kept = kept_path(key, path);
        if (computes() && kept && read_line(path, text, sizeof text) &&
            strspn(text, "0123456789abcdef") == CHECKSUM_DIGITS) {
            add(lines, field, "%s", text);
        } else if (computes() && sha256_of(read, descriptor, text)) {
            add(lines, field, "%s", text);
            if (kept)
                keep(path, text);
        }
    }
    close(descriptor);
}

void add_checksums(struct lines *lines, const struct mpi *mpi) {
    add_checksum(lines, "program", "/proc/self/exe");
    if (file_of(mpi->init) != NULL)
        add_checksum(lines, "library", file_of(mpi->init));
}
