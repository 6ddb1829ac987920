/*
 * One-flip tabu search on satisfiability, of which as many clauses as possible are to be satisfied: sequential, from a
 * random solution, with a table of the gains of all flips as a sum over clauses. In each step the best flip is made
 * that is not tabu, or that leads to the best value so far; the variable is tabu for n/10 + 0..9 steps; and only the
 * clauses that it is in are looked at again.
 *
 *     maxsat_tabu input.bin output.bin
 *
 * Two programs come from this file:
 *     by default    what a clause adds to the gain of each of its variables is measured by flipping the variable and
 *                   evaluating the clause, before and after the move, as one does for terms of any kind;
 *     -DCOUNTS      it follows from how many literals of the clause are true, which is kept of each clause.
 *
 * Input (int64 little endian, as the machine must be): n, clauses, literals of each, steps, seed; then the literals:
 *     3 is the third variable, -3 its negation.
 * Output: the best solution, n bytes of 0 or 1.
 * Standard output: one line of JSON. "seconds" is the time of the steps alone; each step weighs n "moves".
 */
#define _POSIX_C_SOURCE 200809L

#define PROGRAM "maxsat_tabu"
#include "random.h"
#include "tabu.h"

typedef struct {
    size_t n, clauses, k;
    int32_t *variable;    /* of each literal, clause after clause */
    Bit *wanted;          /* the value that makes it true */
    int32_t *starts;      /* the clauses of variable v are inside[starts[v]] to inside[starts[v + 1] - 1] */
    int32_t *inside;
} Problem;

typedef struct {
    Bit *x;
    Flips flips;
    int32_t *count;       /* true literals of each clause */
} Search;

static Problem read_problem(size_t n, size_t clauses, size_t k, FILE *file)
{
    Problem problem;
    int32_t *filled = allocate(n, sizeof *filled);

    problem.n = n;
    problem.clauses = clauses;
    problem.k = k;
    problem.variable = allocate(clauses * k, sizeof *problem.variable);
    problem.wanted = allocate(clauses * k, 1);
    problem.starts = allocate(n + 1, sizeof *problem.starts);
    problem.inside = allocate(clauses * k, sizeof *problem.inside);
    for (size_t c = 0; c < clauses; c++)
        for (size_t q = c * k; q < (c + 1) * k; q++) {
            int64_t literal = read_int64(file);
            int64_t v = literal > 0 ? literal : -literal;
            if (v < 1 || v > (int64_t)n)
                die("a literal names no variable");
            problem.variable[q] = (int32_t)(v - 1);
            problem.wanted[q] = literal > 0;
            problem.starts[v]++;
            for (size_t p = c * k; p < q; p++)
                if (problem.variable[p] == problem.variable[q])
                    die("a clause has a variable twice");
        }
    for (size_t v = 0; v < n; v++)
        problem.starts[v + 1] += problem.starts[v];
    for (size_t q = 0; q < clauses * k; q++) {
        int32_t v = problem.variable[q];
        problem.inside[problem.starts[v] + filled[v]++] = (int32_t)(q / k);
    }
    free(filled);
    return problem;
}

static int32_t true_literals(const Problem *problem, const Bit *x, size_t clause)
{
    int32_t count = 0;

    for (size_t q = clause * problem->k; q < (clause + 1) * problem->k; q++)
        count += x[problem->variable[q]] == problem->wanted[q];
    return count;
}

/* Add `times` what a clause adds to the gains of its variables. */
#ifdef COUNTS
static void add_gains(const Problem *problem, Search *search, size_t clause, int32_t times)
{
    int32_t count = search->count[clause];
    const int32_t *variable = problem->variable + clause * problem->k;
    const Bit *wanted = problem->wanted + clause * problem->k;

    if (count == 0)
        for (size_t q = 0; q < problem->k; q++)
            search->flips.gain[variable[q]] += times;
    else if (count == 1)
        for (size_t q = 0; q < problem->k; q++)
            search->flips.gain[variable[q]] -= search->x[variable[q]] == wanted[q] ? times : 0;
}
#else
static int32_t satisfied(const Problem *problem, const Bit *x, size_t clause)
{
    for (size_t q = clause * problem->k; q < (clause + 1) * problem->k; q++)
        if (x[problem->variable[q]] == problem->wanted[q])
            return 1;
    return 0;
}

static void add_gains(const Problem *problem, Search *search, size_t clause, int32_t times)
{
    int32_t now = satisfied(problem, search->x, clause);

    for (size_t q = clause * problem->k; q < (clause + 1) * problem->k; q++) {
        int32_t v = problem->variable[q];
        search->x[v] ^= 1;
        search->flips.gain[v] += times * (satisfied(problem, search->x, clause) - now);
        search->x[v] ^= 1;
    }
}
#endif

static void flip(const Problem *problem, Search *search, size_t v)
{
    int32_t first = problem->starts[v], last = problem->starts[v + 1];

    for (int32_t q = first; q < last; q++)
        add_gains(problem, search, (size_t)problem->inside[q], -1);
    search->x[v] ^= 1;
    for (int32_t q = first; q < last; q++) {
        size_t clause = (size_t)problem->inside[q];
#ifdef COUNTS
        size_t at = clause * problem->k;
        while (problem->variable[at] != (int32_t)v)
            at++;
        search->count[clause] += problem->wanted[at] == search->x[v] ? 1 : -1;
#endif
        add_gains(problem, search, clause, 1);
    }
}

int main(int argc, char **argv)
{
    Problem problem;
    Search search;
    Bit *best;
    FILE *file = open_input(argc, argv);
    int64_t size, clauses, k, steps;
    int32_t value = 0, record;
    double began, seconds;
    size_t n;

    size = read_int64(file);
    clauses = read_int64(file);
    k = read_int64(file);
    steps = read_int64(file);
    if (size < 2 || size > 10000000 || clauses < 1 || clauses > 10000000 || k < 1 || k > 100 || k > size || steps < 0
        || steps > INT_MAX / 2)
        die("a size is out of range");
    seed_random((uint64_t)read_int64(file));
    n = (size_t)size;
    problem = read_problem(n, (size_t)clauses, (size_t)k, file);
    close_input(file);

    search.x = allocate(n, 1);
    search.flips = allocate_flips(n);
    search.count = allocate(problem.clauses, sizeof *search.count);
    best = allocate(n, 1);
    for (size_t i = 0; i < n; i++)
        search.x[i] = (Bit)below(2);
    for (size_t c = 0; c < problem.clauses; c++) {
        search.count[c] = true_literals(&problem, search.x, c);
        value += search.count[c] > 0;
        add_gains(&problem, &search, c, 1);
    }
    record = value;
    memcpy(best, search.x, n);

    began = now();
    for (int32_t step = 1; step <= steps; step++) {
        int32_t enough = record - value + 1; /* for a new best value */
        size_t chosen = choose_flip(search.flips.gain, search.flips.until, search.flips.allowed, n, step, enough);
        if (chosen == n)
            continue;
        value += search.flips.gain[chosen];
        flip(&problem, &search, chosen);
        search.flips.until[chosen] = step + (int32_t)(n / 10 + below(10));
        if (value > record) {
            record = value;
            memcpy(best, search.x, n);
        }
    }
    seconds = now() - began;

    report_run(argv, best, n, record, steps, seconds);
    free(best);
    free(search.count);
    free_flips(search.flips);
    free(search.x);
    free(problem.inside);
    free(problem.starts);
    free(problem.wanted);
    free(problem.variable);
    return 0;
}
