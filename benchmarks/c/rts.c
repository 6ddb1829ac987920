/*
 * Robust tabu search for the quadratic assignment problem (E. Taillard, Parallel Computing 17, 1991, 443-455),
 * sequential, with the parameters of its author: a facility may not return to a location for a time drawn from
 * 0.9 n to 1.1 n iterations, and an assignment not seen for 2 n^2 iterations is forced.
 *
 *     rts file iterations seed [target]
 *
 *     file          QAPLIB format: n, then A and B, row by row; cost(p) = sum of A[i][k] * B[p[i]][p[k]]
 *     target        stop as soon as a cost is not above it
 *
 * The gains of all exchanges are kept in a matrix. After a move, those that touch an exchanged position are
 * computed anew, in O(n) each, and the others brought up to date in O(1). If both matrices are symmetric, half
 * of the terms are left out.
 *
 * Two programs come from this file:
 *     by default    the update of each gain reads eight (sixteen) numbers of the matrices, as in the paper;
 *     -DHOIST       what depends on one position alone is computed once per move and position, ahead of the
 *                   loop over pairs, which can then be compiled to vector instructions.
 * -DNUMBER=int or -DNUMBER=long is the type of flows, distances, costs and iterations; long by default, as in
 * the program of the author.
 *
 * Standard output: one line of JSON. "seconds" is the time of the search, with the first matrix of gains;
 * "moves_per_second" counts n (n-1) / 2 moves per iteration; "found" is the iteration of the best solution.
 */
#define _POSIX_C_SOURCE 200809L

#ifndef NUMBER
#define NUMBER long
#endif

#define PROGRAM "rts"
#include "qap.h"

typedef struct {
    int *p;
    Number cost;
    Number *delta;        /* of the exchange of i and j, for i < j, at i*n + j */
    Number *tabu;         /* last iteration in which position i may not return to location k, at i*n + k */
    Number *row_a, *row_b, *column_a, *column_b; /* see update */
} Search;

static Number evaluate(const Problem *problem, const int *p)
{
    size_t n = problem->n;
    Number cost = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            cost += problem->a[i * n + k] * problem->b[(size_t)p[i] * n + (size_t)p[k]];
    return cost;
}

/* The same where both matrices are symmetric; r and s add nothing to the loop but what is taken off first. */
static Number symmetric_difference(const Problem *problem, const int *p, size_t r, size_t s)
{
    size_t n = problem->n, pr = (size_t)p[r], ps = (size_t)p[s];
    const Number *a_r = problem->a + r * n, *a_s = problem->a + s * n;
    const Number *b_r = problem->b + pr * n, *b_s = problem->b + ps * n;
    Number half = -(a_r[r] - a_s[r]) * (b_s[pr] - b_r[pr]) - (a_r[s] - a_s[s]) * (b_s[ps] - b_r[ps]);

    for (size_t k = 0; k < n; k++)
        half += (a_r[k] - a_s[k]) * (b_s[p[k]] - b_r[p[k]]);
    return 2 * half + (a_r[r] - a_s[s]) * (b_s[ps] - b_r[pr]);
}

static Number gain(const Problem *problem, const int *p, size_t i, size_t j)
{
    return problem->symmetric ? symmetric_difference(problem, p, i, j) : difference(problem, p, i, j);
}

/* The gains after the exchange of r and s, r < s, which is made already. */
#ifdef HOIST
static void update(const Problem *problem, Search *search, size_t r, size_t s)
{
    size_t n = problem->n, pr = (size_t)search->p[r], ps = (size_t)search->p[s];
    const Number *a = problem->a, *b = problem->b;
    Number *restrict row_a = search->row_a, *restrict row_b = search->row_b;
    Number *restrict column_a = search->column_a, *restrict column_b = search->column_b;

    for (size_t i = 0; i < n; i++) {
        size_t pi = (size_t)search->p[i];
        row_a[i] = a[r * n + i] - a[s * n + i];
        row_b[i] = b[ps * n + pi] - b[pr * n + pi];
        if (!problem->symmetric) {
            column_a[i] = a[i * n + r] - a[i * n + s];
            column_b[i] = b[pi * n + ps] - b[pi * n + pr];
        }
    }
    for (size_t i = 0; i + 1 < n; i++) {
        Number *restrict delta = search->delta + i * n;
        if (i == r || i == s)
            continue;
        if (problem->symmetric)
            for (size_t j = i + 1; j < n; j++)
                delta[j] += 2 * (row_a[i] - row_a[j]) * (row_b[i] - row_b[j]);
        else
            for (size_t j = i + 1; j < n; j++)
                delta[j] += (row_a[i] - row_a[j]) * (row_b[i] - row_b[j])
                            + (column_a[i] - column_a[j]) * (column_b[i] - column_b[j]);
    }
    for (size_t i = 0; i < n; i++) {
        if (i != r)
            search->delta[i < r ? i * n + r : r * n + i] = gain(problem, search->p, i, r);
        if (i != r && i != s)
            search->delta[i < s ? i * n + s : s * n + i] = gain(problem, search->p, i, s);
    }
}
#else
static void update(const Problem *problem, Search *search, size_t r, size_t s)
{
    size_t n = problem->n, pr = (size_t)search->p[r], ps = (size_t)search->p[s];
    const int *p = search->p;
    const Number *a = problem->a, *b = problem->b;
    const Number *a_r = a + r * n, *a_s = a + s * n, *b_r = b + pr * n, *b_s = b + ps * n;

    for (size_t i = 0; i + 1 < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            size_t pi = (size_t)p[i], pj = (size_t)p[j];
            Number *delta = search->delta + i * n + j;
            if (i == r || i == s || j == r || j == s)
                *delta = gain(problem, p, i, j);
            else if (problem->symmetric)
                *delta += 2 * (a_r[i] - a_r[j] + a_s[j] - a_s[i]) * (b_s[pi] - b_s[pj] + b_r[pj] - b_r[pi]);
            else
                *delta += (a_r[i] - a_r[j] + a_s[j] - a_s[i]) * (b_s[pi] - b_s[pj] + b_r[pj] - b_r[pi])
                          + (a[i * n + r] - a[j * n + r] + a[j * n + s] - a[i * n + s])
                            * (b[pi * n + ps] - b[pj * n + ps] + b[pj * n + pr] - b[pi * n + pr]);
        }
}
#endif

