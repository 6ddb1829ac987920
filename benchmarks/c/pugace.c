/*
 * The sequential cellular evolutionary algorithm that the PUGACE paper runs on the quadratic assignment
 * problem, written plainly: one thread, permutations of int, children evaluated by a double loop over both
 * matrices, two populations.
 *
 *     pugace file population generations pc pm reach every block seed full|delta [watch]
 *
 *     file          QAPLIB format: n, then A and B, row by row; cost(p) = sum of A[i][k] * B[p[i]][p[k]]
 *     pc, pm        probabilities of crossover and of mutation
 *     reach         neighbours on each side
 *     every         generations from one local search to the next; 0 for none
 *     block         individuals that share their decisions, as threads of a block do; 0 for each its own
 *     full|delta    how the local search evaluates an exchange: from scratch, or by its difference in O(n)
 *     watch         compare children with their parents in so many of the last generations; 0 if not given
 *
 * -DNUMBER=long for costs that do not fit in an int.
 *
 * Standard output: one line of JSON. "seconds" is the time of the generations alone; "found" is the
 * generation in which the best solution first appeared, 0 for the initial population; "differences" is the
 * mean number of positions in which a child differs from the closer of its parents, and "copies" the share
 * of the children that differ in none, over the generations watched.
 *
 * A generation: each individual chooses a mate among its neighbours; both give two children; both children
 * may mutate; the better child (the first if equal) takes the place of the individual, all at the same time.
 *
 * Conventions where the paper leaves room:
 *   - An individual is not its own neighbour. A neighbour is chosen with probability proportional to the
 *     reciprocal of its cost, or, where a cost is zero, to the highest cost less its own; all alike if they are equal.
 *   - PMX exchanges all positions from one random position to another, both included; they may be the same.
 *   - Without crossover the children are copies of their parents. They are evaluated like all others.
 *   - With blocks, one decision to mutate holds for both children of all individuals of the block.
 *   - Mutation exchanges two different positions.
 *   - The local search is made after the replacement, and applies the best exchange even if it does not improve.
 *     The best solution is looked for before and after it.
 *   - The best solution is remembered even if the population loses it.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef NUMBER
#define NUMBER int
#endif

typedef NUMBER Number;

#define LARGEST (sizeof(Number) == sizeof(int) ? INT_MAX : LONG_MAX)

typedef struct {
    size_t n;
    Number *a, *b;
} Problem;

typedef struct {
    int *x;               /* permutations, one after the other */
    Number *cost;
} Population;

typedef struct {
    size_t population, generations, reach, every, block, watch;
    double pc, pm;
    int delta;
} Options;

static uint64_t state;

static void die(const char *message)
{
    fprintf(stderr, "pugace: %s\n", message);
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

/* In [0, 1). */
static double uniform(void)
{
    return (double)(next_random() >> 11) * 0x1p-53;
}

static int chance(double probability)
{
    return uniform() < probability;
}

/* In [0, bound), which is below 2^32. */
static size_t below(size_t bound)
{
    return (size_t)(((next_random() >> 32) * bound) >> 32);
}

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
    return problem;
}

