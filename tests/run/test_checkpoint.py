"""Checkpoints: written whole or not at all, read only when sound, and resumed to the same story."""

import errno
import hashlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import systola as sy
import systola.run.loop
from conftest import binary_problems, small_knapsack, story
from systola.backends.cpu import CpuSession
from systola.run.checkpoint import SCHEMA, read_checkpoint, tell_renamed, write_checkpoint

ENGINES = [
    *(sy.SGS(flavour, length=11, width=3) for flavour in "TEVB"),
    sy.SGA(size=30),
    sy.EGA(size=31),
    sy.RS(size=20),
]
STEPS = 40
STATE = {"step": 12, "seed": 2**64 - 1, "name": "tausend ± eins", "trace": {"objective": [1, 2.5, None]}}
ARRAYS = {
    "population.x": np.arange(40, dtype=np.uint64).reshape(8, 5) << np.uint64(40),
    "population.scores": np.array([[0.1, np.inf], [-0.0, 1e-300]]),
    "nothing": np.zeros((3, 0), np.int32),
}


def solve(engine=None, steps=STEPS, problem=None, **rest):
    return sy.solve(
        problem or small_knapsack(), engine or sy.SGS(length=11, width=3), stop=sy.Iterations(steps), **rest
    )


def full_disk(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def saved(tmp_path):
    """A checkpoint of twelve steps."""
    path = tmp_path / "run.checkpoint"
    solve(steps=12, checkpoint=path)
    return path


@pytest.fixture
def every_step(monkeypatch):
    """Callbacks are called after every step."""
    monkeypatch.setattr(systola.run.loop, "REPORT_SECONDS", 0)


# The file


def test_there_and_back(tmp_path):
    path = tmp_path / "a.checkpoint"
    write_checkpoint(path, STATE, ARRAYS)
    state, arrays = read_checkpoint(str(path))
    assert state == STATE
    assert list(arrays) == list(ARRAYS)
    for name, values in ARRAYS.items():
        assert arrays[name].dtype == values.dtype
        assert arrays[name].tobytes() == values.tobytes()
        assert arrays[name].shape == values.shape
    assert os.listdir(tmp_path) == ["a.checkpoint"]


def digest_of(state, raw):
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode() + b"\n" + raw).hexdigest()


def test_the_same_state_gives_the_same_arrays_and_digest(saved):
    line, _, raw = saved.read_bytes().partition(b"\n")
    header = json.loads(line)
    assert header["schema"] == SCHEMA
    assert header["state"]["step"] == 12
    assert header["digest"] == digest_of(header["state"], raw)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.checkpoint"
    write_checkpoint(path, STATE, ARRAYS)
    before = path.read_bytes()
    monkeypatch.setattr(os, failing, full_disk)
    with pytest.raises(OSError, match="space"):
        write_checkpoint(path, {**STATE, "step": 13}, ARRAYS)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.checkpoint"]


def test_the_file_is_whole_whenever_another_process_looks(tmp_path, monkeypatch):
    path = tmp_path / "a.checkpoint"
    write_checkpoint(path, STATE, ARRAYS)
    seen = []
    real = os.fsync

    def look_and_sync(handle):
        seen.append(read_checkpoint(path)[0]["step"])
        real(handle)

    monkeypatch.setattr(os, "fsync", look_and_sync)
    write_checkpoint(path, {**STATE, "step": 13}, ARRAYS)
    assert seen == [12]
    assert read_checkpoint(path)[0]["step"] == 13


