"""Digests notice every edit: of code, of what code reaches, and of data; and nothing else."""

import sys
import types
from enum import IntEnum

import numpy as np
import pytest

import systola as sy
from systola.jit import dispatch
from systola.jit.digest import digest_of_data, digest_of_functions
from systola.model.problem import record_of


def digest(source, **names):
    """Digest of the function f that the source defines."""
    scope = {"np": np, "__name__": "mine", **names}
    exec(source, scope)
    return digest_of_functions({"f": scope["f"]})[0]


BASE = """
K = 3
TABLE = np.array([1, 2])
PAIR = (1, 2.5)

def helper(v):
    return v + 1

def outer(v, factor=2):
    return factor * helper(v)

def f(x):
    if x > K:
        return outer(x) + TABLE[0]
    return [v * PAIR[0] for v in range(x)]
"""


def test_the_same_source_gives_the_same_digest():
    assert digest(BASE) == digest(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x > K", "x >= K"),
        ("K = 3", "K = 4"),
        ("K = 3", "K = 3.0"),
        ("K = 3", "K = True"),
        ("[1, 2]", "[1, 3]"),
        ("[1, 2]", "[1.0, 2.0]"),
        ("[1, 2]", "[[1, 2]]"),
        ("(1, 2.5)", "(1, 2.25)"),
        ("(1, 2.5)", "[1, 2.5]"),
        ("return v + 1", "return v + 2"),
        ("return v + 1", "return v - 1"),
        ("factor=2", "factor=3"),
        ("TABLE[0]", "TABLE[1]"),
        ("v * PAIR", "-v * PAIR"),
    ],
)
def test_an_edit_anywhere_changes_the_digest(old, new):
    assert BASE.count(old) == 1
    assert digest(BASE.replace(old, new)) != digest(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("K = 3", "K = 3  # a comment\n\n\nUNUSED = 5"),
        ("def helper", "def unused():\n    return 7\n\ndef helper"),
    ],
)
def test_what_is_not_reached_does_not_matter(old, new):
    assert digest(BASE.replace(old, new)) == digest(BASE)


@pytest.fixture
def module(monkeypatch):
    """Makes modules of a source, importable as in a user's program."""

    def make(name, source):
        made = types.ModuleType(name)
        exec(source, vars(made))
        monkeypatch.setitem(sys.modules, name, made)
        parent, _, child = name.rpartition(".")
        if parent:
            monkeypatch.setattr(sys.modules[parent], child, made, raising=False)
        return made

    return make


HELPERS = "LIMIT = 3\n\ndef deep(v):\n    return v + 1\n\ndef helper(v):\n    return deep(v) + LIMIT\n"


@pytest.mark.parametrize(
    "use", ["from mine import helper as g\ndef f(x): return g(x)", "import mine\ndef f(x): return mine.helper(x)"]
)
@pytest.mark.parametrize(("old", "new"), [("v + 1", "v + 2"), ("LIMIT = 3", "LIMIT = 4")])
def test_edits_in_other_modules(module, use, old, new):
    module("mine", HELPERS)
    before = digest(use)
    assert digest(use) == before
    module("mine", HELPERS.replace(old, new))
    assert digest(use) != before


def test_constants_of_other_modules(module):
    use = "import mine\ndef f(x): return x + mine.LIMIT"
    module("mine", HELPERS)
    before = digest(use)
    module("mine", HELPERS.replace("LIMIT = 3", "LIMIT = 4"))
    assert digest(use) != before


def test_edits_in_a_module_of_a_package(module):
    use = "import pack.part\ndef f(x): return pack.part.helper(x)"
    module("pack", "")
    module("pack.part", HELPERS)
    before = digest(use)
    module("pack.part", HELPERS.replace("v + 1", "v + 2"))
    assert digest(use) != before


