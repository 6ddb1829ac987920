"""Indicators of fronts: known values, obvious loops, senses, and what cannot be measured."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import imports, needs
from systola.errors import InputError, MissingExtra
from systola.lab import indicators
from systola.model.problem import MAXIMISE, MINIMISE

FRONTS = {"a": [[1, 4], [2, 2]], "b": [[1, 3], [3, 1]], "c": [[0, 5], [4, 4]]}


def test_missing_moocore(without_package: Callable[[str], None]) -> None:
    without_package("moocore")
    for measure in (
        lambda: indicators.hypervolume(FRONTS),
        lambda: indicators.epsilon(FRONTS),
        lambda: indicators.igd_plus(FRONTS),
        lambda: indicators.attainment(list(FRONTS.values()), 0.5),
    ):
        with pytest.raises(MissingExtra, match=r'pip install "systola\[moo\]"'):
            measure()


def test_moocore_is_imported_when_used() -> None:
    assert not imports("systola.lab.indicators", "moocore")


def test_reference_point() -> None:
    assert indicators.reference_point(FRONTS).tolist() == [4.4, 5.4]
    assert indicators.reference_point(FRONTS, [MAXIMISE, MINIMISE]).tolist() == [-0.4, 5.4]
    assert indicators.reference_point({"a": [[7, 3], [7, 5]]}).tolist() == [8.0, 5.2]
    assert indicators.reference_point({"a": [[7, 3]]}, [MAXIMISE, MINIMISE]).tolist() == [6.0, 4.0]


@pytest.mark.parametrize(
    ("fronts", "senses", "words"),
    [
        ({}, None, "got none"),
        ({"a": []}, None, "that of 'a' has shape"),
        ({"a": [1, 2]}, None, "that of 'a' has shape"),
        ({"a": [[1, 2]], "b": [[1, 2, 3]]}, None, "of 2 objectives, but that of 'b'"),
        ({"a": [[1, 2], [np.nan, 1]]}, None, "row 1 of that of 'a'"),
        ({"a": [[1, 2]]}, [MINIMISE], "2 of them"),
        ({"a": [[1, 2]]}, [MINIMISE, 0], "MINIMISE"),
    ],
)
def test_bad_fronts(fronts: Any, senses: Any, words: str) -> None:
    for measure in (indicators.reference_point, indicators.hypervolume, indicators.epsilon, indicators.igd_plus):
        with pytest.raises(InputError, match=words):
            measure(fronts, senses=senses)


@pytest.mark.parametrize(
    ("fronts", "level", "words"),
    [
        ([], 0.5, "got none"),
        ([[[1, 2]]], 0, "0 < level <= 1"),
        ([[[1, 2]]], 50, "0 < level <= 1"),
        ([[[1, 2]], [[1]]], 0.5, "'run 2'"),
        ([[[1]]], 0.5, "two or three"),
        ([[[1, 2, 3, 4]]], 0.5, "two or three"),
    ],
)
def test_bad_attainment(fronts: Any, level: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        indicators.attainment(fronts, level)


@needs("moocore", "moo")
class TestMeasured:
    def test_known_values(self) -> None:
        volumes = indicators.hypervolume({"a": [[5, 5], [4, 6], [2, 7], [7, 4]]}, [10, 10])
        assert volumes == {"a": 38.0}
        assert indicators.hypervolume({"a": [[1, 1]], "b": [[3, 3]]}) == pytest.approx({"a": 2.2**2, "b": 0.2**2})
        assert indicators.epsilon({"a": [[3, 3]]}, [[1, 2], [2, 1]]) == {"a": 2.0}
        assert indicators.igd_plus({"a": [[3, 1]]}, [[0, 1], [3, 0]]) == {"a": 2.0}

    def test_default_reference_is_the_best_of_all(self) -> None:
        best = [[0, 5], [1, 3], [2, 2], [3, 1]]
        for measure in (indicators.epsilon, indicators.igd_plus):
            assert measure(FRONTS) == measure(FRONTS, best)
            assert measure({"best": best}) == {"best": 0.0}

    @pytest.mark.parametrize("senses", list(product([MINIMISE, MAXIMISE], repeat=2)))
    def test_senses(self, senses: tuple[int, ...]) -> None:
        """Objectives to maximise are those to minimise, mirrored."""
        mirrored = {name: -np.array(senses) * np.array(front) for name, front in FRONTS.items()}
        for measure in (indicators.hypervolume, indicators.epsilon, indicators.igd_plus):
            assert measure(mirrored, senses=senses) == pytest.approx(measure(FRONTS))
        for level in (0.3, 0.5, 1):
            plain = indicators.attainment(list(FRONTS.values()), level)
            other = -np.array(senses) * indicators.attainment(list(mirrored.values()), level, senses)
            assert sorted(other.tolist()) == sorted(plain.tolist())

    def test_a_better_front_is_better(self) -> None:
        fronts = {"good": [[1, 2], [2, 1]], "bad": [[2, 3], [3, 2]]}
        assert indicators.hypervolume(fronts)["good"] > indicators.hypervolume(fronts)["bad"]
        assert indicators.epsilon(fronts) == {"good": 0.0, "bad": 1.0}
        assert indicators.igd_plus(fronts)["good"] < indicators.igd_plus(fronts)["bad"]

    @pytest.mark.parametrize("reference", [[1.0], [[1.0, 2.0]], [1.0, np.inf]])
    def test_bad_reference_point(self, reference: Any) -> None:
        with pytest.raises(InputError, match="2 finite numbers"):
            indicators.hypervolume(FRONTS, reference)

    @pytest.mark.parametrize("reference", [[], [[1, 2, 3]], [[1.0, np.nan]]])
    def test_bad_reference_front(self, reference: Any) -> None:
        with pytest.raises(InputError, match="the reference"):
            indicators.epsilon(FRONTS, reference)

    def test_attainment_by_hand(self) -> None:
        runs = list(FRONTS.values())
        assert indicators.attainment(runs, 1 / 3).tolist() == [[0, 5], [1, 3], [2, 2], [3, 1]]
        assert indicators.attainment(runs, 0.5).tolist() == [[1, 4], [2, 3], [3, 2]]
        assert indicators.attainment(runs, 2 / 3).tolist() == [[1, 4], [2, 3], [3, 2]]
        assert indicators.attainment(runs, 1).tolist() == [[1, 5], [4, 4]]

    @settings(deadline=None, max_examples=50)
    @given(
        st.integers(2, 3),
        st.integers(1, 7),
        st.sampled_from([0.01, 0.25, 1 / 3, 0.5, 0.7, 1.0]),
        st.integers(0, 10**6),
    )
    def test_attainment_is_the_corner_of_what_runs_attain(self, k: int, runs: int, level: float, seed: int) -> None:
        draws = np.random.default_rng(seed)
        fronts = [draws.integers(0, 5, (draws.integers(1, 6), k)) for _ in range(runs)]
        surface = indicators.attainment(fronts, level)
        for point in product(range(5), repeat=k):
            attained = sum(bool((front <= point).all(axis=1).any()) for front in fronts)
            covered = bool((surface <= point).all(axis=1).any())
            assert covered == (attained >= level * runs - 1e-9)
