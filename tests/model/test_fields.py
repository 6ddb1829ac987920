"""Fields as tables of pandas, graphs of networkx and sparse matrices of SciPy."""

import numpy as np
import pytest
import scipy.sparse

import systola as sy
from conftest import sentence_of
from systola.model import fields
from systola.model.names import labels_of
from systola.model.problem import digest_of


class Tour(sy.Problem):
    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    distances: np.ndarray

    def evaluate(self, x):
        total = self.distances[x[len(x) - 1], x[0]]
        for k in range(len(x) - 1):
            total += self.distances[x[k], x[k + 1]]
        return total


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas", reason="needs the extra pandas")


@pytest.fixture
def networkx():
    return pytest.importorskip("networkx", reason="needs networkx")


def refusal(make, *args):
    return sentence_of(make, *args)


@pytest.fixture
def items(pandas):
    return pandas.DataFrame({"profit": [5, 6, 7], "weight": [4, 5, 6]}, index=["tent", "rope", "pan"])


def test_columns(items):
    problem = sy.Knapsack(items.profit, items.weight, 10)
    assert digest_of(problem) == digest_of(sy.Knapsack([5, 6, 7], [4, 5, 6], 10))
    assert labels_of(problem).decisions == ("tent", "rope", "pan")
    counted = items.reset_index(drop=True)
    assert not labels_of(sy.Knapsack(counted.profit, counted.weight, 10)).named
    assert labels_of(sy.Knapsack(items.profit, [4, 5, 6], 10)).decisions == ("tent", "rope", "pan")


def test_rows_that_do_not_belong_together(items):
    assert "profits and weights of Knapsack must have the same labels in the same order" in refusal(
        sy.Knapsack, items.profit, items.weight[::-1], 10
    )
    other = items.weight.set_axis(["tent", "rope", "pot"])
    assert "but differ; reindex one" in refusal(sy.Knapsack, items.profit, other, 10)


def test_whole_tables(pandas):
    agents, jobs = ["x", "y"], ["a", "b", "c"]
    costs = pandas.DataFrame([[1, 2, 3], [3, 2, 1]], agents, jobs)
    problem = sy.GeneralizedAssignment(costs, costs, pandas.Series([9, 9], agents))
    assert labels_of(problem).decisions == ("a", "b", "c")
    assert labels_of(problem).values == ("x", "y")
    assert labels_of(sy.Flowshop(costs.T)).values == ("a", "b", "c")
    towns = pandas.DataFrame([[0, 1], [1, 0]], ["Rome", "Oslo"], ["Rome", "Oslo"])
    assert labels_of(Tour(towns)).values == ("Rome", "Oslo")
    assert "rows and the columns of distances of Tour" in refusal(Tour, towns[["Oslo", "Rome"]])


def test_types_of_pandas(pandas):
    whole = pandas.Series([1, 2], dtype="Int64")
    assert sy.Knapsack(whole, whole, 2).profits.dtype == np.int64
    mixed = pandas.DataFrame({"a": pandas.Series([1, 2], dtype="Int64"), "b": [0.5, 1.5]})
    assert Tour(mixed).distances.tolist() == [[1.0, 0.5], [2.0, 1.5]]
    assert sy.Knapsack(pandas.Series([1, 2], dtype=object), [1, 2], 2).profits.dtype == np.int64
    assert "has none in row '1'" in refusal(sy.Knapsack, pandas.Series([1, None]), [1, 2], 2)
    assert "has none in row '1'" in refusal(sy.Knapsack, pandas.Series([1, None], dtype="Int64"), [1, 2], 2)
    assert "Knapsack.profits must hold numbers" in refusal(sy.Knapsack, pandas.Series(["a", "b"]), [1, 2], 2)
    named = pandas.DataFrame({"name": ["a", "b"], "x": [1, 2]})
    assert "column 'name' of Tour.distances must hold numbers" in refusal(Tour, named)
    assert "must have a column of numbers" in refusal(Tour, named[[]])
    twice = pandas.Series([1, 2], index=["a", "a"])
    assert not labels_of(sy.Knapsack(twice, twice, 2)).named  # labels that tell nothing apart are none


def test_graphs(networkx):
    graph = networkx.Graph()
    graph.add_edge("Rome", "Oslo", weight=3)
    graph.add_edge("Oslo", "Bern")
    graph.add_edge("Bern", "Bern", weight=2)
    problem = Tour(graph)
    assert problem.distances.tolist() == networkx.to_numpy_array(graph).tolist()
    assert problem.distances.dtype == np.int64
    assert labels_of(problem).values == ("Rome", "Oslo", "Bern")
    directed = networkx.MultiDiGraph([(0, 1), (0, 1), (1, 0, {"weight": 0.5})])
    assert Tour(directed).distances.tolist() == networkx.to_numpy_array(directed).tolist() == [[0, 2], [0.5, 0]]
    assert not labels_of(Tour(directed)).named
    assert labels_of(sy.QuadraticAssignment(graph, np.zeros((3, 3), int))).decisions == ("Rome", "Oslo", "Bern")
    assert Tour(networkx.empty_graph(2)).distances.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("weight", ["near", None, True, 2**70, [1]])
def test_weights_of_edges_are_numbers(networkx, weight):
    graph = networkx.Graph()
    graph.add_edge("Rome", "Oslo", weight=weight)
    assert "Tour.distances: the weight" in refusal(Tour, graph)


@pytest.mark.parametrize("form", ["csr_matrix", "coo_array", "lil_array"])
def test_sparse_matrices(form):
    matrix = getattr(scipy.sparse, form)(np.array([[0, 2], [3, 0]]))
    assert Tour(matrix).distances.tolist() == [[0, 2], [3, 0]]
    assert sy.QuadraticAssignment(matrix, matrix).flows.tolist() == [[0, 2], [3, 0]]


def test_what_is_too_large_as_an_array(monkeypatch, networkx):
    monkeypatch.setattr(fields, "MOST_BYTES", 100)
    matrix = scipy.sparse.csr_matrix(np.eye(4, dtype=int))
    assert "give its `indptr`, `indices` and `data` as fields instead" in refusal(Tour, matrix)
    assert "give its edges as an array of pairs instead" in refusal(Tour, networkx.path_graph(4))


def test_solved_by_name(items):
    result = sy.solve(sy.Knapsack(items.profit, items.weight, 10), stop=sy.Iterations(5), backend="python")
    assert result.named_solution == ["tent", "pan"]
    assert result.to_json()["named_solution"] == ["tent", "pan"]
