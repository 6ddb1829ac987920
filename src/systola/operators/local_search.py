"""Local searches: a solution near one of the population, mostly a better one, takes its place.

Arguments: engine's record, step, the solution's row, key, lane. In permutations,
neighbours differ by one exchange; where the problem keeps a table of all exchanges (`SwapTable`), descent and tabu
search work with it. Integers are searched by the problem's own `LocalSearch`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import called, inlined
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer, LocalSearch, SwapTable, buffer_of, capability
from systola.model.encodings import Array, Digits, Order
from systola.model.incremental import fill_swap_table, make_swap, measures_from_state, search_around, swap_gains
from systola.model.objective import better
from systola.model.population import keep_trial
from systola.model.problem import Problem, space_of
from systola.model.rng import below, common, numbers
from systola.operators.evaluation import evaluate_full, evaluate_swap
from systola.operators.registry import Operator, OperatorRegistry
from systola.simd.bits import lowest_one
from systola.simd.rows import largest_allowed, least, padded, part

_DOUBLINGS = 6


@inlined
def copy_known(population: Any, lanes: Any, row: Any, trial: Any) -> None:
    """The measures and state of the solution in a row become those of a trial."""
    for k in range(lanes.trial.shape[1]):
        lanes.trial[trial, k] = population.scores[row, k]
    for k in range(population.state.shape[1]):
        lanes.state[trial, k] = population.state[row, k]


@inlined
def _try(s: Any, row: Any, i: Any, j: Any, trial: Any, lane: Any) -> None:
    """Measures and state of x[row] with i and j exchanged."""
    lanes = s.lanes
    evaluate_swap(s, row, i, j, lane, lanes.state[trial], lanes.trial[trial])


@called
def beats(s: Any, row: Any, i: Any, j: Any, lane: Any) -> Any:
    """Whether x[row] with i and j exchanged beats what lanes.trial[2 * lane] says, which then says it."""
    problem, population, lanes = s.problem, s.population, s.lanes
    best, new = 2 * lane, 2 * lane + 1
    _try(s, row, i, j, new, lane)
    if not better(problem, lanes.trial[new], lanes.trial[best]):
        return False
    for k in range(lanes.trial.shape[1]):
        lanes.trial[best, k] = lanes.trial[new, k]
    for k in range(population.state.shape[1]):
        lanes.state[best, k] = lanes.state[new, k]
    return True


@inlined
def apply_swap(population: Any, lanes: Any, row: Any, i: Any, j: Any, trial: Any) -> None:
    """Exchange i and j in x[row]; its measures and state are those of the trial."""
    x = population.x
    x[row, i], x[row, j] = x[row, j], x[row, i]
    keep_trial(population, lanes, row, trial)


@called
def _evaluate_again(s: Any, row: Any, lane: Any) -> None:
    """Measures and state of x[row]: gains say nothing of measures other than the fitness."""
    population, lanes = s.population, s.lanes
    evaluate_full(s, population.x, row, lane, lanes.state[2 * lane], population.scores[row])
    for k in range(population.state.shape[1]):
        population.state[row, k] = lanes.state[2 * lane, k]


def best_swap(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    """The best exchange with one position, the same for all solutions of a step (Soca et al. 2010).

    It is made even if it is no improvement: this keeps a converged population moving.
    """
    space, population, lanes = s.space, s.population, s.lanes
    number, _, _, _ = numbers(common(key), 0)
    position = below(number, space.n)
    found = np.int64(0) if position > 0 else np.int64(1)
    best = 2 * lane
    _try(s, row, position, found, best, lane)
    for j in range(found + 1, space.n):
        if must_leave(lanes.stop):
            break
        if j != position and beats(s, row, position, j, lane):
            found = np.int64(j)
    apply_swap(population, lanes, row, position, found, best)


def best_swap_by_gains(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    """`best_swap` where the problem gives the gains of all exchanges with one position together."""
    problem, space, population, lanes = s.problem, s.space, s.population, s.lanes
    number, _, _, _ = numbers(common(key), 0)
    position = below(number, space.n)
    gains = lanes.table[lane]
    swap_gains(problem, population.x, row, position, gains)
    found = np.int64(0) if position > 0 else np.int64(1)
    for j in range(found + 1, space.n):
        if gains[j] > gains[found] and j != position:
            found = np.int64(j)
    _try(s, row, position, found, 2 * lane, lane)
    apply_swap(population, lanes, row, position, found, 2 * lane)


def descent(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    """The best of all exchanges, again and again, until none is an improvement."""
    space, population, lanes = s.space, s.population, s.lanes
    copy_known(population, lanes, row, 2 * lane)
    found = np.int64(0)
    while found >= 0:
        found = np.int64(-1)
        for i in range(space.n):
            for j in range(i + 1, space.n):
                if must_leave(lanes.stop):
                    break
                if beats(s, row, i, j, lane):
                    found = i * space.n + j
        if found >= 0:
            apply_swap(population, lanes, row, found // space.n, found % space.n, 2 * lane)


@called
def _best_exchange(table: Any, until: Any, n: Any, now: Any, floor: Any) -> Any:
    """The first of the best exchanges that are allowed or gain more than `floor`; n and n if there are none.

    until[i * width + j] says until when facility i must not go where j is, the second block of it the same of j.
    """
    width = padded(n)
    back = n * width
    most = least(table)
    one = np.int64(n)
    for i in range(n - 1):
        at = i * width
        one_way, other_way = part(until, at, width), part(until, back + at, width)
        value = largest_allowed(part(table, at, n), i + 1, one_way, other_way, now, floor)
        if value > most:
            most = value
            one = np.int64(i)
    two = np.int64(n)
    if one < n:
        at = one * width
        two = one + 1
        while table[at + two] != most or not (
            until[at + two] < now or until[back + at + two] < now or table[at + two] > floor
        ):
            two += 1
    return one, two


@called
def _write_back(s: Any, solutions: Any, row: Any, lane: Any) -> None:
    """solutions[lane] becomes x[row], measured anew."""
    space, population = s.space, s.population
    for k in range(space.n):
        population.x[row, k] = solutions[lane, k]
    _evaluate_again(s, row, lane)


def descent_by_table(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    """`descent` with the problem's table."""
    problem, space, population, lanes = s.problem, s.space, s.population, s.lanes
    table, until = lanes.table[lane], lanes.scratch[lane]
    for k in range(space.n):
        lanes.child[lane, k] = population.x[row, k]
    for k in range(until.shape[0]):
        until[k] = 0
    fill_swap_table(problem, lanes.child, lane, table)
    i, j = _best_exchange(table, until, space.n, 0, 0)
    if i == space.n:
        return
    while i < space.n and not must_leave(lanes.stop):
        make_swap(problem, lanes.child, lane, i, j, table)
        i, j = _best_exchange(table, until, space.n, 0, 0)
    _write_back(s, lanes.child, row, lane)


