"""The gallery is true: pages show the code of the examples, and its objectives agree with others, written anew.

The plain objectives give what `evaluate` does, the objective and the violation, and share no line with the examples.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import systola as sy
from test_docs import blocks_of

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples" / "gallery"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.name != "picture.py")
MOST_LINES = 25  # of a class
LARGEST_FIGURE = 60_000  # bytes

by_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)


def page_of(example: Path) -> Path:
    return ROOT / "docs" / "gallery" / f"{example.stem.replace('_', '-')}.md"


def definitions(source: str) -> dict[str, str]:
    """Classes and functions of a module, each as it is written."""
    kinds = ast.ClassDef | ast.FunctionDef
    return {n.name: ast.get_source_segment(source, n) or "" for n in ast.parse(source).body if isinstance(n, kinds)}


def load(example: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(FOLDER)  # for `picture`
    spec = importlib.util.spec_from_file_location(f"gallery_{example.stem}", example)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def tour(p: Any, x: list[int]) -> tuple[int, int]:
    return sum(p.distances[a][b] for a, b in pairwise([*x, x[0]])), 0


def time_windows(p: Any, x: list[int]) -> tuple[int, int]:
    depot = len(x)
    way = [depot, *x, depot]
    clock = late = 0
    for a, b in pairwise(way[:-1]):
        clock += p.travel[a][b]
        clock += max(0, p.ready[b] - clock)
        late += max(0, clock - p.due[b])
    return sum(p.travel[a][b] for a, b in pairwise(way)), late


def vehicle_routing(p: Any, x: list[int]) -> tuple[int, int]:
    depot = len(p.demands)
    routes: list[list[int]] = [[]]
    for item in x:
        if item < depot:
            routes[-1].append(item)
        else:
            routes.append([])
    length = sum(p.distances[a][b] for route in routes for a, b in pairwise([depot, *route, depot]))
    return length, sum(max(0, sum(p.demands[c] for c in route) - p.capacity) for route in routes)


def max_cut(p: Any, x: list[int]) -> tuple[int, int]:
    sides = {node for node, bit in enumerate(x) if bit}
    return sum(w for (a, b), w in zip(p.edges, p.weights, strict=True) if len({a, b} & sides) == 1), 0


def max_sat(p: Any, x: list[int]) -> tuple[int, int]:
    true = {v if bit else -v for v, bit in enumerate(x, 1)}
    return sum(w for clause, w in zip(p.clauses, p.weights, strict=True) if true & set(clause)), 0


def graph_colouring(p: Any, x: list[int]) -> tuple[int, int]:
    classes = [{v for v, colour in enumerate(x) if colour == c} for c in set(x)]
    return sum({a, b} <= same for a, b in p.edges for same in classes), 0


def set_covering(p: Any, x: list[int]) -> tuple[int, int]:
    chosen = {j for j, bit in enumerate(x) if bit}
    return sum(p.costs[j] for j in chosen), sum(not any(row[j] for j in chosen) for row in p.covers)


def bin_packing(p: Any, x: list[int]) -> tuple[int, int]:
    loads = [sum(size for size, chosen in zip(p.sizes, x, strict=True) if chosen == b) for b in set(x)]
    return (
        len(loads) * p.unit + sum(p.capacity**2 - min(load, p.capacity) ** 2 for load in loads),
        sum(load - p.capacity for load in loads if load > p.capacity),
    )


def weighted_tardiness(p: Any, x: list[int]) -> tuple[int, int]:
    ends = {job: sum(p.times[other] for other in x[: k + 1]) for k, job in enumerate(x)}
    return sum(p.weights[job] * (end - p.due[job]) for job, end in ends.items() if end > p.due[job]), 0


def job_shop(p: Any, x: list[int]) -> tuple[int, int]:
    work = [iter(range(job * p.machines, (job + 1) * p.machines)) for job in range(p.jobs)]
    job_free: dict[int, int] = {}
    machine_free: dict[int, int] = {}
    for item in x:
        job = item // p.machines
        k = next(work[job])
        end = max(job_free.get(job, 0), machine_free.get(p.machine[k], 0)) + p.times[k]
        job_free[job] = machine_free[p.machine[k]] = end
    return max(machine_free.values()), 0


def facility_location(p: Any, x: list[int]) -> tuple[int, int]:
    chosen = [f for f, bit in enumerate(x) if bit]
    served = [min([p.unserved, *(row[f] for f in chosen)]) for row in p.costs]
    return sum(served) + sum(p.fixed[f] for f in chosen), 0


def timetabling(p: Any, x: list[int]) -> tuple[int, int]:
    common = {(a, b): c for (a, b), c in zip(p.pairs, p.common, strict=True)}
    soft = broken = 0
    for a, b in combinations(range(len(x)), 2):
        apart = abs(p.hour[x[a]] - p.hour[x[b]])
        soft += common.get((a, b), 0) if apart == 1 else 0
        broken += common.get((a, b), 0) if apart == 0 else 0
    for value in set(x):
        here = [event for event, chosen in enumerate(x) if chosen == value]
        broken += len(here) - 1 + sum(p.students[event] > p.seats[value] for event in here)
    return soft, broken


# The plain objective, and the size of an instance that is small.
PLAIN: dict[str, tuple[Callable[[Any, list[int]], tuple[int, int]], dict[str, Any]]] = {
    "tsp": (tour, {"n": 12}),
    "time_windows": (time_windows, {"n": 10}),
    "vehicle_routing": (vehicle_routing, {"n": 12, "capacity": 200}),
    "max_cut": (max_cut, {"n": 20, "degree": 4}),
    "max_sat": (max_sat, {"n": 10, "clauses": 60}),
    "graph_colouring": (graph_colouring, {"n": 15, "colours": 3, "radius": 0.4}),
    "set_covering": (set_covering, {"rows": 12, "columns": 15, "reach": 0.3}),
    "bin_packing": (bin_packing, {"n": 12}),
    "weighted_tardiness": (weighted_tardiness, {"n": 10}),
    "job_shop": (job_shop, {"jobs": 4, "machines": 3}),
    "facility_location": (facility_location, {"facilities": 6, "customers": 10}),
    "timetabling": (timetabling, {"events": 12, "students": 15, "rooms": 2}),
}


def random_solution(problem: Any, draws: np.random.Generator) -> list[int]:
    encoding = problem.encoding
    n = encoding.space(problem).n
    if isinstance(encoding, sy.Permutation):
        return draws.permutation(n).tolist()
    return draws.integers(0, 2 if isinstance(encoding, sy.Binary) else problem.last + 1, n).tolist()


@pytest.mark.filterwarnings("ignore::systola.InfeasibleWarning")  # two steps are few
@by_example
def test_objectives_agree(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, sizes = PLAIN[example.stem]
    problem = load(example, monkeypatch).instance(**sizes)[0]
    lists = type("Lists", (), {f: np.asarray(getattr(problem, f)).tolist() for f in problem.__dataclass_fields__})()
    result = sy.solve(problem, "sa", stop=sy.Iterations(2), seed=1, backend="python")
    assert plain(lists, result.solution.tolist()) == (result.objective, result.violation)
    draws = np.random.default_rng(1)
    broken = set()
    for _ in range(20):
        x = random_solution(problem, draws)
        measures = np.atleast_1d(problem.evaluate(np.array(x)))
        found = plain(lists, x)
        assert found[: len(measures)] == tuple(measures)
        broken.add(found[1])
    assert (len(broken) > 1) == (len(measures) > 1)  # violations are met where there are constraints


@by_example
def test_the_class_is_short(example: Path) -> None:
    source = example.read_text(encoding="utf-8")
    classes = [text for text in definitions(source).values() if text.startswith("class ")]
    assert len(classes) == 1
    assert len(classes[0].splitlines()) <= MOST_LINES


@by_example
def test_the_page_shows_the_example(example: Path) -> None:
    written = definitions(example.read_text(encoding="utf-8"))
    blocks = blocks_of(page_of(example))
    on_page = definitions("\n".join(block.body for block in blocks if block.language == "python"))
    wanted = {name: text for name, text in written.items() if text.startswith("class ") or name == "instance"}
    assert {name: on_page.get(name) for name in wanted} == wanted
    call = next(block for block in blocks if block.language == "py")
    main = example.read_text(encoding="utf-8").partition('if __name__ == "__main__":\n')[2]
    assert "sy.solve(" in call.body
    for line in call.body.splitlines():
        assert f"    {line}\n" in main, f"{example.name} has no line {line!r}"


@by_example
def test_the_page_has_its_figure(example: Path) -> None:
    figure = ROOT / "docs" / "images" / "gallery" / f"{example.stem}.png"
    assert 1_000 < figure.stat().st_size < LARGEST_FIGURE
    text = page_of(example).read_text(encoding="utf-8")
    assert f"](../images/gallery/{figure.name})" in text
    assert f"](../../examples/gallery/{example.name})" in text
    index = (ROOT / "docs" / "gallery" / "index.md").read_text(encoding="utf-8")
    assert f"]({page_of(example).name})" in index


def shape(printed: str) -> str:
    """What is printed, whatever the numbers and the engine."""
    return re.sub(r"engine: \S+\)", "engine)", re.sub(r"\d[\d,.]*", "N", printed)).strip()


@pytest.mark.long
@by_example
def test_examples_print_what_pages_say(example: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    promised = next(block.output for block in blocks_of(page_of(example)) if block.language == "py")
    assert promised is not None
    assert shape(done.stdout).startswith(shape(promised))
    assert "infeasible" not in done.stderr
    if importlib.util.find_spec("matplotlib"):
        assert (tmp_path / f"{example.stem}.png").stat().st_size < LARGEST_FIGURE
