"""Engines with the parameters that suit a problem; `recommend` is what `auto` means."""

from __future__ import annotations

from systola.engines.annealing import SimulatedAnnealing
from systola.engines.cellular import Cellular
from systola.engines.engine import Engine
from systola.engines.iterated_greedy import IteratedGreedy
from systola.engines.iterated_local_search import IteratedLocalSearch
from systola.engines.iterated_tabu import IteratedTabu, has_gains
from systola.engines.neighbourhood import SNS
from systola.engines.pareto import PLS
from systola.engines.race import Race, race
from systola.engines.random_search import RS
from systola.engines.systolic import SGS
from systola.engines.tour_search import TourSearch, suits_tour_search
from systola.errors import InputError
from systola.model.capabilities import BestInsertion, Flips, LocalSearch, Repair, SwapTable, capability, offers
from systola.model.encodings import Order
from systola.model.problem import Problem, can_compare, is_declared, senses_of, space_of
from systola.operators.guided_moves import is_guided

# Chosen by few runs on QAPLIB's tai60a, tai80a, tai100a, tai60b, sko72 and sko100a, two seeds each.
_LONG = 60  # decisions
_LONG_SIDE = 4
_LONG_STEPS = 4  # of the shortest tabu search, for each decision


def recommend(problem: Problem) -> Engine:
    """An engine that is a good first choice; several that race where only the objective is known."""
    if not can_compare(problem):
        return PLS()
    if is_declared(problem):
        return _recommend_for_structure(problem)
    if offers(problem, BestInsertion):
        return IteratedGreedy() if len(senses_of(problem)) == 1 else PLS()
    if offers(problem, Repair):
        return SNS(exponential=True, random=True, moving=True, repair=True, seeded=True)
    if offers(problem, Flips):
        return SGS("B")
    if offers(problem, SwapTable):
        return memetic(problem)
    own = capability(problem, LocalSearch)
    if own and own.search and own.data(problem) is not None and space_of(problem).n > 1:
        return integer_memetic(problem)
    if hasattr(problem, "violation"):
        # Annealing is behind at first, while it is hot, so that a race would often leave out what wins in the end.
        return SimulatedAnnealing()
    return race(problem)


def _recommend_for_structure(problem: Problem) -> Engine:
    if suits_tour_search(problem):
        return TourSearch()
    if has_gains(problem):
        return IteratedTabu()
    if is_guided(problem) or hasattr(problem, "violation") or not isinstance(space_of(problem), Order):
        return SimulatedAnnealing(guided=is_guided(problem))
    # On schedules either of them is sometimes ahead by far: annealing on job shops, the other on weighted tardiness.
    return Race((SimulatedAnnealing(), IteratedLocalSearch()))


def thrifty(problem: Problem) -> Engine:
    """For a few hundred evaluations: a cellular algorithm on the smallest torus, whose children all differ.

    benchmarks/black_box.py compares it with random search.
    """
    if not can_compare(problem):
        return PLS()
    if space_of(problem).n < 2:
        return RS(size=2)
    return Cellular(
        size=9,
        topology="L5",
        selection="best",
        mutation_probability=1.0,
        replacement="better",
        restart_duplicates=True,
    )


def memetic(problem: Problem) -> Engine:
    """A cellular algorithm on a torus whose children are improved by local search: tabu search, or descent."""
    if not isinstance(space_of(problem), Order):
        raise InputError(
            f"the memetic algorithm is for permutations, but {type(problem).__name__} is encoded as "
            f"{type(space_of(problem)).__name__}; choose auto"
        )
    n = space_of(problem).n
    has_table = offers(problem, SwapTable)
    # Long solutions: children are compared after their search, as a crossed one need not be better than a local optimum
    # before it, and few of them are searched for longer.
    is_long = has_table and n >= _LONG
    side = _LONG_SIDE if is_long else min(20, max(6, round(600 / n)))  # fewer where a search takes longer
    return Cellular(
        size=side * side,
        topology="L5",
        selection="random",
        crossover_probability=1.0,
        mutation="shake",
        mutation_probability=1.0,
        replacement="searched" if is_long else "better",
        restart_duplicates=True,
        local_search="tabu" if has_table else "descent",
        local_search_interval=1,
        local_search_steps=_LONG_STEPS * n if is_long else max(1, n // 2),
    )


def integer_memetic(problem: Problem) -> Engine:
    """A cellular algorithm on a small torus whose children, or copies of the better neighbour, are improved by the
    problem's own local search."""
    n = space_of(problem).n
    side = max(4, min(8, 15 - int(n).bit_length()))  # fewer where a search takes longer
    return Cellular(
        size=side * side,
        topology="L5",
        selection="random",
        crossover="uniform",
        crossover_probability=0.5,
        mutation_probability=0.0,
        replacement="searched",
        restart_duplicates=True,
        local_search="problem",
        local_search_interval=1,
        local_search_steps=max(10 * n, min(50 * n, 20_000)),  # so that a generation is short, but touches each decision
    )


def pugace(problem: Problem) -> Engine:
    """The run of Soca, Blengio, Pedemonte, Ezzatti 2010 on quadratic assignment, Table I."""
    return Cellular(block=64, local_search="best-swap")
