"""Checks that a problem's capabilities agree with its `evaluate`, on random solutions, interpreted."""

from __future__ import annotations

import numpy as np

from systola.errors import CheckFailed
from systola.jit.records import widen
from systola.model.capabilities import (
    BestInsertion,
    Construction,
    EvaluationState,
    Flips,
    InsertionBlocks,
    LocalSearch,
    Opening,
    Reassignments,
    Segments,
    SwapTable,
    capability,
    offers,
)
from systola.model.contracts.binary import check_flips, check_made, check_segments
from systola.model.contracts.cases import measure, new_state, random_solution, stored
from systola.model.contracts.integers import check_quick_search, check_reassignments, check_search
from systola.model.contracts.opening import check_opening
from systola.model.contracts.permutations import (
    MOVES,
    check_best_insertion,
    check_insertion_blocks,
    check_move,
    check_swap_table,
)
from systola.model.contracts.structure import check_structure
from systola.model.encodings import Array
from systola.model.objective import fitness, violation
from systola.model.problem import Problem, bind, is_declared, record_of, space_of


def check_problem(problem: Problem, trials: int = 30, seed: int = 0) -> None:
    """Check evaluate, fitness, violation, and whichever capabilities the problem lists.

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
    bind(type(problem))
    opening = capability(problem, Opening)
    if opening:
        check_opening(problem, opening)
    draws = np.random.default_rng(seed)
    for _ in range(trials):
        x = random_solution(problem, draws)
        measures = measure(problem, x)
        if not np.array_equal(measures, measure(problem, x)):
            raise CheckFailed(f"evaluate is not a function: it gave two values for {x.tolist()}")
        if violation(widen(record_of(problem)), measures) < 0:
            raise CheckFailed(f"a violation is never negative, but it is for {x.tolist()}")
        fitness(widen(record_of(problem)), measures)
        if offers(problem, EvaluationState):
            new_state(problem, stored(problem, x), measures)
        _check_capabilities(problem, x, draws)
        if is_declared(problem):
            check_structure(problem, x, draws)


def _check_capabilities(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    if offers(problem, Flips):
        check_flips(problem, x, draws)
        if offers(problem, Construction):
            rows, measures = stored(problem, x), measure(problem, x)
            place = int(draws.integers(2**31)), 1, int(draws.integers(1000))
            check_made(problem, rows, new_state(problem, rows, measures), "construct", space_of(problem), *place)
    if offers(problem, Segments):
        check_segments(problem, draws)
    if offers(problem, Reassignments):
        check_reassignments(problem, x, draws)
    search = capability(problem, LocalSearch)
    if search and search.quick:
        check_quick_search(problem, x, search, draws)
    if search and search.search:
        check_search(problem, x, search, draws)
    if len(x) < 2:
        return
    for move in MOVES:
        if offers(problem, move.kind):
            check_move(problem, x, move, draws)
    table, blocks = capability(problem, SwapTable), capability(problem, InsertionBlocks)
    if table:
        check_swap_table(problem, x, table, draws)
    if blocks:
        check_insertion_blocks(problem, x, blocks, draws)
    insertion = capability(problem, BestInsertion)
    if insertion:
        check_best_insertion(problem, x, insertion)
