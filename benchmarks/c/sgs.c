/*
 * Sequential Systolic Genetic Search, flavour SGS_B (Pedemonte, Luna and Alba, 2014, Algorithm 1),
 * written plainly: one byte per bit, children assembled with memcpy, each child evaluated in full,
 * two memory spaces. It is the reference that the benchmarks compare against, in time and bit by bit.
 *
 *     sgs input.bin output.bin
 *
 * Input (int64 little endian, read as they come, so the machine must be little endian too; and bytes):
 *     problem (0 knapsack, 1 MMDP), l, tau, steps;
 *     knapsack only: capacity, l profits, l weights;
 *     the solutions moving horizontally, l*tau times l bytes of 0 or 1, cell (i, j) at index i*l + j;
 *     the solutions moving vertically, in the same layout.
 * Output: int64 fitness of the horizontal then of the vertical solutions, in cell order, followed by
 *     the horizontal then the vertical solutions, each where it stands after the last step.
 * Standard output: one line of JSON. "checksum" is the 64-bit FNV-1a hash of the output's solutions.
 *
 * Conventions where the paper leaves room:
 *   - Points are 1-based. With c1 < c2 after the swap, the parents exchange positions c1 .. c2-1, that
 *     is the half-open range [c1-1, c2-1) counted from zero.
 *   - Eq. 1 can give l+1: in the last column of the last row when l is odd, because j-1 is then twice
 *     floor(l/2), and in the second half of the last row for l = 4 and l = 6. The first point therefore
 *     wraps as 1 + ((F-1) mod l), as Eq. 2 does for the second. The two never coincide for l >= 3.
 *   - The mutation point flips one bit, the same position, in both children.
 *   - A child replaces the solution of its own stream only when it is strictly better.
 *   - MMDP fitness is an integer, in millionths.
 */
#define _POSIX_C_SOURCE 200809L

#define PROGRAM "sgs"
#include "bits.h"

typedef struct {
    size_t l;
    long long capacity;
    int *profits;
    int *weights;
} Problem;

typedef long long (*Evaluate)(const Problem *problem, const Bit *x);

typedef struct {
    Bit *h, *v;           /* solutions, cell after cell */
    int64_t *fh, *fv;     /* their fitness */
} Population;

typedef struct {
    size_t from, to;      /* exchanged range, from zero, half open */
    size_t flip;          /* mutated position, from zero */
    size_t next_h, next_v;
} Cell;

static int *read_ints(size_t count, FILE *file)
{
    int *values = allocate(count, sizeof *values);
    for (size_t k = 0; k < count; k++) {
        int64_t value = read_int64(file);
        if (value < 0 || value > INT_MAX)
            die("profits and weights must fit in a non-negative int");
        values[k] = (int)value;
    }
    return values;
}

/* Profit, minus the capacity for each unit of excess weight (Eq. 5). */
static long long evaluate_knapsack(const Problem *problem, const Bit *x)
{
    const int *profits = problem->profits;
    const int *weights = problem->weights;
    long long profit = 0, weight = 0;

    for (size_t k = 0; k < problem->l; k++) {
#ifdef BRANCH /* the loop most people write; on random bits it is mispredicted half the time */
        if (x[k]) {
            profit += profits[k];
            weight += weights[k];
        }
#else /* as in Eq. 4; gcc makes vector code of it */
        profit += x[k] * profits[k];
        weight += x[k] * weights[k];
#endif
    }
    if (weight > problem->capacity)
        profit -= (weight - problem->capacity) * problem->capacity;
    return profit;
}

/* Sum over the blocks of six bits of Table 2, by the number of ones, in millionths. */
static long long evaluate_mmdp(const Problem *problem, const Bit *x)
{
    static const long long value[7] = {1000000, 0, 360384, 640576, 360384, 0, 1000000};
    long long fitness = 0;

    for (size_t k = 0; k < problem->l; k += 6)
        fitness += value[x[k] + x[k + 1] + x[k + 2] + x[k + 3] + x[k + 4] + x[k + 5]];
    return fitness;
}

/* Operators and destinations of every cell; i and j count from zero here, from one in the paper. */
static Cell *build_cells(size_t l, size_t tau)
{
    Cell *cells = allocate(l * tau, sizeof *cells);

    for (size_t i = 0; i < tau; i++) {
        for (size_t j = 0; j < l; j++) {
            Cell *cell = &cells[i * l + j];
            size_t shift = (l / tau) * i + (j / (l / 2)) * (l / (2 * tau));
            size_t first = 1 + (1 + shift) % l;                  /* Eq. 1, wrapped */
            size_t second = 1 + (3 + shift + j % (l / 2)) % l;   /* Eq. 2 */

            if (second < first) {
                size_t swap = first;
                first = second;
                second = swap;
            }
            cell->from = first - 1;
            cell->to = second - 1;
            cell->flip = (i * (l / tau) + j) % l;                /* Eq. 3 */

            /* Right, then the first column of the next row; down, then the first row of the next
               column; the last cell sends both to the first one. */
            if (j + 1 < l)
                cell->next_h = i * l + j + 1;
            else
                cell->next_h = ((i + 1) % tau) * l;
            if (i + 1 < tau)
                cell->next_v = (i + 1) * l + j;
            else
                cell->next_v = (j + 1) % l;
        }
    }
    return cells;
}

