"""Archives of non-dominated vectors against obvious loops: compiled, interpreted, on one thread and on two."""

import time

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from systola.errors import InputError
from systola.jit import thread_team
from systola.jit.team import new_team, publish
from systola.pareto import archive, dominance
from systola.pareto.archive import Archive, make_room, merge, nondominated, sift
from systola.pareto.dominance import BLOCK, dominates, weakly_dominating

KINDS = {"int32": np.int32, "int64": np.int64, "float64": np.float64}
EACH_KIND = pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, id=name, marks=pytest.mark.long if name != "int64" else []) for name, kind in KINDS.items()],
)


def beats(a, b):
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))


def naive(members, candidates):
    """The rule, word by word."""
    old, new = members.tolist(), candidates.tolist()
    enter = [
        not any(beats(x, c) or x == c for x in old) and not any(beats(other, c) for other in new) and c not in new[:j]
        for j, c in enumerate(new)
    ]
    entering = [c for c, enters in zip(new, enter, strict=True) if enters]
    return [not any(beats(c, x) for c in entering) for x in old], enter


def swift_naive(members, candidates):
    """The same for thousands."""
    together = np.concatenate([members, candidates])
    columns = np.ascontiguousarray(together.T)
    kept = np.ones(len(together), bool)
    for i, vector in enumerate(together):
        no_larger = np.logical_and.reduce([column <= x for column, x in zip(columns, vector, strict=True)])
        equal = np.logical_and.reduce([column == x for column, x in zip(columns, vector, strict=True)])
        kept[i] = not (no_larger & ~equal).any() and not equal[:i].any()
    return kept[: len(members)].tolist(), kept[len(members) :].tolist()


def some_vectors(draws, count, k, spread, kind, extremes=False):
    vectors = draws.integers(-spread, spread, (count, k), endpoint=True).astype(kind)
    if extremes:
        ends = (-np.inf, np.inf) if kind is np.float64 else (np.iinfo(kind).min, np.iinfo(kind).max)
        vectors = np.where(
            draws.random(vectors.shape) < 0.2, draws.choice(np.array(ends, kind), vectors.shape), vectors
        )
    return vectors


def sift_interpreted(*args):
    team = new_team(1)
    publish(team, (archive._SIFT, 1), 1)
    archive._sift(*args, team, 0)


WAYS = (lambda *args: sift(*args, threads=1), sift_interpreted, lambda *args: sift(*args, threads=2))


def all_ways(members, candidates, k=None, ways=WAYS):
    """What each way to sift says; the room starts with numbers that mean nothing."""
    m, c, k = len(members), len(candidates), k or candidates.shape[1]
    answers = []
    for way in ways:
        room = make_room(m, c, k, candidates.dtype)
        for array in room[:7] + room[8:]:
            array[...] = 77
        stay, enter = np.full(m, 9, np.uint8), np.full(c, 9, np.uint8)
        way(members, candidates, k, room, stay, enter)
        answers.append((stay.tolist(), enter.tolist()))
    return answers


def for_vectors(most, spreads):
    """Of every kind: k, m, c, spread, extremes, seed."""
    sizes, seeds = st.integers(0, most), st.integers(0, 10**6)
    drawn = given(st.integers(1, 4), sizes, sizes, st.sampled_from(spreads), st.booleans(), seeds)
    return lambda test: EACH_KIND(settings(deadline=None, max_examples=60)(drawn(test)))


@for_vectors(most=30, spreads=[1, 4, 50])
def test_few_vectors(kind, k, m, c, spread, extremes, seed):
    draws = np.random.default_rng(seed)
    members = some_vectors(draws, m, k, spread, kind, extremes)
    members = members[nondominated(members)]
    candidates = some_vectors(draws, c, k, spread, kind, extremes)
    wanted = naive(members, candidates)
    assert tuple(a.tolist() for a in merge(members, candidates)) == wanted
    assert all_ways(members, candidates) == [wanted] * 3


