"""The tables of the SGS paper from runs whose outcomes are known, because the store was filled by hand."""

from dataclasses import replace
from itertools import combinations
from math import hypot

import known_outcomes
import numpy as np
import pytest
from known_outcomes import refuse, stores_of

import systola as sy
from systola.formats import open_instance
from systola.lab import experiment
from systola.lab.contents import load_contents
from systola.lab.published import load_figures
from systola.lab.reproductions import sgs, sns
from systola.lab.reproductions.c_baselines import load_baseline
from systola.lab.reproductions.effort import Effort
from systola.lab.reproductions.sgs import ALGORITHMS, GROUPS, WEIGHTS, Group, choose_groups, jobs_of, reproduce
from systola.lab.reproductions.sgs_instances import solve_exactly
from systola.lab.reproductions.sgs_speed import published_rates, rates, speed_products
from systola.lab.store import Store
from systola.lab.tables import format_number
from systola.model.problem import space_of

KNAPSACK, DECEPTIVE, RELEASE = GROUPS


@pytest.fixture
def fill(monkeypatch):
    """Gives a store that holds a result for each job, as `outcome(job)` says: objective and seconds."""
    monkeypatch.setattr(experiment, "work", refuse)
    with stores_of(sgs.EXPERIMENT) as make:

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


@pytest.mark.parametrize("paper", [sgs, sns], ids=["sgs", "sns"])
def test_every_table_and_figure_of_a_paper_has_its_group(paper):
    made = [name for group in paper.GROUPS for name in group.products]
    items = [item for item in load_contents(paper.EXPERIMENT) if item.status != "diagram"]
    assert set(made) == {item.number if item.kind == "table" else f"figure-{item.number}" for item in items}
    assert len(set(made)) == len(made)
    assert paper.choose_groups(None) == paper.GROUPS


def test_a_table_or_figure_is_wanted_of_its_group():
    for name in (name for group in GROUPS for name in group.products):
        (group,) = choose_groups(name)
        assert name in group.products
        assert group.wanted == name


@pytest.mark.parametrize("item", [0, 23, -3, "figure-10"])
def test_other_tables_are_refused(item):
    with pytest.raises(sy.InputError, match="Tables 1 to 22 and Figures 11 to 14 can be reproduced, but got"):
        choose_groups(item)


def test_single_instances_and_algorithms():
    (group,) = choose_groups(None, sizes=["500-1000", "knapsack:100-1000"], algorithms=["sgs-b", "rs"])
    assert group.instances == group.quick == ("knapsack:100-1000", "knapsack:500-1000")
    assert group.algorithms == ("rs", "sgs-b")
    assert len(jobs_of(group, quick=False, runs=3)) == 3 * 2 * 2
    with pytest.raises(sy.InputError, match="there is no instance '500-100' here; did you mean '500-1000'"):
        choose_groups(None, sizes=["500-100"])
    with pytest.raises(sy.InputError, match="there is no algorithm 'sgs' here; did you mean 'sgs-"):
        choose_groups(None, algorithms=["sgs"])


def test_tables_that_need_no_runs():
    """Those of instances and of threads per block are made without any."""
    (table,) = reproduce(choose_groups(1)[0], None)[1]
    texts = known_outcomes.cells(table)
    assert texts["knapsack:200-10000"] == {
        "n": "200 (200)",
        "R": "10,000 (10,000)",
        "W": "10,001 (10,001)",
        "profit of the optimum": "100,952 (100,952)",
        "its weight": "9,944 (9,944)",
    }
    for name, row in texts.items():
        profit, printed = row["profit of the optimum"].split()
        assert printed == f"({profit})", name
    (table,) = reproduce(choose_groups(2)[0], None)[2]
    assert [row[1].text == row[2].text for row in table.rows] == [True] * 7
    (table,) = reproduce(choose_groups(14)[0], None)[14]
    assert table.rows[0][1].text == "32/64"