static Population allocate_population(size_t cells, size_t l)
{
    Population population;
    population.h = allocate(cells, l);
    population.v = allocate(cells, l);
    population.fh = allocate(cells, sizeof *population.fh);
    population.fv = allocate(cells, sizeof *population.fv);
    return population;
}

/* One systolic step: every cell reads from `old` and writes to its next cells in `new`. */
/* The child if it is strictly better; the fitness of what is kept. */
static inline int64_t keep_better(Bit *target, const Bit *child, int64_t fitness, const Bit *old, int64_t old_fitness,
                                  size_t l)
{
    memcpy(target, fitness > old_fitness ? child : old, l);
    return fitness > old_fitness ? fitness : old_fitness;
}

static void step(const Problem *problem, Evaluate evaluate, const Cell *cells, size_t count,
                 const Population *old, Population *new, Bit *child_h, Bit *child_v)
{
    size_t l = problem->l;

    for (size_t c = 0; c < count; c++) {
        const Cell *cell = &cells[c];
        const Bit *h = old->h + c * l;
        const Bit *v = old->v + c * l;
        size_t from = cell->from, to = cell->to;
        Bit *target_h = new->h + cell->next_h * l;
        Bit *target_v = new->v + cell->next_v * l;
        long long fitness_h, fitness_v;

        memcpy(child_h, h, from);
        memcpy(child_h + from, v + from, to - from);
        memcpy(child_h + to, h + to, l - to);
        memcpy(child_v, v, from);
        memcpy(child_v + from, h + from, to - from);
        memcpy(child_v + to, v + to, l - to);

        child_h[cell->flip] ^= 1;
        child_v[cell->flip] ^= 1;

        fitness_h = evaluate(problem, child_h);
        fitness_v = evaluate(problem, child_v);

        new->fh[cell->next_h] = keep_better(target_h, child_h, fitness_h, h, old->fh[c], l);
        new->fv[cell->next_v] = keep_better(target_v, child_v, fitness_v, v, old->fv[c], l);
    }
}

static uint64_t fnv1a(uint64_t hash, const Bit *bytes, size_t count)
{
    for (size_t k = 0; k < count; k++)
        hash = (hash ^ bytes[k]) * UINT64_C(0x100000001b3);
    return hash;
}

int main(int argc, char **argv)
{
    Problem problem = {0, 0, NULL, NULL};
    Evaluate evaluate;
    Population old, new;
    Cell *cells;
    Bit *child_h, *child_v;
    FILE *file = open_input(argc, argv);
    int64_t kind, l, tau, steps, best;
    size_t count;
    double began, seconds;
    uint64_t checksum;

    kind = read_int64(file);
    l = read_int64(file);
    tau = read_int64(file);
    steps = read_int64(file);
    if (kind != 0 && kind != 1)
        die("the problem must be 0 (knapsack) or 1 (MMDP)");
    if (l < 3 || l > 1000000 || tau < 1 || tau > l || steps < 0)
        die("the sizes must be 3 <= l <= 1000000, 1 <= tau <= l and 0 <= steps");
    problem.l = (size_t)l;
    count = (size_t)l * (size_t)tau;

    if (kind == 0) {
        problem.capacity = read_int64(file);
        problem.profits = read_ints(problem.l, file);
        problem.weights = read_ints(problem.l, file);
        evaluate = evaluate_knapsack;
    } else {
        if (l % 6 != 0)
            die("the length of an MMDP solution must be a multiple of six");
        evaluate = evaluate_mmdp;
    }
    cells = build_cells(problem.l, (size_t)tau);
    old = allocate_population(count, problem.l);
    new = allocate_population(count, problem.l);
    child_h = allocate(problem.l, 1);
    child_v = allocate(problem.l, 1);
    read_bits(old.h, count * problem.l, file);
    read_bits(old.v, count * problem.l, file);
    close_input(file);

    began = now();
    for (size_t c = 0; c < count; c++) {
        old.fh[c] = evaluate(&problem, old.h + c * problem.l);
        old.fv[c] = evaluate(&problem, old.v + c * problem.l);
    }
    for (int64_t t = 0; t < steps; t++) {
        Population swap;
        step(&problem, evaluate, cells, count, &old, &new, child_h, child_v);
        swap = old;
        old = new;
        new = swap;
    }
    seconds = now() - began;

    best = old.fh[0];
    for (size_t c = 0; c < count; c++) {
        if (old.fh[c] > best)
            best = old.fh[c];
        if (old.fv[c] > best)
            best = old.fv[c];
    }
    checksum = fnv1a(UINT64_C(0xcbf29ce484222325), old.h, count * problem.l);
    checksum = fnv1a(checksum, old.v, count * problem.l);

    file = create_output(argv);
    write_exactly(old.fh, sizeof *old.fh, count, file);
    write_exactly(old.fv, sizeof *old.fv, count, file);
    write_exactly(old.h, problem.l, count, file);
    write_exactly(old.v, problem.l, count, file);
    close_output(file);

    printf("{\"seconds\": %.9f, \"best\": %" PRId64 ", \"steps\": %" PRId64
           ", \"checksum\": \"%016" PRIx64 "\"}\n",
           seconds, best, steps, checksum);
    return 0; /* the memory goes back with the process */
}