def test_truncated(saved):
    whole = saved.read_bytes()
    for length in [*range(0, len(whole), len(whole) // 40), len(whole) - 1]:
        saved.write_bytes(whole[:length])
        with pytest.raises(sy.InputError, match=r"run\.checkpoint (is damaged|is not a checkpoint)"):
            read_checkpoint(saved)


def test_longer_than_it_was(saved):
    saved.write_bytes(saved.read_bytes() + b"\0")
    with pytest.raises(sy.InputError, match="damaged"):
        read_checkpoint(saved)


def spoil(path, place):
    whole = bytearray(path.read_bytes())
    whole[place] ^= 1
    path.write_bytes(whole)


def test_a_spoilt_bit_in_the_arrays(saved):
    whole = saved.read_bytes()
    start = whole.index(b"\n") + 1
    for place in range(start, len(whole), (len(whole) - start) // 50):
        spoil(saved, place)
        with pytest.raises(sy.InputError, match="digest"):
            read_checkpoint(saved)
        saved.write_bytes(whole)


def test_a_spoilt_bit_in_the_state(saved):
    spoil(saved, saved.read_bytes().index(b'"step": 12') + len(b'"step": 1'))
    assert b'"step": 13' in saved.read_bytes()
    with pytest.raises(sy.InputError, match="damaged"):
        read_checkpoint(saved)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"dear diary\n",
        b"{}\n",
        b"[1, 2]\n",
        b"17\n",
        b"\x89PNG\r\n\x1a\n\0\0",
        b'{"schema": 2}\n',
        b"{" * 50,
    ],
)
def test_foreign_files(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(sy.InputError, match="other is not a checkpoint of systola"):
        read_checkpoint(path)


def forge(path, body, state, **changes):
    header = {"schema": SCHEMA, "digest": digest_of(state, body), "state": state, **changes}
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)


def test_a_schema_from_the_future(saved):
    body = saved.read_bytes().partition(b"\n")[2]
    forge(saved, body, {}, schema=SCHEMA + 1)
    with pytest.raises(sy.InputError, match=f"schema {SCHEMA + 1}, this version reads {SCHEMA}"):
        read_checkpoint(saved)


def test_pickled_objects_are_never_loaded(tmp_path):
    body = io.BytesIO()
    np.savez(body, x=np.array([{"evil": 1}], object))
    forge(tmp_path / "evil", body.getvalue(), {})
    with pytest.raises(sy.InputError, match="damaged"):
        read_checkpoint(tmp_path / "evil")


def test_arrays_that_are_none(tmp_path):
    forge(tmp_path / "odd", b"no arrays at all", {})
    with pytest.raises(sy.InputError, match="damaged"):
        read_checkpoint(tmp_path / "odd")


def test_paths_without_a_checkpoint(tmp_path):
    with pytest.raises(sy.InputError, match=os.strerror(errno.ENOENT)):
        solve(resume=tmp_path / "none")
    with pytest.raises(sy.InputError, match=os.strerror(errno.EISDIR)):
        solve(resume=tmp_path)


# Resuming


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_resumed_at_random_moments(engine, tmp_path):
    whole = solve(engine, seed=7)
    draws = random.Random(engine.name)
    for _ in range(3):
        path = tmp_path / "run.checkpoint"
        path.unlink(missing_ok=True)
        for moment in sorted(draws.sample(range(STEPS + 1), 3)):
            solve(engine, moment, seed=7, checkpoint=path, resume=path if path.exists() else None)
            assert read_checkpoint(path)[0]["step"] == moment
        assert story(solve(engine, seed=7, resume=path)) == story(whole)


@pytest.mark.parametrize("problem", binary_problems(), ids=lambda p: type(p).__name__)
def test_resumed_for_every_problem(problem, tmp_path):
    path = tmp_path / "run.checkpoint"
    engine = sy.SGA(size=30)
    whole = solve(engine, problem=problem)
    solve(engine, 17, problem, checkpoint=path)
    assert story(solve(engine, problem=problem, resume=path)) == story(whole)


def test_resumed_after_the_trace_has_been_thinned(tmp_path):
    path = tmp_path / "run.checkpoint"
    engine = sy.RS(size=2)
    whole = solve(engine, 2500)
    solve(engine, 1203, checkpoint=path)
    assert read_checkpoint(path)[0]["trace"]["stride"] > 1
    assert story(solve(engine, 2500, resume=path)) == story(whole)


def test_resumed_elsewhere(tmp_path):
    """Started on one thread, continued interpreted, ended on all threads."""
    path = tmp_path / "run.checkpoint"
    whole = solve()
    solve(steps=15, threads=1, checkpoint=path)
    solve(steps=18, backend="python", resume=path, checkpoint=path)
    assert story(solve(resume=path)) == story(whole)


def test_a_finished_run_is_told_again(tmp_path):
    path = tmp_path / "run.checkpoint"
    whole = solve(checkpoint=path)
    again = solve(resume=path)
    assert story(again) == story(whole)
    assert again.seconds >= read_checkpoint(path)[0]["seconds"]


def test_time_spent_before_counts(saved):
    state, arrays = read_checkpoint(saved)
    write_checkpoint(saved, {**state, "seconds": 500.0}, arrays)
    result = sy.solve(small_knapsack(), sy.SGS(length=11, width=3), stop=sy.Seconds(400), resume=saved)
    assert (result.stop, result.iterations) == ("seconds", 12)
    assert result.seconds > 500


def test_a_callback_that_raises_loses_nothing(tmp_path, every_step):
    path = tmp_path / "run.checkpoint"

    def crash(progress):
        if progress.step == 23:
            raise RuntimeError("crash")

    with pytest.raises(RuntimeError, match="crash") as caught:
        solve(callback=crash, checkpoint=path, checkpoint_every=3600)
    found = caught.value.result
    assert (found.stop, found.iterations, found.repeatable) == ("callback", 23, False)
    assert found.objective == solve(steps=23).objective
    assert read_checkpoint(path)[0]["step"] == 23
    assert story(solve(resume=path)) == story(solve())


def test_interrupted_between_steps(tmp_path, every_step):
    path = tmp_path / "run.checkpoint"

    def interrupt(progress):
        if progress.step == 23 and progress.stage == "running":
            raise KeyboardInterrupt

    result = solve(callback=interrupt, checkpoint=path)
    assert (result.stop, result.iterations) == ("interrupted", 23)
    assert story(solve(resume=path)) == story(solve())


def test_interrupted_in_a_kernel(tmp_path, monkeypatch):
    """A signal that comes while a kernel runs is delivered as the kernel returns, before its steps are counted."""
    whole = story(solve())
    real = CpuSession.sweep
    stories = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for moment in range(6, 15):
            calls = 0

            def sweep(self, step, steps, low, high, moment=moment):
                nonlocal calls
                made = real(self, step, steps, low, high)
                calls += steps > 0
                if calls == moment:
                    signal.raise_signal(signal.SIGINT)
                return made

            path = tmp_path / f"{moment}.checkpoint"
            monkeypatch.setattr(CpuSession, "sweep", sweep)
            assert solve(checkpoint=path, checkpoint_every=0).stop == "interrupted"
            monkeypatch.setattr(CpuSession, "sweep", real)
            stories.append(story(solve(resume=path)))
    finally:
        signal.signal(signal.SIGINT, before)
    assert stories == [whole] * len(stories)


def test_interrupted_while_starting(tmp_path, every_step):
    path = tmp_path / "run.checkpoint"

    def interrupt(progress):
        if progress.stage == "starting":
            raise KeyboardInterrupt

    assert solve(callback=interrupt, checkpoint=path).stop == "interrupted"
    if path.exists():
        assert story(solve(resume=path)) == story(solve())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 2}, "seed"),
        ({"problem": small_knapsack(seed=1)}, "problem"),
        ({"problem": small_knapsack(41)}, "problem"),
        ({"engine": sy.SGS("V", length=11, width=3)}, "algorithm"),
        ({"engine": sy.RS(size=20)}, "algorithm"),
        ({"engine": sy.SGS(length=11, width=4)}, "parameters"),
    ],
    ids=["seed", "data", "size", "flavour", "engine", "grid"],
)
def test_another_run_is_refused(saved, change, named):
    with pytest.raises(sy.InputError, match=f"belongs to another run: its {named} is"):
        solve(resume=saved, **change)


