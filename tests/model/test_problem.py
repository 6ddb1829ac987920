"""The contract of `Problem`: fields, what is refused, defaults, and digests."""

from dataclasses import field

import numpy as np
import pytest

import systola as sy
from conftest import Balance, OneMax, binary_problems, small_knapsack, small_release
from systola.jit import dispatch
from systola.model.capabilities import offers
from systola.model.objective import better, evaluate, fitness, violation
from systola.model.problem import digest_of, record_of, senses_of, space_of


class Data(sy.Problem):
    """A field of each kind."""

    encoding = sy.Binary("n")
    n: int
    numbers: np.ndarray
    factor: float = 1.0
    title: str = "untitled"
    doubled: np.ndarray = field(init=False, repr=False)

    def check(self):
        if self.factor < 0:
            raise sy.InputError("`factor >= 0` must hold")
        self.derive(doubled=2 * self.numbers)

    def evaluate(self, x):
        return self.factor * self.numbers[0]


# Fields


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([1, 2], np.int64),
        ((1.5, 2), np.float64),
        ([True, False], np.bool_),
        (np.array([1, 2], np.int8), np.int64),
        (np.array([1, 2], np.uint16), np.int64),
        (np.array([1, 2], np.uint32), np.int64),
        (np.array([1, 2], np.int32), np.int32),
        (np.array([1, 2], np.uint8), np.uint8),
        (np.array([1, 2], np.uint64), np.uint64),
        (np.array([1, 2], np.float32), np.float64),
        (np.array([1, 2], np.float16), np.float64),
        (range(1, 3), np.int64),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(value),
)
def test_arrays_get_one_of_few_types(given, kept):
    numbers = Data(2, given).numbers
    assert numbers.dtype == kept
    assert numbers.tolist() == list(given)
    assert numbers.flags.c_contiguous


def test_arrays_become_contiguous():
    wide = np.arange(12).reshape(3, 4)
    for view in (wide.T, wide[:, ::2], np.asfortranarray(wide)):
        numbers = Data(2, view).numbers
        assert numbers.flags.c_contiguous
        assert numbers.tolist() == view.tolist()


def test_scalars_of_numpy_become_plain():
    problem = Data(np.int32(3), [1], np.float32(0.5))
    assert type(problem.n) is int
    assert type(problem.factor) is float


def test_arrays_of_no_dimensions_are_numbers():
    problem = OneMax(np.array(30))
    assert problem.n == 30
    assert space_of(problem).n == 30


@pytest.mark.parametrize(
    "value",
    [
        ["a"],
        [1j],
        1j,
        [None],
        {"a": 1},
        object,
        pytest.param([[1], [1, 2]]),
        pytest.param(np.complex128(1j)),
    ],
    ids=repr,
)
def test_what_is_no_data(value):
    with pytest.raises(sy.InputError, match=r"Data\.numbers must be a number or an array of numbers"):
        Data(2, value)


def test_kernels_see_all_fields_but_texts():
    record = record_of(Data(2, [1, 2]))
    assert record._fields == ("n", "numbers", "factor", "doubled")
    assert record.doubled.tolist() == [2, 4]


def test_problems_cannot_be_changed():
    with pytest.raises(AttributeError):
        OneMax(3).n = 4


def test_data_are_checked():
    with pytest.raises(sy.InputError, match="factor >= 0"):
        Data(2, [1], -1.0)


@pytest.mark.parametrize("name", ["a__b", "__a", "_a"])
def test_field_names_with_underscores_are_refused(name):
    def use():
        parts = {"__annotations__": {name: int}, "encoding": sy.Binary(3), "evaluate": lambda self, x: 0}
        return record_of(type("Named", (sy.Problem,), parts)(3))

    with pytest.raises(sy.InputError, match="rename it"):
        use()


@pytest.mark.parametrize("missing", ["evaluate", "encoding"])
def test_a_problem_needs_evaluate_and_encoding(missing):
    parts = {"encoding": sy.Binary(3), "evaluate": lambda self, x: 0, "__annotations__": {"n": int}}
    del parts[missing]
    with pytest.raises(sy.InputError, match="but Lacking lacks one; add it"):
        type("Lacking", (sy.Problem,), parts)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Plain", {"n": int}),
        pytest.param("_Private", {"n": int}),
        pytest.param("Two__Parts", {"n": int}),
        pytest.param("Fixed", {}),
    ],
)
def test_names_of_classes_are_free(name, fields):
    parts = {"encoding": sy.Binary(3), "evaluate": lambda self, x: x[0], "__annotations__": fields}
    problem = type(name, (sy.Problem,), parts)(*[3] * len(fields))
    assert space_of(problem).n == 3
    assert record_of(problem) == ((3,) * len(fields) or (0,))  # a record needs a field
    assert evaluate(record_of(problem), np.array([1, 0, 0])) == 1


@pytest.mark.parametrize("n", [0, -1, 1.5, "3", True, None])
def test_lengths_must_be_lengths(n):
    with pytest.raises(sy.InputError, match="a length of at least 1"):
        _ = space_of(OneMax(n))


def test_numbers_must_fit_into_64_bits():
    with pytest.raises(sy.InputError, match="64 bits"):
        sy.Knapsack([1, 2], [1, 2], 2**70)


# What the base class adds


def test_defaults_upwards():
    record = record_of(OneMax(3))
    assert fitness(record, [5]) == 5
    assert violation(record, [5]) == 0
    assert better(record, [5], [4])
    assert not better(record, [5], [5])


