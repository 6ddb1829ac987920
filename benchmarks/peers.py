"""Solutions per second of systola, DEAP, pymoo and pygmo on the generational GA of the paper, on the knapsack.

The work asked of each: binary tournament, two-point crossover with probability 0.9, bit-flip mutation
with probability 1/l, fitness with the penalty of Eq. 5, a whole population of children per generation.
Each library runs in one process, with its own operators, set up the way its documentation does it when
speed matters; systola uses the threads it would use anyway. Where a library has no operator of that kind,
its nearest one stands in; the function says so.

The clock covers the evaluation of the first population and the generations; the making of the first
population is inside only where the library does not separate the two.
"""

from __future__ import annotations

import argparse
import array
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from baseline import Knapsack, pisinger, rows


@dataclass(frozen=True)
class Rate:
    """Work done by one run; `best` is the best fitness met, to be maximised."""

    evaluations: int
    seconds: float
    best: float

    @property
    def per_second(self) -> float:
        return self.evaluations / self.seconds


def penalised(totals: npt.NDArray[np.float64], capacity: float) -> npt.NDArray[np.float64]:
    """Eq. 5 from rows of (profit, weight)."""
    excess = np.maximum(totals[..., 1] - capacity, 0.0)
    value: npt.NDArray[np.float64] = totals[..., 0] - excess * capacity
    return value


def item_columns(problem: Knapsack) -> npt.NDArray[np.float64]:
    """Profits and weights as two columns of doubles: one BLAS product gives both sums, and exactly so."""
    return np.column_stack([problem.profits, problem.weights]).astype(np.float64)


def systola_rate(problem: Knapsack, population: int, generations: int, seed: int) -> Rate:
    """systola: SGA, compiled by a run before the clock starts."""
    import systola as sy

    ours = sy.Knapsack(problem.profits, problem.weights, problem.capacity)
    engine = sy.SGA(size=population)
    sy.solve(ours, engine, stop=sy.Iterations(1), seed=seed)
    start = time.perf_counter()
    result = sy.solve(ours, engine, stop=sy.Iterations(generations), seed=seed)
    seconds = time.perf_counter() - start
    if result.objective != int(problem.profits[result.solution.astype(bool)].sum()):
        raise SystemExit("systola's objective is not that of its solution")
    return Rate(result.evaluations, seconds, float(ours.fitness(list(ours.evaluate(result.solution)))))


def deap_rate(problem: Knapsack, population: int, generations: int, seed: int) -> Rate:
    """DEAP: eaSimple on array.array individuals, as in its short OneMax example.

    NumPy reads an array straight from its buffer. Most of the time goes to mutFlipBit, which draws one
    random number per bit in Python.
    """
    from deap import algorithms, base, creator, tools

    if not hasattr(creator, "PeerIndividual"):  # the creator keeps its classes for the whole process
        creator.create("PeerFitness", base.Fitness, weights=(1.0,))
        creator.create("PeerIndividual", array.array, typecode="b", fitness=creator.PeerFitness)
    by_rows = np.ascontiguousarray(item_columns(problem).T)
    capacity = float(problem.capacity)

    def evaluate(individual: Any) -> tuple[float]:
        bits = np.frombuffer(individual, dtype=np.int8).astype(np.float64)
        profit, weight = by_rows.dot(bits).tolist()
        return (profit - (weight - capacity) * capacity if weight > capacity else profit,)

    toolbox = base.Toolbox()
    toolbox.register("attr_bool", random.getrandbits, 1)
    toolbox.register("individual", tools.initRepeat, creator.PeerIndividual, toolbox.attr_bool, problem.length)
    toolbox.register("population", tools.initRepeat, list, toolbox.individual)
    toolbox.register("evaluate", evaluate)
    toolbox.register("mate", tools.cxTwoPoint)
    toolbox.register("mutate", tools.mutFlipBit, indpb=1.0 / problem.length)
    toolbox.register("select", tools.selTournament, tournsize=2)

    random.seed(seed)
    individuals = toolbox.population(n=population)
    hall = tools.HallOfFame(1)
    start = time.perf_counter()
    # Every child goes through mutation, which then decides bit by bit.
    _, log = algorithms.eaSimple(individuals, toolbox, 0.9, 1.0, generations, halloffame=hall, verbose=False)
    seconds = time.perf_counter() - start
    return Rate(sum(log.select("nevals")), seconds, hall[0].fitness.values[0])