def test_exact_optima():
    profits, weights = np.array([6, 5, 4, 9]), np.array([3, 3, 2, 6])
    sums = [(profits[list(c)].sum(), weights[list(c)].sum()) for r in range(5) for c in combinations(range(4), r)]
    for capacity in range(1, 15):
        most = max(p for p, w in sums if w <= capacity)
        wanted = sorted({int(w) for p, w in sums if p == most and w <= capacity})
        assert solve_exactly(profits, weights, capacity) == (most, wanted)


def test_speed():
    """On two threads all take half of what they take on one; sga takes four times as long as sgs-b."""
    slow = {"sga": 8.0, "ega": 6.0, "sgs-t": 4.0, "sgs-e": 4.0, "sgs-v": 4.0, "sgs-b": 2.0}
    name = "knapsack:100-1000"
    seconds = {
        "1 thread": {(name, a): [s] for a, s in slow.items()},
        "2 threads": {(name, a): [s / 2] for a, s in slow.items()},
    }
    numbers = {"time": 10, "gpu": 16, "ratio": 19, "rate": None}
    made = speed_products(numbers, (11, 13), "knapsack", [name], seconds)
    assert list(made) == [16, 19, "figure-11", "figure-13"]
    (quick,), (ratios,) = made[16], made[19]
    assert known_outcomes.cells(quick)[name]["sgs-b"] == "1.00e0"
    assert known_outcomes.cells(quick)[name]["sgs-b (published)"] == "3.40e-2 ± 2.47e-4"
    assert known_outcomes.cells(ratios)[name]["sgs-e"] == "2.00 (19.19)"
    assert rates([name], seconds["1 thread"], {})[name]["cpu sgs-b"] == 4
    printed = published_rates("knapsack", numbers, [name])[name]
    assert printed["cpu sga"] == pytest.approx(1.36 / 1.27)
    assert printed["gpu sgs-b"] == pytest.approx(1.36 / 3.40e-2)
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    drawn = made["figure-13"][0].draw()
    lines = {line.get_label(): list(line.get_ydata()) for line in drawn.axes[0].lines}
    assert lines["sgs-b"] == [8]
    assert "sgs-t" not in lines
    releases = {"time": 12, "gpu": 18, "ratio": 21, "rate": 22}
    name = "nrp:35-35"
    seconds = {way: {(name, a): v for (_, a), v in some.items()} for way, some in seconds.items()}
    (table,) = speed_products(releases, (), "nrp", [name], seconds)[22]
    assert known_outcomes.cells(table)[name]["1 thread, sgs-b"] == "4.00 (1.00)"
    assert known_outcomes.cells(table)[name]["2 threads, sgs-b"] == "8.00 (23.33)"


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
    assert len(jobs_of(KNAPSACK, quick=True, runs=5)) == 5 * 2 * len(ALGORITHMS)


# What the tables say


def test_errors_are_distances_from_the_optimum(fill):
    jobs = jobs_of(KNAPSACK, True, 4)
    optima = {name: open_instance(name).best_known for name in KNAPSACK.quick}
    store = fill(jobs, lambda job: (optima[job.instance] - 10 * rank(job) - job.seed % 2, 0.5 * job.seed))
    tables = reproduce(replace(KNAPSACK, wanted=3), store, Effort(quick=True, runs=4))
    assert list(tables) == [1, 3, 4, 10, 13]
    assert [row[0].text for row in tables[3][0].rows] == list(KNAPSACK.quick)

    errors = cells(tables[3])["knapsack:100-1000"]
    spread = format_number((1 / 3) ** 0.5)  # of 0, 1, 0, 1
    for name in ALGORITHMS:
        mean = 10 * (len(ALGORITHMS) - 1 - ALGORITHMS.index(name)) + 0.5
        assert errors[name] == f"{format_number(mean)} ± {spread}"
    published = load_figures("sgs", 3).figures["knapsack:100-1000", "rs"]
    assert " ± ".join(map(format_number, published)) in errors.values()
    best = [cell.text for row in tables[3][0].rows for cell in row if cell.bold]
    assert len(best) == 2
    assert set(best) == {errors["sgs-b"]}

    seconds = cells(tables[10])["knapsack:100-10000"]
    assert {seconds[name] for name in ALGORITHMS} == {"1.25e0 ± " + format_number((5 / 12) ** 0.5)}
    assert "4 runs" in tables[3][0].title


