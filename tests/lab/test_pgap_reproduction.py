"""Liu, Wang 2015: Table 3 from stores filled by hand and from short runs; scaling tables from runs made up; counts of
solutions against a naive one.
"""

import json
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path

import numpy as np
import pytest

import systola as sy
from systola.formats import open_instance
from systola.formats.generalized_assignment import write
from systola.lab.contents import load_contents
from systola.lab.demes import make_demes, take_census, time_stretches
from systola.lab.published import load_figures
from systola.lab.reproductions import pgap, pgap_runs, pgap_scaling
from systola.lab.reproductions.effort import Effort
from systola.lab.reproductions.pgap import Budget, choose_groups, contenders_of, reproduce
from systola.lab.reproductions.pgap_instances import Case, generate_cases, read_cases
from systola.lab.reproductions.pgap_runs import Setting, count_threads, rates_of, seconds_to, shares_of
from systola.lab.statistics import count_signs
from systola.lab.store import Store
from systola.lab.tables import Table, render

TINY = Budget(30, 60, 100, "gap:a-4x12", 0.05, (64,), 4)
FACTS = {"feasible": True, "evaluations": 10, "iterations": 1, "seconds": 1.0}


@pytest.fixture
def small(monkeypatch):
    for name in ("QUICK", "USUAL", "FULL"):
        monkeypatch.setattr(pgap, name, TINY)
    monkeypatch.setattr(pgap, "generate_cases", lambda most_jobs: (case_of("gap:a-3x9"), case_of("gap:a-4x12")))
    monkeypatch.setattr(pgap_scaling, "DEMES", (1, 2))
    monkeypatch.setattr(pgap_scaling, "POPULATION", 24)
    monkeypatch.setattr(pgap_scaling, "DEME", 12)
    monkeypatch.setattr(pgap_scaling, "STRETCHES", 20)
    monkeypatch.setattr(pgap_scaling, "GAPS", (20.0, 10.0, 5.0, 3.0, 2.0, 1.0))


def case_of(spec, best=None, row=""):
    return Case(spec, open_instance(spec).problem, best, row)


def cells(table, key=1):
    return {tuple(c.text for c in row[:key]): [c.text for c in row[key:]] for row in table.rows}


# What the paper prints


@pytest.mark.parametrize(
    ("row", "column", "figure"),
    [
        *(("d-5x400", "bound", 25670), ("d-5x400", "two demes", 25737), ("d-80x100", "baseline gap", 6.8)),
        *(("e-5x100", "cplex gap", 0), ("e-10x400", "two demes gap", 0.55), ("e-80x400", "crh-ga gap", 2.49)),
        *(("f-80x100", "baseline", 2655), ("f-80x400", "bound", 8167.1), ("f-40x100", "cplex gap", 21.28)),
    ],
)
def test_spot_checks(row, column, figure):
    assert load_figures("pgap", 3).figures[row, column] == (figure, None)


def test_published_table_is_complete_and_agrees_with_the_text():
    table = load_figures("pgap", 3)
    assert len(table.instances) == 39
    assert set(table.figures) == {(i, a) for i in table.instances for a in table.algorithms}
    value = {column: np.array([table.figures[i, column][0] for i in table.instances]) for column in table.algorithms}
    for column in ("baseline", "two demes"):
        gaps = 100 * (value[column] - value["bound"]) / value["bound"]
        assert np.abs(gaps - value[f"{column} gap"]).max() < 0.0051
    assert (value["baseline gap"] < value["crh-ga gap"]).sum() == 31
    assert (value["two demes gap"] < value["crh-ga gap"]).sum() == 37
    better, equal = (value["two demes"] < value["baseline"]).sum(), value["two demes"] == value["baseline"]
    assert (better, [name for name, same in zip(table.instances, equal, strict=True) if same]) == (30, ["f-5x100"])
    assert "f-5x100; the text says 31" in table.notes[1]


# Which parts, which instances