def pymoo_rate(problem: Knapsack, population: int, generations: int, seed: int) -> Rate:
    """pymoo: GA on a vectorised Problem, with its binary operators.

    Survivors are the best of parents and children, the only survival its GA comes with. The check for
    duplicates is off: it is no part of the work asked for, and quadratic in the population.
    """
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.pntx import TwoPointCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
    from pymoo.operators.sampling.rnd import BinaryRandomSampling
    from pymoo.optimize import minimize

    columns = item_columns(problem)

    class PenalisedKnapsack(Problem):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(n_var=problem.length, n_obj=1, xl=0, xu=1, vtype=bool)

        def _evaluate(self, x: Any, out: dict[str, Any], *_: Any, **__: Any) -> None:
            out["F"] = -penalised(x.astype(np.float64) @ columns, problem.capacity)

    algorithm = GA(
        pop_size=population,
        sampling=BinaryRandomSampling(),
        crossover_probability=TwoPointCrossover(prob=0.9),
        mutation_probability=BitflipMutation(prob=1.0, prob_var=1.0 / problem.length),
        eliminate_duplicates=False,
    )
    start = time.perf_counter()
    # The first of its generations is the random population.
    result = minimize(PenalisedKnapsack(), algorithm, ("n_gen", generations + 1), seed=seed, verbose=False)
    seconds = time.perf_counter() - start
    return Rate(int(result.algorithm.evaluator.n_eval), seconds, -float(result.F[0]))


def pygmo_rate(problem: Knapsack, population: int, generations: int, seed: int) -> Rate:
    """pygmo: sga, compiled, on a problem written in Python with integer variables in {0, 1}.

    It has no two-point crossover, so single-point stands in. Its uniform mutation draws a new bit, equal
    to the old one half of the time: probability 2/l flips with probability 1/l. Survivors are the best of
    parents and children. sga calls the fitness one vector at a time and takes no batch evaluator; only the
    first population is evaluated as a batch.
    """
    import pygmo

    columns = item_columns(problem)
    by_rows = np.ascontiguousarray(columns.T)
    length, capacity = problem.length, float(problem.capacity)

    class PenalisedKnapsack:
        def fitness(self, x: npt.NDArray[np.float64]) -> list[float]:
            profit, weight = by_rows.dot(x).tolist()
            return [(weight - capacity) * capacity - profit if weight > capacity else -profit]

        def batch_fitness(self, vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
            return -penalised(vectors.reshape(-1, length) @ columns, capacity)

        def get_bounds(self) -> tuple[list[int], list[int]]:
            return [0] * length, [1] * length

        def get_nix(self) -> int:
            return length

    algorithm = pygmo.algorithm(
        pygmo.sga(
            gen=generations,
            cr=0.9,
            m=2.0 / length,
            param_s=2,
            crossover="single",
            mutation="uniform",
            selection="tournament",
            seed=seed,
        )
    )
    start = time.perf_counter()
    individuals = pygmo.population(
        pygmo.problem(PenalisedKnapsack()), size=population, b=pygmo.bfe(pygmo.member_bfe()), seed=seed
    )
    individuals = algorithm.evolve(individuals)
    seconds = time.perf_counter() - start
    return Rate(individuals.problem.get_fevals(), seconds, -float(individuals.champion_f[0]))


PEERS: dict[str, Callable[[Knapsack, int, int, int], Rate]] = {
    "systola": systola_rate,
    "deap": deap_rate,
    "pymoo": pymoo_rate,
    "pygmo": pygmo_rate,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--spread", type=int, default=1000, help="R of Table 1")
    parser.add_argument("--population", type=int, help="2 * l * tau unless given")
    parser.add_argument("--generations", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=PEERS, default=list(PEERS))
    options = parser.parse_args()
    problem = pisinger(options.items, options.spread)
    population = options.population or 2 * options.items * rows(options.items)
    rates: dict[str, Rate] = {}
    for name in options.only:
        try:
            generations = options.generations * (100 if name == "systola" else 1)  # else too short to time
            rates[name] = PEERS[name](problem, population, generations, options.seed)
        except ImportError as error:
            print(f"{name}: skipped, {error}")
    for name, rate in rates.items():
        ratio = f", systola {rates['systola'].per_second / rate.per_second:,.0f}x" if "systola" in rates else ""
        print(
            f"{name}: {rate.per_second:,.0f} solutions/s "
            f"({rate.evaluations} in {rate.seconds:.2f} s, best {rate.best:,.0f}{ratio})"
        )


if __name__ == "__main__":
    main()
