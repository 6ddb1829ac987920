"""The documentation is true: every code block runs, prints what it says, and every link leads somewhere.

```python     executed; the blocks of a page share one namespace, in order
```py         shown only: runs that take long, of which a test of their own knows (test_gallery.py)
```bash       lines that begin with `systola ` are executed; others must be listed here
```text       right after one of those: what it prints, with `...` for what differs from run to run
```

A page's blocks run in one empty folder, so that later blocks find the files of earlier ones.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from _pytest.mark import ParameterSet

import systola as sy
from systola.cli import cli, main

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LARGEST_IMAGE = 200_000  # bytes

# Not executed: they install, need a cluster, or are tested elsewhere, as by being how these tests run.
PLAIN = {
    "make demo",
    "make test",
    "make bench",
    "make parity",
    "make lint",
    "make coverage",
    "make docs",
    "make wheel",
    "python examples/gallery/tsp.py",
    "python benchmarks/gallery.py --only tsp",
    'python3 -m pip install ".[plots]"',
    'python3 -m pip install ".[cu12]"',
    'python3 -m pip install ".[cu13]"',
    'python3 -m pip install ".[mpi]"',
    "python3 -m pip install mpich",
    "export NUMBA_NUM_THREADS=1",
    "mpiexec -n 4 python -m mpi4py -m systola solve gap:e-20x400 --algorithm ssga --islands 4 --seconds 5",
    "srun -n 64 python -m mpi4py -m systola solve e801600 --algorithm ssga --islands 64 --seconds 600 --checkpoint run",
}
# Too long to execute here, or in need of a GPU: only their options are checked.
LONG = {
    "systola solve knapsack:1000-1000 --algorithm sgs-b --seconds 60 --log sgs.log",
    "systola solve knapsack:1000-1000",
    "systola solve knapsack:1000-1000 --backend cuda",
    "systola solve gap:e-20x400 --algorithm ssga --islands 4 --seconds 5",
    "systola solve knapsack:1000-10000 --seconds 600 --checkpoint run.ckpt",
    "systola solve knapsack:1000-10000 --seconds 1200 --checkpoint run.ckpt --resume run.ckpt",
    "systola compare knapsack:200-1000 --algorithms sgs-b,ega,rs --runs 30",
    "systola solve knapsack:1000-1000 --watch",
    "systola watch first.log second.log",
    "systola reproduce sgs",
    "systola reproduce sgs --quick",
    "systola reproduce sgs --table 3 --quick",
    "systola reproduce sgs --table 5 --runs 10 --format latex --output tables",
    "systola reproduce sns --instances mkp --quick",
    "systola reproduce sns --instances mkp",
    "systola reproduce sns --instances mkp --figure 5 --figures figures",
    "systola simulate --rounds 500 --output scaling.png",
    "systola devices --kernels",
    "systola devices --kernels --arch 90",
    "systola bench",
    "systola bench --repeat 9 --threads 1 --json",
    "systola bench --backend cuda",
}
# Executed by the long tests only: they compile kernels that no other of the usual tests needs.
SLOW = {
    "systola solve qap:grid-5x6 --target 65096",
    "systola solve flowshop:ta031 --seconds 2",
    "systola solve gap:c-5x100 --seconds 2",
    'systola solve "flowshop:ta011?objectives=makespan,tardiness,tardy" --algorithm tabu --sweep 6 --iterations 20',
    "systola solve offices.json --quiet --output offices.csv",
}
SLOW_PAGES = (
    "own-operator.md",
    "own-problem.md",
    "expensive.md",
    "islands.md",
    "methods.md",
)  # the same of their Python

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@dataclass(frozen=True)
class Block:
    """A fenced block, where it is, and what it must print if the page says so."""

    language: str
    body: str
    line: int
    output: str | None


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fences = list(_FENCE.finditer(text))
    found = []
    for fence, follower in zip(fences, [*fences, None][1:], strict=True):
        output = None
        if follower and follower[1] == "text" and not text[fence.end() : follower.start()].strip():
            output = follower[2]
        found.append(Block(fence[1], fence[2], text.count("\n", 0, fence.start(2)), output))
    return found


def commands_of(block: Block) -> list[str]:
    lines = (re.sub(r"(^|\s+)#.*", "", line).strip() for line in block.body.splitlines())
    return [line for line in lines if line]


def run_python(block: Block, page: Path, names: dict[str, Any]) -> str:
    def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
        print(f"{category.__name__}: {message}")

    printed = io.StringIO()
    # Empty lines before it, so that a traceback names the line of the page.
    code = compile("\n" * block.line + block.body, str(page), "exec", dont_inherit=True)
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("always", sy.SlowObjectiveWarning)
        warnings.showwarning = show
        exec(code, names)
    return printed.getvalue()


def run_here(command: str) -> str:
    """What a line prints on standard output; it must succeed. Without a process of its own, which takes a second."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(shlex.split(command)[1:])
        except SystemExit as end:
            code = end.code
    assert not code, f"{command}\n{out.getvalue()}\n{err.getvalue()}"
    return out.getvalue()


