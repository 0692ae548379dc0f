#define _GNU_SOURCE
#include "lines.h"

#include "folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void add(struct lines *lines, const char *key, const char *format, ...) {
    char value[PATH_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof value)
        return;
    for (char *c = value; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?'; /* a value never starts a line of its own */
    size_t room = sizeof lines->text - lines->length;
    int written = snprintf(lines->text + lines->length, room, "rank %s %s.%s=%s\n", lines->rank,
                           lines->moment, key, value);
    if (written > 0 && (size_t)written < room)
        lines->length += (size_t)written;
}

void one_line(char *text) {
    for (char *c = text; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
}

bool read_text(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "re");
    text[file != NULL ? fread(text, 1, size - 1, file) : 0] = '\0';
    if (file != NULL)
        fclose(file);
    return *text != '\0';
}

bool read_line(const char *path, char *text, size_t size) {
    bool is_read = read_text(path, text, size);
    text[strcspn(text, "\n")] = '\0';
    return is_read;
}

void append(const char *path, const struct lines *lines) {
    enum { FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC };
    int file = open(path, FLAGS, 0644);
    if (file < 0 && errno == ENOENT && make_folder_of(path))
        file = open(path, FLAGS, 0644);
    if (file < 0)
        return;
    for (size_t done = 0; done < lines->length;) {
        ssize_t n = write(file, lines->text + done, lines->length - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(file);
}
