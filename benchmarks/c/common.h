/*
 * What all of these programs begin with: PROGRAM, a name for messages, must be defined before.
 */
#ifndef COMMON_H
#define COMMON_H

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *message)
{
    fprintf(stderr, PROGRAM ": %s\n", message);
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *p = malloc(count * size);
    if (p == NULL)
        die("out of memory");
    memset(p, 0, count * size); /* touch every page now, not inside the timed part */
    return p;
}

/* Seconds since some moment. */
static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