def test_clear_differences_get_their_triangles(fill):
    jobs = jobs_of(DECEPTIVE, True, 8)
    store = fill(jobs, lambda job: (50 - rank(job) - 0.01 * (job.seed % 4), 1.0))
    tables = reproduce(replace(DECEPTIVE, wanted=5), store, Effort(quick=True, runs=8))
    signs = cells(tables[6])
    assert signs["rs"]["sgs-b"] == signs["sga"]["ega"] == "▽"
    assert signs["sgs-v"]["sgs-t"] == ""  # below the diagonal
    assert tables[6][1].title.endswith("as published")
    published = cells(tables[6][1:])
    assert published["rs"]["sgs-b"] == "▽ ▽ ▽ ▽ ▽"
    assert published["sga"]["ega"] == "– ▲ ▲ ▲ ▲ †"  # not legible: from the means
    assert any("†" in note for note in tables[6][1].notes)


def test_no_difference_gets_none(fill):
    store = fill(jobs_of(DECEPTIVE, True, 3), lambda job: (50, 1.0))
    signs = cells(reproduce(replace(DECEPTIVE, wanted=5), store, Effort(quick=True, runs=3))[6])
    assert signs["rs"]["sgs-b"] == "–"


def test_too_few_runs_have_no_significance(fill):
    store = fill(jobs_of(DECEPTIVE, True, 2), lambda job: (50, 1.0))
    assert list(reproduce(replace(DECEPTIVE, wanted=5), store, Effort(quick=True, runs=2))) == [2, 5, 11, 14]


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

    monkeypatch.setattr(sgs, "do_jobs", do_jobs)
    for quick in (False, True):
        with pytest.raises(RuntimeError, match="enough"):
            reproduce(replace(DECEPTIVE, wanted=5), None, Effort(quick=quick))
    assert sgs.FULL_RUNS == 50  # as in the paper
    assert asked == [50 * 5 * len(ALGORITHMS), sgs.QUICK_RUNS * 1 * len(ALGORITHMS)]


def test_rows_of_other_runs_are_left_out(fill):
    """A store that holds more runs than asked for gives the same table."""
    outcome = lambda job: (50 - rank(job), float(job.seed))  # noqa: E731
    few, many = (fill(jobs_of(DECEPTIVE, True, runs), outcome) for runs in (3, 6))
    assert reproduce(replace(DECEPTIVE, wanted=5), many, Effort(quick=True, runs=3)) == reproduce(
        replace(DECEPTIVE, wanted=5), few, Effort(quick=True, runs=3)
    )


def test_infeasible_runs_are_not_counted_as_close(fill):
    jobs = jobs_of(KNAPSACK, True, 3)
    optima = {name: open_instance(name).best_known for name in KNAPSACK.quick}
    store = fill(jobs, lambda job: (optima[job.instance] + 1, 1.0), feasible=False)
    try:
        tables = reproduce(replace(KNAPSACK, wanted=3), store, Effort(quick=True, runs=3))
    except sy.InputError:
        return
    assert any("infeasible" in note for note in tables[3][0].notes)


def test_c_beside_ours():
    """On a tiny knapsack: C is compiled and run once, and then comes from the store."""
    if load_baseline("baseline") is None:
        pytest.skip("needs gcc and the folder benchmarks")
    name = "knapsack:20-100"
    group = Group("knapsack", 3, 4, 10, (name,), (name,), ratio_table=19, wanted=19)
    with Store(":memory:") as store:
        table = reproduce(group, store, Effort(quick=True))[19][1]
        assert all(float(cell.text) >= 0 for cell in table.rows[0][1:])
        assert table.header[:3] == ("Instance", "C, 1 thread", "1 thread")
        assert "benchmarks/c" in table.notes[0]
        (row,) = (row for row in store.rows("sgs") if row["algorithm"] == "sgs-b in C")
        assert row["seconds"] > 0
        assert reproduce(group, store, Effort(quick=True))[19][1] == table
