"""Flips, repair, construction and segments against `evaluate`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from systola.errors import CheckFailed
from systola.jit.dispatch import implementation_of
from systola.jit.records import widen
from systola.model.capabilities import Repair, Segments, buffer_of, capability
from systola.model.contracts.cases import agree, compare, loaded, measure, new_state, random_solution, stored
from systola.model.encodings import Array
from systola.model.incremental import cross_segments, flip, flip_run, flip_word, init_prefix, update_prefix
from systola.model.objective import violation
from systola.model.problem import Problem, record_of, space_of
from systola.simd.bits import toggle


def check_flips(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """A flip, a run of flips and some flips of a word, one after the other; then repair."""
    record, rows, x = widen(record_of(problem)), stored(problem, x), x.copy()
    state = new_state(problem, rows, measure(problem, x))
    before, i = rows.copy(), int(draws.integers(len(x)))
    flip(record, rows, 0, i, state)
    if not np.array_equal(rows, before):
        raise CheckFailed(f"flip writes to the solution {x.tolist()}; it only says what would follow")
    told = f"flip, after decision {i} of {x.tolist()} is flipped,"
    x[i] ^= 1
    compare(problem, state, x, told)
    toggle(rows, 0, i)
    first, last = sorted(int(p) for p in draws.integers(0, len(x) + 1, 2))
    told = f"Flips.run of the decisions {first} to {last} of {x.tolist()}"
    flip_run(record, rows, 0, first, last, state)
    x[first:last] ^= 1
    _check_rows(problem, rows, state, x, told)
    some = (draws.random(len(x)) < 0.2).astype(x.dtype)
    word = int(draws.integers(rows.shape[1]))
    some[: 64 * word] = some[64 * word + 64 :] = 0
    flip_word(record, rows, 0, word, stored(problem, some)[0, word], state)
    x ^= some
    _check_rows(problem, rows, state, x, f"Flips.word of {np.flatnonzero(some).tolist()}")
    repairer = capability(problem, Repair)
    if repairer:
        check_made(problem, rows, state, "repair", repairer.data(problem))


def _check_rows(problem: Problem, rows: Array, state: Array, x: Array, told: str) -> None:
    if not np.array_equal(loaded(problem, rows), x):
        raise CheckFailed(f"{told} must make {x.tolist()}, but made {loaded(problem, rows).tolist()}")
    compare(problem, state, x, told)


def check_made(problem: Problem, rows: Array, state: Array, name: str, *args: Any) -> None:
    """What repair and construct make has the state of the solution; a repaired one is feasible."""
    record = widen(record_of(problem))
    space, rest = (args[:1], args[1:]) if name == "construct" else ((), args)
    implementation_of(name, record)(record, *space, rows, 0, state, *rest)
    made = loaded(problem, rows)
    compare(problem, state, made, f"the state that {name} leaves of {made.tolist()}")
    if name == "repair" and violation(record, measure(problem, made)) > 0:
        raise CheckFailed(f"repair leaves an infeasible solution: {made.tolist()}")


def _step(problem: Problem, x: Array, scores: Array, prefix: Array, trial: Array) -> Any:
    """As much of a step as `Segments` may look at."""
    population = SimpleNamespace(x=x, scores=scores, prefix=prefix)
    return SimpleNamespace(
        problem=widen(record_of(problem)),
        space=space_of(problem),
        population=population,
        lanes=SimpleNamespace(trial=trial),
    )


def check_segments(problem: Problem, draws: np.random.Generator) -> None:
    """One pair of parents: `cross` against evaluate, then `update` against `init`."""
    segments = capability(problem, Segments)
    assert segments is not None
    buffer = buffer_of(problem, segments.prefix)
    parents = np.stack([random_solution(problem, draws), random_solution(problem, draws)])
    n = parents.shape[1]
    a, b = sorted(int(p) for p in draws.integers(0, n + 1, 2))
    m = int(draws.integers(n))
    x = problem.encoding.store(space_of(problem), parents)
    prefix = _prefixes(problem, x, np.zeros((2, buffer.size), buffer.dtype))
    scores = np.stack([measure(problem, p) for p in parents])
    trial = np.zeros_like(scores)
    cross_segments(_step(problem, x, scores, prefix, trial), 0, 1, 1, np.array([[a, b, m, 1]], np.int32), 0, 0, 1)
    children = parents.copy()
    children[:, a:b] = children[::-1, a:b].copy()
    children[:, m] ^= 1
    case = {"parents": parents.tolist(), "segment": (a, b), "flipped": m}
    for row in range(2):
        wanted = measure(problem, children[row])
        if not agree(trial[row], wanted):
            raise CheckFailed(
                f"Segments.cross says {trial[row].tolist()} for child {row}, evaluate says {wanted.tolist()}: {case}"
            )
    for keep_h, keep_v in ((True, True), (True, False), (False, True)):
        moved = prefix.copy()
        update_prefix(_step(problem, x, scores, moved, trial), 0, 1, a, b, m, keep_h, keep_v)
        left = np.stack([children[0] if keep_h else parents[0], children[1] if keep_v else parents[1]])
        wanted = _prefixes(problem, problem.encoding.store(space_of(problem), left), np.zeros_like(prefix))
        if not agree(moved, wanted):
            raise CheckFailed(f"Segments.update gives {moved.tolist()}, init gives {wanted.tolist()}: {case}")


def _prefixes(problem: Problem, x: Array, prefix: Array) -> Array:
    for row in range(2):
        init_prefix(widen(record_of(problem)), x, row, prefix)
    return prefix
