"""One run that is killed and resumed until it is done; only the command line is used."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from deck import Case
from family import alive, command_of, descendants, end_all

VOLATILE = {
    *("seconds", "compile_seconds", "threads", "versions", "ranks"),
    *("computing", "migrating", "iterations_per_second", "communication_share"),
}
ENVIRONMENT = {
    **os.environ,
    "NUMBA_NUM_THREADS": "2",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")

_MOST_LIMITS = 20  # times that a run may take as long as one that hangs, if it still saves
FINE = (0, 5)  # exit codes: done, or done with nothing feasible found


def told(result: Any) -> Any:
    """All of a result that must not depend on the clock, nor on how often the run was killed."""
    if isinstance(result, dict):
        return {k: told(v) for k, v in result.items() if k not in VOLATILE}
    return [told(v) for v in result] if isinstance(result, list) else result


def differences(here: Any, there: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two results differ, number by number."""
    if isinstance(here, dict) and isinstance(there, dict):
        for key in {**here, **there}:
            yield from differences(here.get(key), there.get(key), f"{where}.{key}")
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        for k, (one, other) in enumerate(zip(here, there, strict=True)):
            yield from differences(one, other, f"{where}[{k}]")
    elif here != there:
        yield where, here, there


@dataclass
class Ended:
    """How a process ended."""

    killed: bool
    code: int
    errors: str
    output: Any = None


