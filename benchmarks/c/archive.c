/*
 * An archive of non-dominated vectors, as Pareto local search keeps it: straightforward and sequential. Each candidate is
 * compared with one member after the other; unless one dominates or equals it, the members that it dominates are
 * removed, and it is appended. All objectives are minimised.
 *
 *     archive input output rounds
 *
 *     input         64-bit numbers: members and candidates (how many); then their vectors, one after the other, as
 *                   numbers of the compiled type
 *     output        the vectors of the archive after all candidates
 *     rounds        how often to do it, each time from the same members
 *
 * -DNUMBER=int or -DNUMBER=long is the type of the numbers, int by default; -DOBJECTIVES=3 how many a vector has.
 *
 * Standard output: one line of JSON. "seconds" has the time of each round, "members" how many there are at the end.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef NUMBER
#define NUMBER int
#endif
#ifndef OBJECTIVES
#define OBJECTIVES 3
#endif

typedef struct {
    NUMBER value[OBJECTIVES];
} Vector;

static void die(const char *message)
{
    fprintf(stderr, "archive: %s\n", message);
    exit(1);
}

static Vector *allocate(size_t count)
{
    Vector *p = malloc(count * sizeof *p + 1);
    if (p == NULL)
        die("out of memory");
    memset(p, 0, count * sizeof *p); /* touch every page now, not inside the timed part */
    return p;
}

/* Dominates or equals. */
static int covers(const Vector *a, const Vector *b)
{
    for (int d = 0; d < OBJECTIVES; d++)
        if (a->value[d] > b->value[d])
            return 0;
    return 1;
}

static size_t insert(Vector *archive, size_t members, const Vector *candidate)
{
    size_t kept = 0;

    for (size_t i = 0; i < members; i++)
        if (covers(&archive[i], candidate))
            return members;
    for (size_t i = 0; i < members; i++)
        if (!covers(candidate, &archive[i]))
            archive[kept++] = archive[i];
    archive[kept] = *candidate;
    return kept + 1;
}

int main(int argc, char **argv)
{
    int64_t sizes[2];
    size_t m, c, members = 0;
    Vector *start, *candidates, *archive;
    FILE *file;
    long rounds;

    if (argc != 4 || (rounds = strtol(argv[3], NULL, 10)) < 1)
        die("usage: archive input output rounds");
    file = fopen(argv[1], "rb");
    if (file == NULL || fread(sizes, sizeof *sizes, 2, file) != 2 || sizes[0] < 0 || sizes[1] < 0)
        die("cannot read the sizes");
    m = (size_t)sizes[0];
    c = (size_t)sizes[1];
    start = allocate(m);
    candidates = allocate(c);
    archive = allocate(m + c);
    if (fread(start, sizeof *start, m, file) != m || fread(candidates, sizeof *candidates, c, file) != c)
        die("the input ends too early");
    fclose(file);

    printf("{\"seconds\": [");
    for (long round = 0; round < rounds; round++) {
        struct timespec begin, end;
        memcpy(archive, start, m * sizeof *start);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        members = m;
        for (size_t i = 0; i < c; i++)
            members = insert(archive, members, &candidates[i]);
        clock_gettime(CLOCK_MONOTONIC, &end);
        printf("%s%.9f", round == 0 ? "" : ", ",
               (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    }
    printf("], \"members\": %zu}\n", members);

    file = fopen(argv[2], "wb");
    if (file == NULL || fwrite(archive, sizeof *archive, members, file) != members || fclose(file) != 0)
        die("cannot write the output");
    return 0;
}
