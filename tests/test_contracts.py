"""One contract suite over every problem; and it notices each kind of mistake."""

import numpy as np
import pytest

import systola as sy
from conftest import Balance, OneMax, small_knapsack, small_multi_knapsack, small_release
from systola.contracts import check_problem
from systola.problem import space_of


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


class Line(sy.Problem):
    """Neighbours in the order should be far apart: a permutation with `swap` and two measures, but without a table."""

    encoding = sy.Permutation("n")
    n: int

    def evaluate(self, x):
        apart = 0
        for i in range(self.n - 1):
            apart += abs(x[i] - x[i + 1])
        return apart, x[0]

    def swap(self, x, row, i, j, tally):
        for k in range(self.n - 1):
            here = x[row, j if k == i else i if k == j else k]
            there = x[row, j if k + 1 == i else i if k + 1 == j else k + 1]
            tally[0] += abs(here - there) - abs(x[row, k] - x[row, k + 1])
        tally[1] = x[row, j if i == 0 else i if j == 0 else 0]


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
    """With reassignments; its tally is the measures."""

    def reassign(self, x, row, i, value, tally):
        tally[0] += value - x[row, i]


@pytest.mark.parametrize("problem", [Tour(7), Dice(3), QuickDice(3)])
def test_contract_of_other_encodings(problem):
    check_problem(problem)
    result = sy.solve(problem, sy.RS(size=50), stop=sy.Iterations(40))
    assert problem.encoding.store(space_of(problem), result.solution[None]).shape == (1, problem.n)
    assert result.objective == (2 * 6 + 5 if isinstance(problem, Tour) else 3)


def test_a_tally_of_measures_gives_the_same_run():
    engine = sy.Cellular(size=9, reach=1)
    runs = [
        sy.solve(problem, engine, stop=sy.Iterations(30), seed=2, backend="python")
        for problem in (Dice(12), QuickDice(12))
    ]
    assert runs[0].solution.tolist() == runs[1].solution.tolist()
    assert (runs[0].objective, runs[0].found_at) == (runs[1].objective, runs[1].found_at)


class WrongFlip(OneMax):
    def flip(self, x, row, i, tally):
        tally[0] += 1


class WrongRun(sy.Knapsack):
    def flip_run(self, x, row, first, last, tally):
        tally[0] += last - first


class WrongWeigh(sy.MultiKnapsack):
    def weigh(self, tally, measures):
        measures[0] = 7


class WrongRepair(sy.MultiKnapsack):
    def repair(self, x, row, tally, ranking):
        pass


class WrongConstruct(sy.MultiKnapsack):
    def construct(self, space, x, row, tally, seed, step, cell):
        tally[0] += 1


class WrongCross(sy.Knapsack):
    def cross(self, x, scores, marks, h, v, n, plan, cell, trial, row_h, row_v):
        trial[row_h] = scores[h]
        trial[row_v] = scores[v]


class WrongRemark(sy.Knapsack):
    def remark(self, x, marks, h, v, a, b, m, keep_h, keep_v):
        marks[h, 1] += 1


class WrongReassign(sy.GeneralizedAssignment):
    """Wrong only where an agent is loaded beyond its capacity: as if it made no difference."""

    def reassign(self, x, row, i, value, tally):
        kept = tally[1]
        sy.GeneralizedAssignment.reassign(self, x, row, i, value, tally)
        tally[1] = kept


class ForgetfulRefine(sy.GeneralizedAssignment):
    """Changes the solution without its tally."""

    def refine(self, x, row, tally, guide, work, length, key, stop):
        x[row, 0] = self.last - x[row, 0]


class RestlessRefine(sy.GeneralizedAssignment):
    """Leaves a solution other than the fittest one."""

    def refine(self, x, row, tally, guide, work, length, key, stop):
        for job in range(self.jobs):
            sy.GeneralizedAssignment.reassign(self, x, row, job, 0, tally)
            x[row, job] = 0


