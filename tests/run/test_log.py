"""Logs of runs: what is in them, what they cost, and what happens when they cannot be written."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import systola as sy
from golden import cases
from own_problems import RoundTrip
from systola.errors import InputError
from systola.run import log as log_module
from systola.run.execution import Progress
from systola.run.log import RunLog, log_of_rank
from systola.run.log_entries import Header, line_of
from systola.run.log_reading import read_log
from systola.run.log_thinning import thinned
from systola.run.search import Found


class Slowly:
    """A callback that makes a run last, so that there are frames."""

    def __init__(self, seconds=0.02):
        self.seconds, self.told = seconds, []

    def __call__(self, progress):
        self.told.append(progress)
        time.sleep(self.seconds)


class Sleepy(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        time.sleep(1e-3)
        return np.int64(x.sum())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.log"


def solve(problem, engine, path, steps=5, **rest):
    return sy.solve(problem, engine, stop=sy.Iterations(steps), backend="python", log=path, seed=5, **rest)


def kinds(path):
    return [entry["kind"] for entry in read_log(path)]


@pytest.mark.parametrize(
    ("problem", "engine"),
    [("knapsack", "sgs-b"), ("qap", "tabu"), ("flowshop", "pls"), ("qap", "islands"), ("own-order", "auto")],
)
def test_a_run_with_a_log_is_the_same_run(path, problem, engine):
    made, built = cases.problems()[problem], cases.engines()[engine]
    steps = 24 if engine == "islands" else 5
    logged, plain = solve(made, built, path, steps), solve(made, built, None, steps)
    assert cases.digest_of(logged) == cases.digest_of(plain)
    assert logged.repeatable == plain.repeatable
    assert logged.notes == plain.notes
    header, *_, end = entries = read_log(path)
    assert end["kind"] == "end"
    assert end["iterations"] == logged.iterations
    assert end["evaluations"] == logged.evaluations
    assert end["best"] == (logged.objective if isinstance(logged.objective, list) else [logged.objective])
    assert len(end["trace"]) == len(logged.trace.samples)
    assert header["algorithm"] == logged.algorithm
    assert header["seed"] == 5
    frame = [entry for entry in entries if entry["kind"] == "frame"][-1]
    assert frame["stage"] == "done"
    assert frame["picture"]
    assert frame["best"] == end["best"]


def test_a_header_says_what_is_run(path):
    problem = cases.problems()["flowshop"]
    solve(problem, sy.PLS(), path, instance="<b>a & b</b>")
    header = read_log(path)[0]
    assert header["instance"] == "<b>a & b</b>"
    assert header["engine"] == "PLS"
    assert header["stop"] == {"iterations": 5}
    assert [entry["name"] for entry in header["objectives"]] == ["makespan", "tardiness", "flowtime"]
    assert {entry["sense"] for entry in header["objectives"]} == {"minimise"}
    assert (header["rank"], header["ranks"], header["backend"], header["known"]) == (0, 1, "python", None)
    plan = np.zeros((40, 40), int), np.full((40, 40), 18)
    solve(sy.MMDP(18), sy.SGS("B", length=40, width=40, crossover_plan=plan), path, steps=1)
    assert path.stat().st_size < 20_000  # long parameters are told in brief


def test_frames_come_at_most_four_times_a_second_and_show_the_run(path):
    result = sy.solve(Sleepy(12), sy.SGA(8), stop=sy.Seconds(2.2), backend="python", log=path)
    frames = [entry for entry in read_log(path) if entry["kind"] == "frame"]
    seconds = [frame["seconds"] for frame in frames]
    assert 2 <= len(frames) <= 4 * result.seconds + 2  # on a busy machine a frame takes longer, and there are fewer
    assert all(np.diff(seconds[:-1]) >= 0.2)
    assert all(one["evaluations"] <= other["evaluations"] for one, other in pairwise(frames))
    assert "drawing" in frames[0]


def test_a_drawing_comes_only_with_another_best_solution(path):
    told, clock = progress_of(1), Clock()
    log = opened(path, clock)
    for k in range(6):
        clock.now += 100.0
        log.follow(None)(told(100.0 * (k + 1), found=k // 2))
    assert ["drawing" in entry for entry in read_log(path)[1:]] == [True, False] * 3


# The cost


class Clock:
    """Seconds by hand; each look at it takes a little."""

    def __init__(self, cost=0.0):
        self.now, self.cost = 0.0, cost

    def __call__(self):
        self.now += self.cost
        return self.now


def progress_of(cost=0.0, clock=None, size=0):
    problem = sy.MMDP(18)
    shades = "A" * (4 * size)
    shown = {"type": "field", "name": "fitness", "rows": 48, "columns": 64, "low": 0, "high": 1, "values": shades}

    def look():
        if clock:
            clock.now += cost
        return shown if size else None

    def told(seconds, found=0, stage="running"):
        best = Found(np.array([found]), np.arange(18) % 2, found)
        return Progress(stage, int(100 * seconds), int(1000 * seconds), seconds, 1.0, best=lambda: best, picture=look)

    told.problem = problem
    return told


def opened(path, clock=time.perf_counter, problem=None, resumes=False, known=None):
    log = RunLog(path, known, clock)
    problem = problem or sy.MMDP(18)
    identity = {"seed": 1, "problem": str(problem)}
    log.open(Header(problem, "", "sgs-b", "SGS", {}, identity, sy.Iterations(9), 1, "cpu"), resumes)
    return log


@pytest.mark.parametrize("cost", [0.0, 0.001, 0.05, 2.0])
def test_less_than_one_per_cent_of_the_time_is_spent_on_it(path, cost):
    clock = Clock()
    log, told = opened(path, clock), progress_of(cost, clock)
    take = log.follow(None)
    while clock.now < 2000:
        clock.now += 0.25
        take(told(clock.now))
    assert log.costs.inside <= 0.01 * clock.now
    assert log.frames >= min(1.0, 0.004 / max(cost, 1e-9)) * 2000  # and not much less than that


def test_costly_frames_leave_time_for_costly_drawings(path):
    clock = Clock()

    class Slow(sy.MMDP):
        def draw(self, x):
            clock.now += 1.0
            return super().draw(x)

    log, told = opened(path, clock, Slow(18)), progress_of(0.0024, clock)
    take, found = log.follow(None), 0
    while clock.now < 4000:
        clock.now += 0.25
        found += 1
        take(told(clock.now, found))
    drawn = sum("drawing" in entry for entry in read_log(path))
    assert 5 <= drawn <= 40
    assert log.costs.inside <= 0.01 * clock.now


def test_a_ten_hour_run_has_a_small_log_that_shows_all_of_it(path, monkeypatch):
    monkeypatch.setattr(log_module, "MOST_FRAMES", 256)
    clock = Clock()
    log, told = opened(path, clock), progress_of()
    take, sizes = log.follow(None), []
    while clock.now < 36_000:
        clock.now += 10
        take(told(clock.now, found=int(clock.now) // 5000))
        sizes.append(log.frames)
    frames = [entry for entry in read_log(path) if entry["kind"] == "frame"]
    seconds = np.array([frame["seconds"] for frame in frames])
    assert max(sizes) <= 257
    assert len(frames) >= 64
    assert seconds[0] == 10
    assert seconds[-1] == 36_000
    assert max(np.diff(seconds)) < 36_000 / 30
    assert sum("drawing" in frame for frame in frames) >= 7  # of 8 solutions, none is lost but for the first minutes


@pytest.mark.long
def test_a_ten_hour_log_stays_below_50_mb(path):
    clock = Clock()
    log, told = opened(path, clock), progress_of(size=1024)
    take, largest = log.follow(None), 0
    while clock.now < 36_000:
        clock.now += 0.25
        take(told(clock.now, found=int(clock.now)))
        largest = max(largest, log._size)
    assert not log.faults
    assert largest < 50e6
    assert path.stat().st_size > 1e6
    assert len(read_log(path)) > 1000


def test_thinning_keeps_the_last_minute_and_hands_drawings_on():
    entries = [{"kind": "header"}] + [{"kind": "frame", "seconds": k / 4, "best": [1]} for k in range(4000)]
    entries[2]["drawing"] = {"first": 1}
    entries[9]["drawing"] = {"second": 2}
    lines = [line_of(entry) for entry in entries]
    kept = [json.loads(line) for line in thinned(lines, 1000, 10**9)]
    assert kept[0] == {"kind": "header"}
    assert [e["seconds"] for e in kept[-200:]] == [e["seconds"] for e in entries[-200:]]
    assert len(kept) <= 1001
    assert kept[1]["seconds"] == 0.0
    drawn = [e["drawing"] for e in kept[1:] if "drawing" in e]
    assert drawn[-1] == {"second": 2}
    small = thinned(lines, 1000, 2000)
    assert len(small) >= 2
    assert sum(map(len, small)) <= 2000
    assert thinned(lines[:1], 10, 10) == lines[:1]


# Files


def test_a_log_is_not_written_over_other_files(path):
    path.write_text("8\n1 2 3\n")
    with pytest.raises(InputError, match="does not write over other files"):
        solve(sy.MMDP(18), "rs", path)
    assert path.read_text() == "8\n1 2 3\n"
    path.unlink()
    solve(sy.MMDP(18), "rs", path)
    first = read_log(path)[0]["id"]
    solve(sy.MMDP(18), "rs", path)
    assert read_log(path)[0]["id"] != first
    assert kinds(path).count("header") == 1


@pytest.mark.parametrize(
    ("where", "rule"),
    [(".", "is a folder"), ("none/run.log", "a folder that there is"), ("pipe", "regular file"), (7, "must be a path")],
)
def test_paths_that_cannot_be_logs(tmp_path, where, rule):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=rule):
        solve(sy.MMDP(18), "rs", where if isinstance(where, int) else tmp_path / where)


def test_a_folder_that_cannot_be_written_is_an_error_before_the_run(path, monkeypatch):
    def refuse(*args):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(log_module, "write_atomically", refuse)
    with pytest.raises(InputError, match="cannot be written: Read-only"):
        solve(sy.MMDP(18), "rs", path)


def test_a_full_disk_is_a_note_and_the_run_goes_on(tmp_path):
    code = """