def test_another_version_is_refused(saved):
    state, arrays = read_checkpoint(saved)
    write_checkpoint(saved, {**state, "version": "99.0"}, arrays)
    with pytest.raises(sy.InputError, match=r"its version is '99\.0'"):
        solve(resume=saved)


def test_parameters_under_old_names_are_told(saved):
    """In a checkpoint of a version that had these names, and in one that only says so."""
    state, arrays = read_checkpoint(saved)
    old = {**state, "algorithm": "hill", "parameters": {"move": "best", "kicks": 4}}
    told = "'move' is called 'improvement' now, 'kicks' is called 'perturbation_strength' now; start the run again"
    write_checkpoint(saved, old, arrays)
    with pytest.raises(sy.InputError, match=f"belongs to another run: .*; parameters were renamed since: {told}"):
        solve(resume=saved, engine=sy.HillClimbing())
    forge(saved, saved.read_bytes().partition(b"\n")[2], old, schema=1)
    with pytest.raises(sy.InputError, match=f"schema 1, this version reads {SCHEMA}; parameters were .*: {told}"):
        solve(resume=saved, engine=sy.HillClimbing())


@pytest.mark.parametrize("told", [3, [], {}, {"engines": 3}, {"engines": [3, [], ["tabu"]], "parameters": "x"}])
def test_what_describes_no_run_tells_no_old_names(told):
    assert tell_renamed(told) == ""


