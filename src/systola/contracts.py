"""What every problem must keep, to be checked on any of them, also a user's own.

The incremental methods promise to agree with the plain objective. `check_problem` tries that on random solutions,
interpreted, and raises CheckFailed with the case that breaks the promise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.bits import toggle
from systola.encodings import Array, Bits
from systola.errors import CheckFailed
from systola.increments import Tallies, count, cross, flip, flip_marked, flip_run, mark, remark, weigh
from systola.problem import Problem, evaluate, fitness, violation
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
        if violation(problem.record, measures) < 0:
            raise CheckFailed(f"a violation is never negative, but it is for {x.tolist()}")
        fitness(problem.record, measures)
        if isinstance(problem.space, Bits):
            if problem.offers("flip"):
                _check_flip(problem, x, draws)
                if hasattr(problem, "construct"):
                    stored = problem.encoding.store(problem.space, x[None])
                    tally = _tally_of(problem, stored, measures)
                    _check_made(problem, stored, tally, measures, "construct", seed, 1, int(draws.integers(1000)))
            if problem.offers("cross"):
                _check_cross(problem, draws)


def _random(problem: Problem, draws: np.random.Generator) -> Array:
    space = problem.space
    if isinstance(space, Bits):
        return (draws.random(space.n) < draws.random()).astype(np.int64)
    if hasattr(space, "low"):
        return np.asarray(draws.integers(space.low, space.high + 1))
    return np.asarray(draws.permutation(space.n))


def _measure(problem: Problem, x: Array) -> Array:
    value = evaluate(problem.record, x)
    return np.array(value if isinstance(value, tuple) else (value,))


def _agree(got: Array, wanted: Array) -> bool:
    if wanted.dtype.kind == "f":
        return bool(np.allclose(got, wanted, rtol=1e-9, atol=1e-9))
    return np.array_equal(got, wanted)


def _tally_of(problem: Problem, stored: Array, measures: Array) -> Array:
    tallies = problem.tallies() or Tallies(len(measures), measures.dtype)
    tally: Array = np.zeros(tallies.number, tallies.dtype)
    count(problem.record, stored, 0, measures, tally)
    return tally


def _weighed(problem: Problem, tally: Array, measures: Array) -> Array:
    found = np.zeros_like(measures)
    weigh(problem.record, tally, found)
    return found


def _check_flip(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """A flip and a run of flips against evaluate."""
    measures = _measure(problem, x)
    i = int(draws.integers(len(x)))
    stored = problem.encoding.store(problem.space, x[None])
    tally = _tally_of(problem, stored, measures)
    if not _agree(_weighed(problem, tally, measures), measures):
        raise CheckFailed(f"weigh does not give back the measures {measures.tolist()} of {x.tolist()}")
    flip(problem.record, stored, 0, i, tally)
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
    flip_run(problem.record, stored, 0, first, last, tally)
    turned[first:last] ^= 1
    wanted = _measure(problem, turned)
    if not np.array_equal(problem.encoding.load(problem.space, stored)[0], turned) or not _agree(
        _weighed(problem, tally, measures), wanted
    ):
        raise CheckFailed(f"flip_run of the decisions {first} to {last} ends wrong from {x.tolist()}")
    some = (draws.random(len(x)) < 0.2).astype(x.dtype)
    word = int(draws.integers(stored.shape[1]))
    some[: 64 * word] = some[64 * word + 64 :] = 0
    flip_marked(problem.record, stored, 0, word, problem.encoding.store(problem.space, some[None])[0, word], tally)
    turned ^= some
    if not np.array_equal(problem.encoding.load(problem.space, stored)[0], turned) or not _agree(
        _weighed(problem, tally, measures), _measure(problem, turned)
    ):
        raise CheckFailed(f"flip_marked of {np.flatnonzero(some).tolist()} ends wrong")
    if problem.offers("repair"):
        _check_made(problem, stored, tally, measures, "repair", problem.ranking())


def _check_made(problem: Problem, x: Array, tally: Array, measures: Array, name: str, *args: Any) -> None:
    """What repair and construct make: the tally must be that of the solution, and a repaired one feasible."""
    body_of(name, problem.record)(
        problem.record, *((problem.space,) if name == "construct" else ()), x, 0, tally, *args
    )
    made = problem.encoding.load(problem.space, x)[0]
    if not _agree(_weighed(problem, tally, measures), _measure(problem, made)):
        raise CheckFailed(f"{name} leaves a tally that is not that of its solution {made.tolist()}")
    if name == "repair" and violation(problem.record, _measure(problem, made)) > 0:
        raise CheckFailed(f"repair leaves an infeasible solution: {made.tolist()}")


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
        mark(problem.record, x, row, marks)
    scores = np.stack([_measure(problem, p) for p in parents])
    trial = np.zeros_like(scores)
    plan = np.array([[a, b, m, 1]], np.int32)
    cross(problem.record, x, scores, marks, 0, 1, 1, plan, 0, trial, 0, 1)
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
        remark(problem.record, x, moved, 0, 1, a, b, m, keep_h, keep_v)
        wanted = np.zeros_like(marks)
        stored = problem.encoding.store(
            problem.space, np.stack([children[0] if keep_h else parents[0], children[1] if keep_v else parents[1]])
        )
        for row in range(2):
            mark(problem.record, stored, row, wanted)
        if not _agree(moved, wanted):
            raise CheckFailed(f"remark gives {moved.tolist()}, mark gives {wanted.tolist()}: {case}")
