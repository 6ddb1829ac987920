"""Evaluations in processes and by executors: the same run whoever makes them, and what goes wrong costs little."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import measured
import numpy as np
import pytest
from logged import Logged
from measured import DIES, EXITS, FOLDER, HANGS, LEAVES, NAN, PAIR, RAISES, SIMULATES, TEXT, Limited, Trouble, Weighted

import systola as sy
from conftest import Balance, story
from systola.black_box.processes import Processes

ENGINE = sy.Cellular(size=9, topology="L5", selection="tournament")
INTERPRETED = {"backend": "python"}  # nothing to compile
pytestmark = pytest.mark.filterwarnings("ignore::systola.SlowObjectiveWarning")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """For evaluations to leave marks in; afterwards no process is left."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    yield
    assert not multiprocessing.active_children()


def solve(problem: sy.Problem, **options) -> sy.Result:
    return sy.solve(problem, ENGINE, **{"stop": sy.Iterations(4), **INTERPRETED, **options})


@pytest.mark.parametrize(
    ("problem", "counts"), [(Weighted(15), (1, 3)), (Limited(6, 9), (2,))], ids=["one measure", "constraint"]
)
def test_the_same_run_for_any_number_of_workers(problem, counts):
    wanted = story(solve(problem))
    for workers in counts:
        assert story(solve(problem, workers=workers)) == wanted
    with ThreadPoolExecutor(2) as executor:
        assert story(solve(problem, workers=executor)) == wanted


def test_executors_of_processes():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        result = solve(Weighted(15), workers=executor)
        assert story(result) == story(solve(Weighted(15)))


def test_an_executor_of_another_make():
    """All that is asked of one is `submit`."""

    class Strange(Executor):
        def submit(self, function, /, *args, **options):
            future: Future = Future()
            future.set_result(function(*args, **options))
            return future

    assert story(solve(Weighted(15), workers=Strange())) == story(solve(Weighted(15)))


def test_compiled_objectives_are_compiled_in_workers():
    problem, options = Balance(np.random.default_rng(3).random(20)), {"stop": sy.Iterations(6), "seed": 2}
    result = sy.solve(problem, workers=1, **options)
    assert result.backend == "cpu"
    assert story(result) == story(sy.solve(problem, "black-box", **INTERPRETED, **options))


@pytest.mark.parametrize(
    ("engine", "said"),
    [(ENGINE, []), (sy.SteadyState(size=6), ["ssga makes at most one solution at a time"])],
    ids=["cellular", "ssga"],
)
def test_it_is_said_where_workers_have_nothing_to_do(engine, said):
    with ThreadPoolExecutor(2) as executor:
        result = sy.solve(Weighted(15), engine, stop=sy.Iterations(10), workers=executor, **INTERPRETED)
    assert [note.partition(",")[0] for note in result.notes] == said


def test_they_work_side_by_side():
    """Sleeps, so that it does not matter how busy the machine is: alone they would take 5.4 seconds, or a bit less."""
    result = solve(Weighted(15, milliseconds=200), workers=4, stop=sy.Iterations(1))
    assert 1.0 < result.seconds < 2.7


def test_a_default_engine_and_budget():
    with ThreadPoolExecutor(1) as executor:
        result = sy.solve(Weighted(15), workers=executor, **INTERPRETED)
    plain = sy.solve(Weighted(15), stop=sy.Evaluations(500), **INTERPRETED)  # few, so that it is no race
    assert story(result) == story(plain)
    assert result.stop == "evaluations"
    assert 400 <= result.evaluations <= 500


@pytest.mark.parametrize("mood", [DIES, HANGS], ids=["dies", "hangs"])
def test_what_goes_wrong_once_is_tried_again(mood):
    wanted = story(solve(Trouble(12, limit=8)))
    result = solve(Trouble(12, mood, limit=8, times=1), workers=2, evaluation_seconds=1.5)
    assert story(result) == wanted
    assert result.seconds < 60


def test_what_an_executor_gets_wrong_once_is_tried_again():
    wanted = story(solve(Trouble(12, limit=8)))
    with ThreadPoolExecutor(2) as executor:
        assert story(solve(Trouble(12, RAISES, limit=8, times=1), workers=executor)) == wanted


@pytest.mark.parametrize(
    ("mood", "sentence"),
    [
        (DIES, r"ended the process that called it \(killed by SIGSEGV\), and so again"),
        (EXITS, r"ended the process that called it \(exit code 7\), and so again"),
        (HANGS, "took longer than 1 s, and so again"),
    ],
    ids=["dies", "exits", "hangs"],
)
def test_what_ends_a_process_twice_is_an_error_with_the_best_so_far(mood, sentence):
    check_failure(Trouble(12, mood, limit=9, times=100), sentence, workers=1, evaluation_seconds=1)


