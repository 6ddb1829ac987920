"""A folder with all that command lines can name: instances, configurations, checkpoints, records, results and traps."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

from systola.cli import main

# Small files of every format, written by hand.
SEEDS: dict[str, str] = {
    "knapsack.txt": "3 10\n5 4\n6 5\n7 6\n1 1 0\n",
    "qap.dat": "3\n0 1 2\n1 0 3\n2 3 0\n0 5 6\n5 0 7\n6 7 0\n",
    "qap.sln": "3 92\n1 2 3\n",
    "gap.txt": "1\n2 3\n1 2 3\n4 5 6\n1 1 1\n2 2 2\n3 3\n",
    "single": "2 3\n1 2 3\n4 5 6\n1 1 1\n2 2 2\n3 3\n",
    "single.sol": "0 0 1\n",
    "mknap1.txt": "1\n3 2 0\n5 6.5 7\n1 2 3\n4 5 6\n5 9\n",
    "gk.dat": "3 2 0\n5 6 7\n1 2 3\n4 5 6\n5 9\n",
    "mknap2.txt": "x\nproblem A\n+++++\n2 3\n5 6 7\n5 9\n1 2 3\n4 5 6\n0\n+++++\nproblem [/b]\n+++\n1 1 3 2 1 0\n",
    "taillard.txt": "number of jobs, machines, seed, upper, lower :\n3 2 0 0 0\nprocessing times :\n1 2 3\n4 5 6\n",
    "liefooghe.txt": "3\n2\n7\n0\n9\n1 2\n1\n8\n3 4\n2\n7\n5 6\n",
    "minella.txt": "2 2\n0 1 1 2\n0 3 1 4\nReldue\n-1 9 -1 1\n-1 8 -1 2\n",
    "requests.txt": "1\n3\n2 3 4\n1\n1 2\n2\n5 1 2\n6 2 1 3\n",
    "table.txt": "2 2 9\n1 2\n3 4 5\n6 7 8\nr1->r2\nr1·r2\n",
    "requirements.txt": "a|1||b\nb|2|a|\n",
    "stakeholders.txt": "1\n2\n",
    "value.txt": "a|1|2\nb|3|4\n",
}
_RUN = ["--backend", "python", "--quiet", "--iterations", "3"]
RUNS = {  # instance, and options of a run that is saved
    "sgs": ["knapsack.txt", "--algorithm", "sgs-b", "--set", "length=2", "--set", "width=2"],
    "ssga": ["single", "--algorithm", "ssga", "--set", "size=4"],
    "pls": ["liefooghe.txt", "--algorithm", "pls"],
    "tabu": ["qap.dat", "--algorithm", "tabu"],
    "ig": ["taillard.txt", "--algorithm", "ig"],
    "sga": ["mmdp:12", "--algorithm", "sga", "--set", "size=4"],
}
ISLANDS = [
    *("single", "--algorithm", "ssga", "--set", "size=4", "--islands", "3", "--threads", "1"),
    *("--migration", "rate=1", "--migration", "export_every=4", "--migration", "import_every=2"),
]


def call(args: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command line, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(args)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return code, out.getvalue(), err.getvalue()


def expect_success(args: list[str]) -> None:
    code, _, err = call(args)
    if code:
        raise RuntimeError(f"{' '.join(args)} must work, but ended with {code}: {err}")


class Workshop:
    """Makes the folder, and enters it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)
        for name, text in SEEDS.items():
            Path(name).write_text(text)
        Path("directory").mkdir(exist_ok=True)
        Path("empty").write_bytes(b"")
        Path("binary").write_bytes(bytes(range(256)))
        Path("[red]name [x").write_text(SEEDS["knapsack.txt"])
        Path("deep.json").write_text("[" * 100_000)
        Path("deep.toml").write_text("a = " + "[" * 100_000)
        if not Path("pipe").exists():
            os.mkfifo("pipe")
        for name, options in RUNS.items():
            expect_success(["solve", *options, *_RUN, "--checkpoint", f"{name}.checkpoint", "--output", f"{name}.json"])
        expect_success(["solve", *ISLANDS, *_RUN, "--iterations", "30", "--record", "record.json"])
        expect_success(["solve", *ISLANDS, *_RUN, "--iterations", "30", "--checkpoint", "demes"])
        self.files = sorted(p.name for p in folder.iterdir())

    def read_json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text())
