"""`systola compare` and `systola reproduce`: tables, JSON, plots, stores that let them go on, and refusals."""

import contextlib
import json
import re
from pathlib import Path

import pytest

from conftest import refused
from lab.page import Page
from systola.lab import experiment
from systola.lab.reproductions import sgs as reproduction
from systola.lab.reproductions import sns as neighbourhood_paper
from systola.lab.reproductions.sgs import Group
from systola.lab.store import Store

QUICK = ["--runs", 3, "--workers", 1, "--quiet"]
PAIR = ["knapsack:20-100", "--algorithms", "rs,sga", "--set", "size=8", "--iterations", 4, *QUICK]


@pytest.fixture
def call(run_command, tmp_path, monkeypatch):
    """Run a command here, in a folder of its own; gives exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    return run_command


@pytest.fixture
def no_runs(monkeypatch):
    """From the call on, nothing may be run."""

    def forbid():
        def refuse(*_, **__):
            raise AssertionError("a run was started")

        monkeypatch.setattr(experiment, "work", refuse)

    return forbid


@pytest.fixture
def runs_here(monkeypatch):
    """Runs are made in this process: to start another takes a second."""
    monkeypatch.setattr(experiment, "work", lambda do, tasks, count: ((task, do(task)) for task in tasks))


def strict(text):
    """JSON without NaN and Infinity."""

    def refuse(constant):
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def test_compare(call, no_runs):
    code, out, err = call("compare", *PAIR)
    assert code == 0
    assert err == "systola: 3 of 6 runs ended with an infeasible solution; they rank after all feasible ones\n"
    assert "mean ± std of 3 runs" in out
    assert "knapsack:20-100" in out
    assert Path("results/compare.sqlite").is_file()

    no_runs()  # the rest comes from the store
    assert call("compare", *PAIR)[1] == out

    code, as_json, _ = call("compare", *PAIR, "--json")
    found = json.loads(as_json)
    samples = found["samples"]["knapsack:20-100"]
    assert found["runs"] == 3
    assert {name: len(values) for name, values in samples.items()} == {"rs": 3, "sga": 3}
    assert found["tests"]["knapsack:20-100"]["names"] == ["rs", "sga"]
    with Store("results/compare.sqlite") as store:
        stored = {(row["algorithm"], row["seed"]): row["objective"] for row in store.rows("compare")}
    assert [stored["sga", seed] for seed in (1, 2, 3)] == samples["sga"]

    for form, sign in (("markdown", "| :-- |"), ("csv", "Instance,rs,sga"), ("latex", r"\begin{tabular}")):
        code, out, _ = call("compare", *PAIR, "--format", form)
        assert code == 0
        assert sign in out


def test_compare_prints_json(call, runs_here):
    assert strict(call("compare", *PAIR, "--json")[1])["runs"] == 3


def test_more_runs_add_to_the_store(call, runs_here, monkeypatch):
    call("compare", *PAIR)
    done = []
    real = experiment.do_job
    monkeypatch.setattr(experiment, "do_job", lambda job: done.append(job.seed) or real(job))
    assert call("compare", *PAIR, "--runs", 4)[0] == 0
    assert done == [4, 4]
    assert call("compare", *PAIR, "--iterations", 5)[0] == 0
    assert len(done) == 2 + 6  # another budget is another experiment


def test_plots(call, runs_here):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    reports = ["--html", "told/found.html", "--markdown", "told/found.md"]
    assert call("compare", *PAIR, "--plots", "pictures", "--columns", 1, *reports)[0] == 0
    pictures = sorted(Path("pictures").iterdir())
    assert [picture.name for picture in pictures] == [
        "knapsack-20-100-boxplots.png",
        "knapsack-20-100-convergence.png",
        "knapsack-20-100-run-times.png",
    ]
    page = Page(Path("told/found.html").read_text())
    assert page.fetched() == []
    assert len(page.of("svg")) == 3
    assert "3 of 6 runs ended with an infeasible solution." in page.text
    assert "systola compare knapsack:20-100 --algorithms rs,sga --set size=8 --iterations 4 --runs 3" in page.text
    assert "3 runs are too few" in page.text
    assert len(list(Path("told/found-pictures").iterdir())) == 3
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 5000


def test_equal_results_are_no_difference(call, runs_here):
    code, out, _ = call("compare", "knapsack:4-10", "--algorithms", "sgs-b,sgs-v", "--iterations", 20, *QUICK, "--json")
    assert code == 0
    found = json.loads(out)
    assert len(set(found["samples"]["knapsack:4-10"]["sgs-b"])) == 1
    assert found["tests"]["knapsack:4-10"]["verdicts"] == [[0, 0], [0, 0]]


# After three steps, a random search of 1400 solutions a step has feasible ones, and a genetic algorithm has none.
UNEQUAL = ["knapsack:100-1000", "--algorithms", "sga,rs", "--iterations", 3, "--runs", 10, "--workers", 1, "--quiet"]


def test_feasible_runs_rank_before_infeasible_ones(call, runs_here):
    code, out, err = call("compare", *UNEQUAL, "--json")
    assert code == 0
    assert err == "systola: 10 of 20 runs ended with an infeasible solution; they rank after all feasible ones\n"
    found = strict(out)
    objectives, violations = (found[part]["knapsack:100-1000"] for part in ("samples", "violations"))
    assert min(objectives["sga"]) > max(objectives["rs"])  # better, were they allowed
    assert found["feasible"] == {"knapsack:100-1000": {"sga": 0, "rs": 10}}
    assert min(violations["sga"]) > 0 == max(violations["rs"])
    assert found["tests"]["knapsack:100-1000"]["verdicts"] == [[0, -1], [1, 0]]

    assert "– (0/10)  *" in call("compare", *UNEQUAL)[1]
    out = call("compare", *UNEQUAL, "--format", "csv")[1]
    assert out.startswith("Instance,sga,rs\nknapsack:100-1000,– (0/10),")  # notes go elsewhere
    assert out.splitlines()[1].endswith(" (10/10)")
    assert "| – (0/10) | **" in call("compare", *UNEQUAL, "--format", "markdown")[1]
    assert r"& -- (0/10) & \textbf{" in call("compare", *UNEQUAL, "--format", "latex")[1]

    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    assert call("compare", *UNEQUAL, "--plots", "pictures")[0] == 0
    assert len([*Path("pictures").iterdir()]) == 3


def test_an_edited_file_is_run_again(call, runs_here):
    path = Path("items.txt")
    path.write_text("3 10\n5 4\n6 5\n7 6\n")
    args = [path, "--algorithms", "rs,sga", "--set", "size=8", "--iterations", 9, *QUICK, "--json"]
    assert max(json.loads(call("compare", *args)[1])["samples"]["items.txt"]["sga"]) == 12
    path.write_text("3 10\n50 4\n60 5\n70 6\n")
    assert max(json.loads(call("compare", *args)[1])["samples"]["items.txt"]["sga"]) == 120


def test_plots_without_a_feasible_run(call, runs_here):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    args = ["knapsack:100-1000", "--algorithms", "sgs-b,sgs-v", "--iterations", 0, *QUICK, "--plots", "pictures"]
    code, out, err = call("compare", *args)
    assert code == 0
    assert "– (0/3)  – (0/3)" in out
    assert "no run on knapsack:100-1000 had a feasible solution: its convergence is not drawn" in err
    assert [picture.name for picture in Path("pictures").iterdir()] == ["knapsack-100-1000-boxplots.png"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Missing argument"),
        (["knapsack:20-100"], "--algorithms"),
        (["knapsack:20-100", "--algorithms", "rs"], "two or more different algorithms"),
        (["knapsack:20-100", "--algorithms", "rs,rs"], "two or more different algorithms"),
        (["knapsack:20-100", "--algorithms", "rs,sgab"], "did you mean 'sga'?"),
        (["knapsack:20-100", "--algorithms", "rs,sga", "--set", "sise=3"], "did you mean 'size'?"),
        (["knapsack:20-100", "--algorithms", "rs,sga", "--runs", "2"], "at least 3"),
        (["knapsack:20-100", "--algorithms", "rs,sga", "--stall", "-1"], "`stall >= 0` must hold"),
        (["nrp:10-10", "--algorithms", "rs,sga"], "several objectives"),
        (["missing.txt", "--algorithms", "rs,sga"], "there is none at 'missing.txt'"),
        (["knapsack:20-100", "--algorithms", "rs,sga", "--store", "."], "a store must be"),
        pytest.param(["knapsack:20-100", "--algorithms", "rs,sga", "--store", "file/x.sqlite"], "store"),
        (
            ["knapsack:20-100", "--algorithms", "rs,sga", "--html", "found.docx"],
            "`--html` ends in .html",
        ),
        (["knapsack:20-100", "--algorithms", "rs,sga", "--html", "file/x.html"], "report"),
        pytest.param(["knapsack:20-100", "--algorithms", "rs,sga", "--workers", "-1"], "workers"),
        pytest.param(
            ["knapsack:20-100", "--algorithms", "rs,sga", "--seed", "-1", "--workers", "0"],
            "workers",
        ),
    ],
    ids=lambda value: " ".join(value)[-30:] if isinstance(value, list) else "",
)
def test_bad_comparisons(call, args, message):
    Path("file").write_text("")
    assert message in refused(call("compare", *args))


def test_plots_that_cannot_be_written(call, runs_here):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    Path("file").write_text("")
    code, _, err = call("compare", *PAIR, "--plots", "file")
    assert code == 2
    assert "file" in err


# reproduce


@pytest.fixture
def tiny_paper(monkeypatch):
    """The paper's tables of knapsacks and of releases, on very small instances and few weights."""
    knapsacks = ("knapsack:20-100",)
    releases = ("nrp:5-10",)
    monkeypatch.setattr(reproduction, "WEIGHTS", (0.0, 1.0))
    groups = (
        Group("knapsack", 3, 4, 10, knapsacks, knapsacks),
        Group("nrp", 8, 9, 12, releases, releases, best_table=7),
    )
    monkeypatch.setattr(reproduction, "GROUPS", groups)