@called
def _forbid(until: Any, n: Any, i: Any, j: Any, first: Any, second: Any) -> None:
    """After i and j were exchanged: neither may go back before the moments given."""
    width = padded(n)
    back = n * width
    for k in range(n):
        at = k * width
        until[at + i], until[at + j] = until[at + j], until[at + i]
        until[back + i * width + k], until[back + j * width + k] = (
            until[back + j * width + k],
            until[back + i * width + k],
        )
    until[i * width + j] = first
    until[back + j * width + i] = first
    until[j * width + i] = second
    until[back + i * width + j] = second


def tabu(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    """Robust tabu search (Taillard 1991); its long-term aspiration is left out.

    What was exchanged is tabu for 0.9 n to 1.1 n steps, unless that gives the best solution so far. A search has
    `engine.local_search_steps` exchanges, or twice as many with probability 1/2, again doubled with 1/2, and so on up
    to 64 times: structured problems want many short searches, others few long ones.
    """
    problem, space, population, lanes = s.problem, s.space, s.population, s.lanes
    n = space.n
    table, until = lanes.table[lane], lanes.scratch[lane]
    for k in range(n):
        lanes.child[lane, k] = population.x[row, k]
        lanes.spare[lane, k] = population.x[row, k]
    for k in range(until.shape[0]):
        until[k] = 0
    fill_swap_table(problem, lanes.child, lane, table)
    value = np.int64(0)
    best = np.int64(0)
    coins, _, _, _ = numbers(key, 0)
    length = engine.local_search_steps << min(_DOUBLINGS, lowest_one(coins))
    shortest = max(1, 9 * n // 10)
    choices = 11 * n // 10 - shortest + 1
    highest = -(np.int64(least(table)) + 1)
    drawn = np.int64(0)
    r0 = r1 = r2 = r3 = np.uint64(0)
    for t in range(1, length + 1):
        if must_leave(lanes.stop):
            break
        i, j = _best_exchange(table, until, n, t, min(best - value, highest))
        if i == n:
            continue  # all are forbidden; some will not be for long
        value += table[i * padded(n) + j]
        make_swap(problem, lanes.child, lane, i, j, table)
        if drawn != 1 + ((t - 1) >> 1):  # four numbers are enough for two steps
            drawn = 1 + ((t - 1) >> 1)
            r0, r1, r2, r3 = numbers(key, drawn)
        first, second = (r0, r1) if t & 1 else (r2, r3)
        _forbid(until, n, i, j, t + shortest + below(first, choices), t + shortest + below(second, choices))
        if value > best:
            best = value
            for k in range(n):
                lanes.spare[lane, k] = lanes.child[lane, k]
    if best > 0:
        _write_back(s, lanes.spare, row, lane)


def problem_search(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    """The problem's own `LocalSearch`, with `engine.local_search_steps` steps."""
    problem, population, lanes = s.problem, s.population, s.lanes
    x, state = population.x[row], population.state[row]
    search_around(
        problem, x, state, engine.local_search_data, lanes.table[lane], engine.local_search_steps, key, lanes.stop
    )
    measures_from_state(problem, state, population.scores[row])


SEARCHES = OperatorRegistry(
    "local search",
    {
        "best-swap": (best_swap, (Order,)),
        "descent": (descent, (Order,)),
        "tabu": (tabu, (Order,)),
        "problem": (problem_search, (Digits,)),
    },
)
WITH_TABLE: dict[Operator, Operator] = {best_swap: best_swap_by_gains, descent: descent_by_table, tabu: tabu}


def numbers_of_memory(problem: Problem) -> int:
    """How many numbers a tabu list takes."""
    n: int = space_of(problem).n
    return 2 * n * padded(n)


def _no_search(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    pass


def find_search(choice: str | Operator | None, problem: Problem) -> tuple[Operator, str, Buffer | None]:
    """The function, a label for it, and the problem's table if the search works with it."""
    if choice is None:
        return _no_search, "alone", None
    search, label = SEARCHES.find(choice, space_of(problem))
    if search not in WITH_TABLE:
        return search, label, None
    table = capability(problem, SwapTable)
    if table is None or (search is best_swap and table.gains is None):
        if search is tabu:
            raise InputError(
                f"tabu search needs a problem with a SwapTable, which {type(problem).__name__} does not list; choose "
                "the local search 'descent'"
            )
        return search, label, None
    return WITH_TABLE[search], label + "_table", buffer_of(problem, table.buffer)


def find_problem_search(problem: Problem) -> tuple[Array, Buffer]:
    """The data and the workspace of the problem's own search; an InputError if it has none for this instance."""
    own = capability(problem, LocalSearch)
    data = own.data(problem) if own and own.search else None
    if own is None or data is None:
        raise InputError(
            f"the local search 'problem' needs a problem with a LocalSearch for this instance, which this "
            f"{type(problem).__name__} does not have; leave it out"
        )
    return data, buffer_of(problem, own.work)
