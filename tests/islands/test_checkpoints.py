"""Checkpoints of islands: one whole set of demes or none, resumed to the same end; kills, swapped and missing files."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import systola as sy
from conftest import story
from systola.formats import open_instance

INSTANCE = "gap:e-5x40"
PROBLEM = open_instance(INSTANCE).problem
COMMAND = [sys.executable, "-m", "systola", "solve", INSTANCE, "--algorithm", "ssga", "--json"]


def synchronous(demes=5, **rest):
    return sy.Islands(sy.SteadyState(), demes, synchronous=True, **rest)


def run(islands, steps, **rest):
    return sy.solve(PROBLEM, islands, stop=sy.Iterations(steps), **rest)


def told(result):
    demes = [{k: v for k, v in d.items() if k not in ("computing", "migrating")} for d in result.islands["demes"]]
    return story(result), demes


def files(folder):
    return sorted(folder.rglob("deme-*.checkpoint"))


def states(folder):
    """Of the demes in the set that the manifest names."""
    named = files(folder / json.loads((folder / "manifest.json").read_text())["set"])
    return [json.loads(path.read_bytes().split(b"\n")[0])["state"] for path in named]


# The same end


@pytest.mark.parametrize("steps", [400, 130])  # at a migration, and between two
@pytest.mark.parametrize("rest", [{}, {"export_every": 25, "import_every": 40}])  # with nothing or something under way
def test_a_synchronous_run_resumes_to_the_same_end(tmp_path, steps, rest):
    whole = run(synchronous(**rest), 800)
    run(synchronous(**rest), steps, checkpoint=tmp_path)
    assert len(files(tmp_path)) == 5
    resumed = run(synchronous(**rest), 800, resume=tmp_path, threads=1)
    assert told(resumed) == told(whole)
    assert resumed.repeatable


def test_a_run_that_was_broken_off_resumes_to_the_same_end(tmp_path):
    """Within a round: some demes are at its end and have sent what they send, others are not."""
    islands = synchronous(delays=(0, 0, 0.01, 0, 0))
    whole = run(islands, 1500)
    part, steps = None, []
    while part is None or part.stop == "callback":
        resume = {"resume": tmp_path} if part else {}
        part = run(islands, 1500, checkpoint=tmp_path, callback=lambda told: told.stage == "running", **resume)
        steps.append(part.iterations)
    assert len(steps) > 1
    assert told(part) == told(whole)


def test_killed_at_any_moment_a_synchronous_run_resumes_to_the_same_end(tmp_path):
    whole = run(synchronous(3), 20_000)
    command = [*COMMAND, "--islands", "3", "--migration", "synchronous=true", "--migration", "delays=[0, 0.002, 0]"]
    command += ["--iterations", "20000", "--checkpoint", str(tmp_path), "--checkpoint-every", "0.02"]
    draws = np.random.default_rng(3)
    resume = ["--resume", str(tmp_path)]
    _kill_while_saving(command, tmp_path, draws.uniform(0, 0.3))
    _kill_while_saving([*command, *resume], tmp_path, draws.uniform(0, 0.3))
    done = json.loads(subprocess.run([*command, *resume], capture_output=True, check=True).stdout)
    assert (done["objective"], done["solution"]) == (whole.objective, whole.solution.tolist())
    assert done["trace"]["step"] == [sample.step for sample in whole.trace.samples]
    assert done["repeatable"]


def test_what_is_sent_after_a_round_is_not_saved_with_it(tmp_path):
    """While one thread packs a large deme, another has packed its small one, and would send what comes next."""
    sizes = (40_000, 10, 10)
    lines = [f"instance = '{INSTANCE}'", "[islands]", "synchronous = true", "export_every = 8", "import_every = 16"]
    lines += [
        "rate = 1",
        "export_probability = 1.0",
        *(f"[[deme]]\nalgorithm = 'ssga'\nparameters = {{size = {n}}}" for n in sizes),
    ]
    (tmp_path / "demes.toml").write_text("\n".join(lines))
    command = [sys.executable, "-m", "systola", "solve", "--config", str(tmp_path / "demes.toml"), "--threads", "2"]
    command += ["--iterations", "2000", "--json"]
    folder = tmp_path / "state"
    _kill_while_saving([*command, "--checkpoint", str(folder), "--checkpoint-every", "0"], folder, 0.1)
    whole, resumed = (
        json.loads(subprocess.run([*command, *rest], stdout=subprocess.PIPE, check=True).stdout)
        for rest in ([], ["--resume", str(folder)])
    )
    for name in ("objective", "solution", "evaluations"):
        assert resumed[name] == whole[name]
    for name in ("received", "injected", "skipped", "waiting"):
        assert [d[name] for d in resumed["islands"]["demes"]] == [d[name] for d in whole["islands"]["demes"]]


@pytest.mark.long  # as the synchronous one, and as one of the soak
def test_killed_at_any_moment_an_asynchronous_run_resumes_with_its_best(tmp_path):
    command = [*COMMAND, "--islands", "4", "--checkpoint", str(tmp_path), "--checkpoint-every", "0.02"]
    _kill_while_saving([*command, "--seconds", "60"], tmp_path, 0.1)
    known = states(tmp_path)
    best = min(state["history"][-1][2][0] for state in known if state["history"][-1][2][1] == 0)
    limit = max(state["step"] for state in known) + 50
    done = subprocess.run([*command, "--iterations", str(limit), "--resume", str(tmp_path)], stdout=subprocess.PIPE)
    assert json.loads(done.stdout)["objective"] <= best


def _kill_while_saving(command, folder, delay):
    """SIGKILL, some time after the run has begun to save."""
    manifest = folder / "manifest.json"
    before = manifest.stat().st_mtime_ns if manifest.exists() else 0
    job = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    limit = time.monotonic() + 120
    while not manifest.exists() or manifest.stat().st_mtime_ns == before:
        assert job.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.01)
    time.sleep(delay)
    os.kill(job.pid, signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL


# A whole set or none


def test_files_of_two_rounds_are_refused(tmp_path):
    early, late = tmp_path / "early", tmp_path / "late"
    run(synchronous(), 200, checkpoint=early)
    run(synchronous(), 400, checkpoint=late)
    shutil.copy(files(early)[2], files(late)[2])
    with pytest.raises(sy.InputError, match="not the file of deme 2"):
        run(synchronous(), 800, resume=late)


def test_swapped_and_missing_files_are_refused(tmp_path):
    run(sy.Islands(sy.SteadyState(), 4), 200, checkpoint=tmp_path)
    one, two, *_ = files(tmp_path)
    one.rename(tmp_path / "kept")
    with pytest.raises(sy.InputError, match="deme 0 cannot be read"):
        run(sy.Islands(sy.SteadyState(), 4), 800, resume=tmp_path)
    two.rename(one)
    (tmp_path / "kept").rename(two)
    with pytest.raises(sy.InputError, match="not the file of deme"):
        run(sy.Islands(sy.SteadyState(), 4), 800, resume=tmp_path)


def test_the_last_whole_set_is_kept_when_the_next_cannot_be_written(tmp_path):
    whole = run(synchronous(), 800)
    run(synchronous(), 200, checkpoint=tmp_path)
    (tmp_path / "b").write_text("where the next set should be")
    failed = run(synchronous(), 400, checkpoint=tmp_path, resume=tmp_path)
    assert "could not be written" in failed.notes[0]
    assert told(run(synchronous(), 800, resume=tmp_path)) == told(whole)


def test_the_next_set_is_written_beside_the_last(tmp_path):
    for steps in (100, 200, 300):
        rest = {"resume": tmp_path} if steps > 100 else {}
        run(synchronous(), steps, checkpoint=tmp_path, **rest)
        assert {state["step"] for state in states(tmp_path)} == {steps}
    assert len(files(tmp_path)) == 2 * 5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no whole checkpoint"),
        ("[]", "not a manifest"),
        ("{", "not a manifest"),
        ("\0", "not a manifest"),
    ],
)
def test_a_folder_without_a_manifest_is_refused(tmp_path, content, words):
    run(synchronous(), 50, checkpoint=tmp_path)
    (tmp_path / "manifest.json").unlink()
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(sy.InputError, match=words):
        run(synchronous(), 100, resume=tmp_path)


def test_checkpoints_of_other_runs_are_refused(tmp_path):
    run(synchronous(), 100, checkpoint=tmp_path)
    with pytest.raises(sy.InputError, match="another run: its seed"):
        run(synchronous(), 100, resume=tmp_path, seed=9)
    with pytest.raises(sy.InputError, match="another run: its engines"):
        run(synchronous(4), 100, resume=tmp_path)


def test_many_demes_have_small_files_in_small_folders(tmp_path):
    """What a file says of the run does not grow with the number of demes."""
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, demes in ((few, 9), (many, 300)):
        islands = sy.Islands([sy.SteadyState(size=4 + k % 2) for k in range(demes)], delays=[0.0] * demes)
        run(islands, 1, checkpoint=folder)
    largest = [max(path.stat().st_size for path in files(folder)) for folder in (few, many)]
    assert largest[1] <= largest[0] + 100
    assert len(files(many)) == 300
    assert max(len(list(folder.iterdir())) for folder in {path.parent for path in files(many)}) <= 256


def test_workers_write_one_after_the_other(tmp_path):
    """A common disk is not asked by all at once: within a quarter of the time between checkpoints, but at the end."""
    islands = sy.Islands(sy.SteadyState(), 2)
    run(islands, 1)  # compiled
    sy.solve(PROBLEM, islands, stop=sy.Seconds(2.5), threads=2, checkpoint=tmp_path, checkpoint_every=1.6)
    first, last = ([path.stat().st_mtime for path in files(tmp_path / name)] for name in ("a", "b"))
    assert first[1] - first[0] > 0.15
    assert last[0] > first[1]
