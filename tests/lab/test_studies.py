"""Studies beside the tables of the papers, each by a tiny run."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import systola as sy
from systola.cli.reproduce import _PARTS, reproduce
from systola.errors import InputError
from systola.formats import open_instance
from systola.lab.film import film_grid
from systola.lab.reproductions import pugace_studies, sgs_studies, sns_studies
from systola.lab.reproductions.effort import Effort
from systola.lab.reproductions.pugace_readings import READINGS
from systola.lab.store import Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.sqlite") as opened:
        yield opened


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def study_of(module, part):
    (study,) = module.choose_groups(None, True, part=part)
    return study


def test_a_study_is_one_choice():
    with pytest.raises(InputError, match="Table 3 and --part plans are two choices"):
        sgs_studies.choose_groups(3, part="plans")
    with pytest.raises(InputError, match="but got --sizes, too"):
        sgs_studies.choose_groups(None, part="plans", sizes=["mmdp:300"])


@pytest.mark.parametrize("part", ["plans", "shapes", "growth"])
def test_studies_of_grids(part, store, monkeypatch):
    monkeypatch.setitem(sgs_studies._QUICK, part, ("mmdp:12", "mmdp:18"))
    told = []
    effort = Effort(True, 2, on_done=lambda done, of, job: told.append((done, of)))
    made = sgs_studies.reproduce(study_of(sgs_studies, part), store, effort)[part]
    rows = texts(made[0])
    assert {row[0] for row in rows} == {"mmdp:12", "mmdp:18"}
    assert told[-1][0] == told[-1][1] == len(told) == 2 * len(rows)
    assert all("/2" in cell for row in rows for cell in row if "/" in cell)
    count = len(store.rows(sgs_studies.EXPERIMENT))
    assert sgs_studies.reproduce(study_of(sgs_studies, part), store, effort)[part][0] == made[0]
    assert len(store.rows(sgs_studies.EXPERIMENT)) == count  # nothing was run twice
    for sketch in made[1:]:
        assert sketch.draw().axes


def test_plans_are_for_every_cell():
    for l, length, width in ((12, 12, 4), (30, 15, 7)):  # noqa: E741
        for label, (first, last) in sgs_studies.crossover_plans(l, length, width).items():
            assert first.shape == last.shape == (width, length), label
            assert ((first >= 0) & (first <= last) & (last <= l)).all(), label
        for label, turn in sgs_studies.mutation_plans(l, length, width).items():
            assert turn.shape == (width, length), label
            assert ((turn >= 0) & (turn < l)).all(), label


@pytest.mark.parametrize("normalised", [False, True])
def test_a_weighted_sum_is_best_of_all_releases(normalised):
    """Eq. 9, by trying all subsets."""
    random = np.random.default_rng(3)
    costs, values = random.integers(1, 20, 8), random.integers(1, 60, 8)
    scale = (costs.sum(), values.sum()) if normalised else (1, 1)
    subsets = np.array([[k >> j & 1 for j in range(8)] for k in range(256)])
    for weight, (cost, value) in zip(
        sgs_studies.WEIGHTS, sgs_studies.weighted_sums(costs, values, normalised), strict=True
    ):
        sums = -(1 - weight) * (subsets @ costs) / scale[0] + weight * (subsets @ values) / scale[1]
        assert -(1 - weight) * cost / scale[0] + weight * value / scale[1] == pytest.approx(sums.max())


def test_areas():
    assert sgs_studies._area([(0.0, 0.0), (1.0, 1.0)]) == 0
    assert sgs_studies._area([(0.0, 0.0), (0.25, 0.5), (0.75, 0.75)]) == pytest.approx(0.5 * 0.5 + 0.25 * 0.75)


def test_scalarisations_side_by_side(store, monkeypatch):
    monkeypatch.setitem(sgs_studies._QUICK, "scalarisation", ("nrp:5-8",))
    ((table,),) = sgs_studies.reproduce(study_of(sgs_studies, "scalarisation"), store).values()
    assert [row[1] for row in texts(table)] == ["Eq. 9, as printed", "Eq. 9 of Eqs. 11", "Eq. 12, chosen"]


def test_distances_are_exact():
    """What stands for Eq. 12 is the best of all releases."""
    problem = open_instance("nrp:5-8?weight=0.3").problem
    subsets = np.array([[k >> j & 1 for j in range(8)] for k in range(256)])
    best = max(problem.scalar((int(x @ problem.costs), int(x @ problem.values))) for x in subsets)
    assert problem.scalar(sgs_studies._best_by_distance("nrp:5-8", 0.3)) == pytest.approx(best)


# PUGACE


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(5)
    for name in ("chr20a", "chr25a"):
        flows, distances = (np.triu(random.integers(1, 9, (6, 6)), 1) for _ in range(2))
        lines = [" ".join(map(str, row)) for matrix in (flows, distances) for row in matrix + matrix.T]
        (tmp_path / f"{name}.dat").write_text("\n".join(["6", *lines]) + "\n")
    return tmp_path


@pytest.fixture
def small(monkeypatch):
    """A population of 16 and a few generations."""
    monkeypatch.setattr(pugace_studies, "ENGINE", replace(pugace_studies.ENGINE, size=16, block=4))
    monkeypatch.setattr(pugace_studies, "SIZES", (10, 12, 16))
    monkeypatch.setattr(pugace_studies, "SHORT", 3)
    monkeypatch.setattr(pugace_studies, "GENERATIONS", 3)


def test_parameters_meet_alike_often():
    combinations = pugace_studies.orthogonal()
    assert len(set(combinations)) == 9
    for one, two in ((0, 1), (0, 2), (1, 2)):
        assert len({(row[one], row[two]) for row in combinations}) == 9
    for other in range(3):
        assert sorted({(row[other], row[3]) for row in combinations}) == sorted(
            (level, length) for level in {row[other] for row in combinations} for length in pugace_studies.LENGTHS
        )


def test_calibration(small, folder, store):
    study = study_of(pugace_studies, "calibration")
    pugace_studies.check_files(str(folder), (study,))
    ((runs, levels),) = pugace_studies.reproduce(study, store, Effort(True, 2), folder=str(folder)).values()
    assert len(runs.rows) == 9
    assert [row[0] for row in texts(levels)] == ["size", "crossover", "mutation", "length"]
    assert [row[3] for row in texts(levels)] == ["2048", "0.9", "0.1", "4"]


def test_run_times(small, folder, store):
    study = study_of(pugace_studies, "runtime")
    ((table,),) = pugace_studies.reproduce(study, store, Effort(True, 1), folder=str(folder)).values()
    rows = texts(table)
    assert [row[0].split()[0] for row in rows] == ["size"] * 3 + ["crossover"] * 3 + ["mutation"] * 3
    assert [row[2] == "–" for row in rows] == [True, False, False] * 3
    assert rows[-1][3] == "+10 %"


def test_readings_beside_the_published_hits(small, folder, store, monkeypatch):
    few = {label: replace(pugace_studies.ENGINE, radius=k) for k, label in enumerate(("ours", "other"), 1)}
    monkeypatch.setattr(pugace_studies, "READINGS", few)
    monkeypatch.setattr(pugace_studies, "QUICK_READINGS", tuple(few))
    study = study_of(pugace_studies, "readings")
    ((table,),) = pugace_studies.reproduce(study, store, Effort(True, 2), folder=str(folder)).values()
    assert [row[0] for row in texts(table)] == ["ours", "other", "published"]
    assert texts(table)[-1][1:3] == ["8/10", "44 to 97"]


def test_a_study_needs_its_files(folder):
    (folder / "chr20a.dat").unlink()
    with pytest.raises(InputError, match=r"has no chr20a\.dat"):
        pugace_studies.check_files(str(folder), (study_of(pugace_studies, "readings"),))


def test_each_reading_gives_solutions_of_the_cost_that_it_says(folder):
    problem = open_instance(str(folder / "chr20a.dat"), "qap").problem
    for label, engine in READINGS.items():
        small = replace(engine, size=12, block=4 if engine.block else 0)
        result = sy.solve(problem, small, stop=sy.Iterations(12), seed=2, backend="python")
        assert sorted(result.solution) == list(range(6)), label
        assert result.objective == problem.evaluate(result.solution), label


def test_an_exchange_that_is_made_only_if_it_improves(folder):
    """With nothing but that local search, nobody in the population gets worse, and each that can gets better."""
    problem = open_instance(str(folder / "chr20a.dat"), "qap").problem
    quiet = replace(
        READINGS["best exchange only if it improves"],
        size=12,
        block=0,
        crossover_probability=0,
        mutation_probability=0,
        local_search_interval=1,
        replacement="generation",
    )
    results = [sy.solve(problem, quiet, stop=sy.Iterations(k), seed=1, backend="python").objective for k in range(20)]
    assert results == sorted(results, reverse=True)
    assert results[-1] < results[0]


# SNS


@pytest.mark.parametrize("engine", [sy.SNS(exponential=True), sy.SNS(rows=[1, -2], moving=True)])
def test_contributions_of_cells_add_up(engine):
    """All that the population has gained was gained in cells, and each cell by one solution a step."""
    problem, steps = open_instance("mkp:12x3").problem, 30
    counts, gains = sns_studies.contributions(problem, engine, steps, backend="python")
    first, last = (sum(map(np.sum, film_grid(problem, engine, [k], backend="python"))) for k in (0, steps))
    assert gains.sum() == pytest.approx(last - first)
    assert counts.max() <= steps
    assert ((counts > 0) == (gains > 0)).all()
    assert counts.sum() > 0


@pytest.fixture
def knapsacks(tmp_path, monkeypatch):
    monkeypatch.setattr(sns_studies, "QUICK", ("mkp:12x3",))
    monkeypatch.setattr(sns_studies, "FILE", "")
    monkeypatch.setattr(sns_studies, "join", lambda folder, name: name.removeprefix("#"))
    monkeypatch.setattr(sns_studies, "_budget", lambda problem: 2000)


def test_contribution_of_each_cell(knapsacks, store):
    table, *sketches = sns_studies.reproduce(study_of(sns_studies, "cells"), store, folder="")["cells"]
    assert [row[1] for row in texts(table)] == ["sns", "sns-exp"]
    for row in texts(table):
        assert sum(map(float, row[4:8])) == pytest.approx(100, abs=0.3)
        assert sum(map(float, row[8:12])) == pytest.approx(100, abs=0.3)
    assert all(sketch.draw().axes for sketch in sketches)


def test_each_picture_of_a_study_has_a_file(knapsacks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sns_studies, "check_files", lambda folder, groups: None)
    told = CliRunner().invoke(reproduce, ["sns", "--part", "cells", "--quick", "--figures", "drawn", "--quiet"])
    assert told.exit_code == 0, told.exception
    assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == ["sns-cells-1.png", "sns-cells-2.png"]


def test_other_heuristics_by_row(knapsacks, store):
    (table,) = sns_studies.reproduce(study_of(sns_studies, "rows"), store, Effort(True, 1), folder="")["rows"]
    assert [int(row[2]) for row in texts(table)] == [12, 4, 4, 8, 4, 8, 4]
    assert all(row[4] in ("0/1", "1/1") for row in texts(table))


@pytest.mark.parametrize("paper", ["sgs", "sns", "pugace"])
def test_every_part_of_the_command_is_a_study(paper):
    studies = {"sgs": sgs_studies, "sns": sns_studies, "pugace": pugace_studies}[paper]
    assert _PARTS[paper] == tuple(studies.STUDIES)


def test_a_part_of_another_paper(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(reproduce, ["sgs", "--part", "cells"])
    assert isinstance(told.exception, InputError)
    assert "the parts of sgs are plans, shapes, growth, scalarisation, but got cells" in str(told.exception)
