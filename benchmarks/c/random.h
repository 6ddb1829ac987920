/*
 * Random numbers, the same everywhere for the same seed.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include "common.h"

static uint64_t state;

/* splitmix64, so that seeds next to each other start far apart. */
static void seed_random(uint64_t seed)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    seed = (seed ^ (seed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ (seed >> 27)) * UINT64_C(0x94d049bb133111eb);
    state = seed ^ (seed >> 31);
    if (state == 0)
        state = 1;
}

/* xorshift64* */
static uint64_t next_random(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* In [0, bound), which is below 2^32. */
static size_t below(size_t bound)
{
    return (size_t)(((next_random() >> 32) * bound) >> 32);
}

#endif
