"""Islands on the processes of a real MPI job: the same answers as on threads, nothing lost, kills and bad input."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from processes import allowed_seconds, end, wait_for, wait_for_stage
from systola.lab.machine import Machine
from systola.run.log_reading import read_log

pytest.importorskip("mpi4py", reason="needs the extra mpi")
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="needs mpiexec")
RANKS = 3  # each takes a second to start
ENVIRONMENT = {
    **os.environ,
    "NUMBA_NUM_THREADS": "1",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
SOLVE = ["solve", "gap:e-5x40", "--algorithm", "ssga"]


def launch(arguments, ranks=RANKS, **rest):
    command = [MPIEXEC, "-n", str(ranks), sys.executable, "-m", "mpi4py", "-m", "systola", *arguments]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, **rest)


def solve(arguments, ranks=RANKS):
    done = launch([*SOLVE, *arguments, "--json"], ranks)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # of rank 0 alone


def alone(arguments):
    command = [sys.executable, "-m", "systola", *SOLVE, *arguments, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT).stdout)


def told(result):
    demes = [{k: v for k, v in d.items() if k not in ("computing", "migrating")} for d in result["islands"]["demes"]]
    trace = {k: v for k, v in result["trace"].items() if k != "seconds"}
    return result["objective"], result["solution"], result["found_at"], trace, demes


@pytest.mark.parametrize(("demes", "ranks"), [(3, 4), (9, 2)], ids=["3", "9"])
def test_synchronous_ranks_give_the_same_as_threads(tmp_path, demes, ranks):
    """A rank without a deme, and ranks with several; with logs and without."""
    arguments = ["--islands", str(demes), "--migration", "synchronous=true", "--iterations", "300"]
    found = solve([*arguments, "--log", str(tmp_path / "run.log")], ranks)
    assert found["islands"]["ranks"] == ranks
    assert told(found) == told(alone(arguments))
    logs = [read_log(tmp_path / f"run.rank-{rank}.log") for rank in range(ranks)]
    assert len(list(tmp_path.iterdir())) == ranks
    assert len({log[0]["id"] for log in logs}) == len({log[0]["run"] for log in logs}) == 1
    assert [(log[0]["rank"], log[0]["ranks"]) for log in logs] == [(rank, ranks) for rank in range(ranks)]
    assert all(log[-1]["best"] == [found["objective"]] for log in logs)
    best = [log[-2]["picture"]["best"] for log in logs if log[-2]["kind"] == "frame"]
    assert [[place for place in range(demes) if row[place] is not None] for row in best] == [
        list(range(rank, demes, ranks)) for rank in range(min(ranks, demes))
    ]  # each process tells of its own demes


def test_no_solution_is_lost_or_doubled():
    """More than 10,000 migrations under random delays."""
    delays = "delays=[0.0003, 0, 0.0011, 0, 0.0007, 0.0002]"
    arguments = [
        "--islands",
        "6",
        "--migration",
        "export_probability=1.0",
        "--migration",
        "export_every=8",
        "--migration",
        delays,
    ]
    counted = solve([*arguments, "--migration", "import_every=4", "--iterations", "4000"])["islands"]
    assert counted["sent"] > 10_000
    assert counted["received"] == counted["sent"]
    assert counted["injected"] + counted["overwritten"] + counted["waiting"] == counted["received"]


def test_recorded_ranks_are_replayed_by_threads(tmp_path):
    arguments = ["--islands", "6", "--iterations", "600"]
    found = solve([*arguments, "--record", str(tmp_path / "arrivals.json")])
    again = alone([*arguments, "--replay", str(tmp_path / "arrivals.json")])
    assert (again["objective"], again["solution"]) == (found["objective"], found["solution"])
    names = ("objective", "iterations", "injected")
    for one, two in zip(found["islands"]["demes"], again["islands"]["demes"], strict=True):
        assert [one[k] for k in names] == [two[k] for k in names]


@pytest.mark.parametrize("synchronous", ["true", pytest.param("false", marks=pytest.mark.long)])
def test_a_killed_rank_and_other_numbers_of_ranks(tmp_path, synchronous):
    """kill -9 of one rank ends the job; it goes on from the checkpoint on fewer ranks and loses nothing."""
    manifest = tmp_path / "manifest.json"
    arguments = [
        "--islands",
        "6",
        "--migration",
        f"synchronous={synchronous}",
        "--migration",
        "delays=[0,0,0.002,0,0,0]",
    ]
    saved = [*arguments, "--checkpoint", str(tmp_path), "--checkpoint-every", "0.05", "--iterations", "20000"]
    command = [MPIEXEC, "-n", str(RANKS), sys.executable, "-m", "mpi4py", "-m", "systola", *SOLVE, *saved]
    job = subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    limit = time.monotonic() + 60
    while not manifest.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(_ranks_of(job.pid)[-1], signal.SIGKILL)
    assert job.wait(60) != 0
    named = tmp_path / json.loads(manifest.read_text())["set"]
    known = [json.loads(p.read_bytes().split(b"\n")[0])["state"] for p in named.rglob("deme-*")]
    assert sorted(state["deme"] for state in known) == list(range(6))
    best = min(state["history"][-1][2][0] for state in known if state["history"][-1][2][1] == 0)
    found = solve([*arguments, "--resume", str(tmp_path), "--iterations", "20000"], ranks=2)
    assert found["objective"] <= best
    assert not found["notes"]
    if synchronous == "true":
        whole = alone(["--islands", "6", "--migration", "synchronous=true", "--iterations", "20000"])
        assert told(found) == told(whole)


def _ranks_of(parent):
    """Processes below this one that run systola."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    family, found = {parent}, []
    for _ in range(4):
        for pid, above, _ in rows:
            if int(above) in family:
                family.add(int(pid))
    for pid, _, command in rows:
        if int(pid) in family and " -m mpi4py " in command and "mpiexec" not in command:
            found.append(int(pid))
    return found


