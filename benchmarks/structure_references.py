"""What the solutions of `structure.py` are compared with, each computed once.

Optima come from HiGHS, tours from elkai. The tabu search of dwave-samplers and PyVRP work on one thread, and systola on
two: each of them runs twice, one run after the other, for as many seconds as systola has, from two seeds, and the
better solution counts. These are seconds of a core: where other work on the machine took too many of them, the run is
made anew with more. What is needed to take the instance in is not part of them. Such a value belongs to this machine;
it is kept under the number of seconds, and `--references` takes another file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from own_cases import Case
from own_references import NoReference, by_elkai, remembered
from structure_cases import QUBO, Cover, Facilities, Routes, Tour


def reference(case: Case, seed: int, seconds: float, kept: Path) -> tuple[int, str]:
    """The value to compare with, and whose it is. The tabu search has a run of its own for each seed of ours."""
    if case.known is not None:
        return case.known, case.whose
    problem = case.problem
    if isinstance(problem, QUBO):
        name = f"dwave tabu 2 x {seconds:g} s, seed {seed}"
        return remembered(case, name, lambda case: by_dwave(case, seed, seconds), kept), name
    if isinstance(problem, Routes):
        name = f"PyVRP 2 x {seconds:g} s"
        return remembered(case, name, lambda case: by_pyvrp(case, seconds), kept), name
    if isinstance(problem, Tour):  # ten runs of LKH take too long for many cities, and one is hardly worse there
        runs = 10 if len(problem.distances) <= 1000 else 1
        return remembered(case, "elkai", partial(by_elkai, runs=runs), kept), "elkai"
    find = {Cover: cover_by_highs, Facilities: open_by_highs}[type(problem)]
    return remembered(case, "HiGHS", find, kept), "HiGHS"


def _missing(package: str, what: str) -> NoReference:
    return NoReference(f"{package} is not installed, with which {what} are compared: pip install {package}")


def _with_a_core(run: Callable[[float], Any], seconds: float, ahead: float = 0.0) -> Any:
    """What `run(timeout)` gives if it has so many seconds of a core, and `ahead` more of them to prepare."""
    timeout = seconds
    while True:
        start = time.process_time()
        found = run(timeout)
        worked = time.process_time() - start - ahead
        if worked >= 0.95 * seconds or timeout > 10 * seconds:
            return found
        timeout *= seconds / max(worked, 0.1 * seconds)


def by_dwave(case: Case, seed: int, seconds: float) -> list[int]:
    """Two walks of the tabu search, with its own settings."""
    try:
        from dimod import BinaryQuadraticModel
        from dwave.samplers import TabuSampler
    except ImportError as error:
        raise _missing("dwave-samplers", "quadratic binary problems") from error
    model = BinaryQuadraticModel(-case.problem.q.astype(float), "BINARY")

    def walk(timeout: float, walk_seed: int) -> Any:
        return TabuSampler().sample(model, num_reads=1, timeout=1000 * timeout, seed=walk_seed).first

    start = time.process_time()
    walk(0.001, 0)
    ahead = time.process_time() - start
    found = [_with_a_core(partial(walk, walk_seed=2 * seed + k), seconds, ahead) for k in (0, 1)]
    sample = min(found, key=lambda one: one.energy).sample
    return [int(sample[i]) for i in range(len(sample))]


def by_pyvrp(case: Case, seconds: float) -> list[int]:
    """Two runs of PyVRP, with its own settings and one vehicle more than there are visits to the depot."""
    try:
        from pyvrp import Model
        from pyvrp.stop import MaxRuntime
    except ImportError as error:
        raise _missing("pyvrp", "routes") from error
    if not hasattr(Model, "add_location"):
        raise NoReference("routes are compared with PyVRP 0.14 or later, and an older one is installed")
    problem = case.problem
    n = len(problem.demands)
    model = Model()
    places = [model.add_location(0, 0) for _ in range(n + 1)]  # where they are does not matter: distances are given
    for place, demand in zip(places, problem.demands.tolist(), strict=False):
        model.add_client(place, demand)
    depot = model.add_depot(places[n])
    model.add_vehicle_type(problem.places - n + 1, int(problem.capacity), depot, depot)
    for i, one in enumerate(places):
        for j, other in enumerate(places):
            model.add_edge(one, other, int(problem.distances[i, j]))

    def search(timeout: float, seed: int) -> Any:
        return model.solve(MaxRuntime(timeout), seed=seed, display=False).best

    found = [_with_a_core(partial(search, seed=seed), seconds) for seed in (1, 2)]
    best = min(found, key=lambda solution: (not solution.is_feasible(), solution.distance()))
    order: list[int] = []
    for k, route in enumerate(best.routes()):
        order += [n + k - 1] if k else []
        order += [stop.idx for stop in route if stop.is_client()]
    return order + list(range(n + len(best.routes()) - 1, problem.places))


def cover_by_highs(case: Case) -> list[int]:
    """To the proven optimum, by HiGHS as SciPy has it."""
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_array

    problem = case.problem
    return _optimum(case, problem.costs, LinearConstraint(csr_array(problem.covers), lb=1))


def open_by_highs(case: Case) -> list[int]:
    """To the proven optimum. Only open facilities serve, each customer on its own: weaker models take far longer."""
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    fixed, costs = case.problem.fixed, case.problem.costs
    customers, count = costs.shape
    served = kron(eye_array(customers), np.ones((1, count)))  # of serves[customer, facility], row after row
    only_open = kron(np.ones((customers, 1)), eye_array(count))
    rows = vstack([hstack([csr_array((customers, count)), served]), hstack([only_open, -eye_array(customers * count)])])
    lower = np.concatenate([np.ones(customers), np.zeros(customers * count)])
    integral = np.concatenate([np.ones(count), np.zeros(costs.size)])
    chosen = _optimum(
        case, np.concatenate([fixed, costs.ravel()]), LinearConstraint(csr_array(rows), lb=lower), integral
    )
    return chosen[:count]


def _optimum(case: Case, costs: Any, constraints: Any, integral: Any = 1) -> list[int]:
    from scipy.optimize import Bounds, milp

    found = milp(costs, constraints=constraints, integrality=integral, bounds=Bounds(0, 1), options={"mip_rel_gap": 0})
    if found.status != 0:
        raise SystemExit(f"HiGHS proved no optimum of {case.name}: {found.message}")
    return np.rint(found.x).astype(int).tolist()
