"""Whatever Numba cannot compile in an objective, and however it says so, runs as plain Python."""

import contextlib

import pytest

import systola as sy

CALLS = 0


class Ones(sy.Problem):
    """Not one of them."""

    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        return int(x.sum())


class Global(Ones):
    def evaluate(self, x):
        global CALLS
        CALLS += 1
        return int(x.sum())


class Import(Ones):
    def evaluate(self, x):
        import math

        return math.floor(x.sum())


class ClassInside(Ones):
    def evaluate(self, x):
        class Local:
            total = int(x.sum())

        return Local.total


class Unpacking(Ones):
    def evaluate(self, x):
        first, *others = x
        return int(first) + int(sum(others))


class StarArguments(Ones):
    def evaluate(self, x):
        def total(*values, **options):
            return sum(values)

        return total(*[int(v) for v in x], name="x")


class Recursion(Ones):
    def evaluate(self, x):
        def below(k):
            return int(x[k - 1]) + below(k - 1) if k else 0

        return below(self.n)


class Context(Ones):
    def evaluate(self, x):
        with contextlib.suppress(ValueError):
            return int(x.sum())


class NamedException(Ones):
    def evaluate(self, x):
        try:
            return int(x.sum())
        except ValueError as error:
            return len(str(error))


class FormatSpec(Ones):
    def evaluate(self, x):
        return int(float(f"{x.sum():.1f}"))


class Generator(Ones):
    def evaluate(self, x):
        return sum(int(v) for v in x)


class Dots(Ones):
    def evaluate(self, x):
        return int(x[...].sum())


KINDS = [
    Global,
    Import,
    ClassInside,
    Unpacking,
    StarArguments,
    Recursion,
    Context,
    NamedException,
    FormatSpec,
    Generator,
    Dots,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_it_runs_as_plain_python(kind):
    with pytest.warns(sy.SlowObjectiveWarning, match=f"Numba cannot compile {kind.__name__}.evaluate.*line"):
        result = sy.solve(kind(6), sy.RS(size=8), stop=sy.Iterations(20))
    assert result.backend == "python"
    assert result.objective == 6
    assert int(result.solution.sum()) == 6


def test_the_line_is_named():
    with pytest.warns(
        sy.SlowObjectiveWarning, match=r"STORE_GLOBAL.*found \(test_uncompilable.py, line \d+: CALLS \+= 1"
    ):
        sy.solve(Global(6), sy.RS(size=8), stop=sy.Iterations(1))
