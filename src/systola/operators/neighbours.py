"""What an engine that walks from neighbour to neighbour asks of the neighbourhood that it was given.

A move is a pair of numbers, and moves with the same first number are a row; `moves` numbers all of them.
"""

from __future__ import annotations

from typing import Any

from systola.jit.dispatch import dispatched, dispatched_call


@dispatched
def move_of(engine: Any, number: Any) -> Any:
    """The move with this number: its row, and its place in it."""


@dispatched
def row_end(engine: Any, i: Any) -> Any:
    """Places in row i are below this."""


@dispatched
def row_begin(engine: Any, i: Any) -> Any:
    """The first place in row i."""


@dispatched
def is_move(engine: Any, i: Any, j: Any) -> Any:
    """Whether this place in row i is a move of its own: others are no change, or the same as a move before."""


@dispatched_call
def apply_move(engine: Any, space: Any, x: Any, row: Any, i: Any, j: Any) -> Any:
    """Change x[row] by the move (i, j)."""


@dispatched
def set_tabu(engine: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> Any:
    """Before the move (i, j) of x[0]: what it changes is tabu until the steps `one` and `two`."""


@dispatched
def is_tabu(engine: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    """Whether the move (i, j) of x[0] would bring back what is tabu."""


@dispatched_call
def evaluate_moves(engine: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> Any:
    """Measures of x[0] after the moves (i, first), ..., (i, last - 1), in lanes.trial from row `at` on.

    `fresh` says that it is the lane's first look at this row of moves.
    """


@dispatched
def change_state(engine: Any, problem: Any, x: Any, row: Any, i: Any, j: Any, state: Any) -> Any:
    """Change the state of x[row] as if the move (i, j) were made."""


@dispatched_call
def evaluate_current(engine: Any, s: Any) -> Any:
    """Evaluate the current solution x[0] from scratch, with what `evaluate_moves` needs of it."""


@dispatched_call
def accept_move(engine: Any, s: Any, i: Any, j: Any, best_trial: Any) -> Any:
    """Make the move (i, j) of x[0], whose measures are lanes.trial[best_trial]; as if `evaluate_current` came next."""
