"""What a problem may list beside `evaluate`, and that its class leaves all other names to the user."""

import numpy as np
import pytest

import systola as sy
from own_problems import RoundTrip
from systola.model.capabilities import Capability
from systola.model.contracts import check_problem


def flip(self, x, row, i, state):
    state[0] += 1 - 2 * sy.bit(x, row, i)


def define(*listed, encoding=None):
    def evaluate(self, x):
        return 0

    return type(
        "Listed", (sy.Problem,), {"encoding": encoding or sy.Binary(3), "evaluate": evaluate, "capabilities": listed}
    )


def nothing(*names):
    scope = {}
    exec(f"def function({', '.join(names)}):\n    pass", scope)
    return scope["function"]


@pytest.mark.parametrize(
    ("listed", "encoding", "told"),
    [
        ((sy.Flips,), None, r"must be such as Flips\(\.\.\.\), but one is <class .*Flips'>; call it$"),
        (("flip",), None, r"must be such as Flips\(\.\.\.\), but one is 'flip'$"),
        ((sy.Flips(flip), sy.Flips(flip)), None, "listed once, but Listed has Flips twice$"),
        (
            (sy.Flips(flip),),
            sy.Permutation(3),
            r"^Flips is for the encoding Binary, but Listed has Permutation\(n=3\); leave",
        ),
        ((sy.Flips(None),), None, "Flips.flip of Listed must be a plain function, but got None$"),
        ((sy.Flips(len),), None, "Flips.flip of Listed must be a plain function, but got <built-in function len>$"),
        (
            (sy.Flips(nothing("self", "x", "i")),),
            None,
            r"must take 5 arguments, \(problem, x, row, i, state\), but takes \(self, x, i\)$",
        ),
        ((sy.Repair(nothing(*"abcde")),), None, "Repair needs Flips, which Listed does not list; add it$"),
        ((sy.LocalSearch(),), sy.Integers(3), "LocalSearch needs Reassignments, which Listed does not list; add it$"),
    ],
)
def test_what_cannot_work_is_refused_with_the_class(listed, encoding, told):
    with pytest.raises(sy.InputError, match=told):
        define(*listed, encoding=encoding)


def test_one_capability_is_a_list_of_one():
    def evaluate(self, x):
        return 0

    for listed in (sy.Flips(flip), None):
        with pytest.raises(
            sy.InputError, match=r"capabilities of Own must be a list of such as Flips\(\.\.\.\), but got"
        ):
            type("Own", (sy.Problem,), {"encoding": sy.Binary(3), "evaluate": evaluate, "capabilities": listed})


def test_a_sense_that_names_no_field_is_refused_with_the_class():
    with pytest.raises(sy.InputError, match=r"^`sense` names the field 'way', which Own does not have; add it$"):
        type("Own", (sy.Problem,), {"encoding": sy.Binary(3), "evaluate": lambda self, x: 0, "sense": "way"})


def test_every_kind_can_be_checked():
    kinds = [kind for kind in vars(sy).values() if isinstance(kind, type) and issubclass(kind, Capability)]
    assert len(kinds) == 18
    for kind in kinds:
        fields = kind.__dataclass_fields__
        assert set(kind.implements) <= set(fields)
        names = [function.__name__ for function in kind.implements.values()]
        assert len(set(names)) == len(names)


NAMES = (
    *("bound", "count", "tables", "digest", "space", "record", "senses", "describe", "marks", "tallies", "index"),
    *("flip", "swap", "repair", "construct", "weigh", "look", "polish", "refine", "guidance", "scratch", "warmth"),
    *("ranking", "chances", "outlooks", "bind", "offers", "better", "prefers", "record_type", "x", "row", "state"),
)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_fields_are_free(name):
    source = f"""
class Own(sy.Problem):
    encoding = sy.Binary({name!r})
    {name}: np.ndarray

    def evaluate(self, x):
        total = 0
        for i in range(len(self.{name})):
            total += self.{name}[i] * x[i]
        return total
"""
    scope = {"sy": sy, "np": np}
    exec(source, scope)
    problem = scope["Own"](np.array([3, -1, 4]))
    check_problem(problem)
    result = sy.solve(problem, sy.SGA(size=4), stop=sy.Iterations(3), seed=1, backend="python")
    assert (result.objective, result.solution.tolist()) == (7, [1, 0, 1])