@dataclass
class Chain:
    """One run that is killed and resumed until it is done."""

    case: Case
    number: int
    folder: Path
    draws: random.Random
    reference: dict[str, Any]
    expected: Any
    patience: float
    kills: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    anew: int = 0
    saved_once: bool = False
    best: Any = None
    copies: list[Path] = field(default_factory=list)  # what each resume began with

    @property
    def state(self) -> Path:
        """The checkpoint: a file, or for islands a folder of which nothing is known here."""
        return self.folder / ("store.sqlite" if self.case.kind == "compare" else "state")

    def find(self, what: str, command: list[str], detail: str = "") -> None:
        self.findings.append({"what": what, "command": shlex.join(command), "detail": detail[-2000:]})

    def go(self, kills_of_chain: tuple[int, int]) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        kills = self.draws.randint(*kills_of_chain)
        every = self.draws.choice(("0", "0.02", "0.1"))
        ended_once = self.case.kind != "compare" and self.draws.random() < 0.5
        if ended_once and self.case.extendable:  # from here on something whole must be there
            early = max(1, self.reference["iterations"] // 10)
            if self.link(early, every, None) is None:
                return
            self.saved_once = self.state.exists()
            if not self.saved_once:
                self.find("no checkpoint after the end of a run", [])
        while True:
            moment = self.draws.uniform(0, self.reference["wall"]) if len(self.kills) < kills else None
            done = self.link(self.reference["iterations"], every, moment)
            if done is None:
                return
            if not done.killed:
                self._compare(done)
                return
            self._peek()

    def _command(self, iterations: int, every: str, state: Path, resumed: bool) -> list[str]:
        command = [sys.executable, "-m", "systola"]
        if self.case.kind == "mpi":
            assert MPIEXEC is not None
            command = [MPIEXEC, "-n", "2", sys.executable, "-m", "mpi4py", "-m", "systola"]
        command += [*self.case.arguments, "--iterations", str(iterations)]
        if self.case.kind == "compare":
            return [*command, "--store", str(state), "--json"]
        command += ["--output", str(self.folder / "result.json"), "--quiet"]
        command += ["--checkpoint", str(state), "--checkpoint-every", every]
        return [*command, *(("--resume", str(state)) if resumed else ())]

    def link(self, iterations: int, every: str, moment: float | None) -> Ended | None:
        """Start or resume the run, and kill it after so many seconds; None if the chain cannot go on."""
        resumed = self.state.exists() and self.case.kind != "compare"
        (self.folder / "result.json").unlink(missing_ok=True)
        command = self._command(iterations, every, self.state, resumed)
        shown = command
        if self.state.exists():  # kept, to make it again by hand
            before = self.folder / f"before-{len(self.copies)}"
            _copy(self.state, before)
            shown = self._command(iterations, every, before, resumed)
            self.copies.append(before)
        done = self._run(command, shown, moment)
        if done is None:
            return None
        if "Traceback" in done.errors:
            self.find("traceback", shown, done.errors)
        if done.killed or done.code in FINE:
            return done
        if resumed and not self.saved_once and self.state.is_dir() and done.code == 2 and done.output is None:
            self.anew += 1  # killed before the first save was whole: allowed
            shutil.rmtree(self.state)
            return self.link(iterations, every, moment)
        self.find("lost" if resumed and done.output is None else f"exit code {done.code}", shown, done.errors)
        return None

    def _run(self, command: list[str], shown: list[str], moment: float | None) -> Ended | None:
        errors = self.folder / "stderr"
        with errors.open("wb") as file:
            began = time.monotonic()
            process = subprocess.Popen(
                command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=file, start_new_session=True
            )
            killed = False
            if not self._wait(process, moment):
                family = descendants(process.pid)
                if moment is None:
                    end_all([process.pid, *family])
                    process.wait()
                    took = time.monotonic() - began
                    self.find("hung", shown, f"not done after {took:.0f} s\n{errors.read_text(errors='replace')}")
                    return None
                killed = self._kill(process, family, time.monotonic() - began, shown)
        path, output = self.folder / "result.json", None
        if path.exists():
            try:
                output = json.loads(path.read_text())
            except ValueError:
                self.find("torn result", shown, path.read_text(errors="replace")[-200:])
        return Ended(killed, process.returncode, errors.read_text(errors="replace"), output)

    def _wait(self, process: subprocess.Popen[bytes], moment: float | None) -> bool:
        """Until the process has ended, or until a moment; whether it has ended.

        Without a moment, until it hangs. One that saves after every round may take many times as long as the
        reference on a busy disk; it does not hang as long as there are new checkpoints.
        """
        limit = self.patience + self.reference["wall"] if moment is None else moment
        for _ in range(_MOST_LIMITS if moment is None else 1):
            saved = self._last_change()
            try:
                process.wait(limit)
                return True
            except subprocess.TimeoutExpired:
                if self._last_change() == saved:
                    return False
        return False

    def _last_change(self) -> int:
        """When anything of the checkpoint was last written."""
        times = [0]
        for path in (self.state, *self.state.rglob("*")):
            with contextlib.suppress(FileNotFoundError):  # it has just been replaced
                times.append(path.stat().st_mtime_ns)
        return max(times)

    def _kill(self, process: subprocess.Popen[bytes], family: list[int], after: float, shown: list[str]) -> bool:
        """Kill the whole run, or one process of it, unless it has just ended; what is left must end by itself."""
        victims, what = [process.pid], "process"
        if self.case.kind == "mpi":
            ranks = [pid for pid in family if " mpi4py " in command_of(pid) and "mpiexec" not in command_of(pid)]
            if ranks and self.draws.random() < 0.5:
                victims, what = [self.draws.choice(ranks)], "rank"
            else:
                victims, what = [process.pid, *family], "all"
        elif self.case.kind == "compare":
            workers = [pid for pid in family if "spawn_main" in command_of(pid)]
            if workers and self.draws.random() < 0.5:
                victims, what = [self.draws.choice(workers)], "worker"
        hit = all(map(alive, victims[:1]))
        end_all(victims)
        try:
            process.wait(self.patience)
        except subprocess.TimeoutExpired:
            self.find("hung", shown, f"still there {self.patience:.0f} s after the kill of a {what}")
        deadline = time.monotonic() + 10
        while any(map(alive, family)) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = [pid for pid in family if alive(pid)]
        if left:
            self.find("processes left", shown, "\n".join(map(command_of, left)))
        end_all([process.pid, *left] if process.poll() is None else left)
        process.wait()
        if victims[0] == process.pid:
            hit = process.returncode == -signal.SIGKILL
        if hit:
            self.kills.append({"after": round(after, 3), "what": what})
        return hit

    def _peek(self) -> None:
        """Islands: what is in the checkpoint, told by a copy that is resumed to a step long made.

        Once something whole has been there, there must be something ever after, and the best of it must not get lost.
        """
        if self.case.kind not in ("islands", "mpi") or not self.state.exists():
            return
        copy = self.folder / "peek"
        _copy(self.state, copy)
        command = self._command(1, "60", copy, True)
        (self.folder / "result.json").unlink(missing_ok=True)
        done = self._run(command, command, None)
        if done is not None and done.code in FINE and done.output is not None:
            self.saved_once = True
            worth = self._worth(done.output)
            self.best = worth if self.best is None else max(self.best, worth)
        elif done is not None and self.saved_once:
            self.find("lost", command, done.errors)

    def _worth(self, result: dict[str, Any]) -> tuple[float, float]:
        """Larger is better: feasible first."""
        return -result["violation"], -result["objective"] if self.case.minimise else result["objective"]

    def _compare(self, done: Ended) -> None:
        command = self._command(self.reference["iterations"], "0", self.state, True)
        if self.case.kind == "compare":
            found = list(islice(differences(rows_of(self.state), self.expected), 8))
            if found:
                self.find("differs", command, f"rows of the store: {found}")
        elif done.output is None:
            self.find("lost", command, "no result was written")
        elif not self.case.repeatable:
            if self.best is not None and self._worth(done.output) < self.best:
                self.find("worse", command, f"{self._worth(done.output)} after {self.best} had been saved")
        elif told(done.output) != self.expected:
            self.find("differs", *self._first_difference(done.output, command))
        hidden = [str(p.relative_to(self.state.parent)) for p in self.folder.glob(".*")]
        hidden += [str(p.relative_to(self.state.parent)) for p in self.state.rglob(".*")]
        if hidden:
            self.find("temporary files left", command, "\n".join(hidden))

    def _first_difference(self, result: dict[str, Any], command: list[str]) -> tuple[list[str], str]:
        """The first of the checkpoints that is resumed to another end, and what is different then."""
        for copy in self.copies:
            command = self._command(self.reference["iterations"], "60", copy, True)
            _copy(copy, self.folder / "again")
            done = self._run(
                self._command(self.reference["iterations"], "60", self.folder / "again", True), command, None
            )
            if done is not None and done.output is not None and told(done.output) != self.expected:
                result = done.output
                break
        found = list(islice(differences(told(result), self.expected), 8))
        return command, "\n".join(f"{where}: {here} instead of {there}" for where, here, there in found)


def _copy(state: Path, copy: Path) -> None:
    """A checkpoint, be it a file or a folder."""
    if state.is_dir():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(state, copy)
    else:
        shutil.copyfile(state, copy)


def seconds_of(store: Path) -> float:
    """What the runs in a store took."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        return float(connection.execute("SELECT sum(seconds) FROM replications").fetchone()[0])


def rows_of(store: Path) -> list[Any]:
    """What a store says, but for times."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        names = "instance, algorithm, seed, config, objective, feasible, evaluations, iterations, result"
        rows = connection.execute(f"SELECT {names} FROM replications ORDER BY 1, 2, 3, 4").fetchall()
    return [[*row[:-1], told(json.loads(row[-1]))] for row in rows]