/*
 * The best move of an iteration goes to r and s; none if all are tabu. Moves that are aspired, by a cost below
 * the best or by an assignment not seen for long, go before all others.
 */
static int choose(const Search *search, size_t n, Number iteration, Number aspiration, Number best, size_t *r,
                  size_t *s)
{
    const int *p = search->p;
    Number smallest = (Number)LARGEST;
    int any_aspired = 0, any = 0;

    for (size_t i = 0; i + 1 < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            Number delta = search->delta[i * n + j];
            Number one = search->tabu[i * n + (size_t)p[j]], other = search->tabu[j * n + (size_t)p[i]];
            int authorised = one < iteration || other < iteration;
            int aspired = one < iteration - aspiration || other < iteration - aspiration
                          || search->cost + delta < best;

            if ((aspired && (!any_aspired || delta < smallest))
                || (!aspired && !any_aspired && authorised && delta < smallest)) {
                smallest = delta;
                *r = i;
                *s = j;
                any = 1;
                if (aspired)
                    any_aspired = 1;
            }
        }
    return any;
}

int main(int argc, char **argv)
{
    Problem problem;
    Search search;
    size_t n, shortest, longest;
    Number iterations, aspiration, iteration, best_cost, found = 0;
    int *best;
    long target;
    double began, seconds, moves;

    if (argc != 4 && argc != 5)
        die("usage: rts file iterations seed [target]");
    problem = read_problem(argv[1]);
    n = problem.n;
    iterations = (Number)integer(argv[2], 0, LARGEST - 2 * (long)n);
    seed_random((uint64_t)integer(argv[3], 0, LONG_MAX));
    target = argc == 5 ? integer(argv[4], LONG_MIN, LONG_MAX) : LONG_MIN;
    shortest = 9 * n / 10;
    longest = 11 * n / 10;
    aspiration = (Number)(2 * n * n);

    search.p = allocate(n, sizeof *search.p);
    search.delta = allocate(n * n, sizeof *search.delta);
    search.tabu = allocate(n * n, sizeof *search.tabu);
    search.row_a = allocate(n, sizeof *search.row_a);
    search.row_b = allocate(n, sizeof *search.row_b);
    search.column_a = allocate(n, sizeof *search.column_a);
    search.column_b = allocate(n, sizeof *search.column_b);
    best = allocate(n, sizeof *best);
    shuffle(search.p, n);

    began = now();
    search.cost = evaluate(&problem, search.p);
    for (size_t i = 0; i + 1 < n; i++)
        for (size_t j = i + 1; j < n; j++)
            search.delta[i * n + j] = gain(&problem, search.p, i, j);
    for (size_t k = 0; k < n * n; k++)
        search.tabu[k] = -(Number)k; /* none tabu, and not all forced in the same iteration later */
    best_cost = search.cost;
    memcpy(best, search.p, n * sizeof *best);

    for (iteration = 0; iteration < iterations && best_cost > target;) {
        size_t r = 0, s = 0;
        iteration++;
        if (!choose(&search, n, iteration, aspiration, best_cost, &r, &s))
            continue;
        search.tabu[r * n + (size_t)search.p[r]] = iteration + (Number)(shortest + below(longest - shortest + 1));
        search.tabu[s * n + (size_t)search.p[s]] = iteration + (Number)(shortest + below(longest - shortest + 1));
        exchange(search.p, r, s);
        search.cost += search.delta[r * n + s];
        if (search.cost < best_cost) {
            best_cost = search.cost;
            memcpy(best, search.p, n * sizeof *best);
            found = iteration;
        }
        update(&problem, &search, r, s);
    }
    seconds = now() - began;
    moves = (double)iteration * (double)n * (double)(n - 1) / 2;

    printf("{\"seconds\": %.9f, \"best\": %ld, \"iterations\": %ld, \"found\": %ld", seconds, (long)best_cost,
           (long)iteration, (long)found);
    printf(", \"moves_per_second\": %.1f, ", seconds > 0 ? moves / seconds : 0);
    print_permutation(best, n);

    free(best);
    free(search.column_b);
    free(search.column_a);
    free(search.row_b);
    free(search.row_a);
    free(search.tabu);
    free(search.delta);
    free(search.p);
    free(problem.a);
    free(problem.b);
    return 0;
}
