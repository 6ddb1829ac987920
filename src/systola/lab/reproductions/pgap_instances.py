"""The generalized assignments that PGAP is tried on: files of a folder, or generated ones of the paper's sizes."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from systola.errors import InputError
from systola.formats.catalog import look_up, open_instance
from systola.formats.instance import Instance
from systola.formats.library import Library
from systola.lab.published import load_figures
from systola.model.problem import digest_of
from systola.problems.generalized_assignment.problem import GeneralizedAssignment

GENERATED = "de"  # types of Table 3 that can be generated; there is no generator of type f
KNOWN = "BEST.csv"

_NOT_INSTANCES = (".sol", ".csv", ".md")
_TYPE = re.compile(r"(?:gap)?([a-f])\d*", re.IGNORECASE)  # of a file, as its name tells it


@dataclass(frozen=True)
class Case:
    """An instance, and what is known of it."""

    name: str
    problem: GeneralizedAssignment
    best: int | float | None
    row: str  # of Table 3: the paper's instance of this type and size; empty if there is none

    @property
    def jobs(self) -> int:
        """How many there are."""
        return self.problem.jobs


def generate_cases(most_jobs: int | None = None) -> tuple[Case, ...]:
    """Instances of the types and sizes of Table 3, as far as they can be generated."""
    rows = [row for row in load_figures("pgap", 3).instances if row[0] in GENERATED]
    rows = [row for row in rows if most_jobs is None or int(row.partition("x")[2]) <= most_jobs]
    return tuple(_make_case(open_instance(f"gap:{row}"), f"gap:{row}", row[0], {}) for row in rows)


def read_cases(folder: str, most_jobs: int | None = None) -> tuple[Case, ...]:
    """All generalized assignments in the files of a folder, with the best values that it knows; none twice."""
    known = _read_known(Path(folder))
    found: dict[str, Case] = {}
    for path in _files_of(folder):
        whole = look_up(str(path), "gap")
        parts = range(1, len(whole.parts) + 1) if isinstance(whole, Library) else (0,)
        told = _TYPE.fullmatch(path.stem)
        for number in parts:
            instance = whole.choose(str(number)) if isinstance(whole, Library) else whole
            name = f"{path.name}#{number}" if number else path.name
            case = _make_case(instance, name, told[1].lower() if told else "", known)
            found.setdefault(digest_of(case.problem), case)  # what is in two files is one instance
    cases = tuple(case for case in found.values() if most_jobs is None or case.jobs <= most_jobs)
    if not cases:
        raise InputError(f"the instances of {folder} must have {most_jobs} jobs or fewer for a quick look; none has")
    return cases


def check_folder(folder: str) -> None:
    """There must be files in it: an error now, not after an hour."""
    if not Path(folder).is_dir() or not _files_of(folder):
        raise InputError(
            f"--instances must name a folder with files of generalized assignments, but {folder} is none; they are in "
            "the OR-Library and on the page of Yagiura; without --instances they are generated"
        )


def _files_of(folder: str) -> list[Path]:
    return sorted(p for p in Path(folder).iterdir() if p.is_file() and p.suffix.lower() not in _NOT_INSTANCES)


def _make_case(instance: Instance, name: str, kind: str, known: Mapping[str, float]) -> Case:
    problem = instance.problem
    assert isinstance(problem, GeneralizedAssignment)
    agents, jobs = problem.costs.shape
    row = f"{kind}-{agents}x{jobs}"
    best = known.get(instance.name.replace("#", "-"), instance.best_known)
    return Case(name, problem, best, row if row in load_figures("pgap", 3).instances else "")


def _read_known(folder: Path) -> dict[str, float]:
    """Best values by name; those of a file of several problems are named FILE-NUMBER."""
    path = folder / KNOWN
    if not path.is_file():
        return {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return {row["name"]: float(row["best_known"]) for row in csv.DictReader(file)}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{KNOWN} must have the columns name and best_known, and a number in each row of the latter, but got "
            f"{error} ({path})"
        ) from None