def test_islands_tell_old_names_too():
    run = {"engines": [["sgs-b", 1], ["cellular", 2]], "islands": {"lags": [], "rate": 2}}
    run["parameters"] = [[{"flavour": "B", "length": 5}, 1], [{"size": 9, "length": 5}, 2]]
    told = "'length' is called 'local_search_steps' now, 'lags' is called 'delays' now"
    assert tell_renamed(run) == f"; parameters were renamed since: {told}; start the run again"


def test_a_population_that_does_not_fit(saved):
    state, arrays = read_checkpoint(saved)
    write_checkpoint(saved, state, {**arrays, "population.x": arrays["population.x"][1:]})
    with pytest.raises(sy.InputError, match=r"population\.x does not fit"):
        solve(resume=saved)


@pytest.mark.parametrize("lost", ["population.scores", "best.best", "step", "trace"])
def test_an_incomplete_checkpoint(saved, lost):
    state, arrays = read_checkpoint(saved)
    state.pop(lost, None)
    arrays.pop(lost, None)
    write_checkpoint(saved, state, arrays)
    with pytest.raises(sy.InputError, match="checkpoint"):
        solve(resume=saved)


def test_parameters_of_numpy(tmp_path):
    path = tmp_path / "run.checkpoint"
    engine = sy.SGS(length=np.int64(11), width=3)
    solve(engine, 12, checkpoint=path)
    assert story(solve(engine, resume=path)) == story(solve())


# A disk that is full


def test_a_full_disk_from_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(systola.run.loop, "write_checkpoint", full_disk)
    path = tmp_path / "run.checkpoint"
    result = solve(checkpoint=path, checkpoint_every=0)
    assert story(result) == story(solve())
    assert result.notes == result.faults == [f"checkpoint {path} could not be written: {os.strerror(errno.ENOSPC)}"]
    assert not path.exists()


def test_a_disk_that_fills_up_later(tmp_path, monkeypatch):
    path = tmp_path / "run.checkpoint"
    written = []

    def write(*args):
        if len(written) == 5:
            full_disk()
        written.append(args)
        write_checkpoint(*args)

    monkeypatch.setattr(systola.run.loop, "write_checkpoint", write)
    result = solve(checkpoint=path, checkpoint_every=0)
    assert len(written) == 5
    assert len(result.notes) == 1
    assert read_checkpoint(path)[0]["step"] == 5
    assert story(solve(resume=path)) == story(result) == story(solve())


