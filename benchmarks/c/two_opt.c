/*
 * Iterated 2-opt on a symmetric tour: sequential, with lists of the nearest cities, don't-look bits, and the tour as an
 * array with the place of each city, of which the shorter side is reversed. It starts from the nearest neighbour tour.
 * At a local optimum two neighbouring stretches of up to 50 cities change places (a double bridge, but local), the
 * cities at its ends are looked at again, and all is undone if the tour is longer than before.
 *
 *     two_opt input.bin output.bin
 *
 * Input (int64 little endian, as the machine must be): n, candidates of each city, kicks, seed; then the symmetric
 *     matrix of distances, row by row.
 * Output: the tour, n numbers of 64 bits.
 * Standard output: one line of JSON. "seconds" is the time of the search, without the candidate lists and the first
 *     tour; "candidates" counts candidates that were looked at, "moves" those that were not ruled out by the length of
 *     their first new link alone, so that the difference was computed.
 *
 * Distances of candidates are kept beside the lists, so that a candidate that is ruled out costs no miss in the matrix.
 */
#define _POSIX_C_SOURCE 200809L

#define PROGRAM "two_opt"
#include "bits.h"
#include "random.h"

#define LONGEST 50        /* stretch of a kick */

typedef struct {
    size_t n, k;
    int32_t *distances;
    int32_t *near;        /* the candidates of city c, nearest first, from c*k on */
    int32_t *length;      /* of the link to each */
} Problem;

typedef struct {
    int32_t *tour, *place;
    int32_t *queue;       /* cities to look at, a ring */
    Bit *queued;
    size_t head, waiting;
    int32_t *journal;     /* places first and last of all reversals since the kick */
    size_t made, room;
    int64_t candidates, moves;
} Search;

typedef struct {
    int32_t length, city;
} Link;

static int closer(const void *one, const void *other)
{
    const Link *x = one, *y = other;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return (x->city > y->city) - (x->city < y->city);
}

static Problem read_problem(size_t n, size_t k, FILE *file)
{
    Problem problem;
    Link *links = allocate(n, sizeof *links);

    problem.n = n;
    problem.k = k;
    problem.distances = allocate(n * n, sizeof *problem.distances);
    problem.near = allocate(n * k, sizeof *problem.near);
    problem.length = allocate(n * k, sizeof *problem.length);
    for (size_t c = 0; c < n * n; c++) {
        int64_t value = read_int64(file);
        if (value < 0 || value > INT_MAX / 4)
            die("distances must not be negative, nor too large");
        problem.distances[c] = (int32_t)value;
    }
    for (size_t c = 0; c < n; c++) {
        size_t count = 0;
        for (size_t d = 0; d < n; d++) {
            if (problem.distances[c * n + d] != problem.distances[d * n + c])
                die("distances must be symmetric");
            if (d != c)
                links[count++] = (Link){problem.distances[c * n + d], (int32_t)d};
        }
        qsort(links, count, sizeof *links, closer);
        for (size_t q = 0; q < k; q++) {
            problem.near[c * k + q] = links[q].city;
            problem.length[c * k + q] = links[q].length;
        }
    }
    free(links);
    return problem;
}

static int32_t distance(const Problem *problem, int32_t a, int32_t b)
{
    return problem->distances[(size_t)a * problem->n + (size_t)b];
}

static void nearest_neighbour(const Problem *problem, Search *search)
{
    size_t n = problem->n;
    Bit *seen = allocate(n, 1);
    int32_t at = (int32_t)below(n);

    for (size_t p = 0; p < n; p++) {
        int32_t next = -1;
        seen[at] = 1;
        search->tour[p] = at;
        search->place[at] = (int32_t)p;
        for (size_t c = 0; c < n; c++)
            if (!seen[c] && (next < 0 || distance(problem, at, (int32_t)c) < distance(problem, at, next)))
                next = (int32_t)c;
        at = next;
    }
    free(seen);
}