def test_bad_input_is_told_once():
    done = launch([*SOLVE, "--islands", "6", "--migration", "rate=500"], 2)
    assert done.returncode != 0
    assert done.stderr.count("Condition 1") == 1


def launch_different(*options):
    """A process for each list of options."""
    python = [sys.executable, "-m", "mpi4py", "-m", "systola"]
    parts = [["-n", "1", *python, *listed] for listed in options]
    command = [MPIEXEC, *parts[0], *(word for part in parts[1:] for word in (":", *part))]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("bad_rank", [1, pytest.param(0, marks=pytest.mark.long)])
def test_a_rank_that_fails_before_the_others_start_ends_the_job(bad_rank):
    """As when a file is missing on one of the nodes."""
    rest = ["--algorithm", "ssga", "--islands", "4", "--seconds", "30", "--json"]
    good, bad = ["solve", "gap:e-5x40", *rest], ["solve", "missing.txt", "--problem", "gap", *rest]
    done = launch_different(*([good, bad] if bad_rank else [bad, good, good]))
    assert done.returncode == 2
    assert done.stderr.count("missing.txt") == 1
    assert not done.stdout


@pytest.mark.parametrize(
    ("instance", "more"),
    [
        ("gap:e-5x40", ["--seed", "2"]),
        pytest.param("gap:e-5x50", [], marks=pytest.mark.long),
        pytest.param("gap:e-5x40", ["--set", "size=30"], marks=pytest.mark.long),
    ],
    ids=["seed", "instance", "size"],
)
def test_ranks_that_would_make_different_runs_are_refused(instance, more):
    rest = ["--algorithm", "ssga", "--islands", "4", "--seconds", "30"]
    done = launch_different(["solve", "gap:e-5x40", *rest], ["solve", instance, *rest, *more])
    assert done.returncode == 2
    assert done.stderr.count("all processes of a job must make the same run") == 1


def test_other_ranks_are_told_what_is_the_best_and_of_their_own_demes(tmp_path):
    (tmp_path / "own.py").write_text(
        "import json, sys\n"
        "import systola as sy\n"
        "from systola.formats import open_instance\n"
        "islands = sy.Islands(sy.SteadyState(), 6, synchronous=True)\n"
        "found = sy.solve(open_instance('gap:e-5x40').problem, islands, stop=sy.Iterations(200))\n"
        "demes = [deme['deme'] for deme in found.islands['demes']]\n"
        "line = json.dumps([demes, found.objective, found.solution.tolist(), found.islands['sent']])\n"
        "sys.stdout.write(line + '\\n')\n"
    )
    command = [MPIEXEC, "-n", "2", sys.executable, "-m", "mpi4py", str(tmp_path / "own.py")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=True)
    first, second = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda row: row[0])
    assert (first[0], second[0]) == ([0, 1, 2, 3, 4, 5], [1, 3, 5])
    assert first[1:] == second[1:]


def test_other_engines_run_on_every_rank_alike():
    """A job without islands: each rank would make the same run, so that it is refused."""
    done = launch([*SOLVE, "--iterations", "10"], 2)
    assert done.returncode != 0
    assert "--islands" in done.stderr


