"""What engines look like: every engine has a picture that a log can hold, and it shows what the population holds."""

import base64

import numpy as np
import pytest

import systola as sy
from golden import cases
from systola.engines import picture
from systola.model.objective import fitness, violation
from systola.model.population import Standing
from systola.model.problem import record_of
from systola.run.log_reading import find_wrong

FRAME = {"seconds": 0.0, "iterations": 0, "evaluations": 0, "best": None, "feasible": True, "violation": 0}
FITTING = {  # a problem that each engine takes
    "sgs-b": "knapsack", "sgs-e": "mmdp", "sga": "knapsack", "cellular": "qap", "cellular-sweep": "qap",
    "cellular-torus": "own-integers", "ssga": "own-order", "hill": "qap", "tabu": "own-bits", "ig": "makespan",
    "sa": "own-floats", "ils": "own-integers", "tour": "own-chain", "its": "own-levels", "pls": "flowshop",
    "sns": "mkp", "sns-mr": "mmdp", "islands": "qap", "auto": "own-order",
}  # fmt: skip
KINDS = {"hill": "walk", "tabu": "walk", "sa": "walk", "ils": "walk", "tour": "walk", "its": "walk"}


def last_progress(problem, engine, steps, **rest):
    told = []
    result = sy.solve(
        problem, engine, stop=sy.Iterations(steps), seed=3, backend="python", callback=told.append, **rest
    )
    return told[-1], result


def is_in_a_log(shown):
    return not find_wrong({"kind": "frame", "stage": "running", **FRAME, "picture": shown})


@pytest.mark.parametrize("name", FITTING)
def test_each_engine_has_a_picture(name):
    problem, engine = cases.problems()[FITTING[name]], cases.engines()[name]
    progress, _ = last_progress(problem, engine, 8 if name == "islands" else 3)
    shown = progress.picture()
    kinds = {"pls": "front", "islands": "demes", "auto": shown["type"], **KINDS}
    assert shown["type"] == kinds.get(name, "field")
    assert is_in_a_log(shown)


@pytest.mark.parametrize("name", ["sgs-b", "sgs-e", "sga", "cellular", "cellular-sweep", "ssga", "ig", "sns"])
def test_a_field_shows_the_best_of_the_population(name):
    problem = cases.problems()[FITTING[name]]
    progress, _ = last_progress(problem, cases.engines()[name], 5)
    engine, shown, population = cases.engines()[name], progress.picture(), progress.snapshot()
    design = engine.prepare(problem)
    record = record_of(problem)
    half = design.started if design.rows >= 2 * design.started else 0  # after an odd number of steps
    scores = population.scores[half : half + design.started]
    feasible = [row for row in scores if violation(record, row) == 0]
    worth = [fitness(record, row) for row in feasible or scores]
    assert shown["high"] == max(worth)
    if name in ("sga", "cellular", "ssga", "ig"):
        cells = np.frombuffer(base64.b64decode(shown["values"]), np.uint8)
        assert shown["low"] == min(worth)
        assert (cells < 255).sum() == len(worth)


@pytest.mark.parametrize("flavour", "TEVB")
def test_cells_of_a_grid_hold_what_flows_through_them(flavour):
    problem, engine = cases.problems()["mmdp"], sy.SGS(flavour, length=9, width=5)
    progress, _ = last_progress(problem, engine, 7)
    design, population = engine.prepare(problem), progress.snapshot()
    rows = np.stack(sy.SGS.rows_of_cells(design, population.slots, 7))
    worth = population.scores[rows, 0].max(axis=0).astype(float)
    scaled = np.round((worth - worth.min()) / np.ptp(worth) * 254)
    shown = progress.picture()
    assert (shown["rows"], shown["columns"]) == (5, 9)
    assert np.frombuffer(base64.b64decode(shown["values"]), np.uint8).tolist() == scaled.ravel().tolist()


def test_large_grids_are_sampled_and_small_ones_are_not():
    problem = sy.MMDP(18)
    design = sy.SGS("B", length=300, width=100).prepare(problem)
    scores = np.arange(design.rows)[:, None]
    shown = picture.picture_of(problem, design, Standing(scores, design.slots, np.zeros(2)), 1)
    assert (shown["rows"], shown["columns"]) == (64, 64)
    assert is_in_a_log(shown)


def test_a_ring_is_folded():
    problem = cases.problems()["own-bits"]
    design = sy.Cellular(size=1000).prepare(problem)
    scores = np.arange(2000)[:, None]
    shown = picture.picture_of(problem, design, Standing(scores, design.slots, np.zeros(2)), 2)
    cells = np.frombuffer(base64.b64decode(shown["values"]), np.uint8)
    assert (shown["rows"], shown["columns"], (cells == 255).sum()) == (32, 32, 24)
    assert (shown["low"], shown["high"]) == (0, 999)


def test_walks_and_fronts_are_in_the_units_of_the_problem():
    problem = cases.problems()["qap"]
    progress, result = last_progress(problem, sy.Tabu(), 12)
    assert progress.picture()["best"] == [result.objective]
    progress, result = last_progress(cases.problems()["flowshop"], sy.PLS(), 12)
    shown = progress.picture()
    assert sorted(shown["points"]) == result.front
    assert shown["size"] >= len(result.front)


def test_a_long_front_is_thinned():
    problem = cases.problems()["own-front"]
    engine = sy.PLS()
    design = engine.prepare(problem)
    memory = np.zeros(5000, np.int64)
    rows = np.arange(1, 3001)
    design = picture.replace(design, rows_in_use=lambda memory: rows)
    scores = np.stack([np.arange(4000), np.arange(4000)], axis=1)
    shown = picture.picture_of(problem, design, Standing(scores, design.slots, memory), 1)
    assert len(shown["points"]) == 200
    assert shown["size"] == 3000
    assert is_in_a_log(shown)


def test_what_is_infeasible_has_no_value_unless_all_is():
    problem = sy.Knapsack([3, 4, 5], [2, 3, 4], 4)
    design = sy.SGA(3).prepare(problem)
    few = Standing(np.array([[3, 2], [9, 7], [4, 3], [0, 0], [0, 0], [0, 0]]), design.slots, np.zeros(2))
    shown = picture.picture_of(problem, design, few, 2)
    assert (shown["name"], shown["low"], shown["high"]) == ("fitness", 3, 4)
    assert list(base64.b64decode(shown["values"])) == [0, 255, 254]
    none = Standing(np.tile([[9, 7]], (6, 1)), design.slots, np.zeros(2))
    shown = picture.picture_of(problem, design, none, 2)
    assert (shown["name"], shown["high"]) == ("fitness, infeasible", 9 - 3 * 4)


def test_demes_tell_who_sent_how_many():
    problem, sent = cases.problems()["qap"], {}
    told = []
    engine = sy.Islands(sy.SteadyState(size=12), 4, synchronous=True, export_every=8, import_every=4)
    result = sy.solve(problem, engine, stop=sy.Iterations(24), backend="python", callback=told.append)
    shown = told[-1].picture()
    assert (shown["rows"], shown["columns"], len(shown["best"])) == (2, 2, 4)
    assert min(shown["best"]) == result.objective
    assert shown["iterations"] == [24] * 4
    for source, _, count in shown["migrations"]:
        sent[source] = sent.get(source, 0) + count
    assert sent == {deme["deme"]: deme["sent"] for deme in result.islands["demes"] if deme["sent"]}
    assert told[-1].picture()["migrations"] == []  # since the last picture
    assert (told[-1].best().decisions == result.solution).all()