def run_in_shell(command: str) -> str:
    """As `run_here`, for lines with pipes and the like."""
    ours = f"{shlex.quote(sys.executable)} -m systola {command.removeprefix('systola ')}"
    done = subprocess.run(ours, shell=True, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def parse_command(command: str) -> None:
    """Complain as the command line would, without running anything."""
    _, name, *words = shlex.split(command)
    context = click.Context(cli, **cli.context_settings)  # commands keep the first help option that they make
    inner = cli.get_command(context, name)
    assert inner is not None, command
    inner.make_context(name, words, parent=context)


def fits(printed: str, promised: str) -> bool:
    def lines(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = ".*?".join(re.escape(part) for part in lines(promised).split("..."))
    return re.fullmatch(pattern, lines(printed), re.DOTALL) is not None


NEEDED = {"tables.md": ("pandas", "networkx")}  # by pages about other packages


def pages_and_parts() -> Iterator[ParameterSet]:
    """Whole pages; those with slow commands as usual tests without them, too."""
    for page in PAGES:
        has_slow = any(command in SLOW for block in blocks_of(page) for command in commands_of(block))
        if has_slow:
            yield pytest.param(page, False, id=page.name)
        is_long = has_slow or page.name in SLOW_PAGES
        yield pytest.param(
            page, True, id=f"{page.name}-whole" if has_slow else page.name, marks=pytest.mark.long if is_long else []
        )


@pytest.mark.parametrize(("page", "whole"), list(pages_and_parts()))
def test_blocks(page: Path, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDED.get(page.name, ()):
        pytest.importorskip(package, reason=f"{page.name} is about {package}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    module = ModuleType("docs")  # as a script is: kernels from the cache look for the module of their functions
    monkeypatch.setitem(sys.modules, "docs", module)
    names: dict[str, Any] = vars(module)
    for block in blocks_of(page):
        printed = ""
        left_out = set() if whole else SLOW.intersection(commands_of(block))
        if block.language == "python":
            printed = run_python(block, page, names)
        elif block.language == "bash":
            for command in commands_of(block):
                if command in LONG or command in left_out:
                    parse_command(command)
                elif command.startswith("systola "):
                    printed += (run_in_shell if set(command) & set("|>&") else run_here)(command)
                else:
                    assert command in PLAIN, f"{page.name}: list {command!r} here, or begin it with systola"
        if block.output is not None and not left_out and block.language != "py":
            where = f"{page.name}, line {block.line}"
            assert fits(printed, block.output), f"{where} promises\n{block.output}\nbut prints\n{printed}"


def test_lists_name_what_is_there() -> None:
    written = {c for page in PAGES for b in blocks_of(page) if b.language == "bash" for c in commands_of(b)}
    assert not (PLAIN | LONG | SLOW) - written


@pytest.mark.long
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_examples(example: Path, tmp_path: Path) -> None:
    if "systola.lab" in example.read_text(encoding="utf-8"):
        pytest.importorskip("matplotlib", reason="needs the extra plots")
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_images_are_small() -> None:
    for image in (ROOT / "docs" / "images").rglob("*.png"):
        assert image.stat().st_size < LARGEST_IMAGE, f"{image.name} is too large for a page"
    for film in (ROOT / "docs" / "images").rglob("*.gif"):
        assert film.stat().st_size < 3 * LARGEST_IMAGE, f"{film.name} is too large for a page"


def all_commands() -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found += [(f"{name} {inner}", command.commands[inner]) for inner in command.commands]
        else:
            found.append((name, command))
    return found


@pytest.mark.parametrize(("name", "command"), all_commands(), ids=lambda v: v if isinstance(v, str) else "")
def test_every_option_is_documented(name: str, command: click.Command) -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = re.search(rf"^## `systola {name}`$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, f"command-line.md has no section `systola {name}`"
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                assert f"`{option}" in section[1], f"command-line.md does not tell of {option} of systola {name}"
