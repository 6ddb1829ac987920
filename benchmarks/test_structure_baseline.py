"""The C programs of declared structure: what they report is costed from scratch, and small cases are solved."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import structure_speed
from own_cases import Case
from structure_cases import maxsat, qubo, tsp
from structure_speed import SEARCHES, Search, run_c

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

STRICT = ["-Werror", "-Wpedantic", "-Wconversion"]
SANITIZED = [*STRICT, "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
KINDS = [(name, flags) for name, search in SEARCHES.items() for flags in search.builds.values() if "0" not in name]


def small(name: str, n: int, seed: int) -> Case:
    makers = {"qubo": qubo, "tour": tsp, "maxsat": lambda n, seed: maxsat(n, 4 * n, seed)}
    return makers[name](n, seed)


def check(search: Search, flags: list[str], case: Case, steps: int) -> int:
    """`run_c` raises where the table of gains went wrong: the value is the sum of what was gained."""
    return run_c(search, flags, case, steps, 1).best


@pytest.mark.parametrize(("name", "flags"), KINDS)
@pytest.mark.parametrize("n", [12, 40])
def test_sanitized(monkeypatch: pytest.MonkeyPatch, name: str, flags: list[str], n: int) -> None:
    monkeypatch.setattr(structure_speed, "FLAGS", SANITIZED)
    for steps in (0, 1, 2000):
        check(SEARCHES[name], flags, small(name, n, n), steps)


@pytest.mark.parametrize(("name", "flags"), [kind for kind in KINDS if kind[0] != "tour"])
def test_optimum_of_a_few_variables(name: str, flags: list[str]) -> None:
    case = small(name, 10, 3)
    best = max(case.plain(list(x))[0] for x in product((0, 1), repeat=10))
    assert check(SEARCHES[name], [*STRICT, *flags], case, 2000) == best


@pytest.mark.parametrize("seed", range(1, 6))
def test_no_exchange_of_two_links_is_left(seed: int) -> None:
    """With all cities as candidates, the tour before the first kick is a local optimum."""
    case = tsp(40, seed)
    d = case.problem.distances
    seen = {}

    def plain(tour: list[int]) -> tuple[int, int]:
        seen["tour"] = tour
        return case.plain(tour)

    all_near = replace(SEARCHES["tour"], numbers=lambda problem, steps, seed: [[40, 39, steps, seed], d])
    check(all_near, STRICT, replace(case, plain=plain), 0)
    t = [*seen["tour"], seen["tour"][0]]
    for i in range(40):
        for j in range(i + 2, 40):
            assert d[t[i], t[j]] + d[t[i + 1], t[j + 1]] >= d[t[i], t[i + 1]] + d[t[j], t[j + 1]]


def test_kicks_help() -> None:
    case = tsp(200, 1)
    lengths = [check(SEARCHES["tour"], STRICT, case, steps) for steps in (0, 20_000)]
    assert lengths[1] < lengths[0]


def test_bad_input() -> None:
    case = qubo(10, 1)
    skew = replace(case, problem=type(case.problem)(np.triu(case.problem.q)))
    with pytest.raises(RuntimeError, match="must be symmetric"):
        run_c(SEARCHES["qubo"], STRICT, skew, 1, 1)
