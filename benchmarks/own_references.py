"""What the solutions of `own_problems.py` are compared with: elkai, HiGHS, a long tabu search, each computed once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit

from own_cases import QUBO, TSP, Case, SetCovering


class NoReference(Exception):
    """The sentence that says what is missing."""


def usual_file() -> Path:
    """In the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "systola-benchmarks/references.json"


def reference(case: Case, kept: Path) -> tuple[int, str]:
    """The value to compare with, and whose it is."""
    if case.known is not None:
        return case.known, case.whose
    name, find = _FINDERS[type(case.problem)]
    return remembered(case, name, find, kept), name


def remembered(case: Case, name: str, find: Callable[[Case], list[int]], kept: Path) -> int:
    """The value of the solution that `find` gives, computed once; `name` says how it is found."""
    key = f"{case.name} {name} {_digest(case)}"
    values = json.loads(kept.read_text()) if kept.exists() else {}
    if key not in values:
        solution = find(case)
        value, broken = case.plain(solution)
        if broken:
            raise SystemExit(f"{name} gave a solution of {case.name} that breaks {broken} constraints")
        if kept.exists():  # again: others may have added to it meanwhile
            values = json.loads(kept.read_text())
        values[key] = value
        kept.parent.mkdir(parents=True, exist_ok=True)
        beside = kept.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(values, indent=1))
        beside.replace(kept)
    return values[key]


def _digest(case: Case) -> str:
    """Of the data: another instance of the same name is another reference."""
    digest = hashlib.sha256()
    for name in sorted(case.problem.__dataclass_fields__):
        digest.update(np.ascontiguousarray(getattr(case.problem, name)).tobytes())
    return digest.hexdigest()[:16]


def by_elkai(case: Case, runs: int = 10) -> list[int]:
    """LKH with ten runs, as elkai does by default, or another number of them."""
    try:
        from elkai import DistanceMatrix
    except ImportError as error:
        raise NoReference("elkai is not installed, with which tours are compared: pip install elkai") from error
    return list(DistanceMatrix(case.problem.distances.tolist()).solve_tsp(runs=runs)[:-1])


def by_highs(case: Case) -> list[int]:
    """HiGHS, as SciPy has it, to the proven optimum."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    problem = case.problem
    rows = csr_array((np.ones(len(problem.members)), problem.members, problem.starts))
    found = milp(problem.costs, constraints=LinearConstraint(rows, lb=1), integrality=1, bounds=Bounds(0, 1))
    if found.status != 0:
        raise SystemExit(f"HiGHS proved no optimum of {case.name}: {found.message}")
    return np.rint(found.x).astype(int).tolist()


def by_tabu(case: Case) -> list[int]:
    """Fifty walks of 200,000 flips."""
    return _tabu(case.problem.q, 50, 200_000, np.random.default_rng(1)).tolist()


@njit(cache=True)
def _tabu(q: np.ndarray, walks: int, flips: int, random: np.random.Generator) -> np.ndarray:
    """One-flip tabu search: the best flip that is not tabu, or that leads to the best solution of the walk."""
    n = len(q)
    record, kept = -(2**62), np.zeros(n, np.int64)
    for _ in range(walks):
        x = random.integers(0, 2, n)
        gain = np.zeros(n, np.int64)  # of each flip
        value = 0
        for i in range(n):
            inner = q[i, i]
            for j in range(n):
                if j != i and x[j]:
                    inner += 2 * q[i, j]
            gain[i] = -inner if x[i] else inner
            if x[i]:
                value += q[i, i]
                for j in range(n):
                    if j != i and x[j]:
                        value += q[i, j]
        until = np.zeros(n, np.int64)
        best = value
        for step in range(1, flips + 1):
            chosen = -1
            for i in range(n):
                allowed = until[i] < step or value + gain[i] > best
                if allowed and (chosen < 0 or gain[i] > gain[chosen]):
                    chosen = i
            if chosen < 0:
                continue
            value += gain[chosen]
            x[chosen] = 1 - x[chosen]
            gain[chosen] = -gain[chosen]
            sign = 2 if x[chosen] else -2
            for j in range(n):
                if j != chosen:
                    gain[j] += sign * q[chosen, j] if x[j] == 0 else -sign * q[chosen, j]
            until[chosen] = step + n // 100 + random.integers(1, 11)
            best = max(best, value)
            if value > record:
                record = value
                kept[:] = x
    return kept


_FINDERS = {TSP: ("elkai", by_elkai), SetCovering: ("HiGHS", by_highs), QUBO: ("tabu search", by_tabu)}
