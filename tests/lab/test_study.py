"""Comparisons of algorithms: what their reports say, in words, tables and pictures, without a single run."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from conftest import needs
from lab.page import Page
from systola.errors import InputError
from systola.formats.catalog import open_instance
from systola.lab.experiment import plan
from systola.lab.statistics import compare
from systola.lab.study import Study, check_names, compare_algorithms
from systola.lab.study_report import instance_table, mean_ranks, rank_table
from systola.lab.words import join, tell_algorithms, tell_instance, warn_of_few_runs

NAMES = ("rs", "sga", "<i>$own$")
INSTANCES = ("knapsack:20-100", "mmdp:30")
VALUES = {
    "rs": [10, 12, 11, 13, 12, 10],
    "sga": [500, 510, 505, 515, 512, 501],
    "<i>$own$": [1000, 1001, 1002, 1003, 1004, 1005],
}

WORST = ("<i>$own$", (1.0,) * 6)


@cache
def study_of(*violations: tuple[str, tuple[float, ...]]) -> Study:
    """Six runs of three algorithms on two instances, with these objectives; larger ones are better."""
    instances = {name: open_instance(name) for name in INSTANCES}
    jobs = plan(INSTANCES, NAMES, 6)
    rows: list[dict[str, Any]] = []
    results = []
    for job in jobs:
        value = VALUES[job.algorithm][job.seed - 1]
        broken = dict(violations).get(job.algorithm, (0.0,) * 6)[job.seed - 1]
        told = {"objective": value, "feasible": broken == 0, "violation": broken, "evaluations": 900, "seconds": 0.5}
        rows.append({"instance": job.instance, "algorithm": job.algorithm, "seed": job.seed, **told})
        trace = {"evaluations": [1, 30, 900], "objective": [1, value // 2, value], "violation": [7.0, broken, broken]}
        results.append((job, {"parameters": {"size": 8}, "trace": trace}))
    study = Study(NAMES, instances, jobs, rows, {}, results)
    samples = study.outcomes
    tests = {
        name: compare(samples.objectives[name], minimise=False, violations=samples.violations[name])
        for name in INSTANCES
    }
    return Study(NAMES, instances, jobs, rows, tests, study.results)


def test_words_say_who_is_better() -> None:
    told = tell_algorithms(NAMES, study_of().tests)
    assert told == [
        "rs is worse than sga on 2 and <i>$own$ on 2 of 2 instances.",
        "sga is better than rs on 2 of 2 instances; worse than <i>$own$ on 2 of 2 instances.",
        "<i>$own$ is better than rs on 2 and sga on 2 of 2 instances.",
    ]
    one = compare({"a": [1, 2, 3], "b": [1, 2, 3]})
    assert tell_algorithms(["a", "b"], {"x": one})[0] == "a: no difference from any other was found."
    assert tell_instance("x", one).endswith("No difference was found at alpha 0.05.")
    assert "sga is better than rs (p = 0.015); <i>$own$ is" in tell_instance("x", study_of().tests["mmdp:30"])
    assert join(["a"]) == "a"
    assert join(["a", "b", "c"]) == "a, b and c"


def test_words_when_runs_are_infeasible() -> None:
    found = study_of(WORST)
    assert tell_algorithms(NAMES, found.tests)[2] == "<i>$own$ is worse than rs on 2 and sga on 2 of 2 instances."
    assert "some runs are infeasible, so that ranks are tested" in tell_instance("x", found.tests["mmdp:30"])


@pytest.mark.parametrize(("runs", "count", "enough"), [(3, 2, 4), (4, 2, 0), (4, 7, 6), (6, 7, 0)])
def test_too_few_runs(runs: int, count: int, enough: int) -> None:
    """With n runs each, the most extreme order of two samples has probability 2 in (2n choose n)."""
    told = warn_of_few_runs(runs, [str(k) for k in range(count)], 0.05)
    assert told == "" if not enough else told.endswith(f"make {enough} or more.")


def test_ranks() -> None:
    assert mean_ranks(study_of())["mmdp:30"] == {"rs": 3, "sga": 2, "<i>$own$": 1}
    assert mean_ranks(study_of(WORST))["mmdp:30"] == {"rs": 2, "sga": 1, "<i>$own$": 3}
    table = rank_table(study_of())
    assert [cell.text for cell in table.rows[2]] == ["<i>$own$", "1.00", "2", "4", "0", "0"]
    assert [row[1].bold for row in table.rows] == [False, False, True]


def test_infeasible_runs_come_last_in_the_table_of_an_instance() -> None:
    table = instance_table(study_of(("<i>$own$", (0, 1.0, 2.0, 1.0, 1.0, 3.0)), ("rs", (0.5,) * 6)), "mmdp:30")
    rows = {row[0].text: dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}
    own, rs = rows["<i>$own$"], rows["rs"]
    assert (own["best"].text, own["worst"].text) == ("1,000", "1,005 (infeasible)")
    assert own["worst"].infeasible == 1
    assert own["mean"].text == "1,000"
    assert own["feasible"].text == "1/6"
    assert not own["mean"].bold  # sga has more feasible runs
    assert rows["sga"]["mean"].bold
    assert (rs["best"].text, rs["mean"].text, rs["hits"].text) == ("13 (infeasible)", "–", "0/6")
    assert rs["gap %"].infeasible == 1


@needs("matplotlib", "plots")
def test_report() -> None:
    report = study_of(("rs", (0, 0, 0, 0, 0, 2.0))).report("systola compare 'x y'")
    page = Page(report.to_html())
    assert len(page.of("svg")) == 6
    assert page.fetched() == []
    assert page.of("i") == []
    for words in ("<i>$own$ is better than", "1 to 6", "size 8", "systola compare 'x y'", "2 of 36 runs ended"):
        assert words in page.text, words
    assert max(map(len, report.to_text().partition("Make it again")[0].splitlines())) <= 120


def test_report_without_matplotlib(without_package: Any) -> None:
    without_package("matplotlib")
    page = Page(study_of().report().to_html())
    assert page.of("svg") == []
    assert (
        'Pictures are left out: drawing a plot needs the extra "plots"' in page.text or "Pictures are left" in page.text
    )


def test_notebooks_show_the_tables() -> None:
    assert repr(study_of()) == "<Study: rs, sga, <i>$own$ on knapsack:20-100, mmdp:30, 6 runs of each>"
    page = Page(study_of()._repr_html_())
    assert len(page.of("table")) == 2
    assert page.of("i") == []


def test_refusals() -> None:
    with pytest.raises(InputError, match="two or more different algorithms, but got 'rs'"):
        check_names(["rs"], 30)
    with pytest.raises(InputError, match="two or more different algorithms, but got 'rs,sga'"):
        compare_algorithms(["knapsack:20-100"], "rs,sga")
    with pytest.raises(InputError, match="one instance or more"):
        compare_algorithms([], ["rs", "sga"])
    with pytest.raises(InputError, match="several objectives"):
        compare_algorithms(["nrp:10-10"], ["rs", "sga"])
    with pytest.raises(InputError, match="did you mean 'sga'"):
        compare_algorithms(["knapsack:20-100"], ["rs", "sgab"])


UNGUARDED = """
import systola as sy
from systola.lab.study import compare_algorithms

compare_algorithms(["knapsack:100-100"], ["sgs-b", "rs"], runs=3, stop=sy.Iterations(20))
"""


def test_an_unguarded_script_is_a_sentence(tmp_path):
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1, done.stderr
    assert 'put that part of it under `if __name__ == "__main__":`' in done.stderr
