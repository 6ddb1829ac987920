"""What an engine that walks from neighbour to neighbour asks of the neighbourhood that it was given.

A move is a pair of numbers, and moves with the same first number are a row; `moves` numbers all of them.
"""

from __future__ import annotations

from typing import Any

from systola.jit.dispatch import body_of, large_verb, verb


@verb
def locate(engine: Any, number: Any) -> Any:
    """The move with this number: its row, and its place in it."""
    return body_of("locate", engine)(engine, number)


@verb
def row_end(engine: Any, i: Any) -> Any:
    """Places in row i are below this."""
    return body_of("row_end", engine)(engine, i)


@verb
def row_begin(engine: Any, i: Any) -> Any:
    """The first place in row i."""
    return body_of("row_begin", engine)(engine, i)


@verb
def is_move(engine: Any, i: Any, j: Any) -> Any:
    """Whether this place in row i is a move of its own: others are no change, or the same as a move before."""
    return body_of("is_move", engine)(engine, i, j)


@large_verb
def make(engine: Any, space: Any, x: Any, row: Any, i: Any, j: Any) -> Any:
    """Change x[row] by the move (i, j)."""
    return body_of("make", engine)(engine, space, x, row, i, j)


@verb
def ban(engine: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> Any:
    """Before the move (i, j) of x[row]: what it changes must not come back until the moments `one` and `two`."""
    return body_of("ban", engine)(engine, x, i, j, until, at, one, two)


@verb
def is_banned(engine: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    """Whether the move (i, j) of x[row] would bring back what must not come."""
    return body_of("is_banned", engine)(engine, x, i, j, until, at, now)


@large_verb
def survey(engine: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> Any:
    """Measures of x[0] after the moves (i, first), ..., (i, last - 1), in lanes.trial from row `at` on.

    `fresh` says that it is the lane's first look at this row of moves.
    """
    return body_of("survey", engine)(engine, s, lane, i, first, last, fresh, at)


@large_verb
def observe(engine: Any, s: Any) -> Any:
    """Measure x[0] and whatever `survey` needs of it, all anew."""
    return body_of("observe", engine)(engine, s)


@large_verb
def follow(engine: Any, s: Any, i: Any, j: Any, seat: Any) -> Any:
    """Make the move (i, j) of x[0], and know of it what `observe` would find; its measures are lanes.trial[seat]."""
    return body_of("follow", engine)(engine, s, i, j, seat)
