#include "tree/tree.h"

#include "pair/pair.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

const char TREE_TUNED[] = "tuned";

/* One direction is enough: the round trip includes the return. */
static const struct pair_timing HOW = {8, 2, 20, 3, 3};

/* Seconds for measuring, in addition to the run's budget: a fifth of it, at most 2 s. */
static double tuning_budget(const struct run *run) {
    return run->options.budget < 10 ? run->options.budget / 5 : 2;
}

/* Rank 0 has the matrix; all ranks get the groups. */
static void find_groups(struct tuning *tuning, const struct pair_matrix *matrix, int rank) {
    int counts[2] = {0, 0};
    if (rank == 0) {
        struct pair_classes classes;
        pair_classes_find(&classes, matrix->seconds, matrix->ranks);
        counts[0] = pair_groups(&classes, tuning->group_of);
        counts[1] = classes.count;
        pair_classes_free(&classes);
    }
    MPI_Bcast(counts, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(tuning->group_of, matrix->ranks, MPI_INT, 0, MPI_COMM_WORLD);
    tuning->groups = counts[0];
    tuning->classes = counts[1];
    tuning->pairs = matrix->pairs;
    tuning->measured = matrix->measured;
}

bool tree_tuned_make(struct tree *tree, struct tuning *tuning, const struct run *run,
                     char why[REASON_LENGTH]) {
    const struct topology *topology = &run->topology;
    struct pair_matrix matrix;
    char reason[120];
    bool tells = pairs_tell_classes(topology, reason, sizeof reason);
    snprintf(why, REASON_LENGTH, "--tree tuned %s: choose another tree", reason);
    if (!tells)
        return false;
    pair_warm_up(WARMUP_FRACTION * tuning_budget(run));
    pair_matrix_measure(&matrix, &HOW, false, tuning_budget(run), run->options.seed);
    tuning->group_of = allocate((size_t)topology->ranks * sizeof(int));
    find_groups(tuning, &matrix, topology->rank);
    bool correct = matrix.correct;
    pair_matrix_free(&matrix);
    tree_make(tree, "max-inter", topology->ranks, tuning->group_of, tuning->groups,
              run->options.seed);
    tree->name = TREE_TUNED;
    tuning->between_groups = tree->crossing;
    tree->crossing = tree_crossing(tree, topology->node_of);
    snprintf(why, REASON_LENGTH, "wrong data in the messages that --tree tuned measures");
    return correct;
}

/* The ranks of a group as spans: "0-21,44-65". */
static void group_text(const struct tuning *tuning, int ranks, int group, char *text,
                       size_t length) {
    text[0] = '\0';
    for (int rank = 0; rank < ranks; rank++) {
        int first = rank;
        while (rank < ranks && tuning->group_of[rank] == group)
            rank++;
        if (rank == first)
            continue;
        text_append(text, length, ",", "%d", first);
        if (rank - 1 > first)
            text_append(text, length, "", "-%d", rank - 1);
    }
}

/* Cut like all header lines if there are very many groups. */
static void describe_groups(const struct tuning *tuning, int ranks) {
    static char text[4000], all[4000];
    for (int group = 0; group < tuning->groups; group++) {
        group_text(tuning, ranks, group, text, sizeof text);
        text_append(all, sizeof all, " ", "%s", text);
    }
    output_header("tuned_groups", "%s", all);
}

void tree_tuned_describe(const struct tuning *tuning, const struct tree *tree) {
    char text[160];
    pair_timing_describe(&HOW, text, sizeof text);
    output_header("tuned_measured", "%ld of %ld pairs; %s", tuning->measured, tuning->pairs, text);
    output_header("tuned_classes", "%d", tuning->classes);
    describe_groups(tuning, tree->ranks);
    output_header("tuned_messages_between_groups", "%d/%d", tuning->between_groups,
                  tree->ranks - 1);
}
