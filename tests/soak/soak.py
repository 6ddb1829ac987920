"""Kill -9 at random moments, resume, compare: `make soak`.

Every case is run once in peace; that is its reference. Then follow chains: the run is started with checkpoints, killed,
resumed, killed, ..., and at last resumed to its end, which must equal the reference bit for bit. Everything is noted in
a ledger, from which the next call goes on. A finding names the chain and the command; the folder of its chain is kept.

Only the command line is used, as real processes; Linux, because processes are found in /proc.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import random
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

from chain import MPIEXEC, Chain, rows_of, seconds_of, told
from deck import Case, make_deck

COLD = 900  # seconds that a first run may take: it compiles


def digest_of_sources() -> str:
    """References and kills count for the sources that they were made with."""
    spec = importlib.util.find_spec("systola")
    assert spec is not None
    assert spec.origin is not None
    digest = hashlib.sha256()
    for path in sorted(Path(spec.origin).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


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


class Soak:
    """All chains of a folder."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        deck: list[Case],
        span: float = 1.5,
        patience: float = 60.0,
        length: tuple[int, int] = (4, 10),
    ) -> None:
        self.folder, self.seed, self.span, self.patience = folder.resolve(), seed, span, patience
        self.length = length  # kills of a chain that does not end before
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
        with ThreadPoolExecutor(workers) as pool:
            for worker in [pool.submit(self._work, kills, only) for _ in range(workers)]:
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

    def one(self, number: int, again: bool = False) -> dict[str, Any]:
        """One chain; its number says the case and the moments of all kills. Made again, it is not noted."""
        case = self._case(number)
        with self.locks[case.name]:
            reference, expected = self.reference(case)
        draws = random.Random(f"{self.seed} {number}")
        folder = self.folder / ("again" if again else "chains") / f"{number:05d}"
        chain = Chain(case, number, folder, draws, reference, expected, self.patience)
        began = time.monotonic()
        chain.go(self.length)
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
        if not again:
            self.ledger.add(**entry)
        verdict = "; ".join(f["what"] for f in chain.findings) or "as ever"
        print(f"{self.killed():>5} kills  chain {number}: {len(chain.kills)} of {case.name}: {verdict}", flush=True)
        return entry

    def reference(self, case: Case) -> tuple[dict[str, Any], Any]:
        """The run in peace, of so many iterations that it takes about a span; made once."""
        name = "".join(c if c.isalnum() else "-" for c in case.name)
        kept = self.folder / "references" / f"{self.sources}-{name}.json"
        known = [e for e in self.ledger.of(self.sources, "reference") if e["case"] == case.name]
        if known and kept.exists():
            return known[-1], json.loads(kept.read_text())
        kept.parent.mkdir(parents=True, exist_ok=True)
        folder = self.folder / "calibration" / name
        iterations = 4
        for attempt in count():  # the first compiles
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            trial = Chain(case, -1, folder, random.Random(0), {"iterations": iterations, "wall": 0.0}, None, COLD)
            began = time.monotonic()
            done = trial.link(iterations, "60", None)
            wall = time.monotonic() - began
            if done is None or trial.findings:
                raise RuntimeError(f"a run in peace failed: {trial.findings}")
            seconds = seconds_of(trial.state) / 2 if case.kind == "compare" else done.output["seconds"]
            # What proves its solution best ends by itself, however many iterations it may make.
            is_over = case.kind == "solve" and done.output["stop"] == "finished"
            if attempt > 0 and (seconds >= self.span / 2 or is_over):
                break
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
    if MPIEXEC is None:
        print("there is no mpiexec: islands on MPI processes are left out")
    soak = Soak(given.folder, given.seed, deck, given.span, given.patience)
    if given.chain is not None:
        findings = soak.one(given.chain, again=True)["findings"]
    else:
        findings = soak.run(given.kills, given.workers, given.only)
        cases = {e["case"] for e in soak.chains()}
        print(f"{soak.killed()} kills in {len(soak.chains())} chains of {len(cases)} cases, {len(findings)} findings")
    for finding in findings:
        print(json.dumps(finding, indent=1))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