def test_parts():
    assert [group.part for group in choose_groups(None)] == list(pgap.PARTS)
    assert [group.part for group in choose_groups(3)] == ["quality"]
    for item in load_contents("pgap"):
        if item.status != "diagram":
            name = item.number if item.kind == "table" else f"figure-{item.number}"
            assert len(choose_groups(name)) == 1
    assert [group.part for group in choose_groups(None, part="strong")] == ["strong"]
    budgets = [choose_groups(3, quick, full=full)[0].budget for quick, full in ((1, 0), (0, 0), (0, 1))]
    assert budgets == [pgap.QUICK, pgap.USUAL, pgap.FULL]
    assert (pgap.FULL.stall, pgap.FULL.iterations) == (500_000, None)
    for arguments, message in (
        ((4, False, {}), "but got Table 4"),
        (("figure-4", False, {}), "but got Figure 4"),
        ((None, True, {"full": True}), "leave one of them out"),
        ((3, False, {"part": "strong"}), "Table 3 is the part quality"),
    ):
        with pytest.raises(sy.InputError, match=message):
            choose_groups(*arguments[:2], **arguments[2])


def test_generated_instances_have_the_papers_sizes():
    cases = generate_cases(100)
    assert [case.name for case in cases] == [
        *("gap:d-40x100", "gap:d-80x100", "gap:e-5x100", "gap:e-10x100"),
        *("gap:e-20x100", "gap:e-40x100", "gap:e-80x100"),
    ]
    for case in cases:
        assert case.name == f"gap:{case.row}"
        assert "x".join(map(str, case.problem.costs.shape)) == case.row[2:]


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "gap"
    place.mkdir()
    for name, spec in (("e05100", "gap:e-5x100"), ("odd", "gap:a-3x8"), ("d10200", "gap:d-10x200")):
        write(open_instance(spec).problem, place / name)
    texts = []
    for one in (open_instance(f"gap:a-2x6@{seed}").problem for seed in (1, 2, 1)):  # the third is the first again
        numbers = [[2, 6], *one.costs.tolist(), *one.loads.tolist(), one.capacities.tolist()]
        texts.append("\n".join(" ".join(map(str, line)) for line in numbers))
    (place / "gap1.txt").write_text("\n".join(["3", *texts]))
    (place / "BEST.csv").write_text("name,best_known,note\ne05100,12000,\ngap1-2,77,max\n")
    return place


def test_files_of_a_folder(folder):
    cases = {case.name: case for case in read_cases(str(folder))}
    assert list(cases) == ["d10200", "e05100", "gap1.txt#1", "gap1.txt#2", "odd"]
    assert {name: case.best for name, case in cases.items() if case.best} == {"e05100": 12000, "gap1.txt#2": 77}
    assert {name: case.row for name, case in cases.items() if case.row} == {"e05100": "e-5x100"}
    assert cases["gap1.txt#1"].problem.maximise
    assert [case.name for case in read_cases(str(folder), 10)] == ["gap1.txt#1", "gap1.txt#2", "odd"]


def test_a_solution_beside_a_file_is_the_best_known(folder):
    problem = open_instance(str(folder / "odd")).problem
    found = sy.solve(problem, sy.SteadyState(size=10), stop=sy.Iterations(20), backend="python")
    assert found.feasible
    (folder / "odd.sol").write_text(" ".join(map(str, found.solution.tolist())))
    assert {case.name: case.best for case in read_cases(str(folder))}["odd"] == found.objective


def test_bad_folders(folder, tmp_path):
    (folder / "BEST.csv").write_text("name,best\ne05100,12000\n")
    with pytest.raises(sy.InputError, match=r"BEST\.csv must have the columns"):
        read_cases(str(folder))
    (folder / "BEST.csv").unlink()
    with pytest.raises(sy.InputError, match="3 jobs or fewer"):
        read_cases(str(folder), 3)
    (tmp_path / "empty").mkdir()
    for name in ("empty", "missing"):
        with pytest.raises(sy.InputError, match="a folder with files of generalized assignments"):
            pgap.check_files(str(tmp_path / name))
    pgap.check_files(None)


