#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static long rows;

/* Some libraries make stdout line-buffered in MPI_Init. Then the launcher, which passes each line
 * on, takes up to a tenth of a CPU from the ranks. */
static char waiting_lines[1 << 16];

void output_begin(const char *kernel) {
    setvbuf(stdout, waiting_lines, _IOFBF, sizeof waiting_lines);
    printf("#mpicampaign-kernel 1\n");
    output_header("kernel", "%s", kernel);
}

void output_header(const char *key, const char *format, ...) {
    char value[3900]; /* readers need not take longer lines */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    for (char *c = value; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    printf("#@%s=%s\n", key, value);
}

void output_row(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    rows++;
}

bool output_has_rows(void) { return rows > 0; }

void text_append(char *text, size_t size, const char *separator, const char *format, ...) {
    size_t end = strlen(text);
    if (end > 0)
        end += (size_t)snprintf(text + end, size - end, "%s", separator);
    if (end >= size)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + end, size - end, format, arguments);
    va_end(arguments);
}

bool output_end(const char *status) {
    printf("#@end rows=%ld status=%s\n", rows, status);
    return fflush(stdout) == 0 && !ferror(stdout);
}