import resource, signal, sys
import systola as sy
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
result = sy.solve(sy.MMDP(60), sy.SGA(16), stop=sy.Iterations(3), backend="python", log=sys.argv[1])
print(result.iterations, result.notes)
"""
    path = tmp_path / "run.log"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stdout.startswith("3 [")
    assert "run.log could not be written: the disk is full" in done.stdout
    assert kinds(path)[0] == "header"  # whole lines only
    assert path.read_bytes().endswith(b"\n")


def environment():
    return {**os.environ, "NUMBA_DISABLE_JIT": "0"}


def test_kill_leaves_a_log_that_can_be_read_and_gone_on_with(tmp_path):
    code = """
import sys, time
import numpy as np
import systola as sy
sys.path.insert(0, sys.argv[1])
from run.test_log import Sleepy
sy.solve(Sleepy(12), sy.SGA(8), stop=sy.Iterations(int(sys.argv[3])), backend="python", log=sys.argv[2] + "/run.log",
         checkpoint=sys.argv[2] + "/state", checkpoint_every=0.3, resume=sys.argv[4] if len(sys.argv) > 4 else None)
"""
    place = [sys.executable, "-c", code, str(Path(__file__).parents[1]), str(tmp_path)]
    path = tmp_path / "run.log"
    run = subprocess.Popen([*place, "100000"], env=environment())
    until = time.monotonic() + 120
    while not (path.exists() and kinds(path).count("frame") >= 1 and (tmp_path / "state").exists()):
        assert run.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    before = read_log(path)
    assert before[-1]["kind"] == "frame"
    with path.open("ab") as file:
        file.write(b'{"kind":"frame","seco')  # as a kill within a write would leave it
    made = max(entry["iterations"] for entry in before if entry["kind"] == "frame")
    subprocess.run([*place, str(made + 20), str(tmp_path / "state")], check=True, env=environment())
    after = read_log(path)
    headers = [entry for entry in after if entry["kind"] == "header"]
    assert [entry.get("resumed", False) for entry in headers] == [False, True]
    assert headers[0]["id"] == headers[1]["id"] == before[0]["id"]
    seconds = [entry["seconds"] for entry in after if entry["kind"] != "header"]
    assert seconds == sorted(seconds)
    assert after[-1]["kind"] == "end"
    assert after[-1]["iterations"] == made + 20
    assert [entry["kind"] for entry in after].count("end") == 1


def test_a_run_goes_on_with_its_own_log_only(tmp_path, path):
    problem, state = sy.MMDP(18), tmp_path / "state"
    solve(problem, sy.SGA(8), path, checkpoint=state)
    other = tmp_path / "other.log"
    solve(problem, sy.SGA(10), other)
    with pytest.raises(InputError, match="belongs to another run"):
        solve(problem, sy.SGA(8), other, steps=9, resume=state)
    result = solve(problem, sy.SGA(8), path, steps=9, resume=state)
    entries = read_log(path)
    assert entries[-1]["iterations"] == result.iterations == 9
    assert [entry["kind"] for entry in entries].count("end") == 1
    assert entries[-1]["trace"][0][0] == result.trace.samples[0].evaluations
    fresh = tmp_path / "fresh.log"
    solve(problem, sy.SGA(8), fresh, steps=9, resume=state)
    assert read_log(fresh)[0]["resumed"]


def test_what_came_after_the_checkpoint_is_dropped(path):
    clock = Clock()
    log, told = opened(path, clock), progress_of()
    for second in (100.0, 200.0, 300.0, 400.0):
        clock.now += 100
        log.follow(None)(told(second))
    log.message("and more")
    log._close()
    again = opened(path, clock, resumes=True)
    again.follow(None)(told(0.0, stage="compiling"))
    again.follow(None)(told(250.0))
    entries = read_log(path)
    assert [entry["kind"] for entry in entries] == ["header", "frame", "frame", "header", "frame"]
    assert [entry["seconds"] for entry in entries if entry["kind"] == "frame"] == [100, 200, 250]


def test_islands_go_on_with_their_log(tmp_path, path):
    problem, state = cases.problems()["qap"], tmp_path / "state"
    solve(problem, cases.engines()["islands"], path, 16, checkpoint=state)
    result = solve(problem, cases.engines()["islands"], path, 24, resume=state)
    entries = read_log(path)
    assert [entry["kind"] for entry in entries].count("header") == 2
    assert entries[-1]["iterations"] == result.iterations == 24
    frame = [entry for entry in entries if entry["kind"] == "frame"][-1]
    assert frame["picture"]["type"] == "demes"
    assert entries[-1]["drawing"]


def test_ranks_have_files_of_their_own():
    assert log_of_rank(Path("a/run.log"), 0, 1) == Path("a/run.log")
    assert log_of_rank(Path("a/run.log"), 2, 4) == Path("a/run.rank-2.log")


def test_several_seeds_have_no_log(path):
    with pytest.raises(InputError, match="a log is of one"):
        solve(sy.MMDP(18), "rs", path, seeds=2)


# What goes wrong in a user's functions


def test_a_drawing_that_fails_is_a_message_and_the_run_goes_on(path):
    class Broken(RoundTrip):
        def draw(self, x):
            x[:] = 0  # a copy: the solution stays
            raise ValueError("no <pen>")

    result = solve(Broken(cases.spread(21, 1, 99, 9, 9)), sy.Tabu(), path)
    plain = solve(RoundTrip(cases.spread(21, 1, 99, 9, 9)), sy.Tabu(), None)
    assert result.objective == plain.objective
    assert sorted(result.solution) == list(range(9))
    assert not result.notes
    texts = [entry["text"] for entry in read_log(path) if entry["kind"] == "message"]
    assert texts.count("Broken.draw raised ValueError: no <pen>") == 1
    assert not any("drawing" in entry for entry in read_log(path))


@pytest.mark.parametrize("returned", [3, "<svg>", [1], {"width": 1}])
def test_nonsense_is_no_drawing(path, returned):
    class Nonsense(RoundTrip):
        def draw(self, x):
            return returned

    result = solve(Nonsense(cases.spread(21, 1, 99, 9, 9)), sy.Tabu(), path)
    assert not result.notes
    (text,) = [e["text"] for e in read_log(path) if e["kind"] == "message" and "draw" in e["text"]]
    assert "Nonsense.draw must return a Drawing or None" in text


def test_an_objective_that_fails_is_told(path):
    class Failing(sy.Problem):
        encoding = sy.Binary("n")
        n: int

        def evaluate(self, x):
            if x[0] and x[1]:
                raise ValueError("both")
            return 1

    with pytest.raises(sy.ObjectiveError):
        solve(Failing(6), sy.SGA(16), path, steps=50)
    last = read_log(path)[-1]
    assert last["kind"] == "message"
    assert "the run failed: " in last["text"]


def test_ask_and_tell_has_a_log(path):
    asking = sy.ask_and_tell(
        RoundTrip(cases.spread(21, 1, 99, 9, 9)), "black-box", stop=sy.Evaluations(60), backend="python", log=path
    )
    while not asking.over:
        rows = asking.ask()
        asking.tell(rows, [float(row[0]) for row in rows])
        time.sleep(0.03)
    result = asking.result()
    entries = read_log(path)
    assert entries[0]["algorithm"] == result.algorithm
    assert entries[-1]["kind"] == "end"
    assert entries[-1]["best"] == [result.objective]
