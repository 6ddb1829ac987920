"""The tables of the PUGACE paper, from stores filled by hand and from tiny files; its figures; its test of hits."""

import json
from dataclasses import replace
from functools import partial
from itertools import permutations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from known_outcomes import cells, interrupt_second, refuse, stores_of

import systola as sy
from systola.formats import open_instance
from systola.formats.quadratic_assignment import cost
from systola.lab.contents import load_contents
from systola.lab.published import load_figures
from systola.lab.reproductions import pugace, timing
from systola.lab.reproductions.effort import Effort
from systola.lab.reproductions.pugace import GROUPS, check_files, choose_groups, contenders_of, reproduce
from systola.lab.reproductions.timing import Way
from systola.lab.store import Store
from systola.model.problem import space_of

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "qap"
PARAMETERS, HITS, SECONDS = GROUPS
FILES = sorted({f"{name.lower()}.dat" for group in GROUPS for name in group.instances})
SMALL_HITS = replace(HITS, instances=("Bur26a", "Esc16f"))
SMALL_SECONDS = replace(SECONDS, instances=("Bur26a", "Chr15b"))
N = 5


@pytest.fixture(autouse=True)
def quick_engines(monkeypatch):
    """A small population for a few generations; the recommended engine is another small one."""
    monkeypatch.setattr(pugace, "ENGINE", replace(pugace.ENGINE, size=32, block=8))
    monkeypatch.setattr(pugace, "GENERATIONS", 20)
    monkeypatch.setattr(pugace, "load_baseline", lambda name: None)
    monkeypatch.setattr(pugace, "recommend", lambda problem: replace(pugace.ENGINE, size=16, local_search_interval=1))


@pytest.fixture
def folder(tmp_path):
    """Tiny files by the paper's names; esc16f has no flows, as the public one."""
    for k, file in enumerate(FILES):
        matrices = np.random.default_rng(k).integers(1, 30, (2, N, N))
        matrices[0] *= file != "esc16f.dat"
        (tmp_path / file).write_text(f"{N}\n" + "\n".join(" ".join(map(str, row)) for m in matrices for row in m))
        problem = open_instance(str(tmp_path / file), "qap").problem
        least = min(cost(problem, np.array(p)) for p in permutations(range(N)))
        (tmp_path / file).with_suffix(".sln").write_text(f"{N} {least}\n")
    return str(tmp_path)


@pytest.fixture
def fill(monkeypatch):
    """Gives a store with a result for each run, as `outcome(place, seed, best)` says: objective, seconds, threads."""
    monkeypatch.setattr(pugace, "solve", refuse)
    monkeypatch.setattr(pugace, "other_ways", lambda backend, threads: (Way("1 thread", 1),))
    facts = {"objective": 1, "feasible": True, "evaluations": 1, "iterations": 1, "seconds": 6.0}
    monkeypatch.setattr(timing, "_run", lambda job, way: facts)
    names = ("objective", "seconds", "threads")
    with stores_of(pugace.EXPERIMENT) as make:
        yield lambda contenders, outcome: make(
            (job, dict(zip(names, outcome(place, job.seed, contender.best), strict=True)))
            for place, contender in contenders.items()
            for job in contender.jobs
        )


# What the paper prints


def test_published_tables_are_complete():
    two, three = (load_figures("pugace", number) for number in (2, 3))
    assert (two.problem, two.algorithms, three.algorithms) == ("qap", ("n", "hits", "gap"), ("gpu", "cpu", "speedup"))
    for table in (two, three):
        assert len(table.instances) == 14
        assert set(table.figures) == {(i, a) for i in table.instances for a in table.algorithms}
    assert set(two.instances) - set(three.instances) == {"Chr15a", "Had16"}
    assert set(three.instances) - set(two.instances) == {"Chr15b", "Had20"}
    assert tuple(two.optima) == two.instances
    assert (two.optima["Lipa50b"], two.optima["Chr20a"], two.optima["Esc16f"]) == (1210244, 2192, 0)
    assert sum(two.figures[name, "hits"][0] for name in two.instances) == 72
    for name in two.instances:  # a name has the number of facilities
        assert two.figures[name, "n"][0] == int("".join(c for c in name if c.isdigit()))
        assert (two.figures[name, "gap"][0] > 0) == (two.figures[name, "hits"][0] == 0)


def test_published_speedups_follow_from_times():
    table = load_figures("pugace", 3)
    for name in table.instances:
        gpu, cpu, speedup = (table.figures[name, column][0] for column in table.algorithms)
        assert cpu / gpu == pytest.approx(speedup, abs=0.0051)