static Number evaluate(const Problem *problem, const int *p)
{
    size_t n = problem->n;
    Number cost = 0;

    for (size_t i = 0; i < n; i++) {
        const Number *a = problem->a + i * n;
        const Number *b = problem->b + (size_t)p[i] * n;
        for (size_t k = 0; k < n; k++)
            cost += a[k] * b[p[k]];
    }
    return cost;
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

/* Neighbour k of individual c, from 0 to 2*reach - 1, from the left to the right. */
static size_t neighbour(const Options *options, size_t c, size_t k)
{
    size_t at = c + options->population - options->reach + k + (k >= options->reach); /* leaves out c */
    return at % options->population;
}

static double weight(Number cost, Number least, Number most)
{
    return least > 0 ? 1.0 / (double)cost : (double)(most - cost);
}

static size_t choose_mate(const Options *options, const Number *cost, size_t c)
{
    size_t count = 2 * options->reach;
    Number least = cost[neighbour(options, c, 0)], most = least;
    double total = 0;

    for (size_t k = 1; k < count; k++) {
        Number value = cost[neighbour(options, c, k)];
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (least == most)
        return neighbour(options, c, below(count));
    for (size_t k = 0; k < count; k++)
        total += weight(cost[neighbour(options, c, k)], least, most);
    double drawn = uniform() * total;
    for (size_t k = 0; k + 1 < count; k++) {
        drawn -= weight(cost[neighbour(options, c, k)], least, most);
        if (drawn < 0)
            return neighbour(options, c, k);
    }
    return neighbour(options, c, count - 1);
}

/* PMX: the child has positions first to last of the mate, and otherwise what it can keep of the parent. */
static void cross(size_t n, const int *parent, const int *mate, size_t first, size_t last, int *child, size_t *where)
{
    memcpy(child, parent, n * sizeof *child);
    for (size_t k = 0; k < n; k++)
        where[parent[k]] = k;
    for (size_t k = first; k <= last; k++) {
        size_t other = where[mate[k]];
        int displaced = child[k];
        child[k] = mate[k];
        child[other] = displaced;
        where[mate[k]] = k;
        where[displaced] = other;
    }
}

static void mutate(int *p, size_t n)
{
    size_t i = below(n), k = below(n - 1);
    exchange(p, i, k < i ? k : k + 1);
}

static size_t distance(const int *p, const int *q, size_t n)
{
    size_t count = 0;

    for (size_t k = 0; k < n; k++)
        count += p[k] != q[k];
    return count;
}

/* One generation, from `old` to `new`; with `watched`, sums of differences and of copies are added there. */
static void generation(const Problem *problem, const Options *options, const Population *old, Population *new,
                       int *one, int *two, size_t *where, uint64_t *watched)
{
    size_t n = problem->n;
    size_t first = 0, last = 0;
    int crossing = 0, mutating = 0;

    for (size_t c = 0; c < options->population; c++) {
        size_t m = choose_mate(options, old->cost, c);
        const int *parent = old->x + c * n, *mate = old->x + m * n;
        Number cost_one, cost_two;

        if (options->block == 0 || c % options->block == 0) {
            crossing = chance(options->pc);
            first = below(n);
            last = below(n);
            if (first > last) {
                size_t kept = first;
                first = last;
                last = kept;
            }
            mutating = chance(options->pm);
        }
        if (crossing) {
            cross(n, parent, mate, first, last, one, where);
            cross(n, mate, parent, first, last, two, where);
        } else {
            memcpy(one, parent, n * sizeof *one);
            memcpy(two, mate, n * sizeof *two);
        }
        if (mutating)
            mutate(one, n);
        if (options->block == 0 ? chance(options->pm) : mutating)
            mutate(two, n);
        if (watched != NULL)
            for (int k = 0; k < 2; k++) {
                size_t here = distance(k ? two : one, parent, n), there = distance(k ? two : one, mate, n);
                watched[0] += here < there ? here : there;
                watched[1] += here == 0 || there == 0;
            }

        cost_one = evaluate(problem, one);
        cost_two = evaluate(problem, two);
        if (cost_two < cost_one) {
            memcpy(new->x + c * n, two, n * sizeof *two);
            new->cost[c] = cost_two;
        } else {
            memcpy(new->x + c * n, one, n * sizeof *one);
            new->cost[c] = cost_one;
        }
    }
}

/* Every individual tries the exchanges of one position, the same for all, with each of the others. */
static void local_search(const Problem *problem, const Options *options, Population *population)
{
    size_t n = problem->n, r = below(n);

    for (size_t c = 0; c < options->population; c++) {
        int *p = population->x + c * n;
        Number best = LARGEST;
        size_t partner = r;

        for (size_t k = 0; k < n; k++) {
            Number cost;
            if (k == r)
                continue;
            if (options->delta) {
                cost = population->cost[c] + difference(problem, p, r, k);
            } else {
                exchange(p, r, k);
                cost = evaluate(problem, p);
                exchange(p, r, k);
            }
            if (cost < best) {
                best = cost;
                partner = k;
            }
        }
        exchange(p, r, partner);
        population->cost[c] = best;
    }
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

static double probability(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= 0 && value <= 1))
        die("a probability must be from 0 to 1");
    return value;
}

int main(int argc, char **argv)
{
    Problem problem;
    Options options;
    Population old, new;
    int *one, *two, *best;
    size_t *where;
    size_t n, found = 0;
    Number best_cost;
    uint64_t evaluations, watched[2] = {0, 0};
    struct timespec start, stop;
    double seconds;

    if (argc != 11 && argc != 12)
        die("usage: pugace file population generations pc pm reach every block seed full|delta [watch]");
    options.population = (size_t)integer(argv[2], 1, 100000000);
    options.generations = (size_t)integer(argv[3], 0, LONG_MAX);
    options.pc = probability(argv[4]);
    options.pm = probability(argv[5]);
    options.reach = (size_t)integer(argv[6], 1, 100000000);
    options.every = (size_t)integer(argv[7], 0, LONG_MAX);
    options.block = (size_t)integer(argv[8], 0, LONG_MAX);
    seed_random((uint64_t)integer(argv[9], 0, LONG_MAX));
    options.delta = strcmp(argv[10], "delta") == 0;
    if (!options.delta && strcmp(argv[10], "full") != 0)
        die("the local search is full or delta");
    options.watch = argc == 12 ? (size_t)integer(argv[11], 0, LONG_MAX) : 0;
    if (options.watch > options.generations)
        options.watch = options.generations;
    if (options.population <= 2 * options.reach)
        die("the population must be larger than twice the reach");

    problem = read_problem(argv[1]);
    n = problem.n;
    old.x = allocate(options.population * n, sizeof *old.x);
    old.cost = allocate(options.population, sizeof *old.cost);
    new.x = allocate(options.population * n, sizeof *new.x);
    new.cost = allocate(options.population, sizeof *new.cost);
    one = allocate(n, sizeof *one);
    two = allocate(n, sizeof *two);
    best = allocate(n, sizeof *best);
    where = allocate(n, sizeof *where);

    for (size_t c = 0; c < options.population; c++) {
        shuffle(old.x + c * n, n);
        old.cost[c] = evaluate(&problem, old.x + c * n);
    }
    evaluations = options.population;
    best_cost = old.cost[0];
    memcpy(best, old.x, n * sizeof *best);
    for (size_t c = 1; c < options.population; c++)
        if (old.cost[c] < best_cost) {
            best_cost = old.cost[c];
            memcpy(best, old.x + c * n, n * sizeof *best);
        }

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (size_t g = 1; g <= options.generations; g++) {
        Population swap;
        int watching = g > options.generations - options.watch;

        generation(&problem, &options, &old, &new, one, two, where, watching ? watched : NULL);
        evaluations += 2 * options.population;
        for (int improved = 0; improved < 2; improved++) {
            if (improved) {
                if (options.every == 0 || g % options.every != 0)
                    break;
                local_search(&problem, &options, &new);
                evaluations += options.population * (n - 1);
            }
            for (size_t c = 0; c < options.population; c++)
                if (new.cost[c] < best_cost) {
                    best_cost = new.cost[c];
                    memcpy(best, new.x + c * n, n * sizeof *best);
                    found = g;
                }
        }
        swap = old;
        old = new;
        new = swap;
    }
    clock_gettime(CLOCK_MONOTONIC, &stop);
    seconds = (double)(stop.tv_sec - start.tv_sec) + 1e-9 * (double)(stop.tv_nsec - start.tv_nsec);

    printf("{\"seconds\": %.9f, \"best\": %ld, \"generations\": %zu, \"found\": %zu", seconds, (long)best_cost,
           options.generations, found);
    printf(", \"evaluations\": %" PRIu64, evaluations);
    if (options.watch > 0) {
        double children = 2.0 * (double)options.watch * (double)options.population;
        printf(", \"differences\": %.6f, \"copies\": %.6f", (double)watched[0] / children,
               (double)watched[1] / children);
    }
    printf(", \"permutation\": [");
    for (size_t k = 0; k < n; k++)
        printf("%s%d", k > 0 ? ", " : "", best[k]);
    printf("]}\n");

    free(where);
    free(best);
    free(two);
    free(one);
    free(new.cost);
    free(new.x);
    free(old.cost);
    free(old.x);
    free(problem.a);
    free(problem.b);
    return 0;
}
