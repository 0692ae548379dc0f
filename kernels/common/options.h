/* Command line: one table of options serves parsing and --help. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Converts text into *target; false if it is not such a value. */
typedef bool option_parser(const char *text, void *target);

/* Not "option": getopt.h defines that, and SimGrid's smpicc includes it everywhere. */
struct kernel_option {
    const char *name;     /* "--min-size" */
    const char *argument; /* "SIZE"; NULL for a flag, which sets the bool at target */
    const char *help;
    const char *expected; /* completes "'x' is not ..." */
    option_parser *parse;
    void *target;
};

struct common_options {
    size_t min_size, max_size; /* bytes per rank; only for kernels that sweep sizes */
    double budget;             /* seconds for the whole run */
    uint64_t seed;
    bool help;
};

option_parser parse_any_size; /* size_t: 0, 1000, 64KiB, 4MiB, 1GiB */
option_parser parse_size;     /* the same, a power of two */
option_parser parse_seconds;  /* double, > 0, at most a day */
option_parser parse_seed;     /* uint64_t, decimal */
option_parser parse_text;     /* const char *, not empty */

/* The command line of one kernel. */
struct command_line {
    const char *kernel, *purpose;
    bool sweeps; /* offers --min-size, --max-size and --size */
    double default_budget;
    const struct kernel_option *further;
};

/* Parses the command line; false and a reason on error. */
bool parse_options(int argc, char **argv, const struct command_line *line,
                   struct common_options *common, char *why, size_t why_length);

/* Prints --help: usage, the further options, the common ones with their defaults. */
void print_help(const struct command_line *line);

#endif
