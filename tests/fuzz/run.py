"""Fuzz readers, options, configurations, checkpoints, records and results, until the ledger has all inputs.

    python tests/fuzz/run.py [--inputs N] [--target NAME] [--ledger FILE]

Inputs are numbered, and a number always makes the same one: `--again TARGET NUMBER` tries one of them.
Limits: no traceback, 5 seconds, 1 GiB.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import faulthandler
import json
import mmap
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.ledger import Ledger

SECONDS = 5
MEMORY = 2**30
READER_INPUTS, PROCESSES = 900_000, 1_000
PART = {"readers": 50_000, "texts": 5_000, "processes": 20}
HERE = Path(__file__).resolve()


class Counter:
    """Where a child is, for whoever looks after it; in a file, so that nothing that ends the child loses it."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(8))
        with path.open("r+b") as file:
            self._room = mmap.mmap(file.fileno(), 8)

    @property
    def value(self) -> int:
        return int(struct.unpack("q", self._room)[0])

    @value.setter
    def value(self, number: int) -> None:
        self._room[:] = struct.pack("q", number)


def limit_memory() -> None:
    """1 GiB more than now: what needs more than that must say so."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    now = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))


def work(target: str, first: int, count: int, folder: Path) -> None:
    """In a child: try inputs; findings go to a file, line by line."""
    from fuzz.targets import attempt
    from fuzz.workshop import Workshop, call

    shop = Workshop(folder / "shop")
    call(["simulate", "--demes", "4", "--rounds", "2", "--quiet"])
    for number in range(-30, 0):  # what is compiled or imported at first is not measured
        with contextlib.suppress(BaseException):
            attempt(target, number, shop)
    counter = Counter(folder / "count")
    limit_memory()
    with (folder / "findings").open("a") as findings, (folder / "stack").open("w") as stack:
        for number in range(first, first + count):
            counter.value = number
            faulthandler.dump_traceback_later(SECONDS, exit=True, file=stack)
            try:
                said = attempt(target, number, shop)
            except BaseException:
                said = traceback.format_exc()[-3000:]
            faulthandler.cancel_dump_traceback_later()
            if said:
                findings.write(json.dumps({"target": target, "number": number, "what": said}) + "\n")
                findings.flush()
        counter.value = first + count


def read_guided(runs: int, folder: Path) -> None:
    """In a child: inputs for readers, made by atheris, which sees what code they reach."""
    import atheris

    with atheris.instrument_imports(include=["systola.formats", "systola.problems"]):
        import fuzz.targets as targets
    from fuzz.workshop import SEEDS

    corpus = folder / "corpus"
    if not corpus.exists():
        corpus.mkdir()
        texts = [text.encode() for text in SEEDS.values()]
        for path in sorted((HERE.parents[2].parent / "shared" / "instances").rglob("*")):
            if path.is_file() and path.stat().st_size < 4096 and path.suffix != ".csv":
                texts.append(path.read_bytes())
        for k, text in enumerate(texts):
            for problem in range(len(targets.PROBLEMS)):
                (corpus / f"seed-{k}-{problem}").write_bytes(bytes([problem]) + text)
    (folder / "shop").mkdir(exist_ok=True)
    os.chdir(folder / "shop")
    for name in ("stakeholders", "value"):
        Path(f"input-{name}.txt").write_text(SEEDS[f"{name}.txt"])
    counter = Counter(folder / "count")
    counter.value = 0
    findings = (folder / "findings").open("a")

    def one(raw: bytes) -> None:
        counter.value += 1
        try:
            targets.read(raw[1:], targets.PROBLEMS[raw[0] % len(targets.PROBLEMS)] if raw else None)
        except BaseException:
            held = base64.b64encode(raw).decode()
            found = {"target": "readers", "input": held, "what": traceback.format_exc()[-3000:]}
            findings.write(json.dumps(found) + "\n")
            findings.flush()

    options = [f"-runs={runs}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEMORY >> 20}", "-max_len=4096", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/", str(corpus)], one)
    atheris.Fuzz()


def try_processes(first: int, count: int, folder: Path) -> tuple[int, list[dict[str, object]]]:
    """Command lines as processes of their own; some of them as if a scheduler had started them."""
    from fuzz.targets import judge, try_options
    from fuzz.workshop import Workshop

    here = Path.cwd()
    shop = Workshop(folder / "shop")
    found: list[dict[str, object]] = []
    for number in range(first, first + count):
        random = Random(f"processes {number}")
        args = [arg.replace("\0", "") for arg in try_options(random, shop)]
        told = random.choice(({}, {}, {"SLURM_PROCID": "1"}, {"PMI_RANK": "x"}, {"SLURM_PROCID": "-1"}))
        command = [sys.executable, "-m", "systola", *args]
        said = ""
        for limit in (SECONDS + 5, 60):  # starting takes a while on a busy machine, so time is looked at twice
            began = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                done = subprocess.run(command, capture_output=True, timeout=limit, env={**os.environ, **told})
            except subprocess.TimeoutExpired:
                said = f"{args}: not done after {limit} s"
                continue
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
            said = judge(
                args, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
            )
            if took > SECONDS + 5:
                said = f"{args}: took {took:.1f} s of computing"
            if ended.ru_maxrss * 1024 > MEMORY:
                said = said or f"{args}: took more than 1 GiB"
            break
        if said:
            found.append({"target": "processes", "number": number, "environment": told, "what": said})
    os.chdir(here)
    return count, found


def look_after(target: str, first: int, count: int, folder: Path) -> tuple[int, list[dict[str, object]]]:
    """Run a child to its end; how many inputs it tried, and what they found, its own end included."""
    if target == "processes":
        return try_processes(first, count, folder)
    for name in ("findings", "count", "stack"):
        (folder / name).unlink(missing_ok=True)
    counter = Counter(folder / "count")
    counter.value = first
    done = subprocess.run(
        [sys.executable, str(HERE), "--child", target, str(first), str(count), str(folder)], capture_output=True
    )
    found = []
    if (folder / "findings").exists():
        found = [json.loads(line) for line in (folder / "findings").read_text().splitlines()]
    tried = counter.value if target == "readers" else counter.value - first
    if tried < count and (target != "readers" or done.returncode):
        stack = (folder / "stack").read_text()[-3000:] if (folder / "stack").exists() else ""
        what = f"the process ended with {done.returncode}: {stack or done.stderr.decode(errors='replace')[-3000:]}"
        found.append({"target": target, "number": counter.value, "what": what})
        tried += target != "readers"
    if not tried:
        raise SystemExit(f"the child of {target} does not start: {done.stderr.decode(errors='replace')[-3000:]}")
    return tried, found


def main() -> int:
    from fuzz.targets import TARGETS, attempt
    from fuzz.workshop import Workshop

    totals = {"readers": READER_INPUTS, **{name: most for name, (most, _) in TARGETS.items()}, "processes": PROCESSES}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, help="this many of each target, instead of all")
    parser.add_argument("--target", choices=list(totals), action="append")
    parser.add_argument("--ledger", type=Path, default=Path("results/fuzz.json"))
    parser.add_argument("--again", nargs=2, metavar=("TARGET", "NUMBER"))
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    if asked.child:
        target, first, count, folder = asked.child
        if target == "readers":
            read_guided(int(count), Path(folder))
        else:
            work(target, int(first), int(count), Path(folder))
        return 0
    if asked.again:
        with tempfile.TemporaryDirectory() as folder:
            print(attempt(asked.again[0], int(asked.again[1]), Workshop(Path(folder))) or "nothing is wrong")
        return 0
    asked.ledger.parent.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(asked.ledger.resolve())
    known = len(ledger.findings)
    for target in asked.target or totals:
        last = totals[target] if asked.inputs is None else ledger.done(target) + asked.inputs
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            while ledger.done(target) < last:
                first, began = ledger.done(target), time.perf_counter()
                tried, found = look_after(target, first, min(PART.get(target, 500), last - first), Path(folder))
                ledger.add(target, tried, found)
                pace = tried / (time.perf_counter() - began)
                print(
                    f"{target}: {ledger.done(target):,} of {last:,}, {len(found)} new findings, {pace:,.0f}/s",
                    flush=True,
                )
    print(f"{len(ledger.findings)} findings in {asked.ledger}")
    return int(len(ledger.findings) > known)


if __name__ == "__main__":
    sys.exit(main())