def test_slips_are_noted():
    two, three = (" ".join(load_figures("pugace", number).notes) for number in (2, 3))
    assert "that of the best run" in two
    assert "6 hits of 10 cannot be" in two
    assert "Chr15b and Had20" in two
    assert "Chr15b and Had20" in three


# Which tables, which runs


def test_every_table_has_its_group():
    items = [item.number for item in load_contents("pugace") if item.kind == "table"]
    assert [group.table for group in GROUPS] == items == [1, 2, 3]
    assert choose_groups(None) == GROUPS
    assert choose_groups(3) == (SECONDS,)
    for group in choose_groups(None, quick=True)[1:]:
        sizes = [int("".join(c for c in name if c.isdigit())) for name in group.instances]
        assert max(sizes) == pugace.QUICK_FACILITIES
    assert [g.instances for g in choose_groups(2, sizes=["chr20a"])] == [("Chr20a",)]
    for table in (0, 4, -2):
        with pytest.raises(sy.InputError, match=f"Tables 1 to 3 can be reproduced, but got Table {table}"):
            choose_groups(table)


def test_parameters_stand_beside_the_published(monkeypatch):
    monkeypatch.undo()  # those of the preset, not of these tests
    (table,) = reproduce(PARAMETERS, None, folder=None)[1]
    assert len(table.rows) == 7
    assert all(row[1].text == row[2].text for row in table.rows)


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (2, 10), (8, 10), (10, 10), (7, 30)])
def test_confidence_intervals(hits, runs):
    """By the definition: at either end, what was seen or anything further away has a chance of 2.5 %."""
    low, high = pugace.confidence_interval(hits, runs)

    def chance(p, counts):
        return sum(comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in counts)

    assert low == 0 if hits == 0 else chance(low, range(hits, runs + 1)) == pytest.approx(0.025)
    assert high == 1 if hits == runs else chance(high, range(hits + 1)) == pytest.approx(0.025)


def test_parameters_are_the_papers(monkeypatch, folder):
    monkeypatch.undo()
    numbers = {"size": 2048, "radius": 4, "block": 64, "local_search_interval": 10}
    chances = {"crossover_probability": 0.9, "mutation_probability": 0.1}
    operators = {"selection": "proportional", "crossover": "pmx", "mutation": "swap", "local_search": "best-swap"}
    engine = pugace.ENGINE
    assert engine == sy.Cellular(topology="ring", replacement="generation", **numbers, **chances, **operators)
    assert (pugace.GENERATIONS, pugace.FULL_RUNS) == (5000, 10)
    some = contenders_of(SECONDS, folder, 2)
    assert list(some) == [(name, "pugace") for name in SECONDS.instances]
    for contender in some.values():
        assert [job.seed for job in contender.jobs] == [1, 2]
        assert {job.stop for job in contender.jobs} == {sy.Stop(iterations=5000)}
        assert contender.jobs[0].settings["block"] == 64


def test_the_recommended_engine_ends_at_the_best_known_cost(folder):
    some = contenders_of(SMALL_HITS, folder, 1, seconds=3)
    assert list(some) == [(i, a) for i in ("Bur26a", "Esc16f") for a in ("pugace", "memetic")]
    for name, file in (("Bur26a", "bur26a.dat"), ("Esc16f", "esc16f.dat")):
        best = open_instance(f"{folder}/{file}").best_known
        (job,) = some[name, "memetic"].jobs
        assert job.stop == sy.Stop(seconds=3, target=best)
        assert some[name, "memetic"].best == some[name, "pugace"].best == best
        assert job.key("e") != some[name, "pugace"].jobs[0].key("e")


def test_the_best_known_cost_is_the_papers_where_no_solution_lies_beside(folder):
    (Path(folder) / "bur26a.sln").unlink()
    assert contenders_of(SMALL_HITS, folder, 1)["Bur26a", "pugace"].best == 5426670


def test_both_tables_share_runs_wherever_the_files_are(folder, monkeypatch):
    here = contenders_of(SMALL_HITS, folder, 1)["Bur26a", "pugace"].jobs[0].key("e")
    monkeypatch.chdir(folder)
    assert contenders_of(SMALL_SECONDS, ".", 1)["Bur26a", "pugace"].jobs[0].key("e") == here


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")
def test_public_files():
    check_files(str(PUBLIC))
    table = load_figures("pugace", 2)
    for name in table.instances:
        found = open_instance(str(PUBLIC / f"{name.lower()}.dat"))
        assert found.best_known == table.optima[name]
        assert space_of(found.problem).n == table.figures[name, "n"][0]
        assert (found.problem.flows.any() and found.problem.distances.any()) == (name != "Esc16f")


