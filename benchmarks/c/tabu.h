/*
 * What tabu searches that flip one variable a step have in common: the table of flips, the choice among them, and what
 * is told of the run.
 */
#ifndef TABU_H
#define TABU_H

#include "bits.h"
#include "common.h"

typedef struct {
    int32_t *gain;        /* of the flip of each variable */
    int32_t *until;       /* last step in which it is tabu */
    int32_t *allowed;     /* its gain if it may be flipped */
} Flips;

static Flips allocate_flips(size_t n)
{
    Flips flips;

    flips.gain = allocate(n, sizeof *flips.gain);
    flips.until = allocate(n, sizeof *flips.until);
    flips.allowed = allocate(n, sizeof *flips.allowed);
    return flips;
}

static void free_flips(Flips flips)
{
    free(flips.allowed);
    free(flips.until);
    free(flips.gain);
}

/* The variable to flip, or n if all are tabu, until the step that is given; one that gains enough may be flipped
 * nevertheless. What each would gain if it may is written. Two loops, of which the first has no branch, are far faster
 * than one that keeps both the largest gain and its variable. */
static size_t choose_flip(const int32_t *restrict gain, const int32_t *restrict until, int32_t *restrict allowed,
                          size_t n, int32_t step, int32_t enough)
{
    int32_t largest = INT_MIN;

    for (size_t i = 0; i < n; i++) {
        int32_t value = (until[i] < step) | (gain[i] >= enough) ? gain[i] : INT_MIN;
        allowed[i] = value;
        largest = value > largest ? value : largest;
    }
    if (largest == INT_MIN)
        return n;
    for (size_t i = 0;; i++)
        if (allowed[i] == largest)
            return i;
}

/* The best solution to the output; its value, the time, and n moves for each step to standard output. */
static void report_run(char **argv, const Bit *best, size_t n, int64_t value, int64_t steps, double seconds)
{
    FILE *file = create_output(argv);

    write_exactly(best, 1, n, file);
    close_output(file);
    printf("{\"seconds\": %.9f, \"best\": %" PRId64 ", \"steps\": %" PRId64 ", \"moves\": %" PRId64 "}\n", seconds,
           value, steps, steps * (int64_t)n);
}

#endif
