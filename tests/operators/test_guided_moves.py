"""Moves that declared parts suggest: they do what they are for, and places stay those of the items."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from model.declared_problems import pairs
from systola.model.elementary_moves import NO_MOVE, REVERSE, ROTATE, make_move
from systola.model.encodings import Order
from systola.operators.guided_moves import begin_guided, draw_guided, follow_move

NUMBER = st.integers(0, 2**32 - 1)


def state_of(n, seed, count=3):
    """One solution in one row, and for each item some others that it may be brought next to."""
    draws = np.random.default_rng(seed)
    near = [draws.permutation([j for j in range(n) if j != i])[:count] for i in range(n)]
    return SimpleNamespace(
        space=Order(n),
        population=SimpleNamespace(
            x=draws.permutation(n)[None].astype(np.int32), neighbourhood_state=np.concatenate(near).astype(np.int32)
        ),
        lanes=SimpleNamespace(scratch=np.zeros((1, n), np.int32)),
    )


@settings(max_examples=200, deadline=None)
@given(
    n=st.integers(4, 12), seed=st.integers(0, 10**6), numbers=st.lists(st.tuples(NUMBER, NUMBER, NUMBER), max_size=5)
)
def test_a_move_makes_a_link_of_the_lists(n, seed, numbers):
    s = state_of(n, seed)
    x, place = s.population.x[0], s.lanes.scratch[0]
    begin_guided(s.space, s, 0, 0)
    wanted = {(i, int(j)) for i in range(n) for j in s.population.neighbourhood_state[3 * i : 3 * i + 3]}
    for drawn in numbers:
        kind, *rest = draw_guided(s.space, s, 0, 0, *map(np.uint64, drawn))
        if kind == NO_MOVE:
            continue
        assert kind in (REVERSE, ROTATE)
        links = {frozenset(pair) for pair in zip(x[:-1].tolist(), x[1:].tolist(), strict=True)}
        make_move(s.space, x, kind, *rest)
        follow_move(s.space, s, 0, 0, (kind, *rest))
        assert sorted(x.tolist()) == list(range(n))
        assert [x[p] for p in place] == list(range(n))
        new = {frozenset(pair) for pair in zip(x[:-1].tolist(), x[1:].tolist(), strict=True)} - links
        assert any((a, b) in wanted or (b, a) in wanted for a, b in map(tuple, new))


@pytest.mark.filterwarnings("ignore::systola.InfeasibleWarning")
def test_compiled_as_interpreted():
    declared, _ = pairs(4, 9)["a chain and a passage"]
    engine = sy.SimulatedAnnealing(chains=2, guided=True)
    results = [
        sy.solve(declared, engine, stop=sy.Iterations(4), seed=2, backend=backend, threads=threads)
        for backend, threads in (("cpu", 1), ("cpu", 2), ("python", 1))
    ]
    assert len({(str(r.objective), tuple(r.solution)) for r in results}) == 1


def test_moves_are_suggested_by_declared_parts_only():
    _, plain = pairs(4, 9)["a symmetric chain"]
    with pytest.raises(sy.InputError, match="`guided` is for declared linear constraints over bits"):
        sy.solve(plain, sy.SimulatedAnnealing(guided=True), stop=sy.Iterations(1))
    with pytest.raises(sy.InputError, match="`guided` must be true or false"):
        sy.solve(plain, sy.SimulatedAnnealing(guided=1), stop=sy.Iterations(1))
