/* The raw output: header lines, rows, end line; written by rank 0 only. Format: docs/kernels.md. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Starts the output; must come first. */
void output_begin(const char *kernel);

/* One header line, #@key=value; line breaks in the value become spaces. */
void output_header(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One row, counted. */
void output_row(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether any row was printed. */
bool output_has_rows(void);

/* Appends to a text, after the separator unless the text is empty; cut at the text's size. */
void text_append(char *text, size_t size, const char *separator, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The end mark. False when some of the output could not be written, such as on a full disk. */
bool output_end(const char *status);

#endif
