/* Messages between all pairs of ranks before anything is timed. */
#ifndef PAIR_WARM_UP_H
#define PAIR_WARM_UP_H

/* Each pair exchanges 8 B 1,000 times, all pairs at once in rounds, or fewer times where so many
 * seconds are spent: some MPI libraries give two ranks their fastest path only after some hundred
 * messages between them. The number of exchanges of each pair. Collective. */
int pair_warm_up(double seconds);

/* A header line that says so; fraction: of the budget. */
void pair_warm_up_describe(double fraction);

#endif
