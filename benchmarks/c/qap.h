/*
 * Quadratic assignment problems in the format of QAPLIB, and permutations. NUMBER, the type of flows,
 * distances and costs, must be defined before.
 */
#ifndef QAP_H
#define QAP_H

#include <errno.h>

#include "common.h"
#include "random.h"

typedef NUMBER Number;

#define LARGEST (sizeof(Number) == sizeof(int) ? INT_MAX : LONG_MAX)

typedef struct {
    size_t n;
    Number *a, *b;
    int symmetric;        /* both */
} Problem;

static int larger(const void *one, const void *other)
{
    Number x = *(const Number *)one, y = *(const Number *)other;
    return (x > y) - (x < y);
}

/*
 * No cost is above the product of both matrices in ascending order. Sixteen times the largest single product
 * on top of it leaves room for all that is computed on the way to a difference of costs.
 */
static void check_range(const Problem *problem)
{
    size_t size = problem->n * problem->n;
    Number *a = allocate(size, sizeof *a), *b = allocate(size, sizeof *b);
    double bound;

    memcpy(a, problem->a, size * sizeof *a);
    memcpy(b, problem->b, size * sizeof *b);
    qsort(a, size, sizeof *a, larger);
    qsort(b, size, sizeof *b, larger);
    bound = 16.0 * (double)a[size - 1] * (double)b[size - 1];
    for (size_t k = 0; k < size; k++)
        bound += (double)a[k] * (double)b[k];
    if (bound > 0.999999 * (double)LARGEST)
        die("costs may overflow; if compiled for int, compile with -DNUMBER=long");
    free(a);
    free(b);
}

static Number *read_matrix(size_t n, FILE *file)
{
    Number *matrix = allocate(n * n, sizeof *matrix);

    for (size_t k = 0; k < n * n; k++) {
        long value;
        if (fscanf(file, "%ld", &value) != 1)
            die("the file ends too early, or has something other than numbers");
        if (value < 0 || value > LARGEST)
            die("flows and distances must be non-negative and fit in the type of numbers");
        matrix[k] = (Number)value;
    }
    return matrix;
}

static int is_symmetric(const Number *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (matrix[i * n + k] != matrix[k * n + i])
                return 0;
    return 1;
}

static Problem read_problem(const char *name)
{
    FILE *file = fopen(name, "r");
    Problem problem;
    long n;
    char rest;

    if (file == NULL)
        die("cannot open the file");
    if (fscanf(file, "%ld", &n) != 1 || n < 2 || n > 10000)
        die("the file must begin with a size from 2 to 10000");
    problem.n = (size_t)n;
    problem.a = read_matrix(problem.n, file);
    problem.b = read_matrix(problem.n, file);
    if (fscanf(file, " %c", &rest) == 1)
        die("the file is too long");
    fclose(file);
    check_range(&problem);
    problem.symmetric = is_symmetric(problem.a, problem.n) && is_symmetric(problem.b, problem.n);
    return problem;
}

/* What the cost changes by if positions r and s are exchanged. */
static Number difference(const Problem *problem, const int *p, size_t r, size_t s)
{
    size_t n = problem->n, pr = (size_t)p[r], ps = (size_t)p[s];
    const Number *a = problem->a, *b = problem->b;
    Number change = (a[r * n + r] - a[s * n + s]) * (b[ps * n + ps] - b[pr * n + pr])
                    + (a[r * n + s] - a[s * n + r]) * (b[ps * n + pr] - b[pr * n + ps]);

    for (size_t k = 0; k < n; k++)
        if (k != r && k != s) {
            size_t pk = (size_t)p[k];
            change += (a[r * n + k] - a[s * n + k]) * (b[ps * n + pk] - b[pr * n + pk])
                      + (a[k * n + r] - a[k * n + s]) * (b[pk * n + ps] - b[pk * n + pr]);
        }
    return change;
}

static void exchange(int *p, size_t i, size_t k)
{
    int kept = p[i];
    p[i] = p[k];
    p[k] = kept;
}

static void shuffle(int *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (int)i;
    for (size_t i = n - 1; i > 0; i--)
        exchange(p, i, below(i + 1));
}

static long integer(const char *text, long smallest, long largest)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < smallest || value > largest)
        die("an argument is not a number in its range");
    return value;
}

static void print_permutation(const int *p, size_t n)
{
    printf("\"permutation\": [");
    for (size_t k = 0; k < n; k++)
        printf("%s%d", k > 0 ? ", " : "", p[k]);
    printf("]}\n");
}

#endif