def test_defaults_downwards():
    record = record_of(Balance(np.ones(3)))
    assert fitness(record, [5.0]) == -5.0
    assert better(record, [4.0], [5.0])
    assert not better(record, [4.0], [4.0])


def test_what_problems_offer():
    assert not offers(OneMax(3), sy.Flips)
    assert not offers(OneMax(3), sy.Segments)
    assert offers(small_knapsack(), sy.Flips)
    assert offers(small_knapsack(), sy.Segments)


def test_senses():
    assert senses_of(OneMax(3)) == (sy.MAXIMISE,)
    assert senses_of(Balance(np.ones(3))) == (sy.MINIMISE,)
    assert senses_of(small_release()) == (sy.MINIMISE, sy.MAXIMISE)


def test_a_subclass_keeps_what_it_does_not_change():
    class Doubled(sy.Knapsack):
        def evaluate(self, x):
            return 0, 0

    problem = Doubled([1, 2], [1, 2], 3)
    assert offers(problem, sy.Flips)
    assert type(record_of(problem)) is not type(record_of(sy.Knapsack([1, 2], [1, 2], 3)))
    assert evaluate(record_of(problem), np.ones(2, int)) == (0, 0)
    assert evaluate(record_of(sy.Knapsack([1, 2], [1, 2], 3)), np.ones(2, int)) == (3, 3)


def test_problems_describe_themselves():
    assert str(OneMax(3)) == "OneMax, 3 decisions"


# Digests


def test_equal_problems_have_equal_digests():
    for one, other in zip(binary_problems(), binary_problems(), strict=True):
        assert digest_of(one) == digest_of(other)
    assert len({digest_of(problem) for problem in binary_problems()}) == len(binary_problems())


def test_any_change_of_the_data_changes_the_digest():
    base = Data(2, [1, 2], 0.5, "a")
    others = [
        Data(3, [1, 2], 0.5, "a"),
        Data(2, [1, 3], 0.5, "a"),
        Data(2, [2, 1], 0.5, "a"),
        Data(2, [1.0, 2.0], 0.5, "a"),
        Data(2, [[1, 2]], 0.5, "a"),
        Data(2, [1, 2], 0.25, "a"),
        Data(2, [1, 2], 0.5, "b"),
    ]
    assert len({digest_of(problem) for problem in [base, *others]}) == 1 + len(others)


@pytest.fixture
def make(monkeypatch):
    """Makes a problem called Made whose evaluate is `body`, as if in a new process each time."""
    before = dict(dispatch._implementations)

    def make_alone(body, **extra):
        monkeypatch.setattr(dispatch, "_implementations", dict(before))
        parts = {"encoding": sy.Binary("n"), "evaluate": body, "__annotations__": {"n": int}, **extra}
        return type("Made", (sy.Problem,), parts)(5)

    return make_alone


def test_any_change_of_the_code_changes_the_digest(make):
    variants = [
        make(lambda self, x: x[0]),
        make(lambda self, x: x[1]),
        make(lambda self, x: x[0] + x[1]),
        make(lambda self, x: x[0], fitness=lambda self, measures: 2 * measures[0]),
        make(lambda self, x: x[0], violation=lambda self, measures: 1),
        make(lambda self, x: x[0], capabilities=(sy.Flips(lambda self, x, row, i, state: None),)),
    ]
    assert len({digest_of(problem) for problem in variants}) == len(variants)
    assert digest_of(make(lambda self, x: x[0])) == digest_of(make(lambda self, x: x[0]))


def test_the_sense_changes_the_digest():
    assert Balance.sense == sy.MINIMISE  # made before, so that its default fitness has been seen

    def define(wanted):
        class Same(sy.Problem):
            encoding = sy.Binary("n")
            sense = wanted
            n: int

            def evaluate(self, x):
                return x[0]

        return Same(5)

    up, down = define(sy.MAXIMISE), define(sy.MINIMISE)
    assert (fitness(record_of(up), [3]), fitness(record_of(down), [3])) == (3, -3)
    assert digest_of(up) != digest_of(down)


@pytest.mark.parametrize(
    "change",
    [{"encoding": sy.Integers("n", 0, 5)}, {"scale": 10}, {"sense": (sy.MINIMISE, sy.MAXIMISE)}],
    ids=["encoding", "scale", "sense"],
)
def test_any_change_of_the_declaration_changes_the_digest(make, change):
    def body(self, x):
        return x[0], x[1]

    base = {"sense": (sy.MINIMISE, sy.MINIMISE)}
    assert digest_of(make(body, **base)) != digest_of(make(body, **{**base, **change}))


def test_other_classes_do_not_change_the_digest():
    def define():
        class Same(sy.Problem):
            encoding = sy.Binary("n")
            n: int

            def evaluate(self, x):
                return x[0]

        return digest_of(Same(5))

    first = define()

    class Another(sy.Problem):
        encoding = sy.Binary("n")
        n: int

        def evaluate(self, x):
            return x[1]

    assert define() == first


def test_a_problem_is_short_to_look_at():
    assert repr(OneMax(3)) == "<OneMax, 3 decisions>"
    plant = sy.QuadraticAssignment(np.ones((4, 4), int), np.ones((4, 4), int))
    assert repr(plant) == "<QuadraticAssignment: quadratic assignment of 4 facilities>"
