"""Operators by name, and own functions: what is refused, and labels that follow what a function does."""

from types import FunctionType

import numpy as np
import pytest

import systola as sy
from systola.model.encodings import Bits, Digits, Order
from systola.operators.crossover import CROSSOVERS, pmx
from systola.operators.local_search import SEARCHES
from systola.operators.mutation import MUTATIONS, swap
from systola.operators.registry import OperatorRegistry
from systola.operators.selection import SELECTIONS

DIGITS = Digits(3, np.zeros(3, np.int32), np.ones(3, np.int32))
FITTING = {
    "crossover": (
        {"one-point", "two-point", "uniform"},
        {"one-point", "two-point", "uniform"},
        {"pmx", "order", "cycle"},
    ),
    "mutation": (
        {"random-value", "swap", "insertion", "inversion", "shake"},
        {"random-value", "swap", "insertion", "inversion", "shake"},
        {"swap", "insertion", "inversion", "shake"},
    ),
    "selection": ({"random", "proportional", "best", "tournament", "rank"},) * 3,
    "local search": (set(), {"problem"}, {"best-swap", "descent", "tabu"}),
}
KINDS = {kind.name: kind for kind in (CROSSOVERS, MUTATIONS, SELECTIONS, SEARCHES)}
SPACES = (Bits(3), DIGITS, Order(3))


def refusal(kind, name, space):
    """What is said of an operator that is not for a space; nothing if it is."""
    try:
        operator, label = kind.find(name, space)
    except sy.InputError as error:
        return str(error)
    assert label == operator.__name__
    return ""


@pytest.mark.parametrize("at", range(3), ids=["Bits", "Digits", "Order"])
@pytest.mark.parametrize("name", list(KINDS))
def test_operators_fit_their_spaces(name, at):
    """Each is found for the spaces it is for, and refused for others with the names that fit."""
    kind, space, fitting = KINDS[name], SPACES[at], FITTING[name][at]
    assert set(kind.known) >= fitting
    for choice in kind.known:
        told = refusal(kind, choice, space)
        assert (told == "") == (choice in fitting)
        if told:
            start = f"the {name} {choice!r} is not for {type(space).__name__} solutions; "
            assert told.startswith(start)
            if fitting:
                assert set(told.removeprefix(start).removeprefix("choose one of ").split(", ")) == fitting


def test_where_no_operator_fits_none_is_offered():
    assert not refusal(SEARCHES, "tabu", Bits(3)).rstrip().endswith("choose one of")


def test_labels_of_operators_differ():
    for kind in KINDS.values():
        labels = {operator.__name__ for operator, _ in kind.known.values()}
        assert len(labels) == len(kind.known)
    assert CROSSOVERS.find("pmx", Order(3)) == (pmx, "pmx")


@pytest.mark.parametrize(
    ("kind", "choice", "told"),
    [
        (CROSSOVERS, "pmxx", "one-point, two-point, uniform, pmx, order, cycle, but got 'pmxx'; did you mean 'pmx'?"),
        (CROSSOVERS, "onepoint", "'onepoint'; did you mean 'one-point'?"),
        (MUTATIONS, "invert", "'invert'; did you mean 'inversion'?"),
        (
            SELECTIONS,
            "xyz",
            "the selection must be a function or one of random, proportional, best, tournament, rank, but",
        ),
        (SELECTIONS, "xyz", "but got 'xyz'."),
        (SEARCHES, "taboo", "the local search must be a function or one of best-swap, descent, tabu, problem, but got"),
        (SEARCHES, 3, "but got 3."),
        (MUTATIONS, None, "but got None."),
        (MUTATIONS, ["swap"], "but got ['swap']"),
    ],
)
def test_unknown_names(kind, choice, told):
    with pytest.raises(sy.InputError) as raised:
        kind.find(choice, Order(3))
    assert told in str(raised.value)


SOURCE = """
STEP = 1

def helper(i):
    return i + STEP

def turn(engine, space, x, key):
    x[0] = helper(0)
"""


def own(source):
    """The function `turn` of a module with this text."""
    names = {"__name__": "somewhere"}
    exec(source, names)
    assert isinstance(names["turn"], FunctionType)
    return names["turn"]


def label_of(function, kind=MUTATIONS):
    found, label = kind.find(function, Order(3))
    assert found is function
    return label


def test_own_functions_have_labels_that_follow_what_they_do():
    """The same text, the same label; another helper, constant or body, another label."""
    labels = [
        label_of(own(SOURCE)),
        label_of(own(SOURCE.replace("STEP = 1", "STEP = 2"))),
        label_of(own(SOURCE.replace("i + STEP", "i - STEP"))),
        label_of(own(SOURCE.replace("x[0] =", "x[1] ="))),
    ]
    assert len(set(labels)) == 4
    assert label_of(own(SOURCE)) == labels[0]
    for label in labels:
        assert label.startswith("turn_")
        assert label.isidentifier()


def test_an_own_function_by_a_known_name_is_another():
    assert label_of(own(SOURCE.replace("def turn", "def swap") + "turn = swap")) != MUTATIONS.find("swap", Order(3))[1]


def test_own_functions_are_for_any_space():
    function = own(SOURCE)
    assert {MUTATIONS.find(function, space)[0] for space in SPACES} == {function}


def test_a_function_is_another_operator_in_another_kind():
    function = own(SOURCE)
    assert label_of(function) != label_of(function, CROSSOVERS)


def test_what_is_not_a_plain_function_is_refused():
    class Callable:
        def __call__(self):
            pass

    with pytest.raises(sy.InputError, match="the mutation must be a function or one of"):
        MUTATIONS.find(Callable(), Order(3))


def test_a_kind_of_ones_own():
    kind = OperatorRegistry("colour", {"red": (swap, (Bits,)), "blue": (pmx, (Order,))})
    assert kind.find("red", Bits(3)) == (swap, "swap")
    with pytest.raises(sy.InputError, match=r"the colour 'red' is not for Order solutions; choose one of blue$"):
        kind.find("red", Order(3))