# Table 3


def quality(monkeypatch, cases, outcome, runs=1):
    """The table of a store in which `outcome(name, label, seed)` says objective and feasibility."""
    monkeypatch.setattr(pgap, "generate_cases", lambda most_jobs: cases)
    monkeypatch.setattr(pgap, "solve", None)
    (group,) = choose_groups(3)
    with Store(":memory:") as store:
        for (name, label), one in contenders_of(cases, group.budget, runs).items():
            for job in one.jobs:
                store.add(job.key("pgap"), {**FACTS, **outcome(name, label, job.seed)})
        (table,) = reproduce(group, store, Effort(runs=runs))[3]
    return table


def test_two_demes_beside_one(monkeypatch):
    cases = (case_of("gap:a-4x12", 600, "e-5x100"), case_of("gap:a-3x9"), case_of("gap:c-3x9"))
    bound = [case.problem.bound() for case in cases]
    objectives = {"one": (bound[0] + 9, bound[1], 5000), "two": (bound[0] + 3, bound[1], 6000)}

    def outcome(name, label, seed):
        place = [case.name for case in cases].index(name)
        return {"objective": objectives[label][place], "evaluations": 1000 if label == "one" else 2000}

    table = quality(monkeypatch, cases, outcome)
    texts = cells(table)
    gaps = [f"{100 * more / bound[0]:.2f}" for more in (9, 3)]
    values = [f"{bound[0] + more:,}" for more in (9, 3)]
    assert texts[("gap:a-4x12",)] == [
        *(f"{bound[0]:,}", "600", values[0], gaps[0], "1,000", values[1], gaps[1], "2,000", "two"),
        *("7,757", "7,774", "0.22", "7,760", "0.04"),
    ]
    assert texts[("gap:a-3x9",)][-6:] == ["=", *["–"] * 5]
    assert texts[("gap:c-3x9",)][8] == "one"
    assert "Two demes better on 1 of 3 instances, as good on 1, worse on 1" in table.notes[0]
    assert "p = 0.7500" in table.notes[0]
    assert "bounds agree: none does" in table.notes[3]
    for form in ("text", "markdown", "csv", "latex"):
        assert "gap:a-3x9" in render(table, form)


def test_means_and_runs_without_a_feasible_solution(monkeypatch):
    cases = (case_of("gap:a-4x12"), case_of("gap:a-3x9"))

    def outcome(name, label, seed):
        if name == "gap:a-3x9" and label == "one":
            return {"objective": 1, "feasible": seed == 1}
        return {"objective": 1000 * seed, "evaluations": 1}

    texts = cells(quality(monkeypatch, cases, outcome, runs=2))
    assert texts[("gap:a-4x12",)][2] == "1,500.0"
    assert texts[("gap:a-3x9",)][2:4] == ["–", "–"]
    assert texts[("gap:a-3x9",)][8] == "two"


def test_larger_is_better_for_profits(monkeypatch, folder):
    cases = tuple(case for case in read_cases(str(folder)) if case.problem.maximise)[:1]
    bound = cases[0].problem.bound()
    texts = cells(quality(monkeypatch, cases, lambda name, label, seed: {"objective": bound - (label == "one")}))
    row = texts[("gap1.txt#1",)]
    assert (row[2], row[3], row[5], row[6], row[8]) == (
        *(str(bound - 1), f"{100 / bound:.2f}", str(bound), "0.00"),
        "two",
    )


def test_signs():
    assert count_signs([]) == (0, 0, 0, 1.0)
    assert count_signs([1.0] * 5 + [inf, 0]) == (6, 1, 0, 1 / 64)
    assert count_signs([-1.0] * 3) == (0, 0, 3, 1.0)


# Scaling


