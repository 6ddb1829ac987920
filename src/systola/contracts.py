"""What every problem must keep, to be checked on any of them, also a user's own.

The incremental methods promise to agree with the plain objective. `check_problem` tries that on random solutions,
interpreted, and raises CheckFailed with the case that breaks the promise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.bits import toggle
from systola.encodings import Array, Bits, Digits, Order
from systola.errors import CheckFailed
from systola.increments import (
    Tallies,
    count,
    cross,
    exchange,
    find_place,
    flip,
    flip_marked,
    flip_run,
    look,
    mark,
    reassign,
    remark,
    survey_insertions,
    swap,
    swap_gains,
    tabulate,
    weigh,
)
from systola.lines import VECTOR, padded
from systola.problem import Problem, evaluate, fitness, violation
from systola.records import widen
from systola.rng import SEARCH
from systola.stop_flag import new_flag
from systola.verbs import body_of


def check_problem(problem: Problem, trials: int = 30, seed: int = 0) -> None:
    """Check evaluate, fitness, violation, and whichever of the incremental methods the problem offers.

    Parameters
    ----------
    problem : Problem
        An instance, better small than large.
    trials : int
        Random cases of each kind.
    seed : int
        Of the cases.

    Raises
    ------
    CheckFailed
        With the first case that does not agree with the plain objective.
    """
    problem.bind()
    draws = np.random.default_rng(seed)
    for _ in range(trials):
        x = _random(problem, draws)
        measures = _measure(problem, x)
        if not np.array_equal(measures, _measure(problem, x)):
            raise CheckFailed(f"evaluate is not a function: it gave two values for {x.tolist()}")
        if violation(widen(problem.record), measures) < 0:
            raise CheckFailed(f"a violation is never negative, but it is for {x.tolist()}")
        fitness(widen(problem.record), measures)
        if isinstance(problem.space, Bits):
            if problem.offers("flip"):
                _check_flip(problem, x, draws)
                if hasattr(problem, "construct"):
                    stored = problem.encoding.store(problem.space, x[None])
                    tally = _tally_of(problem, stored, measures)
                    _check_made(problem, stored, tally, measures, "construct", seed, 1, int(draws.integers(1000)))
            if problem.offers("cross"):
                _check_cross(problem, draws)
        if isinstance(problem.space, Digits) and problem.offers("reassign"):
            _check_reassign(problem, x, draws)
            if problem.offers("refine"):
                _check_refine(problem, x, draws)
        if isinstance(problem.space, Order) and problem.space.n > 1:
            if problem.offers("swap"):
                _check_swap(problem, x, draws)
            if _has_table(problem):
                _check_exchange(problem, x, draws)
            if _has_outlook(problem):
                _check_survey(problem, x, draws)
            if problem.offers("find_place"):
                _check_place(problem, x)


def _random(problem: Problem, draws: np.random.Generator) -> Array:
    space = problem.space
    if isinstance(space, Bits):
        return (draws.random(space.n) < draws.random()).astype(np.int64)
    if hasattr(space, "low"):
        return np.asarray(draws.integers(space.low, space.high + 1))
    return np.asarray(draws.permutation(space.n))


def _measure(problem: Problem, x: Array) -> Array:
    given = x.copy()
    value = evaluate(widen(problem.record), given)
    if not np.array_equal(given, x):
        raise CheckFailed(f"evaluate changes the solution that it is given, {x.tolist()}; work on x.copy() there")
    return np.array(value if isinstance(value, tuple) else (value,))


def _agree(got: Array, wanted: Array) -> bool:
    if wanted.dtype.kind == "f":
        return bool(np.allclose(got, wanted, rtol=1e-9, atol=1e-9))
    return np.array_equal(got, wanted)


def _tally_of(problem: Problem, stored: Array, measures: Array) -> Array:
    tallies = problem.tallies() or Tallies(len(measures), measures.dtype)
    tally: Array = np.zeros(tallies.number, tallies.dtype)
    count(widen(problem.record), stored, 0, measures, tally)
    if not _agree(_weighed(problem, tally, measures), measures):
        x = problem.encoding.load(problem.space, stored)[0]
        raise CheckFailed(f"weigh does not give back the measures {measures.tolist()} of {x.tolist()}")
    return tally


def _weighed(problem: Problem, tally: Array, measures: Array) -> Array:
    found = np.zeros_like(measures)
    weigh(widen(problem.record), tally, found)
    return found


def _check_flip(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """A flip and a run of flips against evaluate."""
    measures = _measure(problem, x)
    i = int(draws.integers(len(x)))
    stored = problem.encoding.store(problem.space, x[None])
    tally = _tally_of(problem, stored, measures)
    flip(widen(problem.record), stored, 0, i, tally)
    turned = x.copy()
    turned[i] ^= 1
    wanted = _measure(problem, turned)
    if not _agree(_weighed(problem, tally, measures), wanted):
        raise CheckFailed(
            f"flip says {_weighed(problem, tally, measures).tolist()} after decision {i} of {x.tolist()} is flipped, "
            f"evaluate says {wanted.tolist()}"
        )
    toggle(stored, 0, i)
    first, last = sorted(int(p) for p in draws.integers(0, len(x) + 1, 2))
    flip_run(widen(problem.record), stored, 0, first, last, tally)
    turned[first:last] ^= 1
    wanted = _measure(problem, turned)
    if not np.array_equal(problem.encoding.load(problem.space, stored)[0], turned) or not _agree(
        _weighed(problem, tally, measures), wanted
    ):
        raise CheckFailed(f"flip_run of the decisions {first} to {last} ends wrong from {x.tolist()}")
    some = (draws.random(len(x)) < 0.2).astype(x.dtype)
    word = int(draws.integers(stored.shape[1]))
    some[: 64 * word] = some[64 * word + 64 :] = 0
    flip_marked(
        widen(problem.record), stored, 0, word, problem.encoding.store(problem.space, some[None])[0, word], tally
    )
    turned ^= some
    if not np.array_equal(problem.encoding.load(problem.space, stored)[0], turned) or not _agree(
        _weighed(problem, tally, measures), _measure(problem, turned)
    ):
        raise CheckFailed(f"flip_marked of {np.flatnonzero(some).tolist()} ends wrong")
    if problem.offers("repair"):
        _check_made(problem, stored, tally, measures, "repair", problem.ranking())


def _check_made(problem: Problem, x: Array, tally: Array, measures: Array, name: str, *args: Any) -> None:
    """What repair, polish, refine and construct make has the tally of the solution; a repaired one is feasible."""
    body_of(name, widen(problem.record))(
        widen(problem.record), *((problem.space,) if name == "construct" else ()), x, 0, tally, *args
    )
    made = problem.encoding.load(problem.space, x)[0]
    if not _agree(_weighed(problem, tally, measures), _measure(problem, made)):
        raise CheckFailed(f"{name} leaves a tally that is not that of its solution {made.tolist()}")
    if name == "repair" and violation(widen(problem.record), _measure(problem, made)) > 0:
        raise CheckFailed(f"repair leaves an infeasible solution: {made.tolist()}")


def _check_reassign(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """Three reassignments, one after the other, against evaluate."""
    measures = _measure(problem, x)
    stored = problem.encoding.store(problem.space, x[None])
    tally = _tally_of(problem, stored, measures)
    for _ in range(3):
        before = stored.copy()
        i = int(draws.integers(len(x)))
        value = int(_random(problem, draws)[i])
        reassign(widen(problem.record), stored, 0, i, value, tally)
        if not np.array_equal(stored, before):
            raise CheckFailed(f"reassign writes to the solution {before[0].tolist()}; it only says what would follow")
        stored[0, i] = value
        wanted = _measure(problem, problem.encoding.load(problem.space, stored)[0])
        if not _agree(_weighed(problem, tally, measures), wanted):
            raise CheckFailed(
                f"reassign says {_weighed(problem, tally, measures).tolist()} after decision {i} of "
                f"{before[0].tolist()} is {value}, evaluate says {wanted.tolist()}"
            )
    if problem.offers("polish"):
        work = np.full(problem.scratch(), 7, np.int32)  # as what others have left there
        key = np.uint64(draws.integers(2**32)), SEARCH, 1, 0
        _check_made(problem, stored, tally, measures, "polish", work, key)


def _check_refine(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """A short search: its tally against evaluate, and a solution no less fit."""
    guidance = problem.guidance()
    if guidance is None:
        return
    measures = _measure(problem, x)
    stored = problem.encoding.store(problem.space, x[None])
    work: Array = np.zeros(guidance.work.number, guidance.work.dtype)
    key = (int(draws.integers(2**32)), SEARCH, 1, 0)
    tally = _tally_of(problem, stored, measures)
    _check_made(problem, stored, tally, measures, "refine", guidance.guide, work, 20, key, new_flag())
    if fitness(widen(problem.record), _weighed(problem, tally, measures)) < fitness(widen(problem.record), measures):
        raise CheckFailed(f"refine leaves a solution less fit than {x.tolist()}: {stored[0].tolist()}")


def _check_swap(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """Two exchanges, one after the other, against evaluate."""
    measures = _measure(problem, x)
    stored = problem.encoding.store(problem.space, x[None])
    tally = _tally_of(problem, stored, measures)
    for _ in range(2):
        before = stored.copy()
        i, j = (int(p) for p in draws.choice(len(x), 2, replace=False))
        swap(widen(problem.record), stored, 0, i, j, tally)
        if not np.array_equal(stored, before):
            raise CheckFailed(f"swap writes to the solution {before[0].tolist()}; it only says what would follow")
        stored[0, [i, j]] = stored[0, [j, i]]
        wanted = _measure(problem, problem.encoding.load(problem.space, stored)[0])
        if not _agree(_weighed(problem, tally, measures), wanted):
            raise CheckFailed(
                f"swap says {_weighed(problem, tally, measures).tolist()} after the decisions {i} and {j} of "
                f"{before[0].tolist()} are exchanged, evaluate says {wanted.tolist()}"
            )


def _has_table(problem: Problem) -> bool:
    """Whether the problem keeps a table of exchanges, which takes three methods."""
    has = {"tables": problem.tables() is not None, **{v: problem.offers(v) for v in ("tabulate", "exchange")}}
    if len(set(has.values())) > 1:
        raise CheckFailed(
            f"tables, tabulate and exchange belong together, but {type(problem).__name__} has only "
            f"{' and '.join(name for name in has if has[name])}"
        )
    return has["tables"]


def _check_exchange(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """The table of a solution, and what a few exchanges make of it, against evaluate."""
    tables = problem.tables()
    assert tables is not None
    table: Array = np.zeros(tables.number, tables.dtype)
    stored = problem.encoding.store(problem.space, x[None])
    tabulate(widen(problem.record), stored, 0, table)
    _check_gains(problem, stored, table, "tabulate")
    if problem.offers("swap_gains"):
        gains = np.zeros_like(table)
        i = int(draws.integers(len(x)))
        swap_gains(widen(problem.record), stored, 0, i, gains)
        for j in range(len(x)):
            if j != i:
                _check_gain(problem, stored, i, j, gains[j], "swap_gains")
    for _ in range(3):
        moved = stored.copy()
        i, j = sorted(int(p) for p in draws.choice(len(x), 2, replace=False))
        moved[0, [i, j]] = moved[0, [j, i]]
        exchange(widen(problem.record), stored, 0, i, j, table)
        if not np.array_equal(stored, moved):
            raise CheckFailed(f"exchange of {i} and {j} must make {moved[0].tolist()}, but made {stored[0].tolist()}")
        _check_gains(problem, stored, table, f"exchange of {i} and {j}")


def _check_gains(problem: Problem, stored: Array, table: Array, where: str) -> None:
    """All gains of a table, i < j."""
    n = stored.shape[1]
    for i in range(n):
        for j in range(i + 1, n):
            _check_gain(problem, stored, i, j, table[i * padded(n) + j], where)


def _check_gain(problem: Problem, stored: Array, i: int, j: int, gain: Any, where: str) -> None:
    """How much fitter the solution gets by one exchange."""
    x = problem.encoding.load(problem.space, stored)[0].astype(np.int64)
    moved = x.copy()
    moved[[i, j]] = x[[j, i]]
    wanted = fitness(widen(problem.record), _measure(problem, moved)) - fitness(
        widen(problem.record), _measure(problem, x)
    )
    if not _agree(np.asarray(gain), np.asarray(wanted)):
        raise CheckFailed(
            f"{where} says that {x.tolist()} gains {gain} when its decisions {i} and {j} are exchanged, evaluate says "
            f"{wanted}"
        )


def _has_outlook(problem: Problem) -> bool:
    """Whether the problem keeps something for insertions, which takes three methods."""
    has = {"outlooks": problem.outlooks() is not None, **{v: problem.offers(v) for v in ("look", "survey_insertions")}}
    if not has["outlooks"] and problem.offers("find_place"):
        raise CheckFailed(f"find_place needs outlooks, for room to work, but {type(problem).__name__} has none")
    wanted = has["look"] or has["survey_insertions"]
    if wanted and not all(has.values()):
        raise CheckFailed(
            f"outlooks, look and survey_insertions belong together, but {type(problem).__name__} has only "
            f"{' and '.join(name for name in has if has[name])}"
        )
    return wanted


def _room(problem: Problem) -> tuple[Array, Array, Array]:
    """For what is kept, to work, and for measures of neighbours; full of what they could be full of."""
    outlooks = problem.outlooks()
    assert outlooks is not None
    measures = _measure(problem, problem.encoding.example(problem.space).astype(np.int64))
    kept, work = (np.full(number, 7, outlooks.dtype) for number in (outlooks.number, outlooks.work))
    return kept, work, np.full((VECTOR, len(measures)), 7, measures.dtype)


def _check_survey(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """Neighbours in which one decision is put elsewhere, a block of them and one of them, against evaluate."""
    kept, work, trial = _room(problem)
    stored = problem.encoding.store(problem.space, x[None])
    look(widen(problem.record), stored, 0, kept)
    i, first = (int(p) for p in draws.integers(0, len(x), 2))
    for fresh, last in ((True, min(len(x), first + VECTOR)), (False, min(len(x), first + 2)), (True, first + 1)):
        survey_insertions(widen(problem.record), stored, 0, i, first, last, fresh, kept, work, trial, 0)
        for place in range(first, last):
            moved = np.insert(np.delete(x, i), place, x[i])
            _check_objectives(problem, trial[place - first], moved, f"survey_insertions from {i} to {place}")


def _check_place(problem: Problem, x: Array) -> None:
    """The best place for the last of an order, against all of them."""
    _, work, trial = _room(problem)
    stored = problem.encoding.store(problem.space, x[None])
    rest, item = x[:-1], int(x[-1])
    found = int(find_place(widen(problem.record), stored, 0, len(rest), item, work, trial, 0))
    made = [np.insert(rest, place, item) for place in range(len(x))]
    worth = [fitness(widen(problem.record), _measure(problem, y)) for y in made]
    if not 0 <= found < len(x) or found != worth.index(max(worth)):
        raise CheckFailed(
            f"find_place says that {item} is best in place {found} of {rest.tolist()}, evaluate says in place "
            f"{worth.index(max(worth))}"
        )
    _check_objectives(problem, trial[0], made[found], "find_place")


def _check_objectives(problem: Problem, found: Array, x: Array, where: str) -> None:
    """Measures as far as they are objectives, and the fitness and violation that follow."""
    wanted, count = _measure(problem, x), len(problem.senses)
    worth = [np.array([rule(widen(problem.record), m) for rule in (fitness, violation)]) for m in (found, wanted)]
    if not _agree(found[:count], wanted[:count]) or not _agree(*worth):
        raise CheckFailed(
            f"{where} says {found[:count].tolist()} for {x.tolist()}, evaluate says {wanted[:count].tolist()}"
        )


def _check_cross(problem: Problem, draws: np.random.Generator) -> None:
    """One pair: cross against evaluate, then remark against mark."""
    parents = np.stack([_random(problem, draws), _random(problem, draws)])
    n = parents.shape[1]
    a, b = sorted(int(p) for p in draws.integers(0, n + 1, 2))
    m = int(draws.integers(n))
    x = problem.encoding.store(problem.space, parents)
    number, dtype, _ = problem.marks()
    marks = np.zeros((2, number), dtype)
    for row in range(2):
        mark(widen(problem.record), x, row, marks)
    scores = np.stack([_measure(problem, p) for p in parents])
    trial = np.zeros_like(scores)
    plan = np.array([[a, b, m, 1]], np.int32)
    cross(widen(problem.record), x, scores, marks, 0, 1, 1, plan, 0, trial, 0, 1)
    children = parents.copy()
    children[:, a:b] = children[::-1, a:b].copy()
    children[:, m] ^= 1
    case: dict[str, Any] = {"parents": parents.tolist(), "segment": (a, b), "flipped": m}
    for row in range(2):
        if not _agree(trial[row], _measure(problem, children[row])):
            raise CheckFailed(
                f"cross says {trial[row].tolist()} for child {row}, evaluate says "
                f"{_measure(problem, children[row]).tolist()}: {case}"
            )
    for keep_h, keep_v in ((True, True), (True, False), (False, True)):
        moved = marks.copy()
        remark(widen(problem.record), x, moved, 0, 1, a, b, m, keep_h, keep_v)
        wanted = np.zeros_like(marks)
        stored = problem.encoding.store(
            problem.space, np.stack([children[0] if keep_h else parents[0], children[1] if keep_v else parents[1]])
        )
        for row in range(2):
            mark(widen(problem.record), stored, row, wanted)
        if not _agree(moved, wanted):
            raise CheckFailed(f"remark gives {moved.tolist()}, mark gives {wanted.tolist()}: {case}")
