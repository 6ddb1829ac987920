/*
 * Tabu search over the insertion neighbourhood of a permutation flowshop, written plainly: one thread, each
 * neighbour scheduled from its first changed position, as the sequential program of Luong, Melab and Talbi 2011.
 *
 *     flowshop file iterations tenure
 *
 *     file    n m; then for each job its due date and its m processing times; then the first order of jobs
 *     tenure  for how many iterations the order of two jobs that a move has turned around may not come back: that of
 *             the job that moved and the first that it passed
 *
 * Makespan, total tardiness and the number of tardy jobs are minimised by their sum. Neighbours: the job in
 * place i goes to place j, for all i and j but j = i (no change) and j = i - 1 (the same as i - 1 to i). The best
 * that is allowed is taken, the first of equals; a forbidden one is allowed if it is the best of the whole run.
 *
 * Standard output: one line of JSON. "seconds" is the time of the iterations alone; "sum" adds up what the
 * solutions of all iterations are worth, so that two programs that walk alike have the same.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int n, m;
static int *times, *due, *order, *neighbour, *front;
static int *heads;            /* (n + 1) rows of m: when machines get free after so many jobs */
static long *late, *tardy;    /* what was counted after so many jobs */
static long *until;

static void *take(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) {
        fprintf(stderr, "flowshop: out of memory\n");
        exit(1);
    }
    return p;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_number(FILE *file)
{
    int value;
    if (fscanf(file, "%d", &value) != 1) {
        fprintf(stderr, "flowshop: a number is missing\n");
        exit(1);
    }
    return value;
}

static void look_ahead(void)
{
    for (int t = 0; t < n; t++) {
        int job = order[t], at = 0;
        for (int k = 0; k < m; k++) {
            int free = heads[t * m + k];
            at = (at > free ? at : free) + times[job * m + k];
            heads[(t + 1) * m + k] = at;
        }
        late[t + 1] = late[t] + (at > due[job] ? at - due[job] : 0);
        tardy[t + 1] = tardy[t] + (at > due[job]);
    }
}

/* Whether a move brings back an order of two jobs that it must not: until[a * n + b] is for a before b. */
static int banned(int i, int j, long step)
{
    for (int k = i + 1; k <= j; k++)
        if (until[order[k] * n + order[i]] >= step)
            return 1;
    for (int k = j; k < i; k++)
        if (until[order[i] * n + order[k]] >= step)
            return 1;
    return 0;
}

/* What the neighbour is worth, from its first changed position on. */
static long schedule(int begin)
{
    long lateness = late[begin], number = tardy[begin];
    memcpy(front, heads + begin * m, (size_t)m * sizeof *front);
    for (int t = begin; t < n; t++) {
        int job = neighbour[t], at = 0;
        for (int k = 0; k < m; k++) {
            at = (at > front[k] ? at : front[k]) + times[job * m + k];
            front[k] = at;
        }
        if (at > due[job]) {
            lateness += at - due[job];
            number++;
        }
    }
    return front[m - 1] + lateness + number;
}

static void insert(int *jobs, int i, int j)
{
    int job = jobs[i];
    if (i < j)
        memmove(jobs + i, jobs + i + 1, (size_t)(j - i) * sizeof *jobs);
    else
        memmove(jobs + j + 1, jobs + j, (size_t)(i - j) * sizeof *jobs);
    jobs[j] = job;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: flowshop file iterations tenure\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "r");
    if (!file) {
        perror(argv[1]);
        return 1;
    }
    long iterations = atol(argv[2]), tenure = atol(argv[3]);
    n = read_number(file);
    m = read_number(file);
    times = take((size_t)n * m, sizeof *times);
    due = take(n, sizeof *due);
    order = take(n, sizeof *order);
    neighbour = take(n, sizeof *neighbour);
    front = take(m, sizeof *front);
    heads = take((size_t)(n + 1) * m, sizeof *heads);
    late = take(n + 1, sizeof *late);
    tardy = take(n + 1, sizeof *tardy);
    until = take((size_t)n * n, sizeof *until);
    for (int job = 0; job < n; job++) {
        due[job] = read_number(file);
        for (int k = 0; k < m; k++)
            times[job * m + k] = read_number(file);
    }
    for (int t = 0; t < n; t++)
        order[t] = read_number(file);
    fclose(file);

    look_ahead();
    memcpy(neighbour, order, (size_t)n * sizeof *order);
    long best = schedule(0), sum = 0;
    double began = now();
    for (long step = 1; step <= iterations; step++) {
        long most = 0;
        int found = 0, from = 0, to = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (j == i || j == i - 1)
                    continue;
                memcpy(neighbour, order, (size_t)n * sizeof *order);
                insert(neighbour, i, j);
                long worth = schedule(i < j ? i : j);
                if (found && worth >= most)
                    continue;
                if (worth >= best && banned(i, j, step))
                    continue;
                found = 1;
                most = worth;
                from = i;
                to = j;
            }
        if (found) {
            int before = from < to ? from : from - 1;
            until[order[before] * n + order[before + 1]] = step + tenure;
            insert(order, from, to);
            look_ahead();
            if (most < best)
                best = most;
            sum += most;
        }
    }
    double seconds = now() - began;
    printf("{\"seconds\": %.6f, \"iterations\": %ld, \"best\": %ld, \"sum\": %ld, \"order\": [", seconds, iterations, best,
           sum);
    for (int t = 0; t < n; t++)
        printf("%s%d", t ? ", " : "", order[t]);
    printf("]}\n");
    return 0;
}
