"""What a problem may offer beside `evaluate`, so that engines need not measure what did not change.

Each is a verb: a method of the problem's class by the same name is its body, and most have a plain one in its stead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from systola.bits import lowest_one, toggle
from systola.encodings import Array, sample
from systola.rng import STEP
from systola.verbs import Body, body_of, large_verb, verb


class Marks(NamedTuple):
    """What a problem keeps of a solution for `cross`: how many numbers, of which type, one for how many decisions."""

    number: int
    dtype: Any
    span: int


class Tallies(NamedTuple):
    """What a problem keeps of each solution for `flip`, `swap` or `reassign`: how many numbers and of which type."""

    number: int
    dtype: Any


class Tables(NamedTuple):
    """What a problem keeps of one solution for `exchange`: how many numbers and of which type."""

    number: int
    dtype: Any


class Guidance(NamedTuple):
    """What `refine` goes by, the same for all solutions, and how many numbers it needs to work with."""

    guide: Array
    work: Tables


class Outlooks(NamedTuple):
    """What a problem keeps of the one solution that all look around, and what each needs for that: by `look`.

    `single` numbers are enough for work on one neighbour at a time, as threads of a GPU do.
    """

    number: int
    work: int
    single: int
    dtype: Any


@verb
def flip(problem: Any, x: Any, row: Any, i: Any, tally: Any) -> Any:
    """Optional, binary: change the tally of the packed x[row] as if decision i were flipped (it is not yet)."""
    return body_of("flip", problem)(problem, x, row, i, tally)


@verb
def flip_run(problem: Any, x: Any, row: Any, first: Any, last: Any, tally: Any) -> Any:
    """With `flip`: flip the decisions first <= i < last of the packed x[row], and keep its tally."""
    return body_of("flip_run", problem)(problem, x, row, first, last, tally)


@verb
def flip_marked(problem: Any, x: Any, row: Any, word: Any, marked: Any, tally: Any) -> Any:
    """With `flip`: flip the one bits of `marked` in this word of the packed x[row], and keep its tally."""
    return body_of("flip_marked", problem)(problem, x, row, word, marked, tally)


@verb
def count(problem: Any, x: Any, row: Any, measures: Any, tally: Any) -> Any:
    """With `flip`, `swap` or `reassign`: the tally of the stored x[row], whose measures are known; by default these."""
    return body_of("count", problem)(problem, x, row, measures, tally)


@verb
def weigh(problem: Any, tally: Any, measures: Any) -> Any:
    """With `flip`, `swap` or `reassign`: write the measures that follow from a tally."""
    return body_of("weigh", problem)(problem, tally, measures)


@verb
def repair(problem: Any, x: Any, row: Any, tally: Any, ranking: Any) -> Any:
    """Optional, with `flip`: make the packed x[row] feasible and keep its tally; best decisions first in `ranking`."""
    return body_of("repair", problem)(problem, x, row, tally, ranking)


@verb
def reassign(problem: Any, x: Any, row: Any, i: Any, value: Any, tally: Any) -> Any:
    """Optional, integers: change the tally of x[row] as if its decision i were `value` (it is not yet)."""
    return body_of("reassign", problem)(problem, x, row, i, value, tally)


@large_verb
def refine(problem: Any, x: Any, row: Any, tally: Any, guide: Any, work: Any, length: Any, key: Any, stop: Any) -> Any:
    """Optional, integers, with `reassign`: search around x[row]; it becomes the fittest solution met, with its tally.

    x[row] itself is one of these. `guide` and room for `work` are what `guidance` says, `length` how long to search,
    unless `must_leave(stop)`.
    """
    return body_of("refine", problem)(problem, x, row, tally, guide, work, length, key, stop)


@large_verb
def polish(problem: Any, x: Any, row: Any, tally: Any, work: Any, key: Any) -> Any:
    """Optional, with `reassign`: make x[row] more feasible, then better, in place, and keep its tally.

    `work` has room for as many integers as the problem's `scratch` says; `key` is that to random numbers.
    """
    return body_of("polish", problem)(problem, x, row, tally, work, key)


@large_verb
def swap(problem: Any, x: Any, row: Any, i: Any, j: Any, tally: Any) -> Any:
    """Optional, permutations: change the tally of x[row] as if its decisions i and j were exchanged (not yet)."""
    return body_of("swap", problem)(problem, x, row, i, j, tally)


@large_verb
def swap_gains(problem: Any, x: Any, row: Any, i: Any, gains: Any) -> Any:
    """Optional, with `tabulate`: gains[j] says how much fitter x[row] gets if decisions i and j are exchanged.

    `gains` has room for a table; what comes after the first n numbers is of no account.
    """
    return body_of("swap_gains", problem)(problem, x, row, i, gains)


@large_verb
def tabulate(problem: Any, x: Any, row: Any, table: Any) -> Any:
    """Optional, permutations: the table of x[row]; its first n * stride numbers are gains of exchanges, i < j."""
    return body_of("tabulate", problem)(problem, x, row, table)


@large_verb
def exchange(problem: Any, x: Any, row: Any, i: Any, j: Any, table: Any) -> Any:
    """With `tabulate`: exchange the decisions i and j of x[row] and bring its table up to date."""
    return body_of("exchange", problem)(problem, x, row, i, j, table)


@large_verb
def survey_insertions(
    problem: Any,
    x: Any,
    row: Any,
    i: Any,
    first: Any,
    last: Any,
    fresh: Any,
    outlook: Any,
    work: Any,
    trial: Any,
    at: Any,
) -> Any:
    """Optional, permutations: measures of neighbours of x[row], as far as they are objectives.

    In neighbour k the decision in place i has been taken out and put in place first + k, of places below `last`; its
    measures go to trial[at + k]. `outlook` is what `look` made of x[row]. `work` is the caller's own; `fresh` says that
    it holds nothing of this x[row] and i yet. A call for one place neither needs nor leaves anything there.
    """
    return body_of("survey_insertions", problem)(problem, x, row, i, first, last, fresh, outlook, work, trial, at)


@large_verb
def look(problem: Any, x: Any, row: Any, outlook: Any) -> Any:
    """With `survey_insertions`: what is kept of x[row] for it."""
    return body_of("look", problem)(problem, x, row, outlook)


@large_verb
def find_place(problem: Any, x: Any, row: Any, count: Any, item: Any, work: Any, trial: Any, at: Any) -> Any:
    """Optional, permutations: the first of the best places for an item among the first `count` of x[row].

    It comes before the one that is there now, or last. trial[at] gets the measures, as far as they are objectives, of
    the shorter order that this gives; trial[at + 1] is free to use, and so is `work`, as large as for a survey.
    """
    return body_of("find_place", problem)(problem, x, row, count, item, work, trial, at)


@verb
def mark(problem: Any, x: Any, row: Any, marks: Any) -> Any:
    """Optional, binary: compute marks[row], whatever the problem wants to keep of x[row]."""
    return body_of("mark", problem)(problem, x, row, marks)


@verb
def remark(problem: Any, x: Any, marks: Any, h: Any, v: Any, a: Any, b: Any, m: Any, keep_h: Any, keep_v: Any) -> Any:
    """Optional, with `cross`: marks of those children that are kept; x[h] and x[v] are the parents still."""
    return body_of("remark", problem)(problem, x, marks, h, v, a, b, m, keep_h, keep_v)


@verb
def cross(
    problem: Any,
    x: Any,
    scores: Any,
    marks: Any,
    h: Any,
    v: Any,
    n: Any,
    plan: Any,
    cell: Any,
    trial: Any,
    row_h: Any,
    row_v: Any,
) -> Any:
    """Optional, binary, with marks: measures of the children of n pairs x[h + k] and x[v + k].

    Pair k exchanges the decisions a <= i < b, then decision m of each is flipped, where a, b, m are plan[cell + k].
    Nothing but the measures is made; they go to trial[row_h + k] and trial[row_v + k]. All pairs of a call have
    their a in one span of marks, their b in one and their m in one, the m one after the other.
    """
    return body_of("cross", problem)(problem, x, scores, marks, h, v, n, plan, cell, trial, row_h, row_v)


@verb
def construct(problem: Any, space: Any, x: Any, row: Any, tally: Any, seed: Any, step: Any, cell: Any) -> Any:
    """Write a random solution into x[row] and its tally: uniform, and no tally, unless the problem knows better."""
    return body_of("construct", problem)(problem, space, x, row, tally, seed, step, cell)


def _no_marks(self: Any, x: Any, row: Any, marks: Any) -> None:
    pass


def _no_remarks(
    self: Any, x: Any, marks: Any, h: Any, v: Any, a: Any, b: Any, m: Any, keep_h: Any, keep_v: Any
) -> None:
    pass


def _flip_one_by_one(self: Any, x: Any, row: Any, first: Any, last: Any, tally: Any) -> None:
    for i in range(first, last):
        flip(self, x, row, i, tally)
        toggle(x, row, i)


def _flip_marks_one_by_one(self: Any, x: Any, row: Any, word: Any, marked: Any, tally: Any) -> None:
    while marked != np.uint64(0):
        i = (word << 6) + lowest_one(marked)
        flip(self, x, row, i, tally)
        toggle(x, row, i)
        marked &= marked - np.uint64(1)


def _count_measures(self: Any, x: Any, row: Any, measures: Any, tally: Any) -> None:
    for k in range(measures.shape[0]):
        tally[k] = measures[k]


def _weigh_measures(self: Any, tally: Any, measures: Any) -> None:
    for k in range(measures.shape[0]):
        measures[k] = tally[k]


def _construct_uniformly(self: Any, space: Any, x: Any, row: Any, tally: Any, seed: Any, step: Any, cell: Any) -> None:
    sample(space, x, row, seed, STEP, step, cell)


OPTIONAL_VERBS = (
    *("flip", "flip_run", "flip_marked", "count", "weigh", "repair", "mark", "remark", "cross", "construct"),
    *("reassign", "refine", "swap", "swap_gains", "tabulate", "exchange", "look", "survey_insertions", "find_place"),
    "polish",
)
PLAIN_BODIES: dict[str, Body] = {
    "mark": _no_marks,
    "remark": _no_remarks,
    "construct": _construct_uniformly,
    "flip_run": _flip_one_by_one,
    "flip_marked": _flip_marks_one_by_one,
    "count": _count_measures,
    "weigh": _weigh_measures,
}
