"""Numbers that do not fit, objectives that are not finite or change what they are given: a sentence, none wrong."""

import time

import numpy as np
import pytest

import systola as sy
from systola.cli import main
from systola.model.contracts import check_problem
from systola.model.exact import check_exactly

SIZES = (
    2**20,
    2**28,
    2**30,
    2**31 - 4,
    2**31,
    2**52,
    2**53 + 1,
    2**58,
    2**60,
    2**61,
    2**62 - 1,
    2**62,
    2**63 - 1,
    2**63,
)


def numbers(like, size, dtype):
    """Numbers up to a size in the proportions of a small instance."""
    like = np.array(like)
    return np.array([v * size // int(like.max()) for v in like.ravel().tolist()], dtype).reshape(like.shape)


FOUR = [3, 7, 2, 5]
GRID = [[1, 3, 2], [2, 1, 3], [3, 2, 1]]
MAKERS = {
    "knapsack, weights": lambda v: sy.Knapsack([1, 2, 3, 4], v(FOUR), 10),
    "knapsack, profits": lambda v: sy.Knapsack(v(FOUR), [1, 2, 3, 4], 6),
    "next release, costs": lambda v: sy.NextRelease(v(FOUR), [1, 2, 3, 4], 0.3),
    "next release, both": lambda v: sy.NextRelease(v(FOUR), v(FOUR), 0.3),
    "customer release, profits": lambda v: sy.CustomerRelease.from_requests(
        v(FOUR), [4, 5, 6], [[0], [0, 1], [2], [1]], [], 9
    ),
    "customer release, costs": lambda v: sy.CustomerRelease.from_requests(
        [1, 2, 3, 4], v(FOUR), [[0, 1, 2, 3], [0, 1], [2], [3]], [], 9
    ),
    "multi-knapsack, profits": lambda v: sy.MultiKnapsack(v(FOUR), [[1, 2, 3, 4]], [5]),
    "multi-knapsack, weights": lambda v: sy.MultiKnapsack([1, 2, 3, 4], np.array([v(FOUR), v(FOUR)]), [5, 6]),
    "multi-knapsack, capacities": lambda v: sy.MultiKnapsack([1, 2, 3, 4], [[1, 2, 3, 4]], v([5])),
    "quadratic assignment, flows": lambda v: sy.QuadraticAssignment(v(GRID), [[0, 1, 2], [3, 0, 4], [5, 6, 0]]),
    "quadratic assignment, distances": lambda v: sy.QuadraticAssignment([[0, 1, 0], [0, 0, 0], [2, 0, 0]], v(GRID)),
    "quadratic assignment, no flows": lambda v: sy.QuadraticAssignment(np.zeros((3, 3), int), v(GRID)),
    "flowshop, times": lambda v: sy.Flowshop(v(GRID)),
    "flowshop, release": lambda v: sy.Flowshop(
        GRID, due=[3, 4, 5], release=v([1, 2, 0]), objectives="tardiness,flowtime"
    ),
    "flowshop, weights": lambda v: sy.Flowshop(GRID, objectives="makespan,flowtime", weights=v([1, 2])),
    "generalized assignment, costs": lambda v: sy.GeneralizedAssignment(v(GRID), GRID, [4, 4, 4]),
    "generalized assignment, loads": lambda v: sy.GeneralizedAssignment(GRID, v(GRID), v([1, 2, 3])),
    "generalized assignment, capacities": lambda v: sy.GeneralizedAssignment(GRID, GRID, v([3, 2, 3])),
}


@pytest.mark.parametrize("dtype", [None, np.uint64], ids=["as they come", "unsigned"])
@pytest.mark.parametrize("name", MAKERS)
def test_a_problem_is_exact_or_refused(name, dtype):
    """No overflow, which is an error here, in any method; and what evaluate says is what exact integers say."""
    accepted = []
    for size in SIZES:
        try:
            problem = MAKERS[name](lambda like, size=size: numbers(like, size, dtype))
        except sy.InputError:
            continue
        accepted.append(size)
        check_problem(problem, trials=6)
    assert accepted[:1] == [2**20]
    assert 2**63 not in accepted


def test_small_unsigned_numbers_are_not_negated_in_their_own_width():
    draws = [np.array(values, np.uint8) for values in (FOUR, [[1, 2, 3, 4]], [6])]
    check_problem(sy.MultiKnapsack(*draws), trials=10)


@pytest.mark.parametrize("weight", [2**62, 2**63 - 1, 2**63, 2**64])
def test_a_file_of_huge_weights_is_refused(tmp_path, capsys, weight):
    path = tmp_path / "huge.txt"
    path.write_text("4 10\n" + f"1 {weight}\n" * 4)
    with pytest.raises(SystemExit) as end:
        main(["solve", str(path), "--problem", "knapsack", "--algorithm", "sga", "--iterations", "1", "--quiet"])
    printed = capsys.readouterr()
    assert (end.value.code, printed.out) == (2, "")
    assert printed.err.startswith("systola: ")
    assert "must" in printed.err
    assert "huge.txt" in printed.err


class Total(sy.Problem):
    encoding = sy.Binary("weights")
    weights: np.ndarray

    def evaluate(self, x):
        total = 0
        for i in range(len(self.weights)):
            total += self.weights[i] * x[i]
        return total


class Least(Total):
    sense = sy.MINIMISE


class Dear(Total):
    """The sum fits, its penalty does not."""

    def fitness(self, measures):
        return measures[0] * 2**40


class Broken(Total):
    def violation(self, measures):
        return measures[0] * 2**40 // 2**40


@pytest.mark.parametrize("kind", [Least, Dear, Broken])
def test_an_objective_that_wraps_is_told(kind):
    """All decisions are taken, as nothing else can be."""
    problem = kind(np.array([2**60] * 9 if kind is Least else [2**22] * 9))
    with (
        pytest.raises(
            sy.CheckFailed, match=f"in exact integers, but .* wrap around; scale the data of {kind.__name__}"
        ),
        np.errstate(over="ignore"),
    ):
        sy.solve(problem, sy.RS(size=1), stop=sy.Iterations(1), backend="python", start=[[1] * 9])


class Doubling(Total):
    """A loop that ends by wrapping around, in 64 bits."""

    def evaluate(self, x):
        mask = self.weights[0]
        count = 0
        while mask != 0:
            mask = mask << 1
            count += 1
        return count + x[0]


def test_the_exact_check_gives_up_where_integers_without_end_would_not_end():
    problem = Doubling(np.array([1, 1]))
    with np.errstate(over="ignore"):
        result = sy.solve(problem, sy.RS(size=1), stop=sy.Iterations(1), backend="python", start=[[1, 1]])
    assert result.objective == 65


@pytest.mark.parametrize(("budget", "most"), [(None, 1.1), (0.1, 0.2), (20.0, 0.4)])
def test_the_exact_check_takes_no_longer_than_a_budget_allows(budget, most):
    problem, began = Doubling(np.array([1, 1])), time.thread_time()
    check_exactly(problem, np.array([1, 1]), 65, budget)
    assert time.thread_time() - began < most


class Extremes(Total):
    """Measures that fit, but whose difference does not."""

    def evaluate(self, x):
        return self.weights[0] if x[0] else self.weights[1]


def test_the_exact_check_leaves_out_what_takes_long_to_convert():
    problem = Extremes(np.full(300_000, 5))
    x, wrong = np.zeros(300_000, np.uint8), 17
    check_exactly(problem, x, wrong, 5.0)
    for budget in (None, 100.0):
        with pytest.raises(sy.CheckFailed, match="is 5 in exact integers, but 17"):
            check_exactly(problem, x, wrong, budget)


def test_the_best_is_found_among_numbers_that_lie_far_apart():
    problem = Extremes(np.array([-(2**62) - 5, 2**62 + 5]))
    for start in ([[0, 0]], [[1, 0]]):
        result = sy.solve(problem, sy.RS(size=9), stop=sy.Iterations(2), backend="python", start=start)
        assert result.objective == 2**62 + 5


class Sorting(Total):
    """Changes what it is given."""

    def evaluate(self, x):
        for i in range(len(x)):
            x[i] = 1 - x[i]
        return int(x[0]) * 2 + int(x[1])


@pytest.mark.parametrize("backend", ["cpu", "python"])
def test_an_objective_that_changes_the_solution_does_not_change_what_is_reported(backend):
    result = sy.solve(Sorting(np.zeros(3, int)), sy.RS(size=30), stop=sy.Iterations(1), backend=backend)
    assert (result.objective, result.solution[:2].tolist()) == (3, [0, 0])


def test_contracts_find_an_objective_that_changes_the_solution():
    with pytest.raises(sy.CheckFailed, match=r"evaluate changes the solution that it is given, \[.*work on x.copy"):
        check_problem(Sorting(np.zeros(3, int)))


class Choosy(sy.Problem):
    """The sum and the number of what is chosen."""

    encoding = sy.Binary("weights")
    weights: np.ndarray

    def evaluate(self, x):
        total = 0
        taken = 0
        for i in range(len(self.weights)):
            total += self.weights[i] * x[i]
            taken += x[i]
        return total, taken

    def flip(self, x, row, i, state):
        sign = 1 - 2 * sy.bit(x, row, i)
        state[0] += sign * self.weights[i]
        state[1] += sign

    capabilities = (sy.Flips(flip),)


def with_a_state_of_its_own():
    class Kept(Choosy):
        def init(self, x, row, state):
            state[0] = 0
            state[1] = 0
            for i in range(len(self.weights)):
                if sy.bit(x, row, i):
                    state[0] += self.weights[i]
                    state[1] += 1

        def measures_of(self, state, measures):
            measures[0] = state[0]
            measures[1] = state[1]

        capabilities = (*Choosy.capabilities, sy.EvaluationState(sy.Buffer(2, np.int64), init, measures_of))

    Kept.__name__ = "Choosy"
    return Kept


@pytest.mark.parametrize("order", [pytest.param((1, 0), marks=pytest.mark.long), (0, 1)])
def test_what_was_solved_before_makes_no_difference(order):
    """Two classes of one name, with and without a state of their own, one after the other."""
    weights = 7 * np.arange(1, 31) - 100
    for one in order:
        kind = with_a_state_of_its_own() if one else Choosy
        result = sy.solve(kind(weights), sy.SGA(size=8), stop=sy.Iterations(4), seed=3, threads=1)
        assert result.objective == 483


class Infinite(Total):
    def evaluate(self, x):
        total = 0.0
        for i in range(len(self.weights)):
            if x[i]:
                total += self.weights[i]
        if total < 0:
            return -np.inf
        return np.inf if total > 9 else total


@pytest.mark.parametrize("weights", [[1.0, 99.0], [1.0, -99.0]])
def test_an_infinite_objective_is_an_error_that_shows_the_solution(weights):
    problem = Infinite(np.array(weights))
    with pytest.raises(
        sy.ObjectiveError, match=r"must return a finite number .* returned \[-?inf\] .*one of them is \["
    ):
        sy.solve(problem, sy.RS(size=20), stop=sy.Iterations(1), backend="python")


class Hopeless(Total):
    def violation(self, measures):
        return 3


def test_nothing_feasible_is_told():
    with pytest.warns(sy.InfeasibleWarning, match="no feasible solution was found: .* by 3;") as told:
        result = sy.solve(Hopeless(np.arange(5)), sy.RS(size=9), stop=sy.Iterations(2), backend="python")
    assert told[0].filename == __file__
    assert result.notes == [str(told[0].message)]
    assert (result.feasible, result.violation) == (False, 3)


def test_nothing_feasible_has_an_exit_code_of_its_own(tmp_path, capsys):
    path = tmp_path / "tight.txt"  # two jobs that fit an agent each, but not together; there is one agent
    path.write_text("1 2\n1 1\n5 5\n6\n")
    with pytest.raises(SystemExit) as end:
        main(["solve", str(path), "--problem", "gap", "--algorithm", "ssga", "--iterations", "3", "--json"])
    printed = capsys.readouterr()
    assert end.value.code == 5
    assert printed.err.count("no feasible solution was found") == 1
    assert '"feasible": false' in printed.out