def test_reproduce_one_table(call, tiny_paper, no_runs):
    args = ["reproduce", "sgs", "--table", 3, "--quick", *QUICK]
    code, out, err = call(*args)
    assert code == 0
    assert err.startswith("systola: 3 runs of each: too few to tell chance from difference, for which 10 are needed")
    assert out.startswith("Table 3: mean error ± standard deviation, knapsack (3 runs")
    assert "Table 4" not in out
    for name in reproduction.ALGORITHMS:
        assert name in out

    no_runs()
    assert call(*args)[1] == out
    code, out, _ = call("reproduce", "sgs", "--table", 4, "--quick", *QUICK, "--json", "--output", "tables")
    assert code == 0
    assert list(strict(out)) == ["4"]
    assert [path.name for path in Path("tables").iterdir()] == ["sgs-table-04.txt"]
    code, _, _ = call("reproduce", "sgs", "--table", 10, *QUICK, "--format", "latex", "--output", "tables")
    assert code == 0
    assert r"\begin{table}" in Path("tables/sgs-table-10.tex").read_text()


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_tables_are_written_before_a_full_screen(call, tiny_paper):
    args = ["reproduce", "sgs", "--table", 3, "--quick", *QUICK, "--output", "tables"]
    with open("/dev/full", "w") as screen, contextlib.redirect_stdout(screen):
        code, _, err = call(*args)
    assert (code, err.splitlines()[-1]) == (2, "systola: the answer cannot be printed: No space left on device")
    assert Path("tables/sgs-table-03.txt").read_text().startswith("Table 3: mean error")
    Path("tables/sgs-table-03.txt").unlink()
    Path("tables/sgs-table-03.txt").mkdir()
    code, out, err = call(*args)
    assert code == 2
    assert out.startswith("Table 3: mean error")
    assert "cannot write the table to tables/sgs-table-03.txt" in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["sgs", "--table", "23"], "can be reproduced, but got Table 23"),
        (["sgs", "--figure", "10"], "can be reproduced, but got Figure 10"),
        (["sgs", "--table", "3", "--figure", "11"], "two choices, but got both"),
        (["sgs", "--sizes", "20-10"], "there is no instance '20-10' here"),
        (["sgs", "--algorithms", "sgs-x"], "there is no algorithm 'sgs-x' here; did you mean"),
        (["pgap", "--backend", "cuda"], "--backend is for sgs and sns and pugace and mls"),
        (["nobody"], "nobody"),
        (["sns", "--table", "10"], "Tables 1 to 9 and Figures 5 to 8 can be reproduced, but got Table 10"),
        (["sns", "--table", "8", "--quick"], "Tables 1 to 3 and the figures only"),
        (["sns", "--table", "2"], "must hold mknap2.txt, but no folder was named with --instances"),
        (["sns", "--table", "8", "--instances", "."], "has no gk08.dat, gk09.dat, gk10.dat, gk11.dat"),
        (["sns", "--figure", "5"], "no folder was named with --instances"),
        (["sgs", "--instances", "."], "--instances is for sns"),
        ([], "Missing argument"),
        (["sgs", "--table", "3", "--runs", "-1"], "run"),
        pytest.param(["sgs", "--table", "3", "--store", "file/x.sqlite"], "store"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_reproductions(call, tiny_paper, args, message):
    Path("file").write_text("")
    assert message in refused(call("reproduce", *args))


def test_no_runs_are_refused(call, tiny_paper, no_runs):
    no_runs()
    code, _, err = call("reproduce", "sgs", "--table", 3, "--runs", 0, "--quiet")
    assert code == 2
    assert "runs" in err


@pytest.fixture
def tiny_files(tmp_path, monkeypatch):
    """Two problems of the SNS paper's names, and a tiny budget."""
    monkeypatch.setattr(neighbourhood_paper, "evaluations_for", lambda items: 600)
    names = {"WEISH01": "mknap2.txt#WEISH01", "WEISH16": "mknap2.txt#WEISH16"}
    group = neighbourhood_paper.Group("small", 2, 3, names, tuple(names), (5, 6, 7, 8))
    monkeypatch.setattr(neighbourhood_paper, "GROUPS", (group,))
    monkeypatch.setattr(neighbourhood_paper, "ways_of", lambda backend: ())
    body = "1 7\n5 4 3 8 2 7 6\n14\n3 2 4 5 1 6 2\n0\n"
    text = "+++\n".join(f"problem {name}\n+++\n{body}" for name in names)
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "mknap2.txt").write_text(text)