static int64_t length_of(const Problem *problem, const int32_t *tour)
{
    int64_t length = distance(problem, tour[problem->n - 1], tour[0]);

    for (size_t p = 1; p < problem->n; p++)
        length += distance(problem, tour[p - 1], tour[p]);
    return length;
}

static void look_at(Search *search, size_t n, int32_t city)
{
    size_t tail = search->head + search->waiting;

    if (search->queued[city])
        return;
    search->queued[city] = 1;
    search->queue[tail < n ? tail : tail - n] = city;
    search->waiting++;
}

/* Reverse places first..last, which may wrap, or the other side of the tour where that is shorter. */
static void reverse(Search *search, size_t n, size_t first, size_t last)
{
    int32_t *tour = search->tour, *place = search->place;
    size_t inside = (last >= first ? last - first : last + n - first) + 1;

    if (2 * inside > n) {
        size_t kept = first;
        first = last + 1 < n ? last + 1 : 0;
        last = kept > 0 ? kept - 1 : n - 1;
        inside = n - inside;
    }
    for (size_t half = inside / 2; half > 0; half--) {
        int32_t a = tour[first], b = tour[last];
        tour[first] = b;
        place[b] = (int32_t)first;
        tour[last] = a;
        place[a] = (int32_t)last;
        first = first + 1 < n ? first + 1 : 0;
        last = last > 0 ? last - 1 : n - 1;
    }
}

static void make(Search *search, size_t n, size_t first, size_t last)
{
    if (search->made == search->room) {
        search->room *= 2;
        search->journal = realloc(search->journal, 2 * search->room * sizeof *search->journal);
        if (search->journal == NULL)
            die("out of memory");
    }
    search->journal[2 * search->made] = (int32_t)first;
    search->journal[2 * search->made + 1] = (int32_t)last;
    search->made++;
    reverse(search, n, first, last);
}

static int32_t after(const Search *search, size_t n, int32_t city)
{
    size_t p = (size_t)search->place[city] + 1;
    return search->tour[p < n ? p : 0];
}

static int32_t before(const Search *search, size_t n, int32_t city)
{
    size_t p = (size_t)search->place[city];
    return search->tour[p > 0 ? p - 1 : n - 1];
}

/* Make the first improving move of a city, if there is one, and tell what it gains. */
static int64_t improve(const Problem *problem, Search *search, int32_t a)
{
    size_t n = problem->n, k = problem->k;
    const int32_t *near = problem->near + (size_t)a * k, *length = problem->length + (size_t)a * k;

    for (int forward = 1; forward >= 0; forward--) {
        int32_t b = forward ? after(search, n, a) : before(search, n, a);
        int32_t old = distance(problem, a, b);
        for (size_t q = 0; q < k; q++) {
            int32_t c = near[q], d;
            int64_t gain;

            search->candidates++;
            if (length[q] >= old)
                break;
            d = forward ? after(search, n, c) : before(search, n, c);
            search->moves++;
            gain = (int64_t)old + distance(problem, c, d) - length[q] - distance(problem, b, d);
            if (gain <= 0)
                continue;
            /* Links (a, b) and (c, d) become (a, c) and (b, d). */
            if (forward)
                make(search, n, (size_t)search->place[b], (size_t)search->place[c]);
            else
                make(search, n, (size_t)search->place[c], (size_t)search->place[b]);
            look_at(search, n, a);
            look_at(search, n, b);
            look_at(search, n, c);
            look_at(search, n, d);
            return gain;
        }
    }
    return 0;
}

static int64_t descend(const Problem *problem, Search *search)
{
    size_t n = problem->n;
    int64_t gained = 0;

    while (search->waiting > 0) {
        int32_t city = search->queue[search->head];
        search->head = search->head + 1 < n ? search->head + 1 : 0;
        search->waiting--;
        search->queued[city] = 0;
        for (int64_t gain; (gain = improve(problem, search, city)) > 0;)
            gained += gain;
    }
    return gained;
}

