"""The plain C program c/sgs.c from Python: compile it, run it, read back what it found."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SOURCE = Path(__file__).parent / "c" / "sgs.c"
ALWAYS = ["-std=c11", "-Wall", "-Wextra"]

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Selection:
    """Some of the items, which have profits and weights; for several constraints, a row of weights for each."""

    profits: Ints
    weights: Ints

    @property
    def length(self) -> int:
        return len(self.profits)


@dataclass(frozen=True)
class Knapsack(Selection):
    """0/1 knapsack; excess weight is penalised by Eq. 5 of the paper."""

    capacity: int


@dataclass(frozen=True)
class MMDP:
    """Massively multimodal deceptive problem on `length` bits, fitness in millionths."""

    length: int


Problem = Knapsack | MMDP


@dataclass(frozen=True)
class Outcome:
    """State after the last step, in cell order: cell (i, j) is entry i * l + j."""

    seconds: float
    best: int
    steps: int
    checksum: str
    horizontal_fitness: Ints
    vertical_fitness: Ints
    horizontal: Bits
    vertical: Bits


def rows(length: int) -> int:
    """The paper's number of rows, the logarithm of the length in base two, rounded up."""
    return (length - 1).bit_length()


def pisinger(items: int, spread: int, seed: int = 1) -> Knapsack:
    """Instance `items`-`spread` of Table 1: Pisinger's uncorrelated generator where C `long` has 64 bits."""
    high, low = seed, 0x330E
    draws = []
    for _ in range(2 * items):
        high = high * 0xDEECE66D + low * 0x5DEEC
        low = low * 0xE66D + 0xB
        high = (high + (low >> 16)) % 2**64
        low &= 0xFFFF
        draws.append((high >> 1) % spread + 1)
    return Knapsack(np.array(draws[1::2]), np.array(draws[::2]), spread + 1)


def build(flags: list[str], source: Path = SOURCE) -> Path:
    """Compile a C file with gcc and these flags, or return the binary made earlier from the same input."""
    gcc = shutil.which("gcc")
    if gcc is None:
        raise RuntimeError("the C baseline needs gcc, and there is none in PATH")
    version = subprocess.run([gcc, "--version"], capture_output=True, text=True, check=True).stdout
    # -march=native makes a binary that only suits this machine, and a cache may be shared by several.
    headers = [header.read_text() for header in sorted(source.parent.glob("*.h"))]
    parts = [source.read_text(), *headers, *ALWAYS, *flags, version, platform.node(), platform.machine()]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "systola-benchmarks"
    binary = cache / f"{source.stem}-{key}"
    if binary.exists():
        return binary
    cache.mkdir(parents=True, exist_ok=True)
    # Compiled aside and renamed, so that two processes building at once never run half a file.
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        made = Path(folder) / source.stem
        command = [gcc, *ALWAYS, *flags, str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"gcc failed: {' '.join(command)}\n{done.stderr}")
        made.replace(binary)
    return binary


def exchange(binary: Path, numbers: list[Ints], solutions: list[Bits]) -> tuple[dict[str, Any], bytes]:
    """Give a program numbers and solutions, one byte per bit; what it reports, and the file that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "input.bin", Path(folder) / "output.bin"
        parts = [np.asarray(array, dtype="<i8").tobytes() for array in numbers]
        parts += [np.asarray(array, dtype=np.uint8).tobytes() for array in solutions]
        source.write_bytes(b"".join(parts))
        done = subprocess.run([str(binary), str(source), str(target)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{binary.name} failed: {done.stderr.strip()}")
        return json.loads(done.stdout), target.read_bytes()


def run(binary: Path, problem: Problem, tau: int, steps: int, horizontal: Bits, vertical: Bits) -> Outcome:
    """Run SGS_B from these solutions; each array holds l * tau solutions of l bits in cell order."""
    length = problem.length
    cells = length * tau
    header = [0 if isinstance(problem, Knapsack) else 1, length, tau, steps]
    if isinstance(problem, Knapsack):
        header += [int(problem.capacity), *problem.profits.tolist(), *problem.weights.tolist()]
    report, raw = exchange(binary, [np.array(header)], [horizontal, vertical])
    fitness = np.frombuffer(raw, dtype="<i8", count=2 * cells).reshape(2, cells)
    solutions = np.frombuffer(raw, dtype=np.uint8, offset=fitness.nbytes).reshape(2, cells, length)
    return Outcome(
        seconds=report["seconds"],
        best=report["best"],
        steps=report["steps"],
        checksum=report["checksum"],
        horizontal_fitness=fitness[0],
        vertical_fitness=fitness[1],
        horizontal=solutions[0],
        vertical=solutions[1],
    )