def test_reproduce_from_files(call, tiny_files, no_runs):
    args = ["reproduce", "sns", "--instances", "public", *QUICK]
    code, out, err = call(*args, "--output", "tables", "--html", "page.html", "--table", 2)
    assert code == 0
    assert err.splitlines()[-1] == "systola: all tables and figures are in page.html"
    page = Path("page.html").read_text()
    (command,) = re.findall("systola reproduce sns[^<]*", page)
    for words in ("--instances public", "--table 2", "--runs 3", "--workers 1"):
        assert words in command
    assert "3 runs of each: too few" in page
    code, out, _ = call(*args, "--table", 3, "--output", "tables", "--markdown", "report/page.md")
    assert code == 0
    assert "Table 3: seconds a run" in Path("report/page.md").read_text()
    no_runs()
    code, both, _ = call(*args, "--table", 2)
    out = both + out
    assert out.startswith("Table 2: mean profit, small (3 runs")
    assert "Table 2: sns-exp-r-mr against the others" in out
    assert "Table 3: seconds a run" in out
    assert Path("results/sns.sqlite").is_file()
    assert sorted(path.name for path in Path("tables").iterdir()) == ["sns-table-02.txt", "sns-table-03.txt"]

    code, out, _ = call("reproduce", "sns", "--instances", Path("public").absolute(), "--table", 3, *QUICK, "--json")
    assert code == 0
    assert list(strict(out)) == ["3"]


def test_figures(call, tiny_files, monkeypatch):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    monkeypatch.setattr("systola.lab.reproductions.sns_figures._MOMENTS", 5)  # a run is made for each
    args = ["reproduce", "sns", "--instances", "public", "--figure", 5, "--runs", 10]
    code, out, _ = call(*args, "--figures", "pictures", "--html", "page.html", "--latex", "page.tex")
    assert code == 0
    assert out.startswith("Figure 5: the mean fitness of each row over time, sns on WEISH16")
    assert [path.name for path in Path("pictures").iterdir()] == ["sns-figure-05.png"]
    assert "<svg" in Path("page.html").read_text()
    assert "includegraphics" in Path("page.tex").read_text()
    code, out, _ = call(*args)
    assert out == "Figure 5: the mean fitness of each row over time, sns on WEISH16, a run with seed 1.\n\n"
