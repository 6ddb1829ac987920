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

#ifndef NUMBER
#define NUMBER int
#endif

#define PROGRAM "pugace"
#include "qap.h"

typedef struct {
    int *x;               /* permutations, one after the other */
    Number *cost;
} Population;

typedef struct {
    size_t population, generations, reach, every, block, watch;
    double pc, pm;
    int delta;
} Options;

/* In [0, 1). */
static double uniform(void)
{
    return (double)(next_random() >> 11) * 0x1p-53;
}

static int chance(double probability)
{
    return uniform() < probability;
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
    double began, seconds;

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

    began = now();
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
    seconds = now() - began;

    printf("{\"seconds\": %.9f, \"best\": %ld, \"generations\": %zu, \"found\": %zu", seconds, (long)best_cost,
           options.generations, found);
    printf(", \"evaluations\": %" PRIu64, evaluations);
    if (options.watch > 0) {
        double children = 2.0 * (double)options.watch * (double)options.population;
        printf(", \"differences\": %.6f, \"copies\": %.6f", (double)watched[0] / children,
               (double)watched[1] / children);
    }
    printf(", ");
    print_permutation(best, n);

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