def test_such_fields_compile():
    """`count` and `index` are methods of every tuple."""

    class Own(sy.Problem):
        encoding = sy.Binary("count")
        count: np.ndarray
        index: int
        bound: float

        def evaluate(self, x):
            total = self.index + self.bound
            for i in range(len(self.count)):
                total += self.count[i] * x[i]
            return total

        def digest(self):
            return "mine"

    result = sy.solve(Own([3, -1, 4], 10, 0.5), sy.RS(size=20), stop=sy.Iterations(3), seed=1)
    assert (result.objective, result.backend) == (17.5, "cpu")


@pytest.mark.parametrize("name", ["check", "derive", "capabilities", "encoding", "evaluate", "fitness", "violation"])
def test_the_few_names_that_are_taken_are_refused(name):
    scope = {"sy": sy}
    with pytest.raises(sy.InputError, match=f"`{name}` is no name for a field, but Own has one; choose another$"):
        exec(f"class Own(sy.Problem):\n    {name}: int\n", scope)


class QuickTrip(RoundTrip):
    """Links that go and links that come; what is reversed or moved stays as it is inside."""

    def reverse(self, x, row, i, j, state):
        n = x.shape[1]
        if j - i < n - 1:
            before, after = x[row, i - 1], x[row, (j + 1) % n]
            state[0] += self.distances[before, x[row, j]] - self.distances[before, x[row, i]]
            state[0] += self.distances[x[row, i], after] - self.distances[x[row, j], after]

    def insert(self, x, row, i, j, state):
        n = x.shape[1]
        before, after = x[row, i - 1], x[row, (i + 1) % n]
        left = x[row, j if j > i else j - 1]
        right = x[row, (j + 1) % n if j > i else j]
        if n > 2 and (left != before or right != after) and left != x[row, i] and right != x[row, i]:
            state[0] += (
                self.distances[before, after] - self.distances[before, x[row, i]] - self.distances[x[row, i], after]
            )
            state[0] += self.distances[left, x[row, i]] + self.distances[x[row, i], right] - self.distances[left, right]

    capabilities = (sy.Reversals(reverse), sy.Insertions(insert))


def ring(kind, n=12, seed=1):
    places = np.random.default_rng(seed).integers(0, 100, (n, 2))
    return kind(np.abs(places[:, None] - places).sum(axis=2))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 12])
def test_moves_of_a_ring(n):
    check_problem(ring(QuickTrip, n), trials=100)


@pytest.mark.parametrize(
    ("engine", "neighbourhood", "backend"),
    [
        *((engine, move, "python") for engine in (sy.HillClimbing, sy.Tabu) for move in ("reversal", "insertion")),
        (sy.HillClimbing, "reversal", "cpu"),
        *(
            pytest.param(engine, move, "cpu", marks=pytest.mark.long)
            for engine, move in ((sy.HillClimbing, "insertion"), (sy.Tabu, "reversal"), (sy.Tabu, "insertion"))
        ),
    ],
)
def test_moves_by_state_give_the_same_walk(engine, neighbourhood, backend):
    walks = [
        sy.solve(ring(kind), engine(neighbourhood=neighbourhood), stop=sy.Iterations(25), seed=3, backend=where)
        for kind, where in ((RoundTrip, "python"), (QuickTrip, backend))
    ]
    assert walks[0].solution.tolist() == walks[1].solution.tolist()
    assert [s.objective for s in walks[0].trace.samples] == [s.objective for s in walks[1].trace.samples]


def test_the_neighbourhood_goes_by_what_a_problem_can_do():
    labels = [type(sy.HillClimbing().prepare(ring(kind)).record).__name__ for kind in (RoundTrip, QuickTrip)]
    assert "HillClimbing_swap_" in labels[0]
    assert "HillClimbing_reversal_state_" in labels[1]
