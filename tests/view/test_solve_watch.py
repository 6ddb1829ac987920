"""`systola solve --watch`: a page beside the run, which ends with it or with whoever looks."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_server import Viewer

from processes import begin, wait_for
from systola.run.log_reading import read_log
from systola.view.server import PageServer

RUN = ("solve", "mmdp:12", "--algorithm", "rs", "--backend", "python", "--watch", "--no-browser", "--quiet")


def view(url):
    shown = PageServer.__new__(PageServer)
    shown.url = url
    return Viewer(shown)


def address_in(text):
    return re.search(r"watch it at (http://127\.0\.0\.1:\d+/\S+/)\n", text)[1]


def test_a_run_is_watched_and_the_page_ends_with_it(tmp_path):
    process = begin(*RUN, "--seconds", "1.5", "--log", tmp_path / "run.log")
    viewer = view(address_in(process.stderr.readline()))
    kinds, told = [], ""
    while told != "bye":
        told, news = viewer.next()
        kinds += [entry["kind"] for log in news or () for entry in log.get("entries", ())]
    assert (kinds[0], kinds[-1]) == ("header", "end")
    assert kinds.count("frame") >= 3
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "objective" in out
    assert len(read_log(tmp_path / "run.log")) == len(kinds)


@pytest.mark.long
def test_without_a_terminal_nothing_is_waited_for_and_the_log_is_told():
    process = begin(*RUN, "--iterations", "3", "--json")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.startswith("{")
    log = Path(re.search(r"its log is (\S+);", err)[1])
    assert log.name == "mmdp-12.log"
    assert read_log(log)[-1]["kind"] == "end"
    log.unlink()
    log.parent.rmdir()


@pytest.mark.parametrize("by", ["enter", pytest.param("signal", marks=pytest.mark.long)])
def test_on_a_terminal_the_page_stays_until_the_user_ends_it(tmp_path, by):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "systola", *RUN, "--iterations", "3", "--log", str(tmp_path / "run.log")]
    process = subprocess.Popen(command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True)
    os.close(theirs)
    said = ""
    while "press Enter" not in said:
        said += os.read(ours, 4096).decode().replace("\r\n", "\n")
    assert "objective" in process.stdout.readline() + process.stdout.readline() + process.stdout.readline()
    viewer = view(address_in(said))
    assert viewer.news()["entries"][-1]["kind"] == "end"
    assert process.poll() is None
    if by == "enter":
        os.write(ours, b"\n")
    else:
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0
    assert viewer.next()[0] == "bye"
    process.stdout.close()
    os.close(ours)


@pytest.mark.long
def test_interrupting_the_run_ends_the_page_too(tmp_path):
    log = tmp_path / "run.log"
    process = begin(*RUN, "--seconds", "60", "--log", log)
    viewer = view(address_in(process.stderr.readline()))
    wait_for(process, lambda: log.exists() and len(read_log(log)) > 2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "interrupted" in out
    last = []
    while not last or last[-1] != "bye":
        kind, news = viewer.next()
        last += [entry["kind"] for told in news or () for entry in told.get("entries", ())] or [kind]
    assert last[-2:] == ["end", "bye"]


def begin_watched(log, seconds):
    """A run with its page, as soon as its log tells of it."""
    process = begin(*RUN, "--seconds", str(seconds), "--log", log)
    address_in(process.stderr.readline())
    wait_for(process, lambda: log.exists() and len(read_log(log)) > 2)
    return process


@pytest.mark.long
def test_a_viewer_that_dies_does_not_hurt_the_run(tmp_path):
    log = tmp_path / "run.log"
    process = begin_watched(log, 2)
    for child in children_of(process.pid):
        os.kill(child, signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert read_log(log)[-1]["kind"] == "end"


@pytest.mark.long
def test_the_page_ends_when_the_run_is_killed(tmp_path):
    log = tmp_path / "run.log"
    process = begin_watched(log, 60)
    children = children_of(process.pid)
    assert children
    process.kill()
    process.communicate(timeout=30)
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{child}/cmdline").exists() and commands(child) for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def commands(process):
    return Path(f"/proc/{process}/cmdline").read_bytes()  # nothing, of one that has ended


def children_of(process):
    """Those that serve, not the one that looks after semaphores."""
    told = Path(f"/proc/{process}/task/{process}/children")
    if not told.exists():
        pytest.skip("this system does not tell of children")
    return [int(child) for child in told.read_text().split() if b"spawn_main" in commands(child)]


def test_what_does_not_go_together_is_a_sentence(run_command, tmp_path):
    for args, word in ((("--no-browser",), "--watch"), (("--watch", "--no-browser", "--seeds", "2"), "seeds")):
        code, _, err = run_command("solve", "mmdp:12", "--algorithm", "rs", "--backend", "python", *args)
        assert code == 2
        assert word in err.splitlines()[-1]
