"""Answers: into files before the screen, whole, with the mode of the umask; only answers on standard output."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import systola as sy
from conftest import small_knapsack
from systola.cli import main

BRIEFLY = ["--algorithm", "sga", "--set", "size=8", "--iterations", "3", "--backend", "python"]
SOLVE = ["solve", "mmdp:24", *BRIEFLY]
SHOWN = (["instances", "show", "mmdp:12"], ["devices"], ["instances", "generate"])


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def start(*args, **options):
    return subprocess.run(
        [sys.executable, "-m", "systola", *args], stderr=subprocess.PIPE, text=True, timeout=120, **options
    )


def saved(path="result.json"):
    return sy.Result.load(path)


# Screens that fail


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_screen_loses_nothing():
    with open("/dev/full", "w") as full:
        done = start(*SOLVE, "--output", "result.json", stdout=full)
    assert done.returncode == 2
    assert "systola: the answer cannot be printed: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert saved().iterations == 3


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_closed_screen_loses_nothing():
    command = [sys.executable, "-m", "systola", *SOLVE, "--output", "result.json"]
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 2
    assert "systola: the answer cannot be printed: standard output is closed" in done.stderr
    assert saved().iterations == 3


def test_a_reader_that_has_gone_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = start(*SOLVE, "--quiet", "--output", "result.json", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
    assert saved().iterations == 3


def print_to_full(args):
    """The exit code of a command whose standard output is full."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as screen, contextlib.redirect_stdout(screen), pytest.raises(SystemExit) as end:
        main(args)
    return end.value.code


@pytest.mark.parametrize("command", SHOWN, ids=" ".join)
def test_a_full_screen_is_a_sentence(capsys, command):
    assert print_to_full(command) == 2
    assert capsys.readouterr().err == "systola: the answer cannot be printed: No space left on device\n"


def test_pictures_come_before_a_full_screen():
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    assert print_to_full(["simulate", "--demes", "4", "--rounds", "3", "--quiet", "--output", "picture.png"]) == 2
    assert Path("picture.png").read_bytes().startswith(b"\x89PNG")


# Files that cannot be written: the answer is on the screen all the same


@pytest.mark.parametrize(
    "args", [[*SOLVE, "--json"], ["solve", "nrp:5-10", *BRIEFLY, "--sweep", "2", "--json"]], ids=["run", "sweep"]
)
def test_a_file_that_cannot_be_written_does_not_hide_the_answer(capsys, args):
    with pytest.raises(SystemExit) as end:
        main([*args, "--output", "no/folder/result.json"])
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert "instance" in json.loads(printed.out)
    assert "cannot write" in printed.err


# Modes


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path):
    return oct(Path(path).stat().st_mode & 0o777)


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
def test_files_have_the_mode_of_the_umask(umask):
    main([*SOLVE, "--json", "--output", "result.json", "--checkpoint", "run.ckpt"])
    assert mode("result.json") == mode("run.ckpt") == "0o640"


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
def test_a_file_that_is_replaced_keeps_its_mode(umask):
    result = sy.solve(small_knapsack(), sy.SGA(size=8), stop=sy.Iterations(1), backend="python")
    Path("result.json").write_text("")
    Path("result.json").chmod(0o604)
    result.save("result.json")
    assert mode("result.json") == "0o604"


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
def test_pictures_have_the_mode_of_the_umask(umask):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    main(["simulate", "--demes", "4", "--rounds", "3", "--quiet", "--json", "--output", "picture.svg"])
    assert mode("picture.svg") == "0o640"


# What killed processes leave

INTERRUPTED = """
import os, sys, time
import systola as sy
result = sy.Result.load("first.json")
os.replace = {deed}
result.save("result.json")
"""


def hidden():
    return sorted(path.name for path in Path().iterdir() if path.name.startswith("."))


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs processes that can be looked up")
def test_what_a_killed_run_left_is_removed_by_the_next():
    main([*SOLVE, "--json", "--output", "first.json"])
    Path(".result.json.abcdefgh").write_text("somebody's")
    die, sleep = "lambda *_: os.kill(os.getpid(), 9)", "lambda *_: time.sleep(600)"
    assert subprocess.run([sys.executable, "-c", INTERRUPTED.format(deed=die)], timeout=120).returncode == -9
    assert len(hidden()) == 2
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(deed=sleep)]) as other:
        try:
            until = time.monotonic() + 60
            while not any(str(other.pid) in name for name in hidden()):
                assert other.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)
            assert (
                start(*SOLVE, "--quiet", "--json", "--output", "result.json", stdout=subprocess.DEVNULL).returncode == 0
            )
            left = hidden()  # what is not ours, and what another is still writing
            assert len(left) == 2
            assert ".result.json.abcdefgh" in left
            assert any(str(other.pid) in name for name in left)
        finally:
            other.kill()
    assert saved().iterations == 3