@pytest.mark.parametrize(
    ("mood", "sentence"),
    [
        (RAISES, "raised ValueError: no licence, and so again"),
        (LEAVES, "raised SystemExit: 7, and so again"),
        (TEXT, "must return a number or a tuple of at most 4 numbers, but returned 'many', and so again"),
        (NAN, "must return a number, but returned nan"),
        (PAIR, r"must return as many numbers for every solution, but returned 1 for another one and \(\d+, \d+\)"),
    ],
    ids=["raises", "leaves", "text", "nan", "pair"],
)
def test_what_is_wrong_twice_is_an_error_with_the_best_so_far(mood, sentence):
    with ThreadPoolExecutor(2) as executor:
        check_failure(Trouble(12, mood, limit=9, times=100), sentence, workers=executor)


def check_failure(problem: Trouble, sentence: str, **options) -> None:
    with pytest.raises(sy.ObjectiveError, match=f"Trouble.evaluate {sentence}.* for the solution .*1") as raised:
        solve(problem, stop=sy.Iterations(50), **options)
    named = np.array(eval(str(raised.value).rpartition("solution ")[2].replace(" ", ",")))
    assert named.sum() >= 9
    best = raised.value.result
    assert best.objective == best.solution.sum() <= 8
    assert best.stop == "failed"
    assert not best.repeatable


def test_what_a_hung_evaluation_has_started_ends_with_it(tmp_path):
    with pytest.raises(sy.ObjectiveError, match=r"took longer than 1 s"):
        solve(Trouble(12, SIMULATES, limit=9, times=2), workers=1, evaluation_seconds=1, stop=sy.Iterations(50))
    assert not is_running(int((tmp_path / "simulator").read_text()))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_error_at_the_very_first_evaluation():
    with pytest.raises(sy.ObjectiveError, match="raised ValueError: no licence, and so again"):
        solve(Trouble(12, RAISES, limit=0, times=100), workers=1)


def test_a_broken_executor_is_a_sentence():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        with pytest.raises(sy.InputError, match=r"the executor is broken .* with workers=N") as raised:
            solve(Trouble(12, DIES, limit=9, times=100), workers=executor, stop=sy.Iterations(50))
        assert raised.value.result.objective <= 8
        with pytest.raises(sy.InputError, match="the executor takes no evaluations"):
            solve(Weighted(12), workers=executor)


def test_seconds_end_a_long_batch():
    problem = Weighted(15, milliseconds=400)
    result = solve(problem, workers=2, stop=sy.Seconds(1))
    assert result.stop == "seconds"
    assert 0.95 <= result.seconds <= 2
    assert 1 <= result.evaluations <= 6
    assert result.objective == measured.Weighted(15).evaluate(result.solution)
    assert not result.repeatable


def test_a_callback_ends_it_and_sees_progress():
    seen = []

    def watch(progress):
        seen.append(progress)
        return progress.evaluations >= 12

    with ThreadPoolExecutor(2) as executor:
        result = solve(Weighted(15, milliseconds=20), workers=executor, callback=watch)
    assert result.stop == "callback"
    assert seen[0].stage == "compiling"
    assert seen[-1].objective == result.objective


@pytest.mark.parametrize("evaluations", [7, 30], ids=["first batch", "later"])
def test_resumed_with_another_number_of_workers(evaluations, tmp_path):
    """What was measured in the batch that was cut short is not measured again."""
    problem, file = Weighted(15, milliseconds=20), tmp_path / "half"
    with ThreadPoolExecutor(2) as pair:
        first = solve(problem, workers=pair, checkpoint=file, callback=lambda now: now.evaluations >= evaluations)
    assert first.stop == "callback"
    with ThreadPoolExecutor(3) as three:
        resumed = solve(problem, workers=three, resume=file, stop=sy.Iterations(5))
    assert story(resumed) == story(solve(Weighted(15), stop=sy.Iterations(5)))


def test_nothing_is_measured_twice_after_a_kill(tmp_path, monkeypatch):
    """A run that is killed within its first batch goes on with what it had."""
    log, file, script = tmp_path / "log", tmp_path / "half", tmp_path / "run.py"
    script.write_text(f"""
import sys; sys.path[:0] = {[str(Path(__file__).parent)]!r}
import systola as sy
from logged import Logged
if __name__ == "__main__":
    options = dict(workers=2, backend="python", checkpoint={str(file)!r}, checkpoint_every=0.1)
    sy.solve(Logged(20), sy.SGA(size=12), stop=sy.Iterations(1), **options)
""")
    monkeypatch.setenv("SYSTOLA_TEST_LOG", str(log))
    process = subprocess.Popen([sys.executable, str(script)])
    while not log.exists() or len(log.read_text().splitlines()) < 6 or not file.exists():
        time.sleep(0.05)
        assert process.poll() is None
    time.sleep(0.3)
    process.kill()
    process.wait()
    time.sleep(0.3)
    before = log.read_text().splitlines()
    with ThreadPoolExecutor(2) as executor:
        options = {"workers": executor, "resume": file, "stop": sy.Iterations(1), **INTERPRETED}
        sy.solve(Logged(20), sy.SGA(size=12), **options)
    after = log.read_text().splitlines()
    # At most what was under way, or not yet saved, and the solution that each run tries first.
    assert len(set(before)) > 5
    assert len(after) - len(set(after)) <= 5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"workers": 0}, "`1 <= workers <= 1024` must hold, but got 0"),
        ({"workers": True}, "must be a number of processes, or an executor"),
        ({"workers": "2"}, "must be a number of processes, or an executor of concurrent.futures, but got '2'"),
        ({"workers": 1, "evaluation_seconds": 0}, "`evaluation_seconds > 0` must hold, but got 0"),
        ({"workers": 1, "evaluation_seconds": math.nan}, "`evaluation_seconds > 0` must hold, but got nan"),
        ({"evaluation_seconds": 1}, "give `workers`, too"),
        ({"workers": 1, "threads": 1}, "runs on one thread, but `threads` is 1; leave it out"),
        ({"workers": 1, "backend": "cuda"}, "the backend is cuda; leave it out"),
        ({"workers": 1, "record": "file"}, "`record` and `replay` are for islands"),
    ],
)
def test_wrong_options_are_sentences(options, sentence):
    with pytest.raises(sy.InputError, match=sentence):
        solve(Weighted(12), **options)


