#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SWEEP_COUNT = 3, COMMON_COUNT = 3 };

#define A_SIZE "a number of bytes such as 0, 1000, 64KiB or 4MiB"

/* Both ends of the sweep. */
static bool parse_only_size(const char *text, void *target) {
    struct common_options *options = target;
    bool parsed = parse_any_size(text, &options->min_size);
    options->max_size = options->min_size;
    return parsed;
}

/* The options of a sweep come first: the table of other kernels begins after them. */
static const struct kernel_option *
common_table(const struct kernel *kernel, struct common_options *to,
             struct kernel_option table[SWEEP_COUNT + COMMON_COUNT + 1]) {
    const struct kernel_option all[SWEEP_COUNT + COMMON_COUNT + 1] = {
        {"--min-size", "SIZE", "smallest block per rank, such as 0 or 64KiB (8)", A_SIZE,
         parse_any_size, &to->min_size},
        {"--max-size", "SIZE", "largest block per rank; sizes double up to it (4MiB)", A_SIZE,
         parse_any_size, &to->max_size},
        {"--size", "SIZE", "only blocks of this size", A_SIZE, parse_only_size, to},
        {"--budget", "SECONDS", "time for the whole run",
         "a number of seconds above 0, at most 86400", parse_seconds, &to->budget},
        {"--seed", "NUMBER", "seed of all that is random: keys, patterns, trees, rings (1)",
         "a whole number below 2^64", parse_seed, &to->seed},
        {"--help", NULL, "show this text", NULL, NULL, &to->help},
        {0}};
    memcpy(table, all, sizeof all);
    return kernel->measure == NULL ? table : table + SWEEP_COUNT;
}

static bool parse_whole(const char *text, uint64_t *value, char **end) {
    if (!isdigit((unsigned char)text[0]))
        return false; /* strtoull would accept a sign and spaces */
    errno = 0;
    *value = strtoull(text, end, 10);
    return errno == 0;
}

static uint64_t unit_factor(const char *unit) {
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {{"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].factor;
    return 0;
}

bool parse_any_size(const char *text, void *target) {
    uint64_t value;
    char *unit;
    if (!parse_whole(text, &value, &unit))
        return false;
    uint64_t factor = unit_factor(unit);
    if (factor == 0 || value > SIZE_MAX / factor)
        return false;
    *(size_t *)target = (size_t)(value * factor);
    return true;
}

bool parse_size(const char *text, void *target) {
    size_t size = 0;
    if (!parse_any_size(text, &size) || size == 0)
        return false;
    *(size_t *)target = size;
    return (size & (size - 1)) == 0;
}

bool parse_seconds(const char *text, void *target) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value <= 0 || value > 86400)
        return false;
    *(double *)target = value;
    return true;
}

bool parse_seed(const char *text, void *target) {
    char *end;
    uint64_t value;
    if (!parse_whole(text, &value, &end) || *end != '\0')
        return false;
    *(uint64_t *)target = value;
    return true;
}

bool parse_text(const char *text, void *target) {
    *(const char **)target = text;
    return *text != '\0';
}

static const struct kernel_option *find_option(const struct kernel_option *table,
                                               const char *name) {
    for (; table != NULL && table->name != NULL; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

bool parse_options(int argc, char **argv, const struct kernel *kernel,
                   struct common_options *common, char why[REASON_LENGTH]) {
    struct kernel_option room[SWEEP_COUNT + COMMON_COUNT + 1];
    *common = (struct common_options){8, (size_t)4 << 20, kernel->default_budget, 1, false};
    const struct kernel_option *table = common_table(kernel, common, room);
    for (int i = 1; i < argc; i++) {
        const struct kernel_option *option = find_option(table, argv[i]);
        if (option == NULL)
            option = find_option(kernel->options, argv[i]);
        if (option == NULL) {
            snprintf(why, REASON_LENGTH, "unknown option '%.80s'; --help lists the options",
                     argv[i]);
            return false;
        }
        if (option->argument == NULL) {
            *(bool *)option->target = true;
        } else if (i + 1 == argc) {
            snprintf(why, REASON_LENGTH, "%s needs a value: %s", option->name, option->expected);
            return false;
        } else if (!option->parse(argv[++i], option->target)) {
            snprintf(why, REASON_LENGTH, "%s: '%.80s' is not %s", option->name, argv[i],
                     option->expected);
            return false;
        }
    }
    if (common->min_size > common->max_size)
        snprintf(why, REASON_LENGTH, "--min-size is %zu B, larger than --max-size, %zu B",
                 common->min_size, common->max_size);
    return common->min_size <= common->max_size;
}

static void print_table(const struct kernel_option *table) {
    for (; table != NULL && table->name != NULL; table++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", table->name, table->argument ? table->argument : "");
        printf("  %-22s %s\n", left, table->help);
    }
}

void print_help(const struct kernel *kernel) {
    struct common_options unused;
    struct kernel_option room[SWEEP_COUNT + COMMON_COUNT + 1];
    const struct kernel_option *table = common_table(kernel, &unused, room);
    printf("usage: mpirun -n RANKS %s [options]\n\n%s\n\noptions (default):\n", kernel->name,
           kernel->purpose);
    print_table(kernel->options);
    print_table(table);
    printf("The default budget is %g s.\n", kernel->default_budget);
}
