"""The tables of the SGS paper from runs whose outcomes are known, because the store was filled by hand."""

from math import hypot

import known_outcomes
import pytest
from known_outcomes import refuse, stores_of

import systola as sy
from systola.formats import open_instance
from systola.lab import experiment
from systola.lab.published import load_figures
from systola.lab.reproductions import sgs as reproduction
from systola.lab.reproductions.effort import Effort
from systola.lab.reproductions.sgs import ALGORITHMS, GROUPS, WEIGHTS, Group, choose_groups, jobs_of, reproduce
from systola.lab.tables import format_number
from systola.model.problem import space_of

KNAPSACK, DECEPTIVE, RELEASE = GROUPS


@pytest.fixture
def fill(monkeypatch):
    """Gives a store that holds a result for each job, as `outcome(job)` says: objective and seconds."""
    monkeypatch.setattr(experiment, "work", refuse)
    with stores_of(reproduction.EXPERIMENT) as make:

        def fill(jobs, outcome, feasible=True):
            found = ((job, *outcome(job)) for job in jobs)
            return make(
                (job, {"objective": objective, "seconds": seconds, "feasible": feasible})
                for job, objective, seconds in found
            )

        yield fill


def cells(tables):
    """Texts by row and column name of our table, the first."""
    return known_outcomes.cells(tables[0])


def rank(job):
    """How bad an algorithm is made to be: the last one is perfect."""
    return len(ALGORITHMS) - 1 - ALGORITHMS.index(job.algorithm)


# Which tables, which runs


def test_every_table_of_the_paper_has_its_group():
    assert sorted(number for group in GROUPS for number in group.tables) == list(range(3, 13))
    assert choose_groups(None) == GROUPS
    for number in range(3, 13):
        (group,) = choose_groups(number)
        assert number in group.tables


@pytest.mark.parametrize("table", [0, 1, 2, 13, -3])
def test_other_tables_are_refused(table):
    with pytest.raises(sy.InputError, match=f"Tables 3 to 12 can be reproduced, but got {table}"):
        choose_groups(table)


def test_instances_are_the_papers():
    for group in GROUPS:
        figures = load_figures("sgs", group.error_table)
        assert group.instances == figures.instances
        assert set(ALGORITHMS) == set(figures.algorithms)
        assert set(group.quick) <= set(group.instances)
        for name in group.instances:
            assert space_of(open_instance(name).problem).n > 0


def test_a_run_of_a_release_is_one_for_each_weight():
    jobs = jobs_of(RELEASE, quick=False, runs=2)
    assert len(jobs) == 2 * 7 * len(ALGORITHMS) * 11
    assert {job.instance for job in jobs if job.instance.startswith("nrp:100-20?")} == {
        f"nrp:100-20?weight={k / 10}" for k in range(11)
    }
    assert len(jobs_of(KNAPSACK, quick=False, runs=50)) == 50 * 8 * len(ALGORITHMS)
    assert len(jobs_of(KNAPSACK, quick=True, runs=5)) == 5 * 4 * len(ALGORITHMS)


# What the tables say


def test_errors_are_distances_from_the_optimum(fill):
    jobs = jobs_of(KNAPSACK, True, 4)
    optima = {name: open_instance(name).best_known for name in KNAPSACK.quick}
    store = fill(jobs, lambda job: (optima[job.instance] - 10 * rank(job) - job.seed % 2, 0.5 * job.seed))
    tables = reproduce(KNAPSACK, store, Effort(quick=True, runs=4))
    assert list(tables) == [3, 4, 10]
    assert [row[0].text for row in tables[3][0].rows] == list(KNAPSACK.quick)

    errors = cells(tables[3])["knapsack:100-1000"]
    spread = format_number((1 / 3) ** 0.5)  # of 0, 1, 0, 1
    for name in ALGORITHMS:
        mean = 10 * (len(ALGORITHMS) - 1 - ALGORITHMS.index(name)) + 0.5
        assert errors[name] == f"{format_number(mean)} ± {spread}"
    published = load_figures("sgs", 3).figures["knapsack:100-1000", "rs"]
    assert " ± ".join(map(format_number, published)) in errors.values()
    best = [cell.text for row in tables[3][0].rows for cell in row if cell.bold]
    assert len(best) == 4
    assert set(best) == {errors["sgs-b"]}

    seconds = cells(tables[10])["knapsack:200-10000"]
    assert {seconds[name] for name in ALGORITHMS} == {"1.25e0 ± " + format_number((5 / 12) ** 0.5)}
    assert "4 runs" in tables[3][0].title


