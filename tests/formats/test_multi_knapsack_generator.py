"""The generator of Chu and Beasley against its rules, number by number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from systola import InputError
from systola.formats import open_instance
from systola.formats.multi_knapsack import generate
from systola.model.problem import digest_of
from systola.model.rng import below, draw


@given(
    st.integers(1, 8),
    st.integers(1, 5),
    st.integers(0, 2**64 - 1),
    st.integers(1, 100).map(lambda percent: percent / 100),
)
def test_generated_instances_are_drawn_number_by_number(n: int, m: int, seed: int, tightness: float) -> None:
    weights = [[1 + int(below(draw(seed, 9, 0, j, i)[0], 1000)) for j in range(n)] for i in range(m)]
    bonus = [Fraction(int(draw(seed, 9, 1, j, 0)[0]) + 1, 2**32) for j in range(n)]
    problem = generate(n, m, seed, tightness)
    assert problem.weights.tolist() == weights
    assert problem.capacities.tolist() == [int(Fraction(str(tightness)) * sum(row) + Fraction(1, 2)) for row in weights]
    assert problem.profits.tolist() == [
        int(Fraction(sum(row[j] for row in weights), m) + 500 * bonus[j] + Fraction(1, 2)) for j in range(n)
    ]


def test_generated_instances_stay_what_they_are() -> None:
    problem = generate(4, 2, 7)
    assert problem.profits.tolist() == [986, 1059, 959, 710]
    assert problem.weights.tolist() == [[980, 641, 897, 316], [429, 835, 479, 512]]
    assert problem.capacities.tolist() == [709, 564]
    again = open_instance("mkp:4x2@7")
    assert (again.name, again.kind, again.best_known) == ("mkp:4x2@7", "mkp", None)
    assert (
        digest_of(again.problem) == digest_of(problem) == digest_of(open_instance("mkp:4x2@7?tightness=0.25").problem)
    )
    assert digest_of(open_instance("mkp:4x2").problem) == digest_of(generate(4, 2, 1)) != digest_of(problem)
    assert digest_of(open_instance("mkp:4x2@7?tightness=0.5").problem) == digest_of(generate(4, 2, 7, 0.5))


def test_generated_data_fill_their_ranges() -> None:
    problem = generate(20_000, 3, 5)
    assert (problem.weights.min(), problem.weights.max()) == (1, 1000)
    bonus = problem.profits - problem.weights.sum(axis=0) // 3
    assert (bonus.min(), bonus.max()) == (0, 501)  # rounded half up, over a mean rounded down
    assert abs(np.corrcoef(problem.weights).sum() - 3) < 0.1


def test_the_generator_checks_its_arguments() -> None:
    with pytest.raises(InputError, match="tightness"):
        generate(3, 3, 1, tightness=0)
    with pytest.raises(InputError, match="seed"):
        generate(3, 3, -1)
