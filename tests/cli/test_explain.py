"""`systola explain` tells what a problem can do and which engine is taken."""

import json

import pytest

from systola.cli import cli

OWN = """
import numpy as np
import systola as sy

class Tour(sy.Problem):
    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    distances: np.ndarray

    def link(self, a, b):
        return self.distances[a, b]

    structure = sy.Chain(link, symmetric=True)
"""


@pytest.fixture
def explained():
    from click.testing import CliRunner

    return lambda *args: CliRunner().invoke(cli, ["explain", *args])


def test_a_problem_of_ones_own(tmp_path, explained):
    (tmp_path / "own.py").write_text(OWN)
    distances = [[abs(i - j) for j in range(9)] for i in range(9)]
    (tmp_path / "own.json").write_text(json.dumps({"distances": distances}))
    result = explained(f"{tmp_path / 'own.py'}:Tour", "--data", str(tmp_path / "own.json"))
    assert result.exit_code == 0, result.output
    assert "declared     Chain, objective 1: a chain; a move costs a few links" in result.output
    assert "auto         TourSearch(" in result.output


def test_a_problem_of_systola(explained):
    result = explained("knapsack:100-100")
    assert "capability   Flips: Binary: what flipping a decision does" in result.output
    assert "auto         SGS(" in result.output


def test_what_is_no_problem(explained):
    assert explained("nothing.txt").exit_code != 0