@for_vectors(most=600, spreads=[3, 30, 10**6])
def test_many_vectors(kind, k, m, c, spread, extremes, seed):
    """Enough for tables; near a common front, so that many stay."""
    draws = np.random.default_rng(seed)
    both = some_vectors(draws, m + c, k, spread, kind, extremes)
    if k > 1 and not extremes:
        both[:, 0] = draws.integers(0, 3, m + c) - both[:, 1:].sum(axis=1)
    members, candidates = both[:m], both[m:]
    assert nondominated(members).tolist() == swift_naive(members[:0], members)[1]
    members = members[nondominated(members)]
    assert tuple(a.tolist() for a in merge(members, candidates)) == swift_naive(members, candidates)


@EACH_KIND
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_every_way_is_the_same(kind, k, monkeypatch):
    """Interpreted with tables and filters, too, of which there are fewer then."""
    draws = np.random.default_rng(k)
    monkeypatch.setattr(archive, "_CROWD", 90)
    monkeypatch.setattr(archive, "FILTER_SIZE", 70)
    for m, c in ((100, 60), (60, 100), (1, 300)):
        points = some_vectors(draws, 6 * m, k, 1000, kind)
        members = points[nondominated(points)][:m]
        candidates = some_vectors(draws, c, k, 1000, kind) - 300
        candidates[::7] = candidates[0]
        wanted = swift_naive(members, candidates)
        assert all_ways(members, candidates) == [wanted] * 3


@EACH_KIND
@pytest.mark.parametrize("m", [10, 1500])
def test_crowds(kind, m):
    """So many that a sample of them thins them out, before or after the members have."""
    draws = np.random.default_rng(m)
    front = some_vectors(draws, m, 3, 2000, kind)
    front[:, 2] = -front[:, 0] - front[:, 1]
    members = front[nondominated(front)]
    near = members[draws.integers(0, len(members), 5000)] + draws.integers(-60, 90, (5000, 3)).astype(kind)
    near[4000:] = near[:1000]
    wanted = swift_naive(members, near)
    assert 0 < sum(wanted[1]) < 4000
    assert all_ways(members, near, ways=WAYS[::2]) == [wanted] * 2


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 4), st.lists(st.integers(-5, 5), min_size=4, max_size=200), st.randoms(use_true_random=False))
def test_order_does_not_matter(k, numbers, random):
    """All at once, one after the other, or in any order: the archive has the same vectors."""
    vectors = np.array(numbers[: len(numbers) // k * k]).reshape(-1, k)
    wanted = sorted(map(tuple, vectors[nondominated(vectors)].tolist()))
    shuffled = vectors[random.sample(range(len(vectors)), len(vectors))]
    assert sorted(map(tuple, shuffled[nondominated(shuffled)].tolist())) == wanted
    held = Archive(k)
    for some in np.array_split(shuffled, random.randint(1, 5)):
        held.add(some, np.arange(len(some)))
    assert sorted(map(tuple, held.vectors.tolist())) == wanted


def test_first_columns_count():
    """Rows may have more columns than objectives."""
    draws = np.random.default_rng(0)
    wide = np.ascontiguousarray(draws.integers(0, 40, (300, 4)))
    members = np.ascontiguousarray(wide[:200][nondominated(wide[:200, :2])])
    candidates = np.ascontiguousarray(wide[200:])
    wanted = swift_naive(members[:, :2], candidates[:, :2])
    assert all_ways(members, candidates, k=2) == [wanted] * 3


@pytest.mark.parametrize("order", ["C", "F"])
@EACH_KIND
def test_vectors_are_covered(kind, order):
    """Compiled for arrays in C order, and the plain loop for others, are the interpreted loop."""
    compiled = njit(lambda *args: weakly_dominating(*args))
    draws = np.random.default_rng(1)
    blocks = draws.integers(-4, 5, 8 * BLOCK).astype(kind)
    points = np.array(draws.integers(-4, 5, (9, 4)), kind, order=order)
    for q in range(9):
        for d, k in ((0, 1), (0, 4), (1, 3), (3, 1)):
            hits = sum(
                1 << lane
                for lane in range(BLOCK)
                if all(blocks[5 + e * BLOCK + lane] <= points[q, d + e] for e in range(k))
            )
            assert compiled(blocks, 5, points, q, d, k) == weakly_dominating(blocks, 5, points, q, d, k) == hits


@pytest.mark.parametrize("way", [dominates, njit(lambda *args: dominates(*args))], ids=["interpreted", "compiled"])
def test_dominates(way):
    a = np.array([[1, 2, 9], [1, 2, 3], [0, 3, 0]])
    assert [[bool(way(a, i, a, j, 2)) for j in range(3)] for i in range(3)] == [[False] * 3] * 3
    assert way(a, 1, a, 0, 3)
    assert not way(a, 0, a, 1, 3)
    assert not way(a, 1, a, 1, 3)
    assert not way(a, 2, a, 1, 3)


def test_threads_are_used_for_many(monkeypatch):
    used = []
    monkeypatch.setattr(archive, "sift", lambda *args: used.append((len(args[1]), args[-1])))
    nondominated(np.zeros((archive._WORTH_THREADS, 2)))
    nondominated(np.zeros((9, 2)))
    assert used == [(archive._WORTH_THREADS, numba.config.NUMBA_NUM_THREADS), (9, 1)]


def test_nobody_sleeps_while_the_caller_waits(monkeypatch):
    monkeypatch.setattr(thread_team, "_WAKE_SECONDS", 40.0)
    began = time.monotonic()
    candidates = np.arange(600).reshape(300, 2)
    assert all_ways(candidates[:0], candidates, ways=WAYS[2:]) == [([], [True] + [False] * 299)]
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("empty", [np.empty((0, 3)), np.empty((0, 3), int)])
def test_nothing(empty):
    assert nondominated(empty).tolist() == []
    some = np.array([[1, 2, 3], [1, 2, 3]])
    assert [a.tolist() for a in merge(empty, some)] == [[], [True, False]]
    assert [a.tolist() for a in merge(some[:1], empty)] == [[True], []]


def test_kinds_of_numbers_meet():
    assert [a.tolist() for a in merge([[1, 2]], [[1.5, 1.5], [0.5, 2.0]])] == [[False], [True, True]]
    assert nondominated(np.array([[3], [2]], np.uint8)).tolist() == [False, True]
    assert nondominated(np.array([[3.0], [2.0]], np.float32)).tolist() == [False, True]
    assert nondominated([[True, False], [False, True]]).tolist() == [True, True]


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([1, 2], r"shape \(2,\)"),
        (np.zeros((2, 5)), "1 to 4 objectives"),
        (np.zeros((2, 0)), "1 to 4 objectives"),
        ([["a", "b"]], "<U1"),
        ([[1.0, 2.0], [3.0, np.nan]], "row 1 is"),
        ([[2**63]], "64 bits"),
    ],
)
def test_bad_vectors(points, words):
    with pytest.raises(InputError, match=words):
        nondominated(points)
    with pytest.raises(InputError, match=f"candidates.*{words}"):
        merge([[1, 2]], points)


