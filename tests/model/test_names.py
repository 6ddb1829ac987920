"""What decisions are called: words by encoding or by the class, labels that must fit."""

import numpy as np
import pytest

import systola as sy
from own_problems import FirstBit, FirstPlace
from systola.model.names import Labels, label, labels_of, plural


class Tour(FirstPlace):
    names = sy.Names("position", "city")


class Colours(sy.Problem):
    encoding = sy.Integers("n", "low", 2)
    n: int
    low: int = 0

    def evaluate(self, x):
        return x[0]


def test_words():
    assert labels_of(FirstBit(3)) == Labels("choice", "decision", "chosen")
    assert labels_of(Tour(3)) == Labels("order", "position", "city")
    assert labels_of(Colours(3)) == Labels("assignment", "decision", "value")
    assert labels_of(sy.Knapsack([1], [1], 1)) == Labels("choice", "item", "chosen")
    assert labels_of(sy.QuadraticAssignment([[0]], [[0]])) == Labels("assignment", "facility", "location")
    assert labels_of(sy.GeneralizedAssignment([[1]], [[1]], [1])) == Labels("assignment", "job", "agent")
    assert labels_of(sy.Flowshop([[1]])) == Labels("order", "position", "job")
    assert [plural(word) for word in ("item", "city", "facility", "day")] == ["items", "cities", "facilities", "days"]


def test_a_solution_by_names():
    choice, tour, colours = FirstBit(3), Tour(3), Colours(3)
    assert labels_of(choice).tell(np.array([1, 0, 1])) == [0, 2]
    assert labels_of(tour).tell(np.array([2, 0, 1])) == [2, 0, 1]
    assert labels_of(tour).of_decisions(3) == [1, 2, 3]  # places of an order
    assert labels_of(colours).tell(np.array([2, 0, 1])) == {"0": 2, "1": 0, "2": 1}
    label(choice, ["a", "b", "c"])
    label(tour, values=["Rome", "Oslo", "Bern"])
    label(colours, ["a", "b", "c"], ["red", "green", "blue"])
    assert labels_of(choice).tell(np.array([1, 0, 1])) == ["a", "c"]
    assert labels_of(tour).tell(np.array([2, 0, 1])) == ["Bern", "Rome", "Oslo"]
    assert labels_of(colours).tell(np.array([2, 0, 1])) == {"a": "blue", "b": "red", "c": "green"}


@pytest.mark.parametrize(
    ("problem", "given", "said"),
    [
        (FirstBit(3), {"decisions": ["a", "b"]}, "a name for each decision, 3 in all, but got 2"),
        (FirstBit(3), {"decisions": ["a", "b", "a"]}, "'a' comes again"),
        (FirstBit(3), {"values": ["a", "b"]}, "if they count from 0"),
        (FirstBit(1), {"decisions": ["\ud800"]}, "must be text"),
        (Tour(2), {"decisions": ["a", "b"]}, "but not each position"),
        (Tour(2), {"values": ["a"]}, "a name for each city, 2 in all"),
        (Colours(2), {"values": ["a"]}, "a name for each value, 3 in all"),
        (Colours(2, -1), {"values": ["a", "b", "c"]}, "if they count from 0"),
    ],
)
def test_labels_that_do_not_fit(problem, given, said):
    with pytest.raises(sy.InputError, match=said):
        label(problem, **given)


def test_names_of_a_class_are_checked():
    with pytest.raises(sy.InputError, match="must be Names"):
        type("Wrong", (FirstBit,), {"names": "item"})
    with pytest.raises(sy.InputError, match="speaks of the field 'weights', which it does not have"):
        type("Wrong", (FirstBit,), {"names": sy.Names("item", "chosen", ("weights",))})
    with pytest.raises(sy.InputError, match="`names` is no name for a field"):
        type("Wrong", (FirstBit,), {"__annotations__": {"names": str}})


@pytest.mark.parametrize(
    "given", [("", "x"), ("x", None), ("x", "y", "flows"), ("x", "y", ("flows",), ((1, "a"),)), ("x", "y", None)]
)
def test_words_and_fields_that_are_none(given):
    with pytest.raises(sy.InputError, match="of Names must be"):
        sy.Names(*given)


def test_labels_are_no_part_of_a_problem():
    from systola.model.problem import digest_of

    plain, named = FirstBit(3), FirstBit(3)
    label(named, ["a", "b", "c"])
    assert digest_of(plain) == digest_of(named)


@pytest.mark.parametrize(
    "data",
    [
        5,
        {"kind": "other"},
        {"kind": "choice", "decisions": ["a"]},
        {"kind": "choice", "values": ["a", "b"]},
        {"kind": "order", "values": ["a"]},
        {"kind": "assignment", "decisions": ["a", 3]},
        {"decision": None},
    ],
)
def test_labels_of_a_file_that_are_none(data):
    with pytest.raises((ValueError, TypeError)):
        Labels.from_json(data, np.array([0, 1]))