def facts(first, demes, seconds=4.0):
    """A run that has gaps of 20, 10, 5, ... percent after `first`, 2 `first`, ... seconds."""
    bound = open_instance(TINY.instance).problem.bound()
    gaps = [30.0, 18.0, 9.0, 4.0]
    trace = {
        "seconds": [first * (k + 1) for k in range(len(gaps))],
        "objective": [bound * (1 + gap / 100) for gap in gaps],
        "violation": [7, 0, 0, 0],
    }
    told = [{"iterations": 100 * (k + 1), "migrating": k, "computing": 10 - k} for k in range(demes)]
    best = trace["objective"][-1]
    return {**FACTS, "objective": best, "seconds": seconds, "trace": trace, "islands": {"demes": told}}


def test_what_is_read_from_a_run():
    run = facts(0.5, 3)
    objectives = run["trace"]["objective"]
    assert seconds_to(run, objectives[1]) == 1.0
    assert seconds_to(run, objectives[0]) == 1.0  # the first one is not feasible
    assert seconds_to(run, objectives[3] - 1) is None
    assert rates_of([run]).tolist() == [25, 50, 75]
    assert shares_of([run]).tolist() == [0, 0.1, 0.2]


@pytest.fixture
def made_up(small, monkeypatch):
    """Runs that need 1 s with one deme and 0.5 s with two, with barriers twice as long."""

    def run(problem, setting, job):
        slower = 2 if setting.mode == "synchronous" else 1
        return facts(slower / setting.demes / setting.threads, setting.demes)

    monkeypatch.setattr(pgap_runs, "_solve", run)
    monkeypatch.setattr(pgap_scaling, "count_threads", lambda threads: 2)


def test_strong_scaling(made_up):
    (group,) = choose_groups(None, part="strong")
    with Store(":memory:") as store:
        times, speedups, threads = reproduce(group, store)["strong"]
        assert len(store.rows("pgap")) == 6  # two sizes in two modes, and two demes on one thread
    assert cells(times, 3) == {
        ("1", "24", "1"): ["2 (4)", "3 (6)", "4 (8)", "– (–)", "– (–)", "– (–)"],
        ("2", "12", "2"): ["0.5 (1)", "0.75 (1.5)", "1 (2)", "– (–)", "– (–)", "– (–)"],
    }
    assert cells(speedups, 3)["2", "12", "2"][:3] == ["4.00 (4.00), 2.00"] * 3
    assert cells(threads, 3)["2", "12", "1"][0] == "1.00 (1.00), 2.00"
    assert cells(threads, 3)["2", "12", "2"][:4] == [*["2.00 (2.00), 2.00"] * 3, "– (–)"]


def test_a_base_that_is_too_slow_gives_a_least_speedup(made_up, monkeypatch):
    made = pgap_runs._solve

    def run(problem, setting, job):
        result = made(problem, setting, job)
        if setting.demes == 1:
            result["trace"] = {name: values[:2] for name, values in result["trace"].items()}
        return result

    monkeypatch.setattr(pgap_runs, "_solve", run)
    (group,) = choose_groups(None, part="strong")
    with Store(":memory:") as store:
        _, speedups, _ = reproduce(group, store)["strong"]
    assert cells(speedups, 3)["2", "12", "2"][1] == f"≥ {4 / 0.75:.2f} (≥ {4 / 1.5:.2f}), 2.00"


def test_population_scaling(made_up):
    (group,) = choose_groups(None, part="population")
    with Store(":memory:") as store:
        times, work = reproduce(group, store, Effort(runs=2))["population"]
    assert cells(times, 3)["2", "12", "2"][0] == "0.5 (1) +50 %"
    best = f"{facts(1, 1)['objective']:,.0f}"
    shares = ["5.00, 0.00 to 10.00"] * 2
    assert cells(work, 3)["2", "12", "2"] == ["38 ± 12", "38 ± 12", *shares, best, best, "+0.00"]
    assert "2 runs of 0.05 s" in times.title


def test_threads():
    most = count_threads(None)
    assert most >= 1
    assert count_threads(1) == 1
    for threads in (0, most + 1):
        with pytest.raises(sy.InputError, match="1 <= threads"):
            count_threads(threads)
    assert [pgap_scaling._doubled(k) for k in (1, 2, 3, 8)] == [[1], [1, 2], [1, 2, 3], [1, 2, 4, 8]]