class HastyReassign(QuickDice):
    """Right, but it makes the change that it should only measure."""

    def reassign(self, x, row, i, value, tally):
        QuickDice.reassign(self, x, row, i, value, tally)
        x[row, i] = value


class WrongPolish(sy.GeneralizedAssignment):
    """Gives a job away, and forgets to say so."""

    def polish(self, x, row, tally, work, key):
        sy.GeneralizedAssignment.polish(self, x, row, tally, work, key)
        x[row, 0] = 1 - x[row, 0]


class WrongLoads(sy.GeneralizedAssignment):
    def weigh(self, tally, measures):
        measures[0] = tally[0]
        measures[1] = tally[2]


class WrongSwap(sy.QuadraticAssignment):
    """Wrong only where the first facility has a part in it."""

    def swap(self, x, row, i, j, tally):
        sy.QuadraticAssignment.swap(self, x, row, i, j, tally)
        if i == 0 or j == 0:
            tally[0] += 1


class HastySwap(Line):
    """Right, but it makes the exchange that it should only measure."""

    def swap(self, x, row, i, j, tally):
        Line.swap(self, x, row, i, j, tally)
        x[row, i], x[row, j] = x[row, j], x[row, i]


class WrongTallies(sy.QuadraticAssignment):
    def weigh(self, tally, measures):
        measures[0] = tally[0] + 1


class WrongTable(sy.QuadraticAssignment):
    def tabulate(self, x, row, table):
        sy.QuadraticAssignment.tabulate(self, x, row, table)
        table[1] += 1


class WrongGains(sy.QuadraticAssignment):
    """Wrong for the last facility only."""

    def swap_gains(self, x, row, i, gains):
        sy.QuadraticAssignment.swap_gains(self, x, row, i, gains)
        gains[len(self.flows) - 1] += 1


class WrongExchange(sy.QuadraticAssignment):
    """The gains that the exchange leaves are those from before it."""

    def exchange(self, x, row, i, j, table):
        x[row, i], x[row, j] = x[row, j], x[row, i]


class LazyExchange(sy.QuadraticAssignment):
    def exchange(self, x, row, i, j, table):
        pass


class HalfTable(Line):
    def tabulate(self, x, row, table):
        pass


class WrongSurvey(sy.Flowshop):
    """Wrong only for blocks of neighbours that end with the last place."""

    def survey_insertions(self, x, row, i, first, last, fresh, outlook, work, trial, at):
        sy.Flowshop.survey_insertions(self, x, row, i, first, last, fresh, outlook, work, trial, at)
        if last - first > 1 and last == len(self.times):
            trial[at + last - first - 1, 0] += 1


class ForgetfulSurvey(sy.Flowshop):
    """Wrong where it is asked again for the same job."""

    def survey_insertions(self, x, row, i, first, last, fresh, outlook, work, trial, at):
        sy.Flowshop.survey_insertions(self, x, row, i, first, last, fresh, outlook, work, trial, at)
        work[:] = 0


class SilentSurvey(sy.Flowshop):
    """The constraint is about tardiness. That is no objective, and the survey does not know it."""

    def violation(self, measures):
        return measures[1]


class WrongPlace(sy.Flowshop):
    def find_place(self, x, row, count, item, work, trial, at):
        place = sy.Flowshop.find_place(self, x, row, count, item, work, trial, at)
        return place - 1 if place > 0 else 1


class WrongMeasures(sy.Flowshop):
    def find_place(self, x, row, count, item, work, trial, at):
        place = sy.Flowshop.find_place(self, x, row, count, item, work, trial, at)
        trial[at, 0] += 1
        return place


class HalfOutlook(Line):
    def look(self, x, row, outlook):
        pass