def test_files_that_are_missing(tmp_path):
    with pytest.raises(sy.InputError, match=r"must hold bur26a.dat, .*no folder was named with --instances; .* QAPLIB"):
        check_files(None)
    for file in FILES:
        (tmp_path / file).write_text("")
    check_files(str(tmp_path))
    (tmp_path / "had20.dat").unlink()
    check_files(str(tmp_path), (HITS,))
    with pytest.raises(sy.InputError, match=r"has no had20.dat; they are in QAPLIB"):
        check_files(str(tmp_path))


# Hits against published hits


def test_chance_of_fewer_hits():
    assert pugace.chance_of_fewer(0, 3, 10) == pytest.approx(1 / comb(13, 3))
    # 12 hits of 20 runs, at most 4 of them ours: with 2, 3 or 4 of ours, as the paper has at most 10.
    ways = comb(10, 2) * comb(10, 10) + comb(10, 3) * comb(10, 9) + comb(10, 4) * comb(10, 8)
    assert pugace.chance_of_fewer(4, 10, 8) == pytest.approx(ways / comb(20, 12))
    assert (
        pugace.chance_of_fewer(10, 10, 6) == pugace.chance_of_fewer(0, 10, 0) == pugace.chance_of_fewer(10, 10, 10) == 1
    )


def test_holm():
    # 4 * 0.005; 3 * 0.01; 2 * 0.03; then 1 * 0.04 is raised to what came before.
    corrected = pugace.correct_by_holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert corrected == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert list(corrected) == ["a", "b", "c", "d"]
    assert pugace.correct_by_holm({"a": 0.7, "b": 0.8}) == {"a": 1.0, "b": 1.0}


def test_a_quick_look_has_just_enough_runs():
    published = {name: int(load_figures("pugace", 2).figures[name, "hits"][0]) for name in HITS.instances}
    for runs, smallest in ((pugace.QUICK_RUNS, 14 / comb(13, 3)), (pugace.QUICK_RUNS - 1, 14 / comb(12, 2))):
        chances = pugace.correct_by_holm(
            {name: pugace.chance_of_fewer(0, runs, hits) for name, hits in published.items()}
        )
        assert min(chances.values()) == pytest.approx(smallest)
        assert (smallest < pugace.ALPHA) == (runs == pugace.QUICK_RUNS)


# What the tables say


def test_hits_stand_beside_the_published(fill, folder):
    def outcome(place, seed, best):
        missed = {("Chr18a", "pugace"): 8, ("Lipa40a", "pugace"): 10}.get(place, 0)
        return (best if seed > missed else best * (1 + seed / 100)), seed / 10, 2

    contenders = contenders_of(HITS, folder, 10)
    (table,) = reproduce(HITS, fill(contenders, outcome), folder=folder)[2]
    assert table.title == "Table 2: hits and gaps after 20 generations (10 runs; published figures in brackets)"
    texts = cells(table)
    assert list(texts) == list(HITS.instances)
    assert texts["Bur26a"] == {
        "n": "5",
        "best known": f"{contenders['Bur26a', 'pugace'].best:,.0f}",
        "hits": "10/10 (7/10)",
        "hits %, 95 %": "69 to 100 (35 to 93)",
        "best gap %": "0.00 (0.00)",
        "mean gap %": "0.00",
        "p": "1.000",
        "memetic hits": "10/10",
        "memetic mean gap %": "0.00",
        "memetic seconds": "0.55",
    }
    assert (texts["Chr18a"]["hits"], texts["Chr18a"]["mean gap %"]) == ("2/10 (10/10)", "3.60")
    assert (texts["Lipa40a"]["hits"], texts["Lipa40a"]["best gap %"]) == ("0/10 (0/10)", "1.00 (1.05)")
    assert texts["Esc16f"]["best known"] == "0"
    # 12 hits of 20 runs, at most 2 of them ours: then all ten of theirs.
    assert texts["Chr18a"]["p"] == f"{14 * comb(10, 2) / comb(20, 12):.3f}" == "0.005"
    assert [row[0].text for row in table.rows if any(cell.bold for cell in row)] == ["Chr18a"]
    assert table.notes[0] == (
        "Best known value found on 13 of 14 instances (published: 13). Fewer hits than the paper beyond chance, 95 %: "
        "Chr18a."
    )
    assert "cellular, until it finds the best known value, 10 s at most" in table.notes[3]
    assert any(note.startswith("Paper: Esc16f") for note in table.notes)


def test_nothing_below_the_paper(fill, folder):
    store = fill(contenders_of(HITS, folder, 3), lambda place, seed, best: (best, 1.0, 1))
    (table,) = reproduce(HITS, store, Effort(quick=True), folder=folder)[2]
    assert table.notes[0].endswith(
        "14 of 14 instances (published: 13). Fewer hits than the paper beyond chance, 95 %: on no instance."
    )
    assert "(3 runs;" in table.title