def test_members_and_candidates_differ():
    with pytest.raises(InputError, match="2 and 3 columns"):
        merge([[1, 2]], [[1, 2, 3]])


class TestArchive:
    @settings(deadline=None, max_examples=40)
    @given(st.integers(1, 4), st.lists(st.integers(0, 60), max_size=6), st.integers(0, 10**6))
    def test_solutions_stay_with_their_vectors(self, k, sizes, seed):
        draws = np.random.default_rng(seed)
        held, wanted, number = Archive(k), [], 0
        for size in sizes:
            batch = some_vectors(draws, size, k, 9, np.int64) - number // 50
            solutions = np.stack([np.arange(number, number + size)] * 3, axis=1)
            number += size
            old = np.array([v for v, _ in wanted], np.int64).reshape(-1, k)
            stay, enter = naive(old, batch)
            wanted = [pair for pair, kept in zip(wanted, stay, strict=True) if kept]
            wanted += [(v, s) for v, s, kept in zip(batch.tolist(), solutions.tolist(), enter, strict=True) if kept]
            assert held.add(batch, solutions) == sum(enter)
            assert len(held) == len(wanted)
        assert held.vectors.tolist() == [v for v, _ in wanted]
        assert held.solutions.tolist() == [s for _, s in wanted]

    def test_grows(self):
        held = Archive(2)
        for i in range(300):
            assert held.add([[i, -i]], [[i] * 5]) == 1
        assert held.vectors[:, 0].tolist() == held.solutions[:, 4].tolist() == list(range(300))
        assert held.add([[-1, -300]], [[7] * 5]) == 1
        assert held.solutions.tolist() == [[7] * 5]

    def test_is_read_only(self):
        held = Archive(1)
        held.add([[3]], ["three"])
        assert held.solutions.tolist() == ["three"]
        for array in (held.vectors, held.solutions):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    def test_numbers_become_real(self):
        held = Archive(2)
        held.add(np.array([[1, 9]], np.int32), [0])
        assert held.vectors.dtype == np.int32
        held.add([[2**40, 8]], [1])
        held.add([[0.5, 9.5]], [2.5])
        assert held.vectors.tolist() == [[1, 9], [2**40, 8], [0.5, 9.5]]
        assert held.solutions.tolist() == [0, 1, 2.5]

    @settings(deadline=None, max_examples=40)
    @given(st.integers(1, 4), st.integers(0, 20), st.integers(0, 200), st.booleans(), st.integers(0, 10**6))
    def test_cap(self, k, extra, size, infinite, seed):
        """Against the rule: distances once, the smallest go, the earliest of equals first."""
        draws = np.random.default_rng(seed)
        cap = 2 * k + extra
        vectors = some_vectors(draws, size, k, 30, np.float64, infinite)
        free, held = Archive(k), Archive(k, cap)
        free.add(vectors, np.arange(size))
        held.add(vectors, np.arange(size))
        everyone = free.vectors.tolist()
        distances = self.crowding(everyone)
        going = sorted(range(len(everyone)), key=lambda i: (distances[i], i))[: max(0, len(everyone) - cap)]
        assert held.vectors.tolist() == [v for i, v in enumerate(everyone) if i not in going]
        assert held.solutions.tolist() == [s for i, s in enumerate(free.solutions) if i not in going]
        if everyone:
            assert held.vectors.min(axis=0).tolist() == free.vectors.min(axis=0).tolist()
            assert held.vectors.max(axis=0).tolist() == free.vectors.max(axis=0).tolist()

    @staticmethod
    def crowding(vectors):
        distances = [0.0] * len(vectors)
        for d in range(len(vectors[0]) if vectors else 0):
            order = sorted(range(len(vectors)), key=lambda i: vectors[i][d])
            span = vectors[order[-1]][d] - vectors[order[0]][d]
            for before, i, after in zip(order, order[1:], order[2:], strict=False):
                share = (vectors[after][d] - vectors[before][d]) / span if span else 0.0
                distances[i] += 0.0 if np.isnan(share) else share
            distances[order[0]] = distances[order[-1]] = np.inf
        return distances

    def test_cap_counts_those_that_remain(self):
        held = Archive(2, cap=4)
        assert held.add([[0, 10], [10, 0]], [0, 1]) == 2
        assert held.add([[1, 9], [5, 5], [9, 1], [4, 6]], [2, 3, 4, 5]) == 2
        assert held.solutions.tolist() == [0, 1, 3, 4]
        assert held.add([[5, 4], [11, 11]], [6, 7]) == 1

    @pytest.mark.parametrize("k", [0, 5])
    def test_bad_number_of_objectives(self, k):
        with pytest.raises(InputError, match=f"k = {k}"):
            Archive(k)

    def test_bad_cap(self):
        with pytest.raises(InputError, match="6 for k = 3, but got 5"):
            Archive(3, cap=5)

    @pytest.mark.parametrize(
        ("vectors", "solutions", "words"),
        [
            ([[1, 2, 3]], [0], "2 objectives"),
            ([[1, 2]], [0, 1], "1 vectors"),
            ([[9, 0]], [[0, 1]], r"here \(\), but got 1 vectors and solutions of shape \(1, 2\)"),
            ([[np.nan, 2]], [0], "row 0"),
        ],
    )
    def test_bad_batch(self, vectors, solutions, words):
        held = Archive(2)
        held.add([[1, 1]], [5])
        with pytest.raises(InputError, match=words):
            held.add(vectors, solutions)
        assert (held.vectors.tolist(), held.solutions.tolist()) == ([[1, 1]], [5])


def test_rooms_hold_what_was_asked_for():
    for most in (1, 1023, 1025, 40_000):
        for k in range(1, 5):
            room = make_room(most, 1, k, np.int64)
            assert room.owners.shape[1] >= max(most, dominance.FILTER_SIZE)
            assert room.owners.shape[1] % BLOCK == 0
