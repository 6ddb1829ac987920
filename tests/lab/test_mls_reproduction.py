"""The tables of Luong, Melab, Talbi 2011, from stores filled by hand and from short runs; the figures they print."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from known_outcomes import cells, interrupt_second, refuse, stores_of

import systola as sy
from systola.formats import open_instance
from systola.lab.contents import load_contents
from systola.lab.published import load_figures
from systola.lab.reproductions import mls, timing
from systola.lab.reproductions.effort import Effort
from systola.lab.reproductions.mls import GROUPS, SIZES, choose_groups, contenders_of, reproduce
from systola.lab.reproductions.timing import Way
from systola.lab.store import Store
from systola.lab.tables import render

_, TABU, DOMINATING, ALL, PROFILE = GROUPS
SMALL = {group.table: replace(group, instances=("20-10",)) for group in GROUPS[1:]}


FACTS = {"objective": 1, "feasible": True, "evaluations": 1, "iterations": 1}


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(mls, "ITERATIONS", 60)


@pytest.fixture
def fill(monkeypatch):
    """Gives a store with a result for each run, as `outcome(place, seed)` says: seconds, threads and more."""
    monkeypatch.setattr(mls, "solve", refuse)
    monkeypatch.setattr(mls, "profile_search", refuse)
    monkeypatch.setattr(mls, "other_ways", lambda backend, threads: (Way("1 thread", 1),))
    monkeypatch.setattr(timing, "_run", lambda job, way: {**FACTS, "seconds": 3.0})
    with stores_of(mls.EXPERIMENT) as make:
        yield lambda contenders, outcome: make(
            (job, {"objective": 1, **outcome(place, job.seed)})
            for place, contender in contenders.items()
            for job in contender.jobs
        )


# What the paper prints


def test_published_tables_are_complete():
    for number in (2, 3, 4, 5):
        table = load_figures("mls", number)
        assert (table.problem, table.measure, table.instances) == ("flowshop", "columns", tuple(SIZES))
        assert set(table.figures) == {(i, a) for i in table.instances for a in table.algorithms}
        assert len(table.algorithms) == {2: 10, 5: 6}.get(number, 11)


def test_published_speedups_follow_from_times():
    doubtful = set()
    for number in (2, 3, 4):
        table = load_figures("mls", number)
        for name in table.instances:
            for cpu, gpu in (("xeon", "gtx285"), ("i7", "gtx480")):
                for column in (gpu, f"{gpu}-tex"):
                    seconds, base, speedup = (table.figures[name, c][0] for c in (column, cpu, f"{column}-speedup"))
                    low, high = (base - 0.05) / (seconds + 0.05), (base + 0.05) / (seconds - 0.05)
                    if not low - 0.075 <= speedup <= high + 0.075:  # some are rounded, some cut off
                        doubtful.add((number, name, column))
    assert doubtful == {
        *((2, "20-10", "gtx285-tex"), (2, "20-20", "gtx480-tex")),
        *((4, "50-20", "gtx285-tex"), (4, "200-10", "gtx480-tex")),
    }


def test_published_shares_add_up():
    table = load_figures("mls", 5)
    for name in table.instances:
        for label in ("dominating", "non-dominated"):
            total = sum(table.figures[name, f"{label} {part}"][0] for part in ("evaluation", "archiving", "search"))
            assert total == pytest.approx(100.1 if (name, label) == ("100-10", "non-dominated") else 100)


def test_slips_are_noted():
    notes = {number: " ".join(load_figures("mls", number).notes) for number in (2, 3, 4, 5)}
    assert "printed as 6" in notes[2]
    assert notes[3] == ""
    assert "50-20" in notes[4]
    assert "slower than the Xeon" in notes[4]
    assert "100.1" in notes[5]
    table = load_figures("mls", 4)
    slower = {name for name in table.instances if table.figures[name, "i7"] > table.figures[name, "xeon"]}
    assert slower == {"20-10", "100-10"}


# Which tables, which runs


def test_every_table_has_its_group():
    assert [group.table for group in GROUPS] == [item.number for item in load_contents("mls")] == [1, 2, 3, 4, 5]
    assert choose_groups(None) == GROUPS
    assert choose_groups(4) == (ALL,)
    assert all(group.instances == tuple(SIZES) for group in GROUPS[1:])
    for group in choose_groups(None, quick=True)[1:]:
        assert group.instances == mls.QUICK_SIZES
    assert [group.instances for group in choose_groups(3, sizes=["50-20", "20-10"])] == [("20-10", "50-20")]
    for table in (0, 6, -2):
        with pytest.raises(sy.InputError, match=f"Tables 1 to 5 can be reproduced, but got Table {table}"):
            choose_groups(table)
    with pytest.raises(sy.InputError, match="there is no size '50-2' here; did you mean '50-20'"):
        choose_groups(None, sizes=["50-2"])


def test_memories_are_shown_as_published():
    (table,) = reproduce(GROUPS[0], None)[1]
    assert [cell.text for cell in table.rows[2]] == ["registers", "additional variables"]


def test_public_files_instead(tmp_path):
    with pytest.raises(sy.InputError, match=r"has no 020_10_01.txt, 050_20_01.txt"):
        mls.check_files(str(tmp_path), choose_groups(2, sizes=["20-10", "50-20"]))
    mls.check_files(None)


def test_sizes_are_the_papers():
    for name, instance in SIZES.items():
        problem = open_instance(f"flowshop:{instance}?objectives=makespan,tardiness,tardy").problem
        assert "-".join(map(str, problem.times.shape)) == name
        assert problem.weights.tolist() == [1, 1, 1]


def test_runs():
    some = contenders_of(DOMINATING, 2)
    assert list(some) == [(name, "dominating") for name in SIZES]
    for one in some.values():
        assert one.engine == sy.PLS("dominating", neighbourhood="insertion")
        assert [job.seed for job in one.jobs] == [1, 2]
        assert {job.stop for job in one.jobs} == {sy.Stop(iterations=10_000)}
    assert {one.engine for one in contenders_of(TABU, 1).values()} == {sy.Tabu("insertion")}
    keys = [one.jobs[0].key("e") for group in GROUPS for one in contenders_of(group, 1).values()]
    assert len(set(keys)) == 5 * 8
    profiled = contenders_of(PROFILE, 3)
    assert list(profiled)[:2] == [("20-10", "dominating"), ("20-10", "non-dominated")]
    assert {len(one.jobs) for one in profiled.values()} == {1}


# What the tables say


def test_seconds_stand_beside_the_published(fill):
    outcome = lambda place, seed: {"seconds": float(seed), "threads": 2}  # noqa: E731
    (table,) = reproduce(TABU, fill(contenders_of(TABU, 3), outcome))[2]
    assert table.title == (
        "Table 2: tabu search over the sum of the objectives, 10,000 iterations (3 runs on 2 threads)"
    )
    texts = cells(table)
    assert list(texts) == list(SIZES)
    assert table.header[1:5] == ("1 thread", "2 threads", "speed-up", "iterations/s")
    ours = ["3.00", "2.00", "1.50", "5,000"]
    xeon, i7 = ["1417.4", "144.3", "9.8"], ["1189.7", "77.2", "15.4"]
    (row,) = (row for row in table.rows if row[0].text == "200-10")
    assert [cell.text for cell in row[1:]] == [*ours, *xeon, *i7]
    assert "compare machines as much as programs" in table.notes[0]
    assert "which of the ten instances" in table.notes[1]
    assert any(note.startswith("Paper: 20-20") for note in table.notes)


@pytest.mark.parametrize(("group", "published"), [(DOMINATING, "71"), (ALL, "2,061")])
def test_solutions_stand_beside_the_published(fill, group, published):
    def outcome(place, seed):
        return {"seconds": 4.0, "threads": seed, "front": [[k, -k, 0] for k in range(1000 + seed)]}

    (table,) = reproduce(group, fill(contenders_of(group, 2), outcome), Effort(runs=2))[group.table]
    texts = cells(table)["200-20"]
    assert (texts["solutions"], texts["solutions, published"]) == ("1,001.5", published)
    assert "PLS that accepts" in table.title
    assert table.title.endswith("(2 runs on 1 or 2 threads)")
    assert "with different objectives" in table.notes[2]


def test_shares_stand_beside_the_published(fill):
    def outcome(place, seed):
        shares = (99.25, 0.7, 0.05) if place[1] == "dominating" else (88.0, 11.96, 0.04)
        return {"seconds": 1.0, "threads": 1, "shares": shares}

    tables = reproduce(PROFILE, fill(contenders_of(PROFILE, 1), outcome))[5]
    assert [table.title.split(",")[0] for table in tables] == [
        "Table 5: PLS that accepts dominating neighbours",
        "Table 5",
    ]
    assert (
        "continued: PLS that accepts all non-dominated neighbours, percent of the time on 1 thread" in tables[1].title
    )
    one, two = map(cells, tables)
    assert list(one) == list(two) == list(SIZES)
    assert one["100-20"] == {"evaluation": "99.2 (99.85)", "archiving": "0.7 (0.1)", "search": "0.1 (0.05)"}
    assert two["100-10"] == {"evaluation": "88.0 (88.2)", "archiving": "12.0 (11.8)", "search": "0.0 (0.1)"}
    assert tables[0].notes == ()
    assert "20 moments" in tables[1].notes[0]
    for form in ("text", "markdown", "csv", "latex"):
        assert all("20-10" in render(table, form) for table in tables)


def test_bad_runs():
    with Store(":memory:") as store, pytest.raises(sy.InputError, match="`runs >= 1` must hold"):
        reproduce(TABU, store, Effort(runs=0))


# Whole runs


def test_short_runs(short, tmp_path, monkeypatch):
    reported, tables = [], {}
    runs = [SMALL[table] for table in (2, 3, 4)]
    with Store(tmp_path / "runs.sqlite") as store:
        for group in runs:
            tables |= reproduce(group, store, Effort(runs=2, on_done=lambda *at: reported.append(at[:2]), threads=1))
            assert len(tables) == group.table - 1
        assert reported == [(1, 2), (2, 2)] * 3
        assert not any("front_solutions" in store.result(job.key("mls")) for job in jobs_of(ALL, 2))
        monkeypatch.setattr(mls, "solve", None)  # nothing is left to do
        again = {}
        for group in runs:
            again |= reproduce(group, store, Effort(runs=2, threads=1))
    assert tables == again
    found = [float(cells(tables[number][0])["20-10"]["solutions"]) for number in (3, 4)]
    assert 1 <= found[0] < found[1]


@pytest.mark.long
def test_a_short_profile(short, monkeypatch):
    reported = []
    with Store(":memory:") as store:
        tables = reproduce(SMALL[5], store, Effort(runs=2, on_done=lambda *at: reported.append(at[:2]), threads=1))
        assert reported == [(1, 2), (2, 2)]  # one run of each search
        assert [row["algorithm"] for row in store.rows("mls")] == ["pls-profile"] * 2
        monkeypatch.setattr(mls, "profile_search", None)
        assert reproduce(SMALL[5], store, Effort(runs=2)) == tables
    for table in tables[5]:
        shares = [float(text.split()[0]) for text in cells(table)["20-10"].values()]
        assert sum(shares) == pytest.approx(100, abs=0.2)
        assert min(shares) >= 0


def jobs_of(group, runs):
    return [job for one in contenders_of(replace(group, instances=("20-10",)), runs).values() for job in one.jobs]


def test_an_interrupted_run_is_not_kept(short, monkeypatch):
    calls = interrupt_second(monkeypatch, mls)
    with Store(":memory:") as store:
        with pytest.raises(KeyboardInterrupt):
            reproduce(SMALL[2], store, Effort(runs=3, threads=1))
        assert [row["seed"] for row in store.rows("mls")] == [1]
    assert {options["threads"] for options in calls} == {1}


# From the command line


@pytest.fixture
def call(run_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return partial(run_command, "reproduce")


@pytest.mark.parametrize("last", [4, pytest.param(5, marks=pytest.mark.long)])
def test_command(last, short, call, monkeypatch):
    """Table 5 is of other kernels, which measure the time of their parts."""
    tables = range(2, last + 1)
    monkeypatch.setattr(mls, "GROUPS", tuple(SMALL[table] for table in tables))
    args = ["mls", "--quick", "--threads", 1, "--quiet"]
    code, out, err = call(*args, "--output", "tables")
    assert (code, err) == (
        0,
        "systola: 1 run of each, where the whole reproduction has 3\n"
        "systola: all tables and figures are in results/mls.html\n",
    )
    assert out.startswith("Table 2: tabu search")
    assert "60 iterations (1 run on 1 thread)" in out
    assert "Where it comes from" in Path("results/mls.html").read_text()
    assert ("Table 5, continued" in out) == (last == 5)
    assert sorted(path.name for path in Path("tables").iterdir()) == [f"mls-table-0{k}.txt" for k in tables]
    assert Path("results/mls.sqlite").is_file()
    monkeypatch.setattr(mls, "solve", None)
    monkeypatch.setattr(mls, "profile_search", None)
    assert call(*args)[1] == out
    data = json.loads(call(*args, "--table", last, "--json")[1])
    assert list(data) == [str(last)]
    if last == 5:
        assert [table["header"] for table in data["5"]] == [["Instance", "evaluation", "archiving", "search"]] * 2