def test_clear_differences_get_their_triangles(fill):
    jobs = jobs_of(DECEPTIVE, True, 8)
    store = fill(jobs, lambda job: (50 - rank(job) - 0.01 * (job.seed % 4), 1.0))
    tables = reproduce(DECEPTIVE, store, Effort(quick=True, runs=8))
    signs = cells(tables[6])
    assert signs["rs"]["sgs-b"] == signs["sga"]["ega"] == "▽"
    assert signs["sgs-v"]["sgs-t"] == ""  # below the diagonal
    assert tables[6][1].title.endswith("as published")
    assert len(cells(tables[6][1:])["rs"]["sgs-b"].split()) == len(DECEPTIVE.instances)


def test_no_difference_gets_none(fill):
    store = fill(jobs_of(DECEPTIVE, True, 3), lambda job: (50, 1.0))
    signs = cells(reproduce(DECEPTIVE, store, Effort(quick=True, runs=3))[6])
    assert signs["rs"]["sgs-b"] == "–"


def test_too_few_runs_have_no_significance(fill):
    store = fill(jobs_of(DECEPTIVE, True, 2), lambda job: (50, 1.0))
    assert list(reproduce(DECEPTIVE, store, Effort(quick=True, runs=2))) == [5, 11]


def test_releases(fill):
    """Each algorithm pays `rank` more than the best and earns that much less; an execution is eleven runs."""
    group = Group("nrp", 8, 9, 12, ("nrp:100-20",), ("nrp:100-20",), best_table=7)
    jobs = jobs_of(group, True, 3)
    best = {f"nrp:100-20?weight={w}": (int(100 * w), int(1000 * w)) for w in WEIGHTS}

    def outcome(job):
        cost, value = best[job.instance]
        return [cost + 3 * rank(job), value - 4 * rank(job)], 0.1

    tables = reproduce(group, fill(jobs, outcome), Effort(quick=True, runs=3))
    assert list(tables) == [7, 8, 9, 12]
    costs, values = tables[7][0].rows
    assert [cell.text for cell in costs[2:]] == [f"{int(100 * w):,}" for w in WEIGHTS]
    assert [cell.text for cell in values[2:]] == [f"{int(1000 * w):,}" for w in WEIGHTS]
    errors = cells(tables[8])["nrp:100-20"]
    for name in ALGORITHMS:
        distance = hypot(3, 4) * (len(ALGORITHMS) - 1 - ALGORITHMS.index(name))
        assert errors[name] == f"{format_number(distance)} ± 0.00e0"
    seconds = cells(tables[12])["nrp:100-20"]
    assert seconds["sgs-b"].startswith("1.10e0")


def test_runs_by_default(fill, monkeypatch):
    asked = []

    def do_jobs(jobs, *_):
        asked.append(len(jobs))
        raise RuntimeError("enough")

    monkeypatch.setattr(reproduction, "do_jobs", do_jobs)
    for quick in (False, True):
        with pytest.raises(RuntimeError, match="enough"):
            reproduce(DECEPTIVE, None, Effort(quick=quick))
    assert reproduction.FULL_RUNS == 50  # as in the paper
    assert asked == [50 * 5 * len(ALGORITHMS), reproduction.QUICK_RUNS * 1 * len(ALGORITHMS)]


def test_rows_of_other_runs_are_left_out(fill):
    """A store that holds more runs than asked for gives the same table."""
    outcome = lambda job: (50 - rank(job), float(job.seed))  # noqa: E731
    few, many = (fill(jobs_of(DECEPTIVE, True, runs), outcome) for runs in (3, 6))
    assert reproduce(DECEPTIVE, many, Effort(quick=True, runs=3)) == reproduce(
        DECEPTIVE, few, Effort(quick=True, runs=3)
    )


def test_infeasible_runs_are_not_counted_as_close(fill):
    jobs = jobs_of(KNAPSACK, True, 3)
    optima = {name: open_instance(name).best_known for name in KNAPSACK.quick}
    store = fill(jobs, lambda job: (optima[job.instance] + 1, 1.0), feasible=False)
    try:
        tables = reproduce(KNAPSACK, store, Effort(quick=True, runs=3))
    except sy.InputError:
        return
    assert any("infeasible" in note for note in tables[3][0].notes)
