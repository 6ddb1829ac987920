"""The CUDA backend without a GPU: its PTX, executed on the CPU, gives the trace of the CPU's backend."""

from functools import partial

import numpy as np
import pytest

import systola as sy
from conftest import Balance, small_knapsack, small_multi_knapsack, small_release, story
from engines.test_constrained_fronts import Pack
from ptx.device import PtxDevice
from ptx.needs import needs_executor
from systola.engines import pareto
from systola.formats.catalog import open_instance

pytestmark = needs_executor
FEW = sy.Iterations(9)


def on_both(problem, engine, stop, device=None, other="cpu"):
    """On the device and on another backend: the CPU's, or the interpreted one, which it equals and which is compiled
    for nothing.
    """
    device = device or PtxDevice()
    ptx = sy.solve(problem, engine, stop=stop, seed=11, backend="cuda", device=device)
    assert ptx.backend == "cuda"
    assert device.launches["sweep"] >= ptx.iterations
    assert story(ptx) == story(sy.solve(problem, engine, stop=stop, seed=11, backend=other))
    return ptx


SMALL = {
    "knapsack": small_knapsack(70),
    "mmdp": sy.MMDP(66),
    "nrp": small_release(70),
    "mkp": small_multi_knapsack(40, 20),
}
ENGINES = {
    e.name: e for e in (*map(sy.SGS, "TEVB"), sy.SGA(), sy.EGA(), sy.GA(), sy.RS(), sy.SNS(), sy.SNS(True, True, True))
}
PAIRS = [
    *(("knapsack", engine) for engine in ("sgs-t", "sgs-b", "sga", "rs")),
    ("mmdp", "sgs-b"),
    ("nrp", "sga"),
    *(
        pytest.param(problem, engine, marks=pytest.mark.long)
        for problem, engine in (("mmdp", "sga"), ("mmdp", "rs"), ("nrp", "sgs-b"), ("nrp", "rs"))
    ),
    *(("knapsack", engine) for engine in ("sgs-e", "sgs-v", "ega")),
    pytest.param("knapsack", "sns", marks=pytest.mark.long),
    pytest.param("mkp", "sns", marks=pytest.mark.long),
    ("mkp", "sns-exp-r-mr"),
    *(pytest.param("mkp", engine, marks=pytest.mark.long) for engine in ("sgs-b", "rs", "ga")),
    pytest.param("mmdp", "sns-exp-r-mr", marks=pytest.mark.long),
]


@pytest.mark.parity("P")
@pytest.mark.parametrize(("problem", "engine"), PAIRS)
def test_same_trace(problem, engine):
    on_both(SMALL[problem], ENGINES[engine], FEW, other="cpu" if problem == "knapsack" else "python")


@pytest.mark.parametrize("random", [pytest.param(False, marks=pytest.mark.long), True])
def test_same_trace_of_repaired_solutions(random):
    on_both(small_multi_knapsack(40, 20), sy.SNS(True, random, True, repair=True, seeded=True), FEW, other="python")


def test_whole_run_of_a_mesh_races_checked():
    on_both(small_multi_knapsack(24, 3), sy.SNS(moving=True), sy.Iterations(60), PtxDevice(race=True))


SMALL_RING = partial(sy.Cellular, size=8, radius=1, local_search_interval=2)


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(SMALL_RING(local_search="best-swap"), marks=pytest.mark.long),
        pytest.param(
            SMALL_RING(selection="random", crossover="cycle", local_search="tabu", local_search_steps=10),
            marks=pytest.mark.long,
        ),
    ],
    ids=lambda e: e.local_search,
)
def test_same_trace_of_a_cellular_algorithm_races_checked(engine):
    """Against the interpreted backend, which the CPU's equals: to compile it for the CPU, too, takes as long again."""
    flows, distances = np.random.default_rng(1).integers(0, 20, (2, 6, 6))
    problem, device = sy.QuadraticAssignment(flows + flows.T, distances + distances.T), PtxDevice(race=True)
    ptx = sy.solve(problem, engine, stop=sy.Iterations(5), seed=11, backend="cuda", device=device)
    assert device.launches["sweep"] >= 5
    assert story(ptx) == story(sy.solve(problem, engine, stop=sy.Iterations(5), seed=11, backend="python"))


@pytest.mark.parametrize(
    "engine",
    [
        sy.Cellular(size=9, topology="L5", selection="tournament", replacement="better"),
        pytest.param(
            sy.Cellular(
                size=9,
                topology="L5",
                replacement="searched",
                local_search="problem",
                local_search_interval=1,
                local_search_steps=60,
            ),
            marks=pytest.mark.long,
        ),
    ],
    ids=["alone", "searched"],
)
def test_same_trace_of_reassignments_races_checked(engine):
    problem, device = open_instance("gap:c-3x20").problem, PtxDevice(race=True)
    ptx = sy.solve(problem, engine, stop=sy.Iterations(5), seed=11, backend="cuda", device=device)
    assert device.launches["sweep"] >= 5
    assert story(ptx) == story(sy.solve(problem, engine, stop=sy.Iterations(5), seed=11, backend="python"))


def check_walk(problem, engine):
    device = PtxDevice(race=True)
    ptx = sy.solve(problem, engine, stop=sy.Iterations(4), seed=11, backend="cuda", device=device)
    assert device.launches["sweep"] >= 4
    assert device.launches.get("end_step", 5) == device.launches.get("reduce_lanes", 5) == 5
    assert story(ptx) == story(sy.solve(problem, engine, stop=sy.Iterations(4), seed=11, backend="python"))


