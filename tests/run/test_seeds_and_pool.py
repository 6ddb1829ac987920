"""Several seeds and a pool of solutions; what is told while kernels are compiled, and by the logger."""

import logging
import time

import numpy as np
import pytest

import systola as sy
from own_problems import OneMax
from systola.run.compiling import telling_of_compiling

QUICK = {"stop": sy.Iterations(3), "backend": "python"}


class Front(sy.Problem):
    """Few ones, but many among the first four."""

    encoding = sy.Binary("n")
    sense = (sy.MINIMISE, sy.MAXIMISE)
    n: int

    def evaluate(self, x):
        return int(np.sum(x)), int(np.sum(x[:4]))


class Even(sy.Problem):
    """At most `most` ones, of which as many as possible; costs are what is minimised."""

    encoding = sy.Binary("costs")
    sense = sy.MINIMISE
    costs: np.ndarray
    least: int

    def evaluate(self, x):
        return np.sum(self.costs * x), max(0, self.least - np.sum(x))

    def violation(self, measures):
        return measures[1]


def even():
    return Even(np.array([5, 3, 8, 1, 9, 2, 7, 4]), 4)


@pytest.mark.parametrize("engine", [None, "sga", "sa", "tabu", sy.Islands(sy.SteadyState(size=6), 2, synchronous=True)])
def test_a_pool_has_different_solutions_the_best_one_first(engine):
    problem = even()
    result = sy.solve(problem, engine, pool=5, **QUICK)
    assert result.pool[0]["solution"].tolist() == result.solution.tolist()
    assert result.pool[0]["objective"] == result.objective
    assert len({entry["solution"].tobytes() for entry in result.pool}) == len(result.pool) <= 5
    ranks = []
    for entry in result.pool:
        cost, missing = problem.evaluate(entry["solution"].astype(np.int64))
        assert (entry["objective"], entry["violation"]) == (cost, missing)
        ranks.append((missing, cost))
    assert ranks == sorted(ranks)
    if engine == "sga":
        assert len(result.pool) == 5


def test_all_solutions_of_a_tiny_problem_are_in_a_large_pool():
    result = sy.solve(OneMax(3), "sga", pool=100, stop=sy.Iterations(40), backend="python")
    assert len(result.pool) == len({tuple(e["solution"].tolist()) for e in result.pool}) <= 8


def test_the_best_of_several_seeds():
    result = sy.solve(even(), "rs", seed=4, seeds=5, pool=6, **QUICK)
    alone = [sy.solve(even(), "rs", seed=seed, **QUICK) for seed in range(4, 9)]
    assert [run.seed for run in result.runs] == [4, 5, 6, 7, 8]
    assert [run.solution.tolist() for run in result.runs] == [run.solution.tolist() for run in alone]
    worths = [(run.violation, run.objective) for run in alone]
    assert (result.violation, result.objective) == min(worths)
    assert result.seed == 4 + worths.index(min(worths))
    assert (result.pool[0]["violation"], result.pool[0]["objective"]) == min(worths)
    assert result.repeatable


def test_the_best_of_several_seeds_by_fitness():
    class Ranked(Front):
        def fitness(self, measures):
            return 3 * measures[1] - measures[0]

    result = sy.solve(Ranked(12), "rs", seeds=4, **QUICK)
    assert result.objective == max((run.objective for run in result.runs), key=lambda o: 3 * o[1] - o[0])


def test_a_result_of_several_runs_can_be_kept(tmp_path):
    result = sy.solve(even(), "rs", seeds=2, pool=3, **QUICK)
    result.save(tmp_path / "r.json")
    again = sy.Result.load(tmp_path / "r.json")
    assert [run.to_json() for run in again.runs] == [run.to_json() for run in result.runs]
    assert [e["solution"].tolist() for e in again.pool] == [e["solution"].tolist() for e in result.pool]
    assert "2, of which this is the best" in again.summary()
    assert "3 different solutions" in again.summary()
    for bad in ([{"solution": [1]}], [{"solution": [1] * 8, "objective": "x", "violation": 0}]):
        with pytest.raises(sy.InputError, match="its pool is"):
            sy.Result.from_json({**result.to_json(), "pool": bad})


def test_an_interrupted_run_is_the_last_one():
    result = sy.solve(even(), "rs", seeds=5, callback=lambda progress: progress.stage == "compiling", **QUICK)
    assert result.stop == "callback"
    assert len(result.runs) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seeds": 0}, "`seeds` must be"),
        ({"seeds": 2.5}, "`seeds` must be"),
        ({"pool": -1}, "`pool` must be"),
        ({"seeds": 2, "checkpoint": "x"}, "checkpoints and records are of one; leave them out"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(sy.InputError, match=said):
        sy.solve(even(), "rs", **QUICK, **options)


def test_runs_without_a_common_measure_are_not_compared():
    with pytest.raises(sy.InputError, match="has no `fitness` by which"):
        sy.solve(Front(8), seeds=2, **QUICK)


@pytest.mark.parametrize("tells", [True, False])
def test_long_compiling_is_told(tells, capsys, monkeypatch):
    monkeypatch.setattr("systola.run.compiling._PATIENCE_SECONDS", 0.01)
    with telling_of_compiling("Mine", tells) as compiling:
        time.sleep(0.2)
    assert compiling.seconds >= 0.2
    told = capsys.readouterr()
    assert told.out == ""
    assert ("compiling the kernels for Mine" in told.err) is tells


def test_short_compiling_is_not_told(capsys):
    assert sy.solve(even(), "rs", **QUICK).compile_seconds < 60
    assert capsys.readouterr().err == ""


def test_the_logger_tells_of_runs(caplog):
    with caplog.at_level(logging.INFO, "systola"), pytest.warns(sy.InfeasibleWarning):
        sy.solve(Even(np.ones(3), 4), "rs", instance="mine", **QUICK)
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert ("INFO", "mine, rs, seed 1: started") in told
    assert any(level == "INFO" and "<Result:" in message for level, message in told)
    assert any(level == "WARNING" and "no feasible solution" in message for level, message in told)
