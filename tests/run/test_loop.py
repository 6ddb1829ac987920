"""`Run` takes any search to its end: here one in plain Python, which is no engine."""

import os
import signal
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
import systola.run.loop
from conftest import small_knapsack
from run.enumerator import Enumerator, best_profit
from systola.extend import Run, Search, run_search
from systola.run.checkpoint import read_checkpoint

STEPS = -(-(2**8) // 3)  # of all subsets of eight items, three a step


def enumerator(**rest):
    return Enumerator(small_knapsack(8), **rest)


def told(run):
    """All of a run but its clock."""
    samples = [(s.step, s.evaluations, s.objective, s.violation) for s in run.trace.samples]
    best = run.best()
    return best.measures.tolist(), list(best.decisions), best.step, run.step, run.evaluations, run.reason, samples


def test_an_exact_search_ends_by_itself():
    run = run_search(enumerator(), sy.Seconds(60))
    assert (run.reason, run.step, run.evaluations) == ("finished", STEPS, 2**8 + 1)
    assert run.best().measures[0] == best_profit(run.problem)
    assert [s.step for s in run.trace.samples] == list(range(STEPS + 1))
    assert (run.backend, run.threads) == ("python", 1)


@pytest.mark.parametrize(
    ("stop", "reason", "step"),
    [
        (sy.Iterations(0), "iterations", 0),
        (sy.Iterations(7), "iterations", 7),
        (sy.Evaluations(1), "evaluations", 0),
        (sy.Evaluations(21), "evaluations", 6),
        (sy.Evaluations(22), "evaluations", 7),
        (sy.Evaluations(21) | sy.Iterations(6), "iterations", 6),
        (sy.Seconds(0), "seconds", 0),
        (sy.Seconds(0) | sy.Iterations(7), "seconds", 0),
    ],
    ids=repr,
)
def test_budgets(stop, reason, step):
    run = run_search(enumerator(), stop)
    assert (run.reason, run.step) == (reason, step)
    assert run.repeatable == (stop.seconds is None)


def test_a_target_ends_a_run_at_once():
    whole = run_search(enumerator(), sy.Seconds(60))
    for sample in whole.trace.samples:
        run = run_search(enumerator(), sy.Target(sample.objective) | sy.Seconds(60))
        first = next(s.step for s in whole.trace.samples if s.objective >= sample.objective)
        assert (run.reason, run.step) == ("target", first)


def test_a_stall_ends_a_run():
    found = [s.objective for s in run_search(enumerator(), sy.Seconds(60)).trace.samples]
    for patience in (1, 3, 9):
        run = run_search(enumerator(), sy.Stall(patience))
        assert run.reason == "stall"
        assert found[run.step - patience :][0] == found[run.step]
        assert run.step - run.best().step == patience


def test_seconds_end_a_run_that_would_last_longer():
    began = time.perf_counter()
    run = run_search(enumerator(pause=lambda: time.sleep(0.02)), sy.Seconds(0.2))
    assert run.reason == "seconds"
    assert 0.2 <= run.seconds <= time.perf_counter() - began < 2
    assert 0 < run.step < STEPS


def test_no_call_asks_for_more_than_may_be_spent():
    search = enumerator()
    run_search(search, sy.Iterations(40) | sy.Evaluations(100) | sy.Seconds(60))
    assert search.step == 33
    assert all(1 <= steps <= 33 and 0 < seconds <= 0.1 for steps, seconds in search.calls)


def test_it_can_start_from_solutions():
    best = run_search(enumerator(), sy.Seconds(60)).best()
    run = run_search(enumerator(), sy.Iterations(1), start=[best.decisions])
    assert (run.best().measures[0], run.best().step) == (best.measures[0], 0)


@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, STEPS), max_size=4), last=st.integers(0, STEPS + 5))
def test_resumed_runs_are_the_same(tmp_path_factory, cuts, last):
    path = tmp_path_factory.mktemp("run") / "state"
    whole = run_search(enumerator(), sy.Iterations(last))
    resume = None
    for cut in sorted(c for c in cuts if c < last):
        part = run_search(enumerator(), sy.Iterations(cut), checkpoint=path, resume=resume)
        assert part.step == cut
        resume = path
    assert told(run_search(enumerator(), sy.Iterations(last), resume=resume)) == told(whole)


def test_a_checkpoint_of_another_search_is_refused(tmp_path):
    run_search(enumerator(), sy.Iterations(3), checkpoint=tmp_path / "state")
    with pytest.raises(sy.InputError, match="another run"):
        run_search(Enumerator(small_knapsack(9)), sy.Iterations(5), resume=tmp_path / "state")


def test_a_checkpoint_is_saved_now_and_then(tmp_path, monkeypatch):
    steps = []

    def write(path, state, arrays):
        steps.append(state["step"])

    monkeypatch.setattr(systola.run.loop, "write_checkpoint", write)
    run_search(enumerator(), sy.Iterations(5), checkpoint=tmp_path / "state", checkpoint_every=0)
    assert steps == [1, 2, 3, 4, 5]  # the last not twice


def test_there_may_be_nothing_to_save(tmp_path, monkeypatch):
    monkeypatch.setattr(Enumerator, "save", lambda self: None)
    run = run_search(enumerator(), sy.Iterations(5), checkpoint=tmp_path / "state", checkpoint_every=0)
    assert run.reason == "iterations"
    assert not (tmp_path / "state").exists()


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals are for the main thread")
def test_a_signal_ends_a_run_well(tmp_path):
    path = tmp_path / "state"
    search = enumerator(pause=lambda: time.sleep(0.01))
    search.stop = lambda at_once=False: None  # it need not listen
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    run = run_search(search, sy.Seconds(60), checkpoint=path)
    assert (run.reason, run.repeatable) == ("interrupted", False)
    assert 0 < run.step < STEPS
    assert read_checkpoint(path)[0]["step"] == run.step
    again = run_search(enumerator(), sy.Seconds(60), resume=path)
    assert told(again) == told(run_search(enumerator(), sy.Seconds(60)))


def test_any_thread_may_ask_to_stop():
    run = Run(enumerator(pause=lambda: time.sleep(0.01)), sy.Seconds(60))
    threading.Timer(0.1, run.ask_to_stop).start()
    run.compile()
    run.go()
    assert run.reason == "interrupted"
    assert 0 < run.step < STEPS


def test_a_callback_is_told_and_may_end_it(monkeypatch):
    monkeypatch.setattr(systola.run.loop, "REPORT_SECONDS", 0)
    heard = []
    run = run_search(enumerator(), sy.Iterations(50), callback=lambda p: heard.append(p) or p.step == 20)
    assert (run.reason, run.step) == ("callback", 20)
    assert [p.stage for p in heard] == ["compiling", "starting", *["running"] * 20, "done"]
    assert [p.fraction for p in heard[1:]] == [0, *(k / 50 for k in range(1, 21)), 0.4]
    assert heard[-1].snapshot() is None


def test_a_callback_that_raises_ends_it_and_is_heard(tmp_path, monkeypatch):
    monkeypatch.setattr(systola.run.loop, "REPORT_SECONDS", 0)

    def fail(progress):
        if progress.step == 3:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        run_search(enumerator(), sy.Iterations(50), callback=fail, checkpoint=tmp_path / "state")
    assert read_checkpoint(tmp_path / "state")[0]["step"] == 3


def test_what_a_search_need_not_do():
    search = enumerator()
    with pytest.raises(sy.InputError, match="Enumerator does not take solutions"):
        Search.inject(search, [[0] * 8])
    assert (search.whole, search.memory, search.population()) == (True, 0, None)
