"""The parity matrix as a text. Written anew by `python tests/parity/matrix.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from golden.cases import engines, problems, refusal
from parity.cells import BACKENDS, Cell, collect

FILE = Path(__file__).with_name("matrix.txt")
COMMAND = "python tests/parity/matrix.py"
HEAD = f"""\
Which backends must give the same run, bit for bit, for which engine (rows) on which problem (columns).

{"".join(f"    {letter}   {name}{chr(10)}" for letter, name in BACKENDS.items())}
All are compared with the digest of the pair in tests/golden/digests.txt; P of the usual tests is compared with the
trace of another backend on another instance (tests/backends). Letters before a slash are compared by `make test`,
those after it by the long tests only; `make parity` runs all. P needs gcc and the extra cu13.

No I: the engine is compiled anyway, or takes seconds to interpret. No P: islands run on the CPU only.
A small letter: the engine does not take the problem, for the reason at the end.

Derived from the tests; do not edit, but run `{COMMAND}`.
"""


def reasons() -> dict[tuple[str, str], str]:
    """Why engines do not take problems: what they say, without the problem's name and without advice."""
    made, built = problems(), engines()
    said = {(p, e): refusal(built[e], made[p]) for p in made for e in built}
    return {
        (p, e): text.partition(";")[0]
        .replace(f"this {type(made[p]).__name__}", "it")
        .replace(type(made[p]).__name__, "it")
        for (p, e), text in said.items()
        if text
    }


def text_of(cells: dict[tuple[str, str], Cell], refused: dict[tuple[str, str], str]) -> str:
    """The file: problems of the library, problems as users write them, and reasons."""
    notes = {reason: chr(ord("a") + i) for i, reason in enumerate(dict.fromkeys(refused.values()))}
    entries = {pair: str(cell) for pair, cell in cells.items()} | {pair: notes[why] for pair, why in refused.items()}
    own = [problem for problem in problems() if problem.startswith("own-")]
    given = [problem for problem in problems() if problem not in own]
    listed = "".join(f"{letter}   {reason}\n" for reason, letter in notes.items())
    return "\n".join([HEAD, _table(given, entries), _table(own, entries), listed, summary(cells)])


def _table(columns: list[str], entries: dict[tuple[str, str], str]) -> str:
    rows = [["", *columns], *([engine, *(entries.get((p, engine), "none") for p in columns)] for engine in engines())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


def summary(cells: dict[tuple[str, str], Cell]) -> str:
    lines = []
    for backend, name in BACKENDS.items():
        covered = sum(cell.has(backend) for cell in cells.values())
        usual = sum(backend in cell.usual for cell in cells.values())
        lines.append(
            f"{covered} of {len(cells)} cells covered on {backend} ({name}), {usual} of them by the usual tests\n"
        )
    return "".join(lines)


if __name__ == "__main__":
    FILE.write_text(text_of(collect(), reasons()))
    print(FILE.read_text(), end="")