def test_modes():
    assert not Setting(2, 10, 1, "asynchronous").islands.synchronous
    assert Setting(2, 10, 1, "synchronous").islands.synchronous


# Different solutions


def naive_census(problem, islands, stretches, seed):
    """Of one deme: all feasible solutions at the ends of stretches."""
    (deme,) = make_demes(problem, islands, seed)
    seen = {}
    for _ in range(stretches):
        deme.advance(deme.step + 25)
        population = deme.session.population()
        for row in population.x[: deme.setup.design.started]:
            cost, unfitness = problem.evaluate(row)
            if unfitness == 0:
                seen[tuple(row.tolist())] = cost
    return sorted(seen.values())


def test_census_counts_each_solution_once():
    problem = open_instance("gap:d-4x20").problem
    islands = sy.Islands(sy.SteadyState(size=10), 1)
    census = take_census(problem, islands, sy.Stop(iterations=200), seed=3)
    naive = naive_census(problem, islands, 8, 3)
    assert census.objectives.tolist() == naive
    assert len(naive) > 10
    assert census.iterations == 200
    limit = naive[len(naive) // 2]
    assert census.count(limit) == sum(cost <= limit for cost in naive)


@pytest.mark.parametrize("synchronous", [False, True])
def test_census_of_several_demes(synchronous):
    problem = open_instance("gap:d-4x20").problem
    islands = sy.Islands(sy.SteadyState(size=10), 4, synchronous=synchronous)
    census = take_census(problem, islands, sy.Stop(iterations=200), threads=2)
    assert census.iterations == 800
    found = sy.solve(problem, islands, stop=sy.Iterations(200), threads=1)
    if synchronous:
        assert census.objectives[0] == found.objective
    alone = take_census(problem, sy.Islands(sy.SteadyState(size=10), 1), sy.Stop(iterations=200))
    assert len(census.objectives) > len(alone.objectives)


def test_census_needs_one_objective_and_an_end():
    problem = open_instance("gap:d-4x20").problem
    with pytest.raises(sy.InputError, match="a budget of seconds or iterations"):
        take_census(problem, sy.Islands(), sy.Stop(stall=3))
    with pytest.raises(sy.InputError, match="one objective that is minimised"):
        take_census(replace(problem, maximise=True), sy.Islands(), sy.Stop(iterations=3))


def test_solutions(small, monkeypatch):
    def run(problem, setting, job):
        count = 30 * setting.demes if setting.mode == "asynchronous" else 20
        return {**FACTS, "objective": 1, "counts": {"20": count, "10": 8, "5": 2, "3": 1, "2": 1, "1": 0}}

    monkeypatch.setattr(pgap_scaling, "_census", run)
    (group,) = choose_groups(None, part="solutions")
    with Store(":memory:") as store:
        (table,) = reproduce(group, store, Effort(threads=1))["solutions"]
    assert cells(table, 3)["2", "12", "1"] == [
        *("60 (20) +200 %", "8 (8) +0 %", "2 (2) +0 %", "1 (1) +0 %", "1 (1) +0 %", "0 (0)")
    ]
    assert "end of a stretch" in table.notes[0].replace("\n", " ")


# Simulation


def test_simulation_is_driven_by_what_was_measured(small, monkeypatch):
    monkeypatch.setattr(pgap_scaling, "time_stretches", lambda deme, count: [0.25] * count)
    (group,) = choose_groups(None, part="simulation")
    told = []
    with Store(":memory:") as store:
        tables = reproduce(group, store, Effort(on_done=lambda done, of, job: told.append((done, of))))["simulation"]
        monkeypatch.setattr(pgap_scaling, "make_demes", None)  # measured once
        assert reproduce(group, store)["simulation"][0] == tables[0]
    *tables, sketch = tables
    assert all(table.title.startswith("Simulation") for table in tables)
    assert "no deme of it exists" in sketch.caption
    costs = cells(tables[0])
    assert costs["iteration_seconds",] == ["0.01", "measured"]
    assert costs["latency",] == ["5e-06", "assumed"]
    assert cells(tables[1])["64",][0].startswith("100.0 ± ")
    assert told[-1] == (100, 100)


def test_stretches():
    (deme,) = make_demes(open_instance("gap:d-4x20").problem, sy.Islands(sy.SteadyState(size=10), 1))
    seconds = time_stretches(deme, 3)
    assert len(seconds) == 3
    assert min(seconds) > 0
    assert deme.step == 75


# Whole runs


def test_short_runs(small, monkeypatch):
    tables = {}
    with Store(":memory:") as store:
        for group in choose_groups(None):
            tables |= reproduce(group, store, Effort(threads=1))
        figures = [f"figure-{number}" for number in range(6, 13)]
        assert list(tables) == [1, 2, 3, "strong", "figure-5", "population", *figures, "solutions", "simulation"]
        for module in (pgap, pgap_runs):
            monkeypatch.setattr(module, "solve", None)  # nothing is left to do
        monkeypatch.setattr(pgap_scaling, "take_census", None)
        for group in choose_groups(None):
            for name, products in reproduce(group, store, Effort(threads=1)).items():
                assert [one for one in products if isinstance(one, Table)] == [
                    one for one in tables[name] if isinstance(one, Table)
                ]
    assert [(row[1].text == row[2].text) for row in tables[2][0].rows if row[0].text in ("connectivity d", "selection")]
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    for number in range(5, 13):
        (sketch,) = tables[f"figure-{number}"]
        assert sketch.caption.startswith(f"Figure {number}: ")
        assert sketch.draw().axes
    for bounds, _, one, _, solutions, two, *_ in cells(tables[3][0]).values():
        assert int(bounds) <= min(int(one), int(two))
        assert int(solutions) <= 160  # 100 individuals and 60 iterations
    for bad in (0, -1.0, inf):
        with pytest.raises(sy.InputError, match="seconds > 0"):
            choose_groups(None, part="strong", seconds=bad)
    assert choose_groups(None, part="strong", seconds=2.5)[0].budget == replace(TINY, seconds=2.5)


def test_an_interrupted_run_is_not_kept(small, monkeypatch):
    real = pgap_runs.solve

    def interrupted(*args, **options):
        return replace(real(*args, **options), stop="interrupted")

    for module in (pgap, pgap_runs):
        monkeypatch.setattr(module, "solve", interrupted)
    for part in ("quality", "strong"):
        with Store(":memory:") as store:
            with pytest.raises(KeyboardInterrupt):
                reproduce(choose_groups(None, part=part)[0], store, Effort(threads=1))
            assert store.rows("pgap") == []


# From the command line


@pytest.fixture
def call(run_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return partial(run_command, "reproduce", "pgap")


def test_command(small, call):
    code, out, err = call("--threads", 1, "--quiet", "--output", "tables")
    assert (code, err) == (0, "systola: all tables and figures are in results/pgap.html\n")
    for start in (
        "Table 3: one deme and two",
        "Strong scaling:",
        "Population scaling:",
        "Different solutions",
        "Simulation:",
    ):
        assert start in out
    assert sorted(path.name for path in Path("tables").iterdir()) == [
        *("pgap-population.txt", "pgap-simulation.txt", "pgap-solutions.txt", "pgap-strong.txt"),
        *("pgap-table-01.txt", "pgap-table-02.txt", "pgap-table-03.txt"),
    ]
    data = json.loads(call("--threads", 1, "--json")[1])
    assert list(data) == ["1", "2", "3", "strong", "population", "solutions", "simulation"]
    assert call("--table", 3, "--quiet")[1] == Path("tables/pgap-table-03.txt").read_text() + "\n"


def test_command_with_files(small, call, folder):
    code, out, _ = call("--part", "quality", "--instances", folder, "--quiet")
    assert code == 0
    assert "e05100" in out
    assert "d10200" not in out  # the budget leaves out more than 100 jobs
