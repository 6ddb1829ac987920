/*
 * Sequential Systolic Neighborhood Search (Algorithms 1 and 2 of its paper) on the multidimensional
 * knapsack, written plainly: one byte per decision, the copy of a cell's solution made with memcpy, two
 * memory spaces. It is the reference that the benchmarks compare against, in time and bit by bit.
 *
 *     sns input.bin output.bin
 *
 * Two programs come from this file:
 *     by default    profit and loads of every copy are computed from scratch, over all items;
 *     -DPARTIAL     they are those of the cell's solution, corrected for the section that was flipped
 *                   ("partial evaluation" in the paper); loads are kept beside each solution.
 * Each also with -DBRANCH, which writes the choice in the inner loops with ?: instead of a multiplication;
 * which of the two is faster depends on the program and on the flags.
 *
 * Input (int64 little endian, read as they come, so the machine must be little endian too; and bytes):
 *     n, m, width, steps, moving (0 or 1);
 *     n profits, m times n weights, m capacities;
 *     the solutions, width*n times n bytes of 0 or 1, cell (i, j) at index i*n + j.
 * Output: int64 fitness of the solutions, in cell order, followed by the solutions, each where it stands
 *     after the last step.
 * Standard output: one line of JSON. "seconds" is the time of the steps alone.
 *
 * Conventions where the paper leaves room; rows, columns and steps count from zero here:
 *   - The mesh has n columns. With n rows, row i flips i+1 decisions (SNS); with lg n rows, rounded up,
 *     row i flips 2^i (SNSexp). No other width is accepted.
 *   - Cell (i, j) flips decisions j, j+1, ..., and goes on from decision 0 after the last.
 *   - A copy replaces its solution only when it is strictly better.
 *   - After each step all solutions move one column to the right in their row. With moving rows, after
 *     every n steps they also move down one row. Both wrap.
 *   - Fitness is that of Eq. 4 times the smallest positive weight, which makes it an integer.
 */
#define _POSIX_C_SOURCE 200809L

#define PROGRAM "sns"
#include "bits.h"

/* What an item adds to a sum, and what the flip of its decision to x changes there. */
#ifdef BRANCH
#define SHARE(x, value) ((x) ? (value) : 0)
#define CHANGE(x, value) ((x) ? (value) : -(value))
#else /* as in Eqs. 1 and 2 */
#define SHARE(x, value) ((x) * (value))
#define CHANGE(x, value) ((2 * (x) - 1) * (value))
#endif

typedef struct {
    size_t n, m;          /* items, constraints */
    int *profits;
    int *weights;         /* of item j under constraint i at i*n + j */
    int *capacities;
    int64_t scale;        /* smallest positive weight */
    int64_t penalty;      /* largest profit plus one */
} Problem;

typedef struct {
    Bit *x;               /* solutions, cell after cell */
    int64_t *fitness;
#ifdef PARTIAL
    int *profits;
    int *loads;           /* of each solution, m of them */
#endif
} Mesh;

static void read_ints(int *values, size_t count, FILE *file)
{
    for (size_t k = 0; k < count; k++) {
        int64_t value = read_int64(file);
        if (value < 0 || value > INT_MAX)
            die("profits, weights and capacities must fit in a non-negative int");
        values[k] = (int)value;
    }
}

/* All items together must fit in an int, so that no sum of some of them overflows. */
static void check_sum(const int *values, size_t count)
{
    int64_t sum = 0;

    for (size_t k = 0; k < count; k++)
        sum += values[k];
    if (sum > INT_MAX)
        die("the sum of the profits, or of the weights of a constraint, does not fit in an int");
}

