"""Next release by knapsacks, against all choices."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from exact.pieces import search_in_pieces
from systola.exact.release_search import ReleaseSearch
from systola.formats import open_instance
from systola.model.objective import fitness
from systola.model.population import ranks_above
from systola.model.problem import record_of

MEMORY = 1 << 24


def search_of(problem):
    search = ReleaseSearch(problem, MEMORY)
    search.compile()
    return search


def best_of_all(problem):
    record, best = record_of(problem), None
    for bits in product((0, 1), repeat=len(problem.costs)):
        measures = np.array(problem.evaluate(np.array(bits)))
        if best is None or ranks_above(record, measures, best):
            best = measures
    return best.tolist()


@settings(max_examples=150, deadline=None)
@given(
    items=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=8),
    weight=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 0.999, 1.0]),
)
def test_the_best_of_all_choices_is_found(items, weight):
    costs, values = (np.array(v) for v in zip(*items, strict=True))
    problem = sy.NextRelease(costs, values, weight)
    search = search_of(problem)
    search.start()
    search.advance(10**9)
    assert search.is_proven()
    assert search.best().measures.tolist() == best_of_all(problem)
    assert list(problem.evaluate(search.best().decisions)) == search.best().measures.tolist()


def test_checkpoints_anywhere_change_nothing():
    problem = open_instance("nrp:40-200@3").problem
    whole = search_of(problem)
    whole.start()
    whole.advance(10**9)
    cut, state, arrays = search_in_pieces(partial(search_of, problem), 5)
    assert (cut.step, cut.evaluations, cut.best().step) == (whole.step, whole.evaluations, whole.best().step)
    assert cut.best().decisions.tolist() == whole.best().decisions.tolist()
    with pytest.raises(sy.InputError, match="the checkpoint must be one of an exact search like this one"):
        search_of(problem).restore({**state, "stage": [1]}, arrays)


def test_no_run_of_an_engine_is_fitter():
    problem = open_instance("nrp:20-60@2").problem
    proven = sy.solve(problem, "exact")
    assert (proven.proven, proven.gap, proven.bound, proven.stop) == (True, 0, None, "finished")
    record = record_of(problem)
    searched = sy.solve(problem, sy.SGS("B", length=8, width=8), stop=sy.Iterations(60), backend="python")
    assert fitness(record, np.array(proven.objective)) >= fitness(record, np.array(searched.objective))