def test_enumerations():
    def digest_with(value):
        return digest("def f(x): return x + Mode.A", Mode=IntEnum("Mode", {"A": value}))

    assert digest_with(1) == digest_with(1)
    assert digest_with(1) != digest_with(2)


def test_jitted_helpers_count_as_what_they_do():
    source = "from numba import njit\n@njit\ndef g(x):\n    return x + 1\ndef f(x):\n    return g(x)"
    assert digest(source) == digest(source)
    assert digest(source) != digest(source.replace("x + 1", "x + 2"))


def test_closures():
    def make(k):
        def f(x):
            return x + k

        return f

    assert digest_of_functions({"f": make(1)})[0] == digest_of_functions({"f": make(1)})[0]
    assert digest_of_functions({"f": make(1)})[0] != digest_of_functions({"f": make(2)})[0]


def test_recursion_ends():
    assert digest("def f(x):\n    return f(x - 1) if x else g(x)\ndef g(x):\n    return f(x)")


def test_recursion_of_jitted_helpers_ends():
    source = """
from numba import njit
@njit
def a(x):
    return b(x) + c(x) if x else a(x)
@njit
def b(x):
    return a(x) + c(x)
@njit
def c(x):
    return a(x) + b(x)
def f(x):
    return a(x) + b(x)
"""
    assert digest(source) == digest(source)
    assert digest(source) != digest(source.replace("return a(x) + c(x)", "return a(x) - c(x)"))


def test_functions_of_no_module():
    scope = {}
    exec("def f(x):\n    return x", scope)
    assert digest_of_functions({"f": scope["f"]})


def test_names_count():
    def f(x):
        return x

    assert digest_of_functions({"a": f})[0] != digest_of_functions({"b": f})[0]


CLASS = """
class Late(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        return helper(x[0]) + LIMIT + TABLE[0]

LIMIT = 3
TABLE = np.zeros(1)
TABLE[0] = 4

def helper(v):
    return v + 1

problem = Late(5)
"""


@pytest.mark.parametrize(("old", "new"), [("LIMIT = 3", "LIMIT = 4"), ("= 4", "= 5"), ("v + 1", "v + 2")])
def test_what_is_defined_after_the_class(monkeypatch, old, new):
    before = dict(dispatch._implementations)

    def name(source):
        monkeypatch.setattr(dispatch, "_implementations", dict(before))  # as in a new process
        scope = {"sy": sy, "np": np, "__name__": "late"}
        exec(source, scope)
        return type(record_of(scope["problem"])).__name__

    assert name(CLASS) == name(CLASS)
    assert name(CLASS) != name(CLASS.replace(old, new))


# Data


def test_equal_data():
    assert digest_of_data(1, "a", [2.5, None]) == digest_of_data(1, "a", [2.5, None])
    array = np.arange(12).reshape(3, 4)
    assert digest_of_data(array) == digest_of_data(np.asfortranarray(array)) == digest_of_data(array.copy())
    assert len(digest_of_data(1)) == 16


def test_different_data():
    values = [
        1,
        1.0,
        True,
        "1",
        b"1",
        None,
        -0.0,
        0.0,
        [1],
        (1,),
        [1, 1],
        [[1], 1],
        [1, [1]],
        [],
        [[]],
        {"a": 1},
        {"b": 1},
        {"a": 2},
        np.array([1]),
        np.array([1], np.int32),
        np.array([[1]]),
        np.array([1.0]),
        np.int64(1),
        ["ab", "c"],
        ["a", "bc"],
    ]
    assert len({digest_of_data(value) for value in values}) == len(values)
    assert digest_of_data(1, 2) != digest_of_data(2, 1)


@pytest.mark.parametrize(
    ("one", "other"), [([{}, 1], [1, {}]), ({"a": {"b": 1}}, {"a": {}, "b": 1})], ids=["order", "nesting"]
)
def test_dicts_have_bounds(one, other):
    assert digest_of_data(one) != digest_of_data(other)