def test_other_wrong_options_are_sentences():
    with ThreadPoolExecutor(1) as executor, pytest.raises(sy.InputError, match="cannot be ended from here"):
        solve(Weighted(12), workers=executor, evaluation_seconds=1)
    with pytest.raises(sy.InputError, match="islands have several; name the engine of a deme"):
        sy.solve(Weighted(12), sy.Islands(sy.SteadyState(size=6)), workers=2)


def test_a_class_within_a_function_is_a_sentence():
    class Hidden(Weighted):
        def evaluate(self, x):
            import math

            return math.floor(x[::2].sum())

    with pytest.raises(sy.InputError, match=r"sent Hidden.evaluate by pickle, but it cannot be.*top of a module"):
        solve(Hidden(12), workers=1)
    with ThreadPoolExecutor(1) as executor:
        assert story(solve(Hidden(12), workers=executor)) == story(solve(Hidden(12)))


def test_a_module_loaded_by_hand(tmp_path):
    import importlib.util

    file = tmp_path / "by_hand.py"
    file.write_text((Path(measured.__file__)).read_text())
    spec = importlib.util.spec_from_file_location("systola_test_by_hand", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["systola_test_by_hand"] = module
    spec.loader.exec_module(module)
    try:
        assert story(solve(module.Weighted(15), workers=1)) == story(solve(Weighted(15)))
    finally:
        del sys.modules["systola_test_by_hand"]


SCRIPT = """
import time
import systola as sy

class Mine(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        import math
        time.sleep(SLEEP)
        return math.floor(x.sum())

def main():
    def tell(progress):
        print("measured", progress.evaluations, flush=True)

    options = {"stop": sy.Iterations(4), "workers": 2, "backend": "python", "callback": tell if SLEEP else None}
    result = sy.solve(Mine(12), sy.SGA(size=6), **options)
    print(result.objective, result.stop, flush=True)

START
"""


def test_an_unguarded_script_is_a_sentence(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT.replace("START", "main()").replace("SLEEP", "0"))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1, done.stderr
    assert 'put that part of it under `if __name__ == "__main__":`' in done.stderr


def test_an_interactive_session_is_a_sentence(monkeypatch):
    """Where `__main__` has no file."""

    class Typed(Weighted):
        def evaluate(self, x):
            import math

            return math.floor(x.sum())

    Typed.evaluate.__module__ = "__main__"
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)  # a worker of xdist has none
    with pytest.raises(sy.InputError, match="defined in a notebook or an interactive session"):
        solve(Typed(12), workers=1)


def workers_of(process: int) -> list[int]:
    """Processes whose parent it is."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        if int(text.rpartition(")")[2].split()[1]) == process and "tracker" not in text:
            found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_no_worker_outlives_the_run(number, tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT.replace("START", 'if __name__ == "__main__":\n    main()').replace("SLEEP", "0.3"))
    process = subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, text=True, start_new_session=True)
    while process.stdout.readline().split() < ["measured", "2"]:
        assert process.poll() is None
    workers = workers_of(process.pid)
    assert len(workers) >= 2
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    told, _ = process.communicate(timeout=30)
    if number != signal.SIGKILL:
        assert told.split()[-1] == "interrupted"
    until = time.monotonic() + 10
    while any(map(is_running, workers)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(is_running, workers))


def test_workers_that_die_between_evaluations_are_replaced():
    evaluator = Processes(Weighted(12), False, 2)
    evaluator.open()
    try:
        for worker in evaluator._workers:
            os.kill(worker.child._process.pid, signal.SIGKILL)
        time.sleep(0.5)
        for number in range(4):
            evaluator.submit(number, np.ones(12, np.uint8))
        found = []
        while len(found) < 4:
            found += [entry for entry in evaluator.gather(10.0) if isinstance(entry[1], tuple)]
            for number in {0, 1, 2, 3} - {entry[0] for entry in found}:
                if len(evaluator._tasks) == 0 and not evaluator._busy():
                    evaluator.submit(number, np.ones(12, np.uint8))
        assert {number for number, _ in found} == {0, 1, 2, 3}
    finally:
        evaluator.close()
