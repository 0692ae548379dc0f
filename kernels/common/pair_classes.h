/* What a matrix of latencies says about the machine: classes of pairs, groups of ranks. No MPI.
 *
 * Matrices are [ranks][ranks], from * ranks + to. Seconds that are NAN were not measured. */
#ifndef PAIR_CLASSES_H
#define PAIR_CLASSES_H

enum { MAX_CLASSES = 5, CLASSES_MIN_RANKS = 4 };

/* A gap between classes: the slower class begins this many times later. On one socket the distance
 * of two cores alone spreads latencies by half; other sockets and nodes take twice and more. */
#define CLASS_GAP 1.25

struct pair_classes {
    int ranks, count;           /* class 0 is the fastest */
    int *class_of;              /* matrix, the same in both directions; -1: not measured */
    long pairs[MAX_CLASSES];    /* unordered pairs in each class */
    double median[MAX_CLASSES]; /* seconds; of a pair the faster direction counts */
};

/* Cuts the pairs at the largest gaps of log-latency. What disturbs a measurement makes it slower,
 * never faster: a slower class of fewer pairs than one rank takes part in cannot hold any rank
 * apart from the others and joins the next faster one. */
void pair_classes_find(struct pair_classes *classes, const double *seconds, int ranks);

void pair_classes_free(struct pair_classes *classes);

/* Groups of ranks that pairs of the fastest class connect, numbered in order of first appearance;
 * one group where there is one class. Fills group_of[ranks], returns how many there are. */
int pair_groups(const struct pair_classes *classes, int *group_of);

/* How close two ranks are by what the operating system says. */
enum pair_level { SAME_CORE, SAME_NUMA_NODE, SAME_SOCKET, OTHER_SOCKET, OTHER_NODE, PAIR_LEVELS };
extern const char *const PAIR_LEVEL_NAMES[PAIR_LEVELS];

/* How the classes agree with those levels: a pair agrees when its level is the one that most pairs
 * of its class have. */
struct pair_agreement {
    long known, agreeing; /* unordered pairs that have a class and a level; that agree */
    long pairs[MAX_CLASSES][PAIR_LEVELS];
};

/* level_of: matrix of enum pair_level, -1 where it is not known. */
void pair_agreement_count(const struct pair_classes *classes, const int *level_of,
                          struct pair_agreement *agreement);

#endif