@pytest.mark.skipif(shutil.which("ompi_info") is None, reason="needs Open MPI, which can go on after a fault")
def test_survivors_adopt_the_demes_of_a_killed_rank(tmp_path):
    saved = tmp_path / "saved"
    arguments = ["--islands", "6", "--checkpoint", str(saved), "--checkpoint-every", "0.2", "--seconds", "12", "--json"]
    command = [MPIEXEC, "--with-ft", "ulfm", "-n", str(RANKS), sys.executable, "-m", "mpi4py", "-m", "systola"]
    job = subprocess.Popen(
        [*command, *SOLVE, *arguments], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    limit = time.monotonic() + 120
    while not (saved / "manifest.json").exists() and time.monotonic() < limit:
        time.sleep(0.1)
    os.kill(_ranks_of(job.pid)[-1], signal.SIGKILL)
    told, _ = job.communicate(timeout=120)
    found = json.loads(told[told.index("{") :])
    assert len(found["islands"]["demes"]) == 6
    assert any("was taken over" in note for note in found["notes"])
    assert any(f"1 of {RANKS} processes failed" in note for note in found["notes"])


def test_a_simulation_measures_messages_between_the_processes_of_its_job():
    done = launch(["simulate", "--demes", "16", "--rounds", "5", "--latency", "0.5", "--json"], 2)
    assert done.returncode == 0, done.stderr
    machine = json.loads(done.stdout)["machine"]  # of rank 0 alone
    assumed = asdict(Machine())
    measured = {name for name in assumed if machine[name] != assumed[name]} - {"latency"}
    assert measured == {"byte_seconds", "export_seconds", "import_seconds", "probe_seconds", "barrier_seconds"}
    assert all(0 <= machine[name] < 0.1 for name in measured)
    assert machine["latency"] == 0.5  # as named


@pytest.mark.long
def test_a_reproduction_simulates_by_what_its_job_measures(tmp_path):
    arguments = ["reproduce", "pgap", "--quick", "--quiet", "--store", str(tmp_path / "s.sqlite")]
    done = launch([*arguments, "--part", "simulation"], 2)
    assert done.returncode == 0, done.stderr
    assert "assumed" not in done.stdout
    assert done.stdout.count("what things cost") == 1
    done = launch(arguments, 2)
    assert done.returncode == 2
    assert "this job has 2 processes" in done.stderr


@pytest.mark.parametrize(
    "whole_job",
    [pytest.param(True, id="launcher"), pytest.param(False, id="one rank", marks=pytest.mark.long)],
)
def test_a_signal_ends_the_job_with_its_best_solution_and_a_checkpoint(whole_job, tmp_path):
    folder, pid_of = tmp_path / "demes", tmp_path / "rank"
    script = (
        "import os, pathlib, sys\n"
        f"pathlib.Path({str(pid_of)!r} + os.environ.get('PMI_RANK', '0')).write_text(str(os.getpid()))\n"
        "from systola.cli import main\n"
        "sys.exit(main())\n"
    )
    program = tmp_path / "program.py"
    program.write_text(script)
    arguments = [*SOLVE, "--islands", "4", "--iterations", str(10**9), "--json", "--checkpoint", str(folder)]
    command = [MPIEXEC, "-n", "2", sys.executable, "-m", "mpi4py", str(program), *arguments, "--checkpoint-every", "1"]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while not (folder / "manifest.json").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(process.pid if whole_job else int(Path(f"{pid_of}0").read_text()), signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 3, err
    assert "Traceback" not in err
    found = json.loads(out)
    assert found["stop"] == "interrupted"
    again = solve(["--islands", "4", "--iterations", str(found["iterations"] + 50), "--resume", str(folder)], 2)
    assert again["objective"] <= found["objective"]


def test_a_record_is_not_replayed_by_several_processes(tmp_path):
    done = launch([*SOLVE, "--islands", "4", "--iterations", "9", "--replay", str(tmp_path / "record.json")], 2)
    assert done.returncode == 2
    assert "replayed by the threads of one process" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("stage", [pytest.param("starting", marks=pytest.mark.long), "saving"])
def test_a_signal_ends_the_job_while_it_starts_or_saves(stage, tmp_path):
    folder, output = tmp_path / "demes", tmp_path / "result.json"
    arguments = [*SOLVE, "--set", "size=25000", "--iterations", str(10**9)]
    if stage == "starting":  # where a population takes long to measure
        arguments = ["solve", "qap:grid-20x20", "--algorithm", "ssga", "--set", "size=1500"]
    arguments += ["--islands", "8", "--checkpoint", str(folder), "--output", str(output)]
    command = [MPIEXEC, "-n", "2", sys.executable, "-m", "mpi4py", "-m", "systola", *arguments]
    process = subprocess.Popen(
        [*command, "--checkpoint-every", "0"],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if stage == "starting":
        wait_for_stage(process, "starting")
    else:
        wait_for(process, (folder / "manifest.json").exists)
        wait_for(process, lambda: any(folder.glob("*/*/.deme-*.systola-*")), nap=0.001)
    code, out, err, took = end(process, signal.SIGTERM)
    assert code == 3, err
    assert took < allowed_seconds()
    assert "Traceback" not in err
    found = json.loads(output.read_text())
    assert found["stop"] == "interrupted"
    assert f"{found['objective']:,}" in out
    assert not [file for file in folder.rglob(".*") if file.is_file()]
    if stage == "starting":
        assert (found["iterations"], (folder / "manifest.json").exists()) == (0, False)
        return
    arguments[arguments.index(str(10**9))] = str(found["iterations"] + 10)
    again = launch([*arguments[: arguments.index("--checkpoint")], "--resume", str(folder), "--json"], 2)
    assert json.loads(again.stdout)["objective"] <= found["objective"], again.stderr
