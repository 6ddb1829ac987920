"""Kill -9 at random moments, resume, compare: `make soak`.

Every case is run once in peace; that is its reference. Then follow chains: the run is started with checkpoints, killed,
resumed, killed, ..., and at last resumed to its end, which must equal the reference bit for bit. Everything is noted in
a ledger, from which the next call goes on. A finding names the chain and the command; the folder of its chain is kept.

Only the command line is used, as real processes; Linux, because processes are found in /proc.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from deck import Case, make_deck

KILLS = (4, 10)  # of a chain that does not end before
COLD = 900  # seconds that a first run may take: it compiles
VOLATILE = {
    *("seconds", "threads", "versions", "ranks"),
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


def told(result: Any) -> Any:
    """All of a result that must not depend on the clock, nor on how often the run was killed."""
    if isinstance(result, dict):
        return {k: told(v) for k, v in result.items() if k not in VOLATILE}
    return [told(v) for v in result] if isinstance(result, list) else result


def digest_of_sources() -> str:
    """References and kills count for the sources that they were made with."""
    spec = importlib.util.find_spec("systola")
    assert spec is not None
    assert spec.origin is not None
    digest = hashlib.sha256()
    for path in sorted(Path(spec.origin).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def descendants(pid: int) -> list[int]:
    """All processes below this one."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            below.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        children = below.get(todo.pop(), [])
        found += children
        todo += children
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def end_all(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Ledger:
    """Lines of JSON, each on the disk before the next is begun; a torn last line is nothing."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.lock = path, threading.Lock()
        self.entries: list[dict[str, Any]] = []
        whole = path.read_bytes() if path.exists() else b""
        for line in whole.split(b"\n")[:-1]:
            self.entries.append(json.loads(line))
        if not whole.endswith(b"\n"):
            with path.open("r+b" if whole else "wb") as file:
                file.truncate(whole.rfind(b"\n") + 1)

    def add(self, **entry: Any) -> None:
        with self.lock:
            self.entries.append(entry)
            with self.path.open("ab") as file:
                file.write(json.dumps(entry).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def of(self, sources: str, kind: str) -> list[dict[str, Any]]:
        with self.lock:
            return [e for e in self.entries if e["kind"] == kind and e["sources"] == sources]


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

    def go(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        kills = self.draws.randint(*KILLS)
        every = self.draws.choice(("0", "0.02", "0.1"))
        if self.case.kind != "compare" and self.draws.random() < 0.5:  # from here on something whole must be there
            early = max(1, self.reference["iterations"] // 10)
            if self._link(early, every, None) is None:
                return
            self.saved_once = self.state.exists()
            if not self.saved_once:
                self.find("no checkpoint after the end of a run", [])
        while True:
            moment = self.draws.uniform(0, self.reference["wall"]) if len(self.kills) < kills else None
            done = self._link(self.reference["iterations"], every, moment)
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

    def _link(self, iterations: int, every: str, moment: float | None) -> Ended | None:
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
        if done.killed or done.code == 0:
            return done
        if resumed and not self.saved_once and self.state.is_dir() and done.output is None:
            self.anew += 1  # killed before the first save was whole: allowed
            shutil.rmtree(self.state)
            return self._link(iterations, every, moment)
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
            limit = self.patience + self.reference["wall"] if moment is None else moment
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                family = descendants(process.pid)
                if moment is None:
                    end_all([process.pid, *family])
                    process.wait()
                    self.find("hung", shown, f"not done after {limit:.0f} s\n{errors.read_text(errors='replace')}")
                    return None
                self._kill(process, family, time.monotonic() - began, shown)
                killed = True
        path = self.folder / "result.json"
        output = json.loads(path.read_text()) if path.exists() else None
        return Ended(killed, process.returncode, errors.read_text(errors="replace"), output)

    def _kill(self, process: subprocess.Popen[bytes], family: list[int], after: float, shown: list[str]) -> None:
        """Kill the whole run, or one process of it; what is left must end by itself."""
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
        end_all(victims)
        self.kills.append({"after": round(after, 3), "what": what})
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

    def _peek(self) -> None:
        """Asynchronous: what the best of the checkpoint is, told by a copy that is resumed to a step long made."""
        if self.case.repeatable or not self.state.exists():
            return
        copy = self.folder / "peek"
        _copy(self.state, copy)
        command = self._command(1, "60", copy, True)
        done = self._run(command, command, None)
        if done is not None and done.output is not None:
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
            if rows_of(self.state) != self.expected:
                self.find("differs", command, "the rows of the store are not those of an uninterrupted comparison")
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
        here = told(result)
        keys = [k for k in {**here, **self.expected} if here.get(k) != self.expected.get(k)]
        return command, json.dumps({k: (str(here.get(k))[:200], str(self.expected.get(k))[:200]) for k in keys})


def _copy(state: Path, copy: Path) -> None:
    """A checkpoint, be it a file or a folder."""
    if state.is_dir():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(state, copy)
    else:
        shutil.copyfile(state, copy)


def rows_of(store: Path) -> list[Any]:
    """What a store says, but for times."""
    with sqlite3.connect(store) as connection:
        names = "instance, algorithm, seed, config, objective, feasible, evaluations, iterations, result"
        rows = connection.execute(f"SELECT {names} FROM replications ORDER BY 1, 2, 3, 4").fetchall()
    connection.close()
    return [[*row[:-1], told(json.loads(row[-1]))] for row in rows]


class Soak:
    """All chains of a folder."""

    def __init__(self, folder: Path, seed: int, deck: list[Case], span: float = 1.5, patience: float = 60.0) -> None:
        self.folder, self.seed, self.span, self.patience = folder.resolve(), seed, span, patience
        self.deck = random.Random(seed).sample(deck, len(deck))
        self.sources = digest_of_sources()
        self.ledger = Ledger(folder / "ledger.jsonl")
        self.locks = {case.name: threading.Lock() for case in deck}
        self.lock = threading.Lock()
        self.taken: set[int] = set()  # chains that are done or in the making

    def chains(self) -> list[dict[str, Any]]:
        return [e for e in self.ledger.of(self.sources, "chain") if e["seed"] == self.seed]

    def killed(self) -> int:
        return sum(len(e["kills"]) for e in self.chains())

    def run(self, kills: int, workers: int, only: str = "") -> list[dict[str, Any]]:
        """Chains, of cases whose names hold this text, until so many kills are made; the findings of all."""
        if not any(only in case.name for case in self.deck):
            raise SystemExit(f"there is no case whose name holds {only!r}")
        with ThreadPoolExecutor(workers) as crew:
            for worker in [crew.submit(self._work, kills, only) for _ in range(workers)]:
                worker.result()
        return [{"chain": e["chain"], "case": e["case"], **f} for e in self.chains() for f in e["findings"]]

    def _work(self, kills: int, only: str) -> None:
        while self.killed() < kills:
            with self.lock:
                self.taken.update(e["chain"] for e in self.chains())
                number = next(k for k in count() if k not in self.taken and only in self._case(k).name)
                self.taken.add(number)
            self.one(number)

    def _case(self, number: int) -> Case:
        return self.deck[number % len(self.deck)]

    def one(self, number: int) -> dict[str, Any]:
        """One chain; its number says the case and the moments of all kills."""
        case = self._case(number)
        with self.locks[case.name]:
            reference, expected = self._reference(case)
        draws = random.Random(f"{self.seed} {number}")
        folder = self.folder / "chains" / f"{number:05d}"
        chain = Chain(case, number, folder, draws, reference, expected, self.patience)
        began = time.monotonic()
        chain.go()
        if not chain.findings:
            shutil.rmtree(folder)
        entry = {
            "kind": "chain",
            "sources": self.sources,
            "seed": self.seed,
            "chain": number,
            "case": case.name,
            "kills": chain.kills,
            "anew": chain.anew,
            "took": round(time.monotonic() - began, 2),
            "findings": chain.findings,
        }
        self.ledger.add(**entry)
        verdict = "; ".join(f["what"] for f in chain.findings) or "as ever"
        print(f"{self.killed():>5} kills  chain {number}: {len(chain.kills)} of {case.name}: {verdict}", flush=True)
        return entry

    def _reference(self, case: Case) -> tuple[dict[str, Any], Any]:
        """The run in peace, of so many iterations that it takes about a span; made once."""
        name = "".join(c if c.isalnum() else "-" for c in case.name)
        kept = self.folder / "references" / f"{self.sources}-{name}.json"
        known = [e for e in self.ledger.of(self.sources, "reference") if e["case"] == case.name]
        if known and kept.exists():
            return known[-1], json.loads(kept.read_text())
        kept.parent.mkdir(parents=True, exist_ok=True)
        folder = self.folder / "calibration" / name
        iterations, patience = 4, COLD  # the first run compiles
        while True:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            trial = Chain(case, -1, folder, random.Random(0), {"iterations": iterations, "wall": 0.0}, None, patience)
            began = time.monotonic()
            done = trial._link(iterations, "60", None)
            wall = time.monotonic() - began
            if done is None or trial.findings:
                raise RuntimeError(f"a run in peace failed: {trial.findings}")
            seconds = wall - 2 if case.kind == "compare" else done.output["seconds"]
            if patience < COLD and (seconds >= self.span / 2 or iterations >= 10**8):
                break
            patience = COLD - 1
            iterations = max(2 * iterations, int(iterations * min(30.0, self.span / max(seconds, 1e-3))))
        expected = rows_of(trial.state) if case.kind == "compare" else told(done.output)
        kept.write_text(json.dumps(expected))
        shutil.rmtree(folder)
        entry = {"sources": self.sources, "case": case.name, "iterations": iterations, "wall": round(wall, 2)}
        self.ledger.add(kind="reference", **entry)
        print(f"             reference of {case.name}: {iterations} iterations, {wall:.2f} s", flush=True)
        return entry, expected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("results/soak"))
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--span", type=float, default=1.5, help="seconds that a run takes, starting not counted")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds after which a run hangs")
    parser.add_argument("--only", default="", help="cases whose names hold this text")
    parser.add_argument("--chain", type=int, help="make this chain again, and only it")
    given = parser.parse_args()
    deck = [case for case in make_deck() if MPIEXEC or case.kind != "mpi"]
    soak = Soak(given.folder, given.seed, deck, given.span, given.patience)
    if given.chain is not None:
        findings = soak.one(given.chain)["findings"]
    else:
        findings = soak.run(given.kills, given.workers, given.only)
        cases = {e["case"] for e in soak.chains()}
        print(f"{soak.killed()} kills in {len(soak.chains())} chains of {len(cases)} cases, {len(findings)} findings")
    for finding in findings:
        print(json.dumps(finding, indent=1))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