static Problem read_problem(size_t n, size_t m, FILE *file)
{
    Problem problem;
    int largest = 0, smallest = 0; /* with zero for none yet */

    problem.n = n;
    problem.m = m;
    problem.profits = allocate(n, sizeof *problem.profits);
    problem.weights = allocate(m * n, sizeof *problem.weights);
    problem.capacities = allocate(m, sizeof *problem.capacities);
    read_ints(problem.profits, n, file);
    read_ints(problem.weights, m * n, file);
    read_ints(problem.capacities, m, file);

    check_sum(problem.profits, n);
    for (size_t i = 0; i < m; i++)
        check_sum(problem.weights + i * n, n);
    for (size_t k = 0; k < n; k++)
        if (problem.profits[k] > largest)
            largest = problem.profits[k];
    for (size_t k = 0; k < m * n; k++)
        if (problem.weights[k] > 0 && (smallest == 0 || problem.weights[k] < smallest))
            smallest = problem.weights[k];
    problem.penalty = (int64_t)largest + 1;
    problem.scale = smallest > 0 ? smallest : 1; /* where nothing weighs there is no excess */
    return problem;
}

static void free_problem(Problem *problem)
{
    free(problem->profits);
    free(problem->weights);
    free(problem->capacities);
}

/* Profit less the penalty for the largest excess (Eq. 4), times the scale. */
static int64_t fitness_of(const Problem *problem, int profit, const int *loads)
{
    int excess = 0;

    for (size_t i = 0; i < problem->m; i++)
        if (loads[i] - problem->capacities[i] > excess)
            excess = loads[i] - problem->capacities[i];
    return problem->scale * profit - problem->penalty * excess;
}

/* Profit of a solution; its loads go to `loads`. */
static int evaluate(const Problem *problem, const Bit *x, int *loads)
{
    size_t n = problem->n;
    int profit = 0;

    for (size_t k = 0; k < n; k++)
        profit += SHARE(x[k], problem->profits[k]);
    for (size_t i = 0; i < problem->m; i++) {
        const int *weights = problem->weights + i * n;
        int load = 0;
        for (size_t k = 0; k < n; k++)
            load += SHARE(x[k], weights[k]);
        loads[i] = load;
    }
    return profit;
}

#ifdef PARTIAL
/* What the profit gains by the flips of [from, to), now that they are made; the loads are corrected. */
static int reevaluate(const Problem *problem, const Bit *x, size_t from, size_t to, int *loads)
{
    int gain = 0;

    for (size_t k = from; k < to; k++)
        gain += CHANGE(x[k], problem->profits[k]);
    for (size_t i = 0; i < problem->m; i++) {
        const int *weights = problem->weights + i * problem->n;
        int load = loads[i];
        for (size_t k = from; k < to; k++)
            load += CHANGE(x[k], weights[k]);
        loads[i] = load;
    }
    return gain;
}
#endif

static void flip(Bit *x, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        x[k] = !x[k];
}

static Mesh allocate_mesh(const Problem *problem, size_t cells)
{
    Mesh mesh;
    mesh.x = allocate(cells, problem->n);
    mesh.fitness = allocate(cells, sizeof *mesh.fitness);
#ifdef PARTIAL
    mesh.profits = allocate(cells, sizeof *mesh.profits);
    mesh.loads = allocate(cells * problem->m, sizeof *mesh.loads);
#endif
    return mesh;
}

static void free_mesh(Mesh *mesh)
{
    free(mesh->x);
    free(mesh->fitness);
#ifdef PARTIAL
    free(mesh->profits);
    free(mesh->loads);
#endif
}

static void evaluate_mesh(const Problem *problem, Mesh *mesh, size_t cells, int *loads)
{
    for (size_t c = 0; c < cells; c++) {
        int profit = evaluate(problem, mesh->x + c * problem->n, loads);
        mesh->fitness[c] = fitness_of(problem, profit, loads);
#ifdef PARTIAL
        mesh->profits[c] = profit;
        memcpy(mesh->loads + c * problem->m, loads, problem->m * sizeof *loads);
#endif
    }
}

/* Decisions that each row flips. */
static size_t *build_counts(size_t n, size_t width)
{
    size_t *counts = allocate(width, sizeof *counts);

    for (size_t i = 0; i < width; i++)
        counts[i] = width == n ? i + 1 : (size_t)1 << i;
    return counts;
}

