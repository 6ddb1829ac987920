/*
 * The choice of a tabu search that flips one variable a step.
 */
#ifndef TABU_H
#define TABU_H

#include "common.h"

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

#endif