class NoRoom(Line):
    def find_place(self, x, row, count, item, work, trial, at):
        return 0


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


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: WrongFlip(9), "flip"),
        (lambda: WrongRun(np.arange(9), np.arange(9), 5), "flip_run"),
        (lambda: WrongWeigh(np.arange(9), np.ones((2, 9), int), np.array([4, 5])), "weigh"),
        (lambda: WrongRepair(np.arange(9), np.ones((2, 9), int), np.array([4, 5])), "repair"),
        (lambda: WrongConstruct(np.arange(9), np.ones((2, 9), int), np.array([4, 5])), "construct"),
        (lambda: Moody(9), "function"),
        (lambda: Negative(9), "negative"),
        (lambda: WrongCross(np.arange(9), np.arange(9), 5), "cross"),
        (lambda: WrongRemark(np.arange(9), np.arange(9), 5), "remark"),
        (
            lambda: small_gap(2, 4, kind=WrongReassign),
            r"^reassign says \[-?\d+, \d+\] after decision \d of \[\d, \d, \d, \d\] is \d, evaluate says \[-?\d+, \d+",
        ),
        (lambda: small_gap(2, 4, kind=ForgetfulRefine), "^refine leaves a tally that is not that of its solution"),
        (lambda: small_gap(2, 4, kind=RestlessRefine), "^refine leaves a solution less fit than"),
        (
            lambda: small_gap(2, 4, kind=WrongPolish),
            r"^polish leaves a tally that is not that of its solution \[\d, \d, \d, \d\]$",
        ),
        (lambda: HastyReassign(4), r"^reassign writes to the solution \[\d, \d, \d, \d\]"),
        (lambda: small_gap(2, 4, kind=WrongLoads), r"^weigh does not give back the measures \[-?\d+, \d+\] of"),
        (
            lambda: small_assignment(4, False, True, WrongSwap),
            r"^swap says \[-?\d+\] after the decisions (0 and \d|\d and 0) of \[\d, \d, \d, \d\] are exchanged, "
            r"evaluate says \[-?\d+\]$",
        ),
        (lambda: HastySwap(4), r"^swap writes to the solution \[\d, \d, \d, \d\]"),
        (lambda: small_assignment(4, True, True, WrongTallies), r"^weigh does not give back the measures \[\d+\] of"),
        (
            lambda: small_assignment(4, True, False, WrongTable),
            r"^tabulate says that \[\d, \d, \d, \d\] gains -?\d+ when its decisions 0 and 1 are exchanged, evaluate",
        ),
        (
            lambda: small_assignment(4, True, False, WrongGains),
            r"^swap_gains says that \[\d, \d, \d, \d\] gains -?\d+ when its decisions \d and 3 are exchanged, evaluate",
        ),
        (
            lambda: small_assignment(4, False, False, WrongExchange),
            r"^exchange of \d and \d says that \[\d, \d, \d, \d\] gains -?\d+ when its decisions \d and \d are exch",
        ),
        (
            lambda: small_assignment(4, False, False, LazyExchange),
            r"^exchange of \d and \d must make \[\d, \d, \d, \d\], but made \[\d, \d, \d, \d\]$",
        ),
        (lambda: HalfTable(4), "belong together, but HalfTable has only tabulate$"),
        (
            lambda: small_flowshop(WrongSurvey),
            r"^survey_insertions from \d to 5 says \[\d+, \d+\] for \[.*\], evaluate says \[\d+, \d+\]$",
        ),
        (lambda: small_flowshop(ForgetfulSurvey), r"^survey_insertions from \d to \d says"),
        (lambda: small_flowshop(SilentSurvey, "makespan"), r"^survey_insertions from \d to \d says"),
        (lambda: small_flowshop(WrongPlace), r"^find_place says that \d is best in place \d of \[.*\], evaluate says"),
        (lambda: small_flowshop(WrongMeasures), r"^find_place says \[\d+, \d+\] for \[.*\], evaluate says"),
        (lambda: HalfOutlook(4), "survey_insertions belong together, but HalfOutlook has only look$"),
        (lambda: NoRoom(4), "^find_place needs outlooks, for room to work, but NoRoom has none$"),
    ],
)
def test_mistakes_are_found(make, word):
    with pytest.raises(sy.CheckFailed, match=word):
        check_problem(make())
