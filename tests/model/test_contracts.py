"""One contract suite over every problem; and it notices each kind of mistake."""

import numpy as np
import pytest

import systola as sy
from conftest import Balance, OneMax, changed, small_knapsack, small_multi_knapsack, small_release
from own_problems import Line
from systola.model.contracts import check_problem
from systola.model.problem import space_of


def customers():
    return sy.CustomerRelease.from_requests(
        np.array([5, 7, 3, 9]), np.array([2, 4, 1, 3, 5]), [[0, 1], [1, 2], [3], [2, 4]], [(0, 3)], 9
    )


def small_assignment(n, symmetric, diagonal, kind=sy.QuadraticAssignment):
    draws = np.random.default_rng(n)
    flows, distances = draws.integers(-9, 30, (2, n, n))
    if symmetric:
        flows, distances = flows + flows.T, distances + distances.T
    if not diagonal:
        np.fill_diagonal(flows, 0)
    return kind(flows, distances)


def small_gap(agents, jobs, maximise=False, kind=sy.GeneralizedAssignment):
    draws = np.random.default_rng(jobs)
    loads = draws.integers(0, 9, (agents, jobs))
    return kind(draws.integers(-5, 30, (agents, jobs)), loads, loads.max(axis=1) + jobs // agents, maximise)


PROBLEMS = [
    small_knapsack(1),
    small_knapsack(63),
    small_knapsack(64),
    small_knapsack(150),
    small_release(7),
    small_release(130, weight=0.9),
    sy.MMDP(6),
    sy.MMDP(48),
    sy.MMDP(66),
    sy.MMDP(192),
    sy.MMDP(300),
    OneMax(20),
    Balance(np.random.default_rng(1).random(20)),
    customers(),
    small_multi_knapsack(12, 3),
    small_multi_knapsack(64, 15),
    small_multi_knapsack(150, 20),
    sy.MultiKnapsack([3, 4], [[0, 0]], [0]),
    sy.QuadraticAssignment([[4]], [[5]]),
    small_assignment(2, symmetric=False, diagonal=True),
    small_assignment(6, symmetric=True, diagonal=False),
    small_assignment(7, symmetric=False, diagonal=True),
    sy.QuadraticAssignment(np.array([[0, 200], [190, 0]], np.uint8), np.array([[0, 10**6], [2, 0]], np.int32)),
    Line(6),
    small_gap(1, 1),
    small_gap(3, 12),
    small_gap(7, 5, maximise=True),
    sy.Flowshop([[3, 2, 4], [1, 5, 2], [6, 1, 3]]),
    sy.Flowshop(np.arange(24).reshape(8, 3) % 7, np.arange(8) * 5, np.arange(8), "tardiness,makespan,tardy", [3, 1, 9]),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{type(p).__name__}-{space_of(p).n}")
def test_contract(problem):
    check_problem(problem, trials=120, seed=3)


class Tour(sy.Problem):
    encoding = sy.Permutation("n")
    n: int

    def evaluate(self, x):
        return x[0] + 2 * x[-1]


class Dice(sy.Problem):
    encoding = sy.Integers("n", 1, 6)
    sense = sy.MINIMISE
    n: int

    def evaluate(self, x):
        return np.sum(x)


class QuickDice(Dice):
    """With reassignments; its state is the measures."""

    def reassign(self, x, row, i, value, state):
        state[0] += value - x[row, i]

    capabilities = (sy.Reassignments(reassign),)


@pytest.mark.parametrize("problem", [Tour(7), Dice(3), QuickDice(3)])
def test_contract_of_other_encodings(problem):
    check_problem(problem)
    result = sy.solve(problem, sy.RS(size=50), stop=sy.Iterations(40))
    assert problem.encoding.store(space_of(problem), result.solution[None]).shape == (1, problem.n)
    assert result.objective == (2 * 6 + 5 if isinstance(problem, Tour) else 3)


def test_a_tally_of_measures_gives_the_same_run():
    engine = sy.Cellular(size=9, radius=1)
    runs = [
        sy.solve(problem, engine, stop=sy.Iterations(30), seed=2, backend="python")
        for problem in (Dice(12), QuickDice(12))
    ]
    assert runs[0].solution.tolist() == runs[1].solution.tolist()
    assert (runs[0].objective, runs[0].found_at) == (runs[1].objective, runs[1].found_at)


class WrongFlip(OneMax):
    def flip(self, x, row, i, state):
        state[0] += 1

    capabilities = (sy.Flips(flip),)


class HastyFlip(OneMax):
    """Right, but it makes the change that it should only measure."""

    def flip(self, x, row, i, state):
        state[0] += 1 - 2 * sy.bit(x, row, i)
        x[row, i >> 6] ^= np.uint64(1) << np.uint64(i & 63)

    capabilities = (sy.Flips(flip),)


def broken(kind, capability, **functions):
    """The class of a problem, with other functions in one of its capabilities."""
    return type(f"Wrong{kind.__name__}", (kind,), {"capabilities": changed(kind, capability, **functions)})


def original(kind, capability, name):
    return next(getattr(c, name) for c in kind.capabilities if isinstance(c, capability))


QAP, GAP, MKP = sy.QuadraticAssignment, sy.GeneralizedAssignment, sy.MultiKnapsack
reassign = original(GAP, sy.Reassignments, "reassign")
swap = original(QAP, sy.Swaps, "swap")


def run_too_much(self, x, row, first, last, state):
    state[0] += last - first


def seven(self, state, measures):
    measures[0] = 7


def no_repair(self, x, row, state, data):
    pass


def one_too_many(self, space, x, row, state, seed, step, cell):
    state[0] += 1


def no_children(s, h, v, n, plan, cell, row_h, row_v):
    s.lanes.trial[row_h] = s.population.scores[h]
    s.lanes.trial[row_v] = s.population.scores[v]


def first_prefix(s, h, v, a, b, m, keep_h, keep_v):
    s.population.prefix[h, 1] += 1


def blind_to_excess(self, x, row, i, value, state):
    """Wrong only where an agent is loaded beyond its capacity: as if it made no difference."""
    kept = state[1]
    reassign(self, x, row, i, value, state)
    state[1] = kept


def forgetful_search(self, x, state, data, work, length, key, stop):
    """Changes the solution without its state."""
    x[0] = self.last - x[0]


def restless_search(self, x, state, data, work, length, key, stop):
    """Leaves a solution other than the fittest one."""
    for job in range(self.jobs):
        reassign(self, x[None], 0, job, 0, state)
        x[job] = 0


def forgetful_quick_search(self, x, state, work, key):
    """Gives a job away, and forgets to say so."""
    original(GAP, sy.LocalSearch, "quick")(self, x, state, work, key)
    x[0] = 1 - x[0]


def spoiling_quick_search(self, x, state, work, key):
    """Loads all on one agent."""
    restless_search(self, x, state, None, None, 0, key, None)


class HastyReassign(QuickDice):
    """Right, but it makes the change that it should only measure."""

    def hasty(self, x, row, i, value, state):
        QuickDice.reassign(self, x, row, i, value, state)
        x[row, i] = value

    capabilities = (sy.Reassignments(hasty),)


def first_load(self, state, measures):
    measures[0] = state[0]
    measures[1] = state[2]


def wrong_for_the_first(self, x, row, i, j, state):
    """Wrong only where the first facility has a part in it."""
    swap(self, x, row, i, j, state)
    if i == 0 or j == 0:
        state[0] += 1


def hasty_swap(self, x, row, i, j, state):
    """Right, but it makes the exchange that it should only measure."""
    Line.swap(self, x, row, i, j, state)
    x[row, i], x[row, j] = x[row, j], x[row, i]


def lazy_move(self, x, row, i, j, state):
    pass


def one_more(self, state, measures):
    measures[0] = state[0] + 1


def wrong_fill(self, x, row, table):
    original(QAP, sy.SwapTable, "fill")(self, x, row, table)
    table[1] += 1


def wrong_gains(self, x, row, i, gains):
    """Wrong for the last facility only."""
    original(QAP, sy.SwapTable, "gains")(self, x, row, i, gains)
    gains[len(self.flows) - 1] += 1


def stale_table(self, x, row, i, j, table):
    """The gains that the swap leaves are those from before it."""
    x[row, i], x[row, j] = x[row, j], x[row, i]


def lazy_swap(self, x, row, i, j, table):
    pass


def wrong_at_the_end(self, x, i, first, last, prepared, work, measures):
    """Wrong only for blocks of neighbours that end with the last place."""
    original(sy.Flowshop, sy.InsertionBlocks, "evaluate")(self, x, i, first, last, prepared, work, measures)
    if last - first > 1 and last == len(self.times):
        measures[last - first - 1, 0] += 1


def remembers_nothing(self, x, i, first, last, prepared, work, measures):
    """Wrong where it is asked again for the same job."""
    original(sy.Flowshop, sy.InsertionBlocks, "evaluate")(self, x, i, first, last, prepared, work, measures)
    prepared[:] = 0


class SilentSurvey(sy.Flowshop):
    """The constraint is about tardiness. That is no objective, and blocks of insertions do not measure it."""

    def violation(self, measures):
        return measures[1]


def beside(self, x, count, item, work, measures):
    place = original(sy.Flowshop, sy.BestInsertion, "find")(self, x, count, item, work, measures)
    return place - 1 if place > 0 else 1


def mismeasured(self, x, count, item, work, measures):
    place = original(sy.Flowshop, sy.BestInsertion, "find")(self, x, count, item, work, measures)
    measures[0, 0] += 1
    return place


def small_flowshop(kind, objectives="makespan,tardiness"):
    draws = np.random.default_rng(2)
    return kind(draws.integers(1, 30, (6, 3)), draws.integers(20, 90, 6), None, objectives)


moods = iter(range(10**6))


class Moody(OneMax):
    def evaluate(self, x):
        return next(moods)


class Negative(OneMax):
    def violation(self, measures):
        return -1


def small_knapsack_of(kind):
    return kind(np.arange(9), np.arange(9), 5)


def small_mkp_of(kind):
    return kind(np.arange(9), np.ones((2, 9), int), np.array([4, 5]))


class Built(sy.Problem):
    """Its capability is given with each instance's class."""

    encoding = sy.Permutation("costs")
    sense = sy.MINIMISE
    costs: np.ndarray

    def evaluate(self, x):
        return self.costs[x[0]]


def built(*orders, pays=True):
    """A problem that builds these orders; the last of them at the first call only, if it is None."""
    calls = []

    def solutions(problem, must_end):
        calls.append(0)
        yield from (order for order in orders if order is not None or len(calls) == 1)

    opening = sy.Opening(
        lambda problem, must_end: (np.array(order or [0, 1, 2]) for order in solutions(problem, must_end)),
        lambda problem: pays,
    )
    return type("Opened", (Built,), {"capabilities": [opening]})(np.array([3, 2, 1]))


def test_what_is_built_must_get_better():
    check_problem(built([0, 1, 2], [1, 0, 2], [2, 1, 0]))
    check_problem(built([0, 1, 2], [0, 1, 1], pays=False))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: WrongFlip(9), r"^flip, after decision \d of \[.*\] is flipped, says \[-?\d+\], evaluate says"),
        (lambda: HastyFlip(9), "^flip writes to the solution"),
        (lambda: small_knapsack_of(broken(sy.Knapsack, sy.Flips, run=run_too_much)), r"^Flips\.run of the decisions"),
        (lambda: small_mkp_of(broken(MKP, sy.EvaluationState, measures=seven)), "^the state does not give back"),
        (lambda: small_mkp_of(broken(MKP, sy.Repair, repair=no_repair)), "^repair leaves an infeasible solution"),
        (
            lambda: small_mkp_of(broken(MKP, sy.Construction, construct=one_too_many)),
            "^the state that construct leaves",
        ),
        (lambda: Moody(9), "function"),
        (lambda: Negative(9), "negative"),
        (lambda: small_knapsack_of(broken(sy.Knapsack, sy.Segments, cross=no_children)), r"^Segments\.cross says"),
        (lambda: small_knapsack_of(broken(sy.Knapsack, sy.Segments, update=first_prefix)), r"^Segments\.update gives"),
        (
            lambda: small_gap(2, 4, kind=broken(GAP, sy.Reassignments, reassign=blind_to_excess)),
            r"^reassign, after decision \d of \[\d, \d, \d, \d\] is \d, says \[-?\d+, \d+\], evaluate says \[",
        ),
        (
            lambda: small_gap(2, 4, kind=broken(GAP, sy.LocalSearch, search=forgetful_search)),
            r"^the state that LocalSearch\.search leaves of",
        ),
        (
            lambda: small_gap(2, 4, kind=broken(GAP, sy.LocalSearch, search=restless_search)),
            r"^LocalSearch\.search leaves a solution less fit than",
        ),
        (
            lambda: small_gap(2, 4, kind=broken(GAP, sy.LocalSearch, quick=forgetful_quick_search)),
            r"^the state that LocalSearch\.quick leaves of \[\d, \d, \d, \d\] says",
        ),
        (
            lambda: small_gap(2, 4, kind=broken(GAP, sy.LocalSearch, quick=spoiling_quick_search)),
            r"^LocalSearch\.quick leaves a solution less feasible than",
        ),
        (lambda: HastyReassign(4), r"^reassign writes to the solution \[\d, \d, \d, \d\]"),
        (
            lambda: small_gap(2, 4, kind=broken(GAP, sy.EvaluationState, measures=first_load)),
            r"^the state does not give back the measures \[-?\d+, \d+\] of",
        ),
        (
            lambda: small_assignment(4, False, True, broken(QAP, sy.Swaps, swap=wrong_for_the_first)),
            r"^swap of (0 and \d|\d and 0) in \[\d, \d, \d, \d\] says \[-?\d+\], evaluate says \[-?\d+\]$",
        ),
        (lambda: broken(Line, sy.Swaps, swap=hasty_swap)(4), r"^swap writes to the solution \[\d, \d, \d, \d\]"),
        (lambda: broken(Line, sy.Insertions, insert=lazy_move)(4), r"^insert of \d and \d in"),
        (lambda: broken(Line, sy.Reversals, reverse=lazy_move)(4), r"^reverse of \d and \d in"),
        (
            lambda: small_assignment(4, True, True, broken(QAP, sy.EvaluationState, measures=one_more)),
            r"^the state does not give back the measures \[\d+\] of",
        ),
        (
            lambda: small_assignment(4, True, False, broken(QAP, sy.SwapTable, fill=wrong_fill)),
            r"^SwapTable\.fill says that \[\d, \d, \d, \d\] gains -?\d+ when its decisions 0 and 1 are exchanged",
        ),
        (
            lambda: small_assignment(4, True, False, broken(QAP, sy.SwapTable, gains=wrong_gains)),
            r"^SwapTable\.gains says that \[\d, \d, \d, \d\] gains -?\d+ when its decisions \d and 3 are exchanged",
        ),
        (
            lambda: small_assignment(4, False, False, broken(QAP, sy.SwapTable, swap=stale_table)),
            r"^SwapTable\.swap of \d and \d says that \[\d, \d, \d, \d\] gains -?\d+ when its decisions \d and \d are",
        ),
        (
            lambda: small_assignment(4, False, False, broken(QAP, sy.SwapTable, swap=lazy_swap)),
            r"^SwapTable\.swap of \d and \d must make \[\d, \d, \d, \d\], but made \[\d, \d, \d, \d\]$",
        ),
        (
            lambda: small_flowshop(broken(sy.Flowshop, sy.InsertionBlocks, evaluate=wrong_at_the_end)),
            r"^InsertionBlocks\.evaluate from \d to 5 says \[\d+, \d+\] for \[.*\], evaluate says \[\d+, \d+\]$",
        ),
        (
            lambda: small_flowshop(broken(sy.Flowshop, sy.InsertionBlocks, evaluate=remembers_nothing)),
            r"^InsertionBlocks\.evaluate from \d to \d says",
        ),
        (lambda: small_flowshop(SilentSurvey, "makespan"), r"^InsertionBlocks\.evaluate from \d to \d says"),
        (
            lambda: small_flowshop(broken(sy.Flowshop, sy.BestInsertion, find=beside)),
            r"^BestInsertion\.find says that \d is best in place \d of \[.*\], evaluate says",
        ),
        (
            lambda: small_flowshop(broken(sy.Flowshop, sy.BestInsertion, find=mismeasured)),
            r"^BestInsertion\.find says \[\d+, \d+\] for \[.*\], evaluate says",
        ),
        (lambda: built([0, 1, 1]), r"^Opening\.solutions gives what is no solution: "),
        (
            lambda: built([0, 1, 2], [0, 2, 1]),
            r"^Opening\.solutions gives \[0, 2, 1\] after \[0, 1, 2\], which is as good",
        ),
        (lambda: built(None), r"^Opening\.solutions gives others when it is called again"),
    ],
)
def test_mistakes_are_found(make, word):
    with pytest.raises(sy.CheckFailed, match=word):
        check_problem(make())