/* One systolic step: every cell reads from `old` and writes to its next cell in `new`. */
static void step(const Problem *problem, const size_t *counts, size_t width, int down,
                 const Mesh *old, Mesh *new, Bit *child, int *loads)
{
    size_t n = problem->n;

    for (size_t i = 0; i < width; i++) {
        size_t next_row = down ? (i + 1) % width : i;

        for (size_t j = 0; j < n; j++) {
            size_t c = i * n + j;
            size_t next = next_row * n + (j + 1) % n;
            const Bit *x = old->x + c * n;
            /* The section is [j, end) and, where it wraps, [0, rest) too. */
            size_t end = j + counts[i] < n ? j + counts[i] : n;
            size_t rest = j + counts[i] - end;
            int64_t fitness;
            int profit;

            memcpy(child, x, n);
            flip(child, j, end);
            flip(child, 0, rest);
#ifdef PARTIAL
            memcpy(loads, old->loads + c * problem->m, problem->m * sizeof *loads);
            profit = old->profits[c];
            profit += reevaluate(problem, child, j, end, loads);
            if (rest > 0)
                profit += reevaluate(problem, child, 0, rest, loads);
#else
            profit = evaluate(problem, child, loads);
#endif
            fitness = fitness_of(problem, profit, loads);

            if (fitness > old->fitness[c]) {
                memcpy(new->x + next * n, child, n);
                new->fitness[next] = fitness;
#ifdef PARTIAL
                new->profits[next] = profit;
                memcpy(new->loads + next * problem->m, loads, problem->m * sizeof *loads);
#endif
            } else {
                memcpy(new->x + next * n, x, n);
                new->fitness[next] = old->fitness[c];
#ifdef PARTIAL
                new->profits[next] = old->profits[c];
                memcpy(new->loads + next * problem->m, old->loads + c * problem->m,
                       problem->m * sizeof *loads);
#endif
            }
        }
    }
}

int main(int argc, char **argv)
{
    Problem problem;
    Mesh old, new;
    size_t *counts;
    Bit *child;
    int *loads;
    FILE *file = open_input(argc, argv);
    int64_t n, m, width, steps, moving, logarithm = 0, best;
    size_t cells;
    double began, seconds;

    n = read_int64(file);
    m = read_int64(file);
    width = read_int64(file);
    steps = read_int64(file);
    moving = read_int64(file);
    if (n < 2 || n > 1000000 || m < 1 || m > 1000000 || steps < 0)
        die("the sizes must be 2 <= n <= 1000000, 1 <= m <= 1000000 and 0 <= steps");
    while ((INT64_C(1) << logarithm) < n)
        logarithm++;
    if (width != n && width != logarithm)
        die("the width must be n, or its logarithm in base two, rounded up");
    if (moving != 0 && moving != 1)
        die("moving must be 0 or 1");
    cells = (size_t)width * (size_t)n;

    problem = read_problem((size_t)n, (size_t)m, file);
    counts = build_counts(problem.n, (size_t)width);
    old = allocate_mesh(&problem, cells);
    new = allocate_mesh(&problem, cells);
    child = allocate(problem.n, 1);
    loads = allocate(problem.m, sizeof *loads);
    read_bits(old.x, cells * problem.n, file);
    close_input(file);

    evaluate_mesh(&problem, &old, cells, loads);
    began = now();
    for (int64_t t = 1; t <= steps; t++) {
        Mesh swap;
        step(&problem, counts, (size_t)width, moving && t % n == 0, &old, &new, child, loads);
        swap = old;
        old = new;
        new = swap;
    }
    seconds = now() - began;

    best = old.fitness[0];
    for (size_t c = 0; c < cells; c++)
        if (old.fitness[c] > best)
            best = old.fitness[c];

    file = create_output(argv);
    write_exactly(old.fitness, sizeof *old.fitness, cells, file);
    write_exactly(old.x, problem.n, cells, file);
    close_output(file);

    printf("{\"seconds\": %.9f, \"best\": %" PRId64 ", \"steps\": %" PRId64 "}\n", seconds, best, steps);
    free(loads);
    free(child);
    free_mesh(&new);
    free_mesh(&old);
    free(counts);
    free_problem(&problem);
    return 0;
}