def test_same_trace_of_a_large_neighbourhood_races_checked():
    """More moves than end_step looks at without a reduction."""
    check_walk(small_knapsack(300), sy.Tabu())


@pytest.mark.parametrize(
    ("jobs", "objectives", "engine"),
    [
        pytest.param(18, "makespan,tardiness,tardy", sy.Tabu(), marks=pytest.mark.long),  # 289 moves
        pytest.param(5, "makespan", sy.Tabu(tenure=2), marks=pytest.mark.long),
        pytest.param(6, "tardiness,makespan,flowtime", sy.IteratedGreedy(size=3, rounds=2), marks=pytest.mark.long),
        (7, "makespan", sy.IteratedGreedy(size=3, rounds=1)),
    ],
    ids=["tabu", "tabu-makespan", "ig", "ig-makespan"],
)
def test_same_trace_of_walks_races_checked(jobs, objectives, engine):
    draws = np.random.default_rng(3)
    times, due = draws.integers(1, 30, (jobs, 3)), draws.integers(20, 15 * jobs, jobs)
    check_walk(sy.Flowshop(times, due, draws.integers(0, 40, jobs), objectives), engine)


@pytest.mark.parametrize("accept", ["non-dominated", pytest.param("dominating", marks=pytest.mark.long)])
def test_same_front_of_pareto_local_search_races_checked(accept, monkeypatch):
    """With so little room at first that the archive grows."""
    monkeypatch.setattr(pareto, "_FIRST_ROOM", 2)
    draws, device = np.random.default_rng(1), PtxDevice(race=True)
    due = draws.integers(20, 90, 6)
    problem = sy.Flowshop(draws.integers(1, 20, (6, 3)), due, objectives="makespan,tardiness,tardy")
    ptx = sy.solve(problem, sy.PLS(accept), stop=sy.Iterations(6), seed=11, backend="cuda", device=device)
    plain = sy.solve(problem, sy.PLS(accept), stop=sy.Iterations(6), seed=11, backend="python")
    assert story(ptx) == story(plain)
    assert ptx.front == plain.front
    assert ptx.front_solutions.tolist() == plain.front_solutions.tolist()
    if accept == "non-dominated":
        assert len(ptx.front) > 2


@pytest.mark.long
def test_same_front_with_constraints_races_checked(monkeypatch):
    """From the selection of everything, which is infeasible, to a front that is not."""
    monkeypatch.setattr(pareto, "_FIRST_ROOM", 2)
    draws = np.random.default_rng(2)
    weights = draws.integers(1, 30, 7)
    problem = Pack(*draws.integers(1, 30, (2, 7)), weights, int(0.6 * weights.sum()))
    more = {"stop": sy.Iterations(6), "seed": 11, "start": [[1] * 7]}
    ptx = sy.solve(problem, sy.PLS(), backend="cuda", device=PtxDevice(race=True), **more)
    plain = sy.solve(problem, sy.PLS(), backend="python", **more)
    assert story(ptx) == story(plain)
    assert ptx.front == plain.front
    assert ptx.front_solutions.tolist() == plain.front_solutions.tolist()
    assert ptx.trace.samples[0].violation > 0
    assert ptx.feasible
    assert len(ptx.front) > 1


@pytest.mark.parametrize(
    "engine",
    [pytest.param(engine, marks=pytest.mark.long) for engine in (sy.SGA(), sy.SGS("B"), sy.SNS(True))],
    ids=lambda e: e.name,
)
def test_same_trace_of_own_objectives(engine):
    on_both(Balance(np.random.default_rng(3).random(40)), engine, FEW)  # float sums, to the last bit


def test_whole_small_run_races_checked():
    on_both(small_knapsack(24), sy.SGS("B"), None, PtxDevice(race=True))


@pytest.mark.long
@pytest.mark.parametrize(("spec", "flavour"), [("knapsack:200-1000", "B"), ("mmdp:120", "E")])
def test_whole_medium_run(spec, flavour):
    result = on_both(open_instance(spec).problem, sy.SGS(flavour), None, PtxDevice(check=False))
    assert result.objective == open_instance(spec).best_known


def test_thread_order_does_not_matter():
    stories = {
        str(story(on_both(small_knapsack(70), sy.SGS("E"), FEW, PtxDevice(check=False, order=order))))
        for order in (1, 1000, 2000)
    }
    assert len(stories) == 1


def test_warm_start_checkpoint_and_resume_across_backends(tmp_path):
    problem, path = small_knapsack(70), tmp_path / "state"
    start = [np.zeros(70, int)]
    whole = sy.solve(problem, sy.SGS("B"), stop=sy.Iterations(12), start=start)
    sy.solve(
        problem,
        sy.SGS("B"),
        stop=sy.Iterations(5),
        start=start,
        backend="cuda",
        device=PtxDevice(check=False),
        checkpoint=path,
    )
    on_cpu = sy.solve(problem, sy.SGS("B"), stop=sy.Iterations(12), start=start, resume=path)
    on_gpu = sy.solve(
        problem,
        sy.SGS("B"),
        stop=sy.Iterations(12),
        start=start,
        resume=path,
        backend="cuda",
        device=PtxDevice(check=False),
    )
    assert story(whole) == story(on_cpu) == story(on_gpu)
