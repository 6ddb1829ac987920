"""The walk of docs/architecture.md: the functions exist, run in that order, and no other file takes part.

The command runs in a process of its own under a profiler. What only an import runs does not count.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import systola

PACKAGE = Path(systola.__file__).parent
PAGE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"
FEWEST_STOPS, MOST_STOPS, MOST_FILES = 15, 20, 75
N = 30  # facilities, as tai30a has

PROFILED = """
import json, sys, threading
import systola.cli, systola.cli.solve
OPTIMIZED = 1  # the flag of functions' code; bodies of modules and classes do not have it
seen = {}
def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_flags & OPTIMIZED and not code.co_name.endswith(("comp>", "genexpr>")):
        seen.setdefault((code.co_filename, code.co_firstlineno))
threading.setprofile(note)
sys.setprofile(note)
try:
    systola.cli.main(sys.argv[2:])
finally:
    sys.setprofile(None)
    with open(sys.argv[1], "w") as file:
        json.dump(list(seen), file)
"""


def section() -> str:
    found = re.search(r"^## A walk.*?(?=^## )", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    return found[0]


def stops() -> list[tuple[str, str]]:
    """File and function of each row of the first table."""
    return re.findall(r"^\| `(\S+\.py)` \| `(\S+)` \|", section(), re.MULTILINE)


def beside() -> Iterator[str]:
    for room, files in re.findall(r"^\| (root|`\w+/`) \| (`.*`) \|$", section(), re.MULTILINE):
        for name in re.findall(r"`(\S+?)`", files):
            yield name if room == "root" else room.strip("`") + name


def line_of(file: str, function: str) -> int:
    """Where the code of a function begins, decorators included."""
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    found = importlib.import_module(f"systola.{module}")
    for part in function.split("."):
        found = getattr(found, part)
    code = getattr(inspect.unwrap(getattr(found, "callback", found)), "__code__")  # noqa: B009
    assert Path(code.co_filename) == PACKAGE / file, f"{function} is not of {file}"
    return int(code.co_firstlineno)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int]]:
    """File and first line of all functions of the package that run, in the order of their first calls."""
    folder = tmp_path_factory.mktemp("walk")
    numbers = np.random.default_rng(1).integers(0, 100, (2, N, N))
    rows = [" ".join(map(str, row)) for row in (numbers + numbers.transpose(0, 2, 1)).reshape(2 * N, N).tolist()]
    instance, seen = folder / "like30a.dat", folder / "seen.json"
    instance.write_text("\n".join([str(N), *rows]) + "\n")
    command = ["solve", str(instance), "--iterations", "3"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE", "NUMBA_DISABLE_JIT"))}
    for call in (["-m", "systola", *command], ["-c", PROFILED, str(seen), *command]):  # the first one compiles
        done = subprocess.run([sys.executable, *call], env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
    inside = [(Path(file), line) for file, line in json.loads(seen.read_text())]
    return [(file.relative_to(PACKAGE).as_posix(), line) for file, line in inside if PACKAGE in file.parents]


def test_the_page_has_a_walk_of_few_files() -> None:
    assert FEWEST_STOPS < len({file for file, _ in stops()}) <= MOST_STOPS
    assert not {file for file, _ in stops()} & set(beside())


@pytest.mark.parametrize(("file", "function"), stops())
def test_each_function_of_the_walk_exists(file: str, function: str) -> None:
    assert line_of(file, function) > 0


def test_functions_run_in_the_order_of_the_page(walked: list[tuple[str, int]]) -> None:
    places = [walked.index((file, line_of(file, function))) for file, function in stops()]
    assert places == sorted(places)


def test_the_page_names_every_file_that_takes_part(walked: list[tuple[str, int]]) -> None:
    ran = {file for file, _ in walked}
    named = {file for file, _ in stops()} | set(beside())
    assert ran == named, "docs/architecture.md, A walk: name what runs, and nothing else"
    assert len(ran) <= MOST_FILES