def test_a_disk_that_has_room_again(tmp_path, monkeypatch):
    path = tmp_path / "run.checkpoint"
    calls = []

    def write(*args):
        calls.append(args)
        if len(calls) < 5:
            full_disk()
        write_checkpoint(*args)

    monkeypatch.setattr(systola.run.loop, "write_checkpoint", write)
    assert solve(checkpoint=path, checkpoint_every=0).notes == []
    assert read_checkpoint(path)[0]["step"] == STEPS


def test_a_folder_that_is_not_there(tmp_path):
    result = solve(checkpoint=tmp_path / "no" / "run.checkpoint")
    assert story(result) == story(solve())
    assert os.strerror(errno.ENOENT) in result.notes[0]


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 256 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("needs the command mount")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"mounting a tmpfs is not allowed here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill_up(folder, spare=4096):
    room = shutil.disk_usage(folder).free - spare
    (folder / "ballast").write_bytes(bytes(room))


def test_a_real_full_disk(tiny_disk):
    path = tiny_disk / "run.checkpoint"
    solve(steps=12, checkpoint=path)
    before = path.read_bytes()
    fill_up(tiny_disk)
    result = solve(resume=path, checkpoint=path, checkpoint_every=0)
    assert story(result) == story(solve())
    assert result.notes == [f"checkpoint {path} could not be written: {os.strerror(errno.ENOSPC)}"]
    assert path.read_bytes() == before
    assert sorted(os.listdir(tiny_disk)) == ["ballast", "run.checkpoint"]
    assert story(solve(resume=path)) == story(solve())


@pytest.mark.long
def test_a_real_full_disk_on_the_command_line(tiny_disk):
    path = tiny_disk / "run.checkpoint"
    base = ["mmdp:120", "--set", "length=20", "--set", "width=3", "--json"]
    assert command(*base, "--iterations", "12", "--checkpoint", path).returncode == 0
    before = path.read_bytes()
    fill_up(tiny_disk)
    done = command(*base, "--iterations", "30", "--resume", path, "--checkpoint", path, "--checkpoint-every", "0")
    assert done.returncode == 2
    assert done.stderr == f"systola: checkpoint {path} could not be written: {os.strerror(errno.ENOSPC)}\n"
    assert json.loads(done.stdout)["iterations"] == 30
    assert path.read_bytes() == before


# Killed


def arguments(*args):
    return [sys.executable, "-m", "systola", "solve", *map(str, args)]


def command(*args):
    return subprocess.run(arguments(*args), capture_output=True, text=True, timeout=120, check=False)


def facts(output):
    """All of a result in JSON that must not depend on when and how often it was interrupted."""
    data = json.loads(output)
    for name in ("seconds", "compile_seconds", "threads"):
        del data[name]
    del data["trace"]["seconds"]
    return data


@pytest.mark.long  # the short soak of the usual tests does the same with a smaller run
def test_killed_and_resumed(tmp_path):
    """kill -9 at random moments, resumed each time; the last one runs to its end."""
    run = ["knapsack:500-1000", "--iterations", 20_000, "--seed", 5, "--json"]
    expected = facts(command(*run).stdout)
    path = tmp_path / "run.checkpoint"
    save = ["--checkpoint", path, "--checkpoint-every", 0.05]
    draws = random.Random(1)
    steps = []
    for _ in range(5):
        resume = ["--resume", path] if steps else []
        before = path.stat().st_mtime_ns if steps else 0
        process = subprocess.Popen(arguments(*run, *save, *resume), stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while not (path.exists() and path.stat().st_mtime_ns > before) and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(draws.uniform(0, 0.2))
        finally:
            process.kill()
            process.wait()
        steps.append(read_checkpoint(path)[0]["step"])  # whole, whatever was going on
        if steps[-1] == 20_000:  # a fast machine
            break
    assert steps == sorted(set(steps))  # each part made progress
    assert steps[0] < steps[1] < 20_000
    finished = command(*run, "--resume", path)
    assert finished.returncode == 0
    assert facts(finished.stdout) == expected
