"""The tables of the SNS paper, from stores filled by hand and from two tiny files; its figures."""

from pathlib import Path

import numpy as np
import pytest
from known_outcomes import cells, refuse, stores_of

import systola as sy
from systola.engines.neighbourhood import evaluations_for
from systola.formats import open_instance
from systola.lab import experiment
from systola.lab.published import load_claims, load_figures
from systola.lab.reproductions import sns
from systola.lab.reproductions.effort import Effort
from systola.lab.reproductions.sns import CONTENDERS, GROUPS, Group, check_files, choose_groups, jobs_of, reproduce
from systola.lab.reproductions.sns_figures import FIGURES
from systola.lab.reproductions.sns_labels import label_table
from systola.lab.store import Store
from systola.lab.style import save
from systola.model.problem import space_of

NAMES = tuple(contender.name for contender in CONTENDERS)
PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "mkp"
TINY = Group("small", 2, 3, {"SENTO2": "mknap2.txt#SENTO2", "GK08": "gk08.dat"}, ("SENTO2", "GK08"))


def block(name, n, optimum=0):
    """A problem of mknap2.txt with two constraints; capacities are half of all weights."""
    profits = [3 + 7 * k % 11 for k in range(n)]
    weights = [[2 + 5 * k % 7 for k in range(n)], [2 + 3 * k % 8 for k in range(n)]]
    lines = [profits, [sum(row) // 2 for row in weights], *weights]
    body = "\n".join(" ".join(map(str, line)) for line in lines)
    return f"problem {name}\n+++\n2 {n}\n{body}\n{optimum}\n"


@pytest.fixture
def folder(tmp_path):
    """Tiny files by the paper's names."""
    names = {"SENTO2": 12, "WEISH01": 6, "WEISH16": 7}
    (tmp_path / "mknap2.txt").write_text("+++\n".join(block(name, n) for name, n in names.items()))
    (tmp_path / "gk08.dat").write_text("9 1 0\n5 4 3 8 2 7 6 1 9\n3 2 4 5 1 6 2 2 7\n16\n")
    return str(tmp_path)


@pytest.fixture
def tiny_budget(monkeypatch):
    monkeypatch.setattr(sns, "evaluations_for", lambda items: 60 * items)


@pytest.fixture
def fill(monkeypatch, folder):
    """Gives a store with a result for each run, as `outcome(place, seed)` says: objective or None, and seconds."""
    monkeypatch.setattr(experiment, "work", refuse)
    monkeypatch.setattr(sns, "ways_of", lambda backend: ())

    def facts(objective, seconds):
        return {"objective": objective or 0, "feasible": objective is not None, "seconds": seconds}

    with stores_of(sns.EXPERIMENT) as make:
        yield lambda jobs, outcome: make(
            (job, facts(*outcome(place, job.seed))) for place, some in jobs.items() for job in some
        )


# Which tables, which runs


@pytest.mark.parametrize(
    ("items", "evaluations"),
    [
        *((1, 400_000), (20, 400_000), (79, 400_000), (80, 400_000), (81, 405_000), (105, 525_000), (250, 1_250_000)),
        *((500, 2_500_000), (599, 2_995_000), (600, 3_000_000), (601, 3_000_000), (2500, 3_000_000)),
    ],
)
def test_budget(items, evaluations):
    assert evaluations_for(items) == evaluations


def test_which_tables_can_be_made():
    for number in (6, 7):
        (group,) = choose_groups(number)
        assert (group.tables, group.wanted) == ((6, 7), number)
    (quick,) = choose_groups(None, quick=True)
    assert set(quick.instances) < set(GROUPS[0].instances)
    for item in (0, 10, -2, "figure-4"):
        with pytest.raises(sy.InputError, match="Tables 1 to 9 and Figures 5 to 8 can be reproduced, but got"):
            choose_groups(item)
    with pytest.raises(sy.InputError, match="Tables 1 to 3 and the figures only, but got Table 4"):
        choose_groups(4, quick=True)


def test_single_instances_and_algorithms():
    (group,) = choose_groups(None, sizes=["weish30", "PB6"], algorithms=["sns-exp", "ga-cpu"])
    assert list(group.instances) == ["WEISH30", "PB6"]
    assert [c.name for c in group.contenders] == ["ga-cpu", "sns-exp"]
    with pytest.raises(sy.InputError, match="there is no instance 'WEISH3' here; did you mean 'WEISH30'"):
        choose_groups(2, sizes=["WEISH3"])
    with pytest.raises(sy.InputError, match="there is no algorithm 'sns-ex' here; did you mean 'sns-exp'"):
        choose_groups(None, algorithms=["sns-ex"])


def test_instances_and_algorithms_are_the_papers():
    for group in GROUPS:
        for number in group.tables:
            figures = load_figures("sns", number)
            assert tuple(group.instances) == figures.instances
            assert figures.algorithms == NAMES
        assert set(load_claims("sns", group.profit_table).better) <= set(NAMES)


@pytest.mark.long
@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")
def test_public_files():
    check_files(str(PUBLIC))
    for group in GROUPS:
        optima = load_figures("sns", group.profit_table).optima
        for name, spec in group.instances.items():
            found = open_instance(str(PUBLIC / spec))
            if name.count(".") == 2:
                knapsacks, items, _ = map(int, name.split("."))
                assert found.problem.weights.shape == (knapsacks, items)
            elif name != "GK10":  # misprinted
                assert found.best_known == optima[name]
    above = {
        place
        for name, spec in GROUPS[3].instances.items()
        for place, some in jobs_of(Group("", 8, 9, {name: spec}), str(PUBLIC), 1).items()
        if some[0].stop.evaluations > 3_000_000
    }
    squares = ("ga-sns", "sns", "sns-r", "sns-mr", "sns-r-mr")
    assert above == {(name, c) for name in ("GK09", "GK10", "GK11") for c in squares}


def test_files_that_are_missing(tmp_path):
    with pytest.raises(sy.InputError, match=r"no folder was named with --instances; mknap.* are in the OR-Library"):
        check_files(None)
    (tmp_path / "mknapcb5.txt").write_text("")
    with pytest.raises(sy.InputError, match=r"must hold mknapcb5.txt, mknapcb6.txt, but .* has no mknapcb6.txt;"):
        check_files(str(tmp_path), GROUPS[1:2])
    with pytest.raises(sy.InputError, match=r"nowhere has no mknap2.txt"):
        check_files(str(tmp_path / "nowhere"), GROUPS[:1])


def test_parameters_are_the_papers(folder):
    jobs = jobs_of(TINY, folder, 2)
    assert {place[1] for place in jobs} == set(NAMES)
    sizes = {name: jobs["SENTO2", name][0].settings for name in NAMES}
    assert sizes["rs-cpu"] == {"size": 1, "sampling": "uniform"}
    assert sizes["rs-gpu"] == {"size": 12, "sampling": "uniform"}
    assert sizes["ga-cpu"] == {"size": 100}
    assert sizes["ga-gpu"] == {"size": 100, "replacement": "better", "first_parent": "own"}
    assert sizes["ga-sns"] == {"size": 144}
    assert sizes["ga-sns-exp"] == {"size": 48}
    assert all(sizes[name] == {} for name in NAMES if name.startswith("sns"))
    for some in jobs.values():
        assert [job.seed for job in some] == [1, 2]
        assert {job.stop for job in some} == {sy.Evaluations(400_000)}


def test_the_place_of_a_file_does_not_matter(folder, monkeypatch):
    here = jobs_of(TINY, folder, 1)
    monkeypatch.chdir(folder)
    assert [job.key("e") for (job,) in jobs_of(TINY, ".", 1).values()] == [job.key("e") for (job,) in here.values()]


# What the tables say


def test_means_stand_beside_the_published(fill, folder):
    jobs = jobs_of(TINY, folder, 3)
    store = fill(jobs, lambda place, seed: (100 * NAMES.index(place[1]) + seed, 0.001 * seed))
    tables = reproduce(TINY, store, Effort(runs=3), folder=folder)
    assert list(tables) == [2, 3]
    profits, against, labels = tables[2]
    assert labels.title == "Table 2: the labels (r) and (mr), as printed and exchanged"
    assert profits.title == "Table 2: mean profit, small (3 runs; published figures in brackets)"
    assert profits.header == ("", "SENTO2", "GK08")
    texts = cells(profits)
    assert list(texts) == [*NAMES, "optimum"]
    assert texts["rs-cpu"] == {"SENTO2": "2.0 (7,968.2)", "GK08": "2.0"}
    assert texts["sns-exp-r-mr"]["SENTO2"] == "1,302.0 (8,712.0)"
    assert texts["optimum"] == {"SENTO2": "(8,722.0)", "GK08": ""}
    assert [cell.text for row in profits.rows for cell in row if cell.bold] == ["1,302.0 (8,712.0)", "1,302.0"]
    assert any("1,1035.567" in note for note in profits.notes)
    assert cells(tables[3][0])["sns"] == {"SENTO2": "0.002 (0.424)", "GK08": "0.002"}
    assert against.title.startswith("Table 2: sns-exp-r-mr against the others")
    assert cells(against)["ga-gpu"]["published"] == "▲"
    assert cells(against)["ga-cpu"]["published"] == ""


def test_differences_are_tested(fill, folder):
    """The champion is in the middle: clearly better than some, worse than others."""

    def outcome(place, seed):
        return 1000 + (0 if place[1] == "sns-exp-r-mr" else 500 if place[1] == "ga-sns" else -500) + seed % 5, 1.0

    jobs = jobs_of(TINY, folder, 10)
    signs = cells(reproduce(TINY, fill(jobs, outcome), Effort(runs=10), folder=folder)[2][1])
    assert signs["ga-sns"]["SENTO2"] == signs["ga-sns"]["GK08"] == "▽"
    assert signs["rs-cpu"]["SENTO2"] == signs["sns-exp"]["GK08"] == "▲"


def test_infeasible_runs_are_counted(fill, folder):
    def outcome(place, seed):
        failed = place[1] == "rs-cpu" or (place == ("GK08", "ga-cpu") and seed == 1)
        return None if failed else 10 * seed, 1.0

    jobs = jobs_of(TINY, folder, 3)
    profits, against, _ = reproduce(TINY, fill(jobs, outcome), Effort(runs=3), folder=folder)[2]
    assert cells(profits)["rs-cpu"] == {"SENTO2": "– (7,968.2)", "GK08": "–"}
    assert cells(profits)["ga-cpu"] == {"SENTO2": "20.0 (8,722.0)", "GK08": "25.0"}
    assert "3 of 3 runs ended infeasible and are not in the mean: rs-cpu on SENTO2, GK08." in profits.notes
    assert "1 of 3 runs ended infeasible and are not in the mean: ga-cpu on GK08." in profits.notes
    assert cells(against)["rs-cpu"]["SENTO2"] == cells(against)["ga-cpu"]["GK08"] == "–"  # three runs tell nothing


def test_infeasible_runs_rank_last(fill, folder):
    def outcome(place, seed):
        return None if place[1] == "ga-cpu" and seed > 4 else 10 * seed + 1000 * (place[1] == "ga-cpu"), 1.0

    jobs = jobs_of(TINY, folder, 30)
    profits, against, _ = reproduce(TINY, fill(jobs, outcome), Effort(runs=30), folder=folder)[2]
    assert cells(against)["ga-cpu"]["SENTO2"] == "▲"
    bold = {row[0].text for row in profits.rows if row[1].bold}
    assert "sns" in bold
    assert "ga-cpu" not in bold


def test_too_few_runs_have_no_significance(fill, folder):
    tables = reproduce(TINY, fill(jobs_of(TINY, folder, 2), lambda *_: (5, 1.0)), Effort(runs=2), folder=folder)
    assert [len(made) for made in tables.values()] == [2, 2]  # with the labels


def test_many_instances_come_in_panels(fill, folder):
    group = Group("small", 2, 3, dict.fromkeys(load_figures("sns", 2).instances, "mknap2.txt#WEISH01"))
    tables = reproduce(group, fill(jobs_of(group, folder, 1), lambda *_: (5, 1.0)), Effort(runs=1), folder=folder)
    assert [len(table.header) for table in tables[2][:2]] == [9, 9]
    assert [table.title[:18] for table in tables[2][:2]] == ["Table 2: mean prof", "Table 2, continued"]
    assert not tables[2][0].notes


def test_what_needs_more_than_the_budget_makes_one_step(fill, folder, monkeypatch):
    monkeypatch.setattr(sns, "evaluations_for", lambda items: 2 * items * items - 1)
    monkeypatch.setattr(sns, "MOST_EVALUATIONS", 1)
    jobs = jobs_of(TINY, folder, 1)
    items = space_of(open_instance(f"{folder}/mknap2.txt#SENTO2").problem).n
    assert jobs["SENTO2", "sns"][0].stop.evaluations == 2 * items * items
    assert jobs["SENTO2", "sns-exp"][0].stop.evaluations == 2 * items * items - 1
    tables = reproduce(TINY, fill(jobs, lambda *_: (5, 1.0)), Effort(runs=1), folder=folder)
    assert any(note.startswith("One step, though") and "sns" in note for note in tables[2][0].notes)


# Whole runs


def test_tiny_files(folder, tiny_budget, tmp_path, monkeypatch):
    group = Group("small", 2, 3, {"SENTO2": "mknap2.txt#SENTO2", "WEISH01": "gk08.dat"})
    with Store(tmp_path / "runs.sqlite") as store:
        tables = reproduce(group, store, Effort(runs=3, workers=1), folder=folder)
        monkeypatch.setattr(experiment, "work", None)  # nothing is left to do
        assert reproduce(group, store, Effort(runs=3), folder=folder) == tables
        stored = {row["algorithm"]: row for row in store.rows("sns") if row["instance"] == "mknap2.txt#SENTO2"}
    texts = cells(tables[2][0])
    optima = {name: best_of(open_instance(f"{folder}/{spec}").problem) for name, spec in group.instances.items()}
    for name in NAMES:
        for instance, text in texts[name].items():
            assert 0 < float(text.split()[0]) <= optima[instance], (name, text)
    assert float(texts["sns-exp-r"]["WEISH01"].split()[0]) == optima["WEISH01"]
    assert {row["evaluations"] for name, row in stored.items() if name.startswith("sns")} == {720}


def best_of(problem):
    """The optimum, by trying all."""
    n = space_of(problem).n
    choices = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    fits = (choices @ problem.weights.T <= problem.capacities).all(axis=1)
    return int((choices @ problem.profits)[fits].max())


@pytest.mark.long
def test_figures(folder, tmp_path):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    (group,) = choose_groups("figure-6")
    made = reproduce(group, None, folder=folder)
    assert list(made) == [1, *(f"figure-{number}" for number in FIGURES)]
    for name, products in list(made.items())[1:]:
        save(products[0].draw(), tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000


def test_labels_as_printed_and_exchanged():
    """Ours are the printed figures with the labels exchanged, and 10 % more of the plain meshes."""
    printed = load_figures("sns", 2).figures
    other = {"sns-r": "sns-mr", "sns-mr": "sns-r", "sns-exp-r": "sns-exp-mr", "sns-exp-mr": "sns-exp-r"}
    samples = {
        name: {
            c: [printed[name, other.get(c, c)][0] * (1.1 if c in ("sns", "sns-exp") else 1)]
            for c in NAMES
            if c.startswith("sns")
        }
        for name in ("WEISH10", "WEISH30")
    }
    (table,) = label_table(2, samples, "profit")
    texts = cells(table)
    assert list(texts) == [c for c in NAMES if c.startswith("sns")]
    assert texts["sns"] == texts["sns-exp"] == {"as printed": "+10.0 %", "exchanged": "+10.0 %"}
    assert texts["sns-exp-r"]["exchanged"] == texts["sns-mr"]["exchanged"] == "+0.0 %"
    wanted = sum(printed[n, "sns-exp-mr"][0] / printed[n, "sns-exp-r"][0] - 1 for n in samples) / 2
    assert texts["sns-exp-r"]["as printed"] == f"{100 * wanted:+.1f} %"
    bold = {row[0].text: [cell.bold for cell in row[1:]] for row in table.rows}
    assert bold["sns-r"] == [False, True]
    assert bold["sns"] == bold["sns-r-mr"] == [False, False]
    assert label_table(4, samples, "profit") == ()
    assert label_table(2, {"WEISH10": {"sns": [1.0]}}, "profit") == ()


@pytest.mark.long
@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")
def test_moving_rows_of_the_exponential_mesh_come_to_rest_below_the_published_means():
    """So the paper's (mr) figures are not those of the method as it is described, whatever the budget."""
    problem = open_instance(f"{PUBLIC / 'mknap2.txt'}#WEISH30").problem
    budget = evaluations_for(90)
    engine = sy.SNS(exponential=True, moving=True)
    sixteen, twenty = (sy.solve(problem, engine, stop=sy.Stop(evaluations=k * budget)) for k in (16, 20))
    assert sixteen.objective == twenty.objective < load_figures("sns", 2).figures["WEISH30", "sns-exp-mr"][0] - 500