/* Exchange the stretches of `one` and `other` cities that follow place `from`, by way of `kept`. */
static void exchange(Search *search, size_t n, size_t from, size_t one, size_t other, int32_t *kept)
{
    for (size_t q = 0; q < one + other; q++)
        kept[q] = search->tour[(from + 1 + (q + one) % (one + other)) % n];
    for (size_t q = 0; q < one + other; q++) {
        size_t p = (from + 1 + q) % n;
        search->tour[p] = kept[q];
        search->place[kept[q]] = (int32_t)p;
    }
}

/* A kick, a descent, and the way back where it was for nothing; the length of the tour then. */
static int64_t kick(const Problem *problem, Search *search, int64_t length)
{
    size_t n = problem->n, longest = (n - 2) / 2 < LONGEST ? (n - 2) / 2 : LONGEST;
    size_t from = below(n), one = 1 + below(longest), other = 1 + below(longest);
    int32_t ends[6], kept[2 * LONGEST];
    int64_t found = length;

    ends[0] = search->tour[from];
    ends[1] = search->tour[(from + 1) % n];
    ends[2] = search->tour[(from + one) % n];
    ends[3] = search->tour[(from + one + 1) % n];
    ends[4] = search->tour[(from + one + other) % n];
    ends[5] = search->tour[(from + one + other + 1) % n];
    for (size_t q = 0; q < 6; q += 2)
        found -= distance(problem, ends[q], ends[q + 1]);
    found += distance(problem, ends[0], ends[3]) + distance(problem, ends[4], ends[1]) + distance(problem, ends[2], ends[5]);
    exchange(search, n, from, one, other, kept);
    for (size_t q = 0; q < 6; q++)
        look_at(search, n, ends[q]);
    search->made = 0;
    found -= descend(problem, search);
    if (found <= length)
        return found;
    while (search->made > 0) {
        search->made--;
        reverse(search, n, (size_t)search->journal[2 * search->made], (size_t)search->journal[2 * search->made + 1]);
    }
    exchange(search, n, from, other, one, kept);
    return length;
}

int main(int argc, char **argv)
{
    Problem problem;
    Search search = {0};
    FILE *file = open_input(argc, argv);
    int64_t size, candidates, kicks, length;
    double began, seconds;
    size_t n;

    size = read_int64(file);
    candidates = read_int64(file);
    kicks = read_int64(file);
    if (size < 8 || size > 100000 || candidates < 1 || candidates >= size || kicks < 0)
        die("the sizes must be 8 <= n <= 100000, 1 <= candidates < n and 0 <= kicks");
    seed_random((uint64_t)read_int64(file));
    n = (size_t)size;
    problem = read_problem(n, (size_t)candidates, file);
    close_input(file);

    search.tour = allocate(n, sizeof *search.tour);
    search.place = allocate(n, sizeof *search.place);
    search.queue = allocate(n, sizeof *search.queue);
    search.queued = allocate(n, 1);
    search.room = n;
    search.journal = allocate(2 * search.room, sizeof *search.journal);
    nearest_neighbour(&problem, &search);

    began = now();
    length = length_of(&problem, search.tour);
    for (size_t p = 0; p < n; p++)
        look_at(&search, n, search.tour[p]);
    length -= descend(&problem, &search);
    for (int64_t step = 0; step < kicks; step++)
        length = kick(&problem, &search, length);
    seconds = now() - began;

    file = create_output(argv);
    for (size_t p = 0; p < n; p++) {
        int64_t city = search.tour[p];
        write_exactly(&city, sizeof city, 1, file);
    }
    close_output(file);
    printf("{\"seconds\": %.9f, \"best\": %" PRId64 ", \"steps\": %" PRId64, seconds, length, kicks);
    printf(", \"candidates\": %" PRId64 ", \"moves\": %" PRId64 "}\n", search.candidates, search.moves);
    free(search.journal);
    free(search.queued);
    free(search.queue);
    free(search.place);
    free(search.tour);
    free(problem.length);
    free(problem.near);
    free(problem.distances);
    return 0;
}
