"""Incremental evaluation: what kernels ask a problem beside `evaluate`, so that nothing unchanged is measured again.

Each function is dispatched on the type of the problem; a capability (`model.capabilities`) implements it. In all of
them `x` holds one solution a row, except where it is said to be one solution. *State* is what a problem keeps of a
solution to update its measures: numbers of its own (`EvaluationState`), or the measures themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.dispatch import Implementation, dispatched, dispatched_call
from systola.model.encodings import sample
from systola.model.rng import STEP
from systola.simd.bits import lowest_one, toggle


@dispatched
def init_state(problem: Any, x: Any, row: Any, state: Any) -> Any:
    """The state of the stored x[row], from scratch; only with an `EvaluationState`."""


@dispatched
def measures_from_state(problem: Any, state: Any, measures: Any) -> Any:
    """Write the measures that follow from a state."""


@dispatched
def state_of(problem: Any, x: Any, row: Any, measures: Any, state: Any) -> Any:
    """The state of the stored x[row], whose measures are known."""


@dispatched
def flip(problem: Any, x: Any, row: Any, i: Any, state: Any) -> Any:
    """Binary: change the state of the packed x[row] as if decision i were flipped (it is not yet)."""


@dispatched
def flip_run(problem: Any, x: Any, row: Any, first: Any, last: Any, state: Any) -> Any:
    """Binary: flip the decisions first <= i < last of the packed x[row], and keep its state."""


@dispatched
def flip_word(problem: Any, x: Any, row: Any, word: Any, ones: Any, state: Any) -> Any:
    """Binary: flip the one bits of `ones` in this word of the packed x[row], and keep its state."""


@dispatched
def reassign(problem: Any, x: Any, row: Any, i: Any, value: Any, state: Any) -> Any:
    """Integers: change the state of x[row] as if its decision i were `value` (it is not yet)."""


@dispatched_call
def swap(problem: Any, x: Any, row: Any, i: Any, j: Any, state: Any) -> Any:
    """Permutations: change the state of x[row] as if its decisions i and j were exchanged (not yet)."""


@dispatched_call
def insert(problem: Any, x: Any, row: Any, i: Any, j: Any, state: Any) -> Any:
    """Permutations: change the state of x[row] as if what is in place i were taken out and put in place j (not yet)."""


@dispatched_call
def reverse(problem: Any, x: Any, row: Any, i: Any, j: Any, state: Any) -> Any:
    """Permutations: change the state of x[row] as if the decisions i, ..., j came in reverse order (not yet); i < j."""


@dispatched_call
def fill_swap_table(problem: Any, x: Any, row: Any, table: Any) -> Any:
    """Permutations: the table of x[row]; table[i * padded(n) + j], i < j, is the gain in fitness of a swap."""


@dispatched_call
def make_swap(problem: Any, x: Any, row: Any, i: Any, j: Any, table: Any) -> Any:
    """With a `SwapTable`: exchange the decisions i and j of x[row], and bring its table up to date."""


@dispatched_call
def swap_gains(problem: Any, x: Any, row: Any, i: Any, gains: Any) -> Any:
    """With a `SwapTable`, optional: gains[j] is the gain in fitness if decisions i and j of x[row] are exchanged.

    `gains` has room for a table; what comes after the first n numbers is of no account.
    """


@dispatched_call
def prepare_insertions(problem: Any, x: Any, prepared: Any) -> Any:
    """Permutations: what is kept of the solution x that all insertions start from."""


@dispatched_call
def remove_item(problem: Any, x: Any, i: Any, prepared: Any, work: Any) -> Any:
    """With `InsertionBlocks`: what `evaluate_insertions` needs of the solution x without its decision in place i."""


@dispatched_call
def evaluate_insertions(
    problem: Any, x: Any, i: Any, first: Any, last: Any, prepared: Any, work: Any, measures: Any
) -> Any:
    """Permutations: measures of neighbours of the solution x, as far as they are objectives.

    In neighbour k the decision in place i has been taken out and put in place first + k, of places below `last`; its
    measures go to measures[k]. For several places, `remove_item` has been called for this x and i, and nothing else
    has used `work` since; for one place it need not have been.
    """


@dispatched_call
def best_insertion(problem: Any, x: Any, count: Any, item: Any, work: Any, measures: Any) -> Any:
    """Permutations: one of the best places for an item among the first `count` of the solution x.

    It comes before the one that is there now, or last. measures[0] gets the measures, as far as they are objectives,
    of the shorter order that this gives; measures[1] is free to use, and so is `work`: zeros before the first call, and
    afterwards as the call before has left it.
    """


@dispatched
def init_prefix(problem: Any, x: Any, row: Any, prefix: Any) -> Any:
    """Binary: compute prefix[row], the prefix sums of x[row] or what else the problem keeps for segments."""


@dispatched
def cross_segments(s: Any, h: Any, v: Any, n: Any, plan: Any, cell: Any, row_h: Any, row_v: Any) -> Any:
    """Binary, with `Segments`: measures of the children of n pairs of parents, rows h + k and v + k of the population.

    Pair k exchanges the decisions a <= i < b, then decision m of each is flipped, where a, b, m are plan[cell + k].
    Nothing but the measures is made; they go to s.lanes.trial[row_h + k] and [row_v + k]. All pairs of a call have
    their a in one span of the prefix sums, their b in one and their m in one, the m one after the other.
    """


@dispatched
def update_prefix(s: Any, h: Any, v: Any, a: Any, b: Any, m: Any, keep_h: Any, keep_v: Any) -> Any:
    """Binary, with `Segments`: prefix sums of the children that are kept; rows h and v hold the parents still."""


@dispatched
def repair(problem: Any, x: Any, row: Any, state: Any, data: Any) -> Any:
    """Binary, with `flip`: make the packed x[row] feasible and keep its state; `data` is what the capability says."""


@dispatched_call
def quick_search(problem: Any, x: Any, state: Any, work: Any, key: Any) -> Any:
    """Integers: make the solution x less infeasible, then better, quickly, in place, and keep its state.

    `work` has room for integers, with anything in it; `key` is that to random numbers.
    """


@dispatched_call
def search_around(problem: Any, x: Any, state: Any, data: Any, work: Any, length: Any, key: Any, stop: Any) -> Any:
    """Integers: search around the solution x; it becomes the fittest solution met, itself included, with its state.

    `length` says how long to search, unless `must_leave(stop)`; `data` and room for `work` are what the capability
    says.
    """


@dispatched
def construct(problem: Any, space: Any, x: Any, row: Any, state: Any, seed: Any, step: Any, cell: Any) -> Any:
    """Write a random solution into x[row] and its state: uniform, and no state, unless the problem knows better."""


def _no_prefix(self: Any, x: Any, row: Any, prefix: Any) -> None:
    pass


def _no_update(self: Any, h: Any, v: Any, a: Any, b: Any, m: Any, keep_h: Any, keep_v: Any) -> None:
    pass


def _flip_one_by_one(self: Any, x: Any, row: Any, first: Any, last: Any, state: Any) -> None:
    for i in range(first, last):
        flip(self, x, row, i, state)
        toggle(x, row, i)


def _flip_ones_one_by_one(self: Any, x: Any, row: Any, word: Any, ones: Any, state: Any) -> None:
    while ones != np.uint64(0):
        i = (word << 6) + lowest_one(ones)
        flip(self, x, row, i, state)
        toggle(x, row, i)
        ones &= ones - np.uint64(1)


def _state_is_measures(self: Any, x: Any, row: Any, measures: Any, state: Any) -> None:
    for k in range(measures.shape[0]):
        state[k] = measures[k]


def _state_from_scratch(self: Any, x: Any, row: Any, measures: Any, state: Any) -> None:
    init_state(self, x, row, state)


def _measures_are_state(self: Any, state: Any, measures: Any) -> None:
    for k in range(measures.shape[0]):
        measures[k] = state[k]


def _construct_uniformly(self: Any, space: Any, x: Any, row: Any, state: Any, seed: Any, step: Any, cell: Any) -> None:
    sample(space, x, row, seed, STEP, step, cell)


def with_defaults(implemented: dict[str, Implementation]) -> dict[str, Implementation]:
    """What a problem implements, and the plain way for the rest."""
    return {
        "init_prefix": _no_prefix,
        "update_prefix": _no_update,
        "construct": _construct_uniformly,
        "flip_run": _flip_one_by_one,
        "flip_word": _flip_ones_one_by_one,
        "state_of": _state_from_scratch if "init_state" in implemented else _state_is_measures,
        "measures_from_state": _measures_are_state,
        **implemented,
    }