def test_a_cost_above_a_best_of_zero(fill, folder):
    store = fill(contenders_of(SMALL_HITS, folder, 1), lambda place, seed, best: (best + 7, 1.0, 1))
    (table,) = reproduce(SMALL_HITS, store, Effort(runs=1), folder=folder)[2]
    assert cells(table)["Esc16f"]["mean gap %"] == "inf"
    assert cells(table)["Esc16f"]["hits"] == "0/1 (6/10)"


@pytest.mark.parametrize(("threads", "on"), [((1, 1), "1 thread"), ((2, 2), "2 threads"), ((2, 1), "1 or 2 threads")])
def test_seconds_stand_beside_the_published(fill, folder, threads, on):
    store = fill(contenders_of(SECONDS, folder, 2), lambda place, seed, best: (best, float(seed), threads[seed - 1]))
    (table,) = reproduce(SECONDS, store, Effort(runs=2), folder=folder)[3]
    assert table.title == f"Table 3: seconds a run on {on} (2 runs)"
    texts = cells(table)
    assert list(texts) == list(SECONDS.instances)
    (row,) = (row for row in table.rows if row[0].text == "Had20")
    assert [cell.text for cell in row[1:]] == ["6.000", "1.500", "4.00", "7.963", "143.281", "17.99"]
    assert "different machines" in table.notes[0]
    assert any("Chr15b and Had20 stand here" in note for note in table.notes)


def test_bad_limits(folder):
    with Store(":memory:") as store:
        for seconds in (0, -1.0, float("nan"), float("inf")):
            with pytest.raises(sy.InputError, match="`seconds > 0` must hold"):
                reproduce(SMALL_HITS, store, folder=folder, seconds=seconds)
        with pytest.raises(sy.InputError, match="`runs >= 1` must hold"):
            reproduce(SMALL_HITS, store, Effort(runs=0), folder=folder)


# Whole runs


def test_tiny_files(folder, tmp_path, monkeypatch):
    reported = []
    with Store(tmp_path / "runs.sqlite") as store:
        tables = reproduce(
            SMALL_HITS, store, Effort(runs=2, on_done=lambda *at: reported.append(at[:2])), folder=folder
        )
        assert reported == [(k, 8) for k in range(1, 9)]
        tables |= reproduce(SMALL_SECONDS, store, Effort(runs=2, threads=1), folder=folder)
        assert len(store.rows("pugace")) == 8 + 2  # Bur26a comes from the first table
        monkeypatch.setattr(pugace, "solve", None)  # nothing is left to do
        again = reproduce(SMALL_HITS, store, Effort(runs=2), folder=folder)
        again |= reproduce(SMALL_SECONDS, store, Effort(runs=2, threads=1), folder=folder)
    assert tables == again
    texts = cells(tables[2][0])
    assert texts["Bur26a"]["hits"] == "2/2 (7/10)"
    assert texts["Esc16f"]["memetic hits"] == "2/2"
    assert all(float(next(iter(row.values()))) > 0 for row in cells(tables[3][0]).values())


def test_an_interrupted_run_is_not_kept(folder, monkeypatch):
    calls = interrupt_second(monkeypatch, pugace)
    with Store(":memory:") as store:
        with pytest.raises(KeyboardInterrupt):
            reproduce(SMALL_SECONDS, store, Effort(runs=1, threads=1), folder=folder)
        assert [row["instance"] for row in store.rows("pugace")] == ["bur26a.dat"]
    assert {options["threads"] for options in calls} == {1}


# From the command line


@pytest.fixture
def call(run_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return partial(run_command, "reproduce")


def test_command(call, folder, monkeypatch):
    monkeypatch.setattr(pugace, "GROUPS", (SMALL_HITS, SMALL_SECONDS))
    args = ["pugace", "--instances", folder, "--runs", 2, "--seconds", 5, "--threads", 1, "--quiet"]
    code, out, err = call(*args, "--output", "tables")
    assert code == 0
    assert "2 runs of each: too few to tell chance from difference, for which 3 are needed" in err
    assert out.startswith("Table 2: hits and gaps")
    assert "5 s at most" in out
    assert "Table 3: seconds a run on 1 thread (2 runs)" in out
    assert sorted(path.name for path in Path("tables").iterdir()) == ["pugace-table-02.txt", "pugace-table-03.txt"]
    assert Path("results/pugace.sqlite").is_file()
    monkeypatch.setattr(pugace, "solve", None)
    assert call(*args)[1] == out
    assert list(json.loads(call(*args, "--table", 3, "--json")[1])) == ["3"]


def test_help(call):
    code, out, _ = call("--help")
    assert code == 0
    assert "sgs|sns|pugace" in out
