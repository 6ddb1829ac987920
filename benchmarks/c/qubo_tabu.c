/*
 * One-flip tabu search on a dense quadratic binary problem, which is maximised: sequential, from a random solution,
 * with a table of the gains of all flips. In each step the best flip is made that is not tabu, or that leads to the
 * best value so far; the variable is tabu for n/10 + 0..9 steps; and the gains of all variables are brought up to date.
 *
 *     qubo_tabu input.bin output.bin
 *
 * Input (int64 little endian, as the machine must be): n, steps, seed; then the symmetric matrix, row by row.
 * Output: the best solution, n bytes of 0 or 1.
 * Standard output: one line of JSON. "seconds" is the time of the steps alone; each step weighs n "moves".
 *
 * Matrix and gains are of 32 bits, so that vector instructions hold many of them.
 */
#define _POSIX_C_SOURCE 200809L

#define PROGRAM "qubo_tabu"
#include "random.h"
#include "tabu.h"

typedef struct {
    size_t n;
    int32_t *pairs;       /* what both variables of a pair add together; 0 on the diagonal */
    int32_t *single;      /* the diagonal */
} Problem;

typedef struct {
    int32_t *sign;        /* 1 for a variable that is 0, and -1 for one that is 1 */
    Flips flips;
} Search;

static Problem read_problem(size_t n, FILE *file)
{
    Problem problem;

    problem.n = n;
    problem.pairs = allocate(n * n, sizeof *problem.pairs);
    problem.single = allocate(n, sizeof *problem.single);
    for (size_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (size_t j = 0; j < n; j++) {
            int64_t value = read_int64(file);
            if (value < -INT_MAX / 4 || value > INT_MAX / 4)
                die("an entry of the matrix is too large");
            sum += 2 * (value < 0 ? -value : value);
            if (i == j)
                problem.single[i] = (int32_t)value;
            else
                problem.pairs[i * n + j] = (int32_t)(2 * value);
        }
        if (sum > INT_MAX / 2)
            die("the gain of a flip may overflow");
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (problem.pairs[i * n + j] != problem.pairs[j * n + i])
                die("the matrix must be symmetric");
    return problem;
}

/* The value of the solution; the gains of all flips are written. */
static int64_t evaluate(const Problem *problem, Search *search)
{
    size_t n = problem->n;
    int64_t value = 0;

    for (size_t i = 0; i < n; i++) {
        const int32_t *row = problem->pairs + i * n;
        int32_t others = 0;
        for (size_t j = 0; j < n; j++)
            others += search->sign[j] < 0 ? row[j] : 0;
        search->flips.gain[i] = search->sign[i] * (problem->single[i] + others);
        if (search->sign[i] < 0)
            value += problem->single[i] + others / 2; /* each pair is met twice; others is even */
    }
    return value;
}

static void flip(const Problem *problem, Search *search, size_t chosen)
{
    size_t n = problem->n;
    const int32_t *restrict row = problem->pairs + chosen * n, *restrict sign = search->sign;
    int32_t *restrict gain = search->flips.gain;
    int32_t added = search->sign[chosen]; /* 1 if the variable becomes 1 */

    for (size_t j = 0; j < n; j++)
        gain[j] += added * sign[j] * row[j];
    gain[chosen] = -gain[chosen];
    search->sign[chosen] = -added;
}

int main(int argc, char **argv)
{
    Problem problem;
    Search search;
    Bit *best;
    FILE *file = open_input(argc, argv);
    int64_t size, steps, value, record;
    double began, seconds;
    size_t n;

    size = read_int64(file);
    steps = read_int64(file);
    if (size < 2 || size > 100000 || steps < 0 || steps > INT_MAX / 2)
        die("the sizes must be 2 <= n <= 100000 and 0 <= steps < 2^30");
    seed_random((uint64_t)read_int64(file));
    n = (size_t)size;
    problem = read_problem(n, file);
    close_input(file);

    search.sign = allocate(n, sizeof *search.sign);
    search.flips = allocate_flips(n);
    best = allocate(n, 1);
    for (size_t i = 0; i < n; i++)
        search.sign[i] = below(2) ? -1 : 1;
    value = record = evaluate(&problem, &search);
    for (size_t i = 0; i < n; i++)
        best[i] = search.sign[i] < 0;

    began = now();
    for (int32_t step = 1; step <= steps; step++) {
        int64_t room = record - value + 1; /* what a flip must gain for a new best value */
        int32_t enough = room < INT_MAX ? (int32_t)room : INT_MAX;
        size_t chosen = choose_flip(search.flips.gain, search.flips.until, search.flips.allowed, n, step, enough);
        if (chosen == n)
            continue;
        value += search.flips.gain[chosen];
        flip(&problem, &search, chosen);
        search.flips.until[chosen] = step + (int32_t)(n / 10 + below(10));
        if (value > record) {
            record = value;
            for (size_t i = 0; i < n; i++)
                best[i] = search.sign[i] < 0;
        }
    }
    seconds = now() - began;

    report_run(argv, best, n, record, steps, seconds);
    free(best);
    free_flips(search.flips);
    free(search.sign);
    free(problem.single);
    free(problem.pairs);
    return 0;
}
