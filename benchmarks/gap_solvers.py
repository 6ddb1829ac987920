"""The recommended engine for generalized assignment against exact solvers: equal seconds, two threads each.

systola, OR-Tools CP-SAT and HiGHS run one after the other on each instance, in processes of their own; every solution
is checked by systola's plain objective. Compiling and the making of models are not counted.

python benchmarks/gap_solvers.py ../shared/instances/gap/e801600 --seconds 60
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import systola as sy
from systola.formats.catalog import open_instance


def checked(problem: sy.GeneralizedAssignment, agents: np.ndarray) -> int | None:
    cost, unfitness = problem.evaluate(agents)
    return None if unfitness else int(cost)


def by_cpsat(problem: sy.GeneralizedAssignment, seconds: float, threads: int) -> int | None:
    from ortools.sat.python import cp_model

    agents, jobs = problem.costs.shape
    model = cp_model.CpModel()
    x = [[model.new_bool_var("") for _ in range(jobs)] for _ in range(agents)]
    for job in range(jobs):
        model.add_exactly_one(x[agent][job] for agent in range(agents))
    for agent in range(agents):
        used = cp_model.LinearExpr.weighted_sum(x[agent], problem.loads[agent].tolist())
        model.add(used <= int(problem.capacities[agent]))
    model.minimize(cp_model.LinearExpr.weighted_sum([v for row in x for v in row], problem.costs.ravel().tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = threads
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    chosen = [[solver.boolean_value(v) for v in row] for row in x]
    return checked(problem, np.argmax(chosen, axis=0))


def by_highs(problem: sy.GeneralizedAssignment, seconds: float, threads: int) -> int | None:
    import highspy

    agents, jobs = problem.costs.shape
    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("time_limit", seconds), ("threads", threads)):
        solver.setOptionValue(option, value)
    n = agents * jobs
    solver.addVars(n, np.zeros(n), np.ones(n))
    everything = np.arange(n, dtype=np.int32)
    solver.changeColsCost(n, everything, problem.costs.ravel().astype(float))
    solver.changeColsIntegrality(n, everything, np.full(n, highspy.HighsVarType.kInteger))
    for job in range(jobs):
        solver.addRow(1.0, 1.0, agents, everything[job::jobs], np.ones(agents))
    for agent in range(agents):
        row = everything[agent * jobs : (agent + 1) * jobs]
        solver.addRow(
            -highspy.kHighsInf, float(problem.capacities[agent]), jobs, row, problem.loads[agent].astype(float)
        )
    solver.run()
    found = np.array(solver.getSolution().col_value)
    if len(found) != n or solver.getInfo().primal_solution_status != 2:
        return None
    return checked(problem, np.argmax(found.reshape(agents, jobs), axis=0))


def by_systola(problem: sy.GeneralizedAssignment, seconds: float, threads: int) -> int | None:
    sy.solve(problem, stop=sy.Iterations(1), threads=threads)  # compiles
    return checked(problem, sy.solve(problem, stop=sy.Seconds(seconds), seed=1, threads=threads).solution)


def apart(solver: Callable[..., int | None], problem: sy.GeneralizedAssignment, seconds: float, threads: int) -> str:
    """In a process of its own: OR-Tools and highspy bring libraries that clash."""
    data = (problem.costs, problem.loads, problem.capacities)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        value = pool.submit(_solve, solver, data, seconds, threads).result()
    return "nothing feasible" if value is None else f"{value:,}"


def _solve(solver: Callable[..., int | None], data: tuple[np.ndarray, ...], seconds: float, threads: int) -> int | None:
    return solver(sy.GeneralizedAssignment(*data), seconds, threads)


SOLVERS = {"systola": by_systola, "CP-SAT": by_cpsat, "HiGHS": by_highs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("instances", nargs="*", default=["gap:e-20x400", "gap:d-20x400"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    for spec in args.instances:
        problem = open_instance(spec).problem
        assert isinstance(problem, sy.GeneralizedAssignment)
        values = (f"{name} {apart(solver, problem, args.seconds, args.threads)}" for name, solver in SOLVERS.items())
        print(
            f"{Path(spec).name}, bound {problem.bound():,}, {args.seconds:g} s each: " + ", ".join(values), flush=True
        )


if __name__ == "__main__":
    main()
