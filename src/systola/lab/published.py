"""The figures that the papers print, to set beside our own.

Numbers are kept as printed, also where another table shows that a digit must be wrong; notes name such
places. Instances and algorithms are spelled as on the command line: ``knapsack:1000-10000``, ``sgs-b``. Instances
that are files, and baselines that the paper runs with several parameters, have its names: ``WEISH01``, ``ga-cpu``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from systola.errors import InputError

_PAPERS = ("sgs", "sns", "pugace", "mls", "pgap")
_VERDICTS: dict[str, int | None] = {"▲": 1, "▽": -1, "–": 0, "?": None}


@dataclass(frozen=True)
class Published:
    """What all tables of papers have.

    Attributes
    ----------
    source
        Authors, year and title of the paper.
    number
        The number of the table; of claims, that of the table with the means.
    notes
        Places where the print is doubtful.
    """

    source: str
    number: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PublishedResults(Published):
    """What all tables of results have: of which problem they are."""

    problem: str  # as on the command line


@dataclass(frozen=True)
class PublishedFigures(PublishedResults):
    """A table of figures, one for each instance and algorithm.

    Attributes
    ----------
    measure
        ``error``, ``profit``, ``seconds``, ``cpu seconds``, ``gpu seconds``, or ``cpu/gpu``, the ratio of the two;
        ``columns`` where one algorithm has columns of several measures: their names stand for algorithms then.
    instances, algorithms
        The rows and the columns, in order.
    figures
        Mean and standard deviation by (instance, algorithm); the deviation is None where none is printed. A pair
        that the paper could not run is left out.
    optima
        By instance the best value that the table names; empty where it names none.
    """

    measure: str
    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    figures: Mapping[tuple[str, str], tuple[float, float | None]]
    optima: Mapping[str, float]


@dataclass(frozen=True)
class PublishedVerdicts(PublishedResults):
    """A table of statistical significance.

    Attributes
    ----------
    instances, algorithms
        The instances, and the algorithms in the order of the matrices.
    verdicts
        For each instance a square matrix: +1 if the row is better, -1 if the column is, 0 if neither, None
        where the text of the paper is not legible.
    legible
        The pairs of which all signs can be read as printed; the others follow from means and prose.
    notes
        What is not legible, and how damaged places were read.
    """

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    verdicts: Mapping[str, tuple[tuple[int | None, ...], ...]]
    legible: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class PublishedBest(PublishedResults):
    """The best solutions of a problem with two objectives, by weight.

    Attributes
    ----------
    solutions
        By instance, then by weight of the value: cost and value.
    """

    solutions: Mapping[str, Mapping[float, tuple[float, float]]]


@dataclass(frozen=True)
class PublishedClaims(PublishedResults):
    """Which algorithms are said to be significantly better than which, for a table as a whole.

    Attributes
    ----------
    better
        For each algorithm with a claim those that it is better than.
    notes
        Where the paper says so.
    """

    better: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class PublishedText(Published):
    """A table of words, such as parameters.

    Attributes
    ----------
    header
        The names of the columns.
    rows
        The cells, as printed.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def load_figures(paper: str, number: int) -> PublishedFigures:
    """A table of figures: error, profit, hits or runtime.

    Parameters
    ----------
    paper
        ``sgs``, whose tables of figures are 1 to 3, 5, 8, 10 to 12 and 16 to 22; ``sns``, with 2 to 9; ``pugace``, with
        2 and 3; ``mls``, with 2 to 5; or ``pgap``, with 3.
    number
        The number of the table.

    Raises
    ------
    InputError
        If the paper or the table is not here.
    """
    common, table = _find(paper, "figures", number)
    algorithms = tuple(table["algorithms"])
    figures = {
        (instance, algorithm): _parse(cell)
        for instance, cells in table["rows"].items()
        for algorithm, cell in zip(algorithms, cells, strict=True)
        if cell is not None
    }
    return PublishedFigures(
        **common,
        problem=table["problem"],
        measure=table["measure"],
        instances=tuple(table["rows"]),
        algorithms=algorithms,
        figures=MappingProxyType(figures),
        optima=MappingProxyType({name: float(value) for name, value in table.get("optima", {}).items()}),
    )


def load_verdicts(paper: str, number: int) -> PublishedVerdicts:
    """A table of statistical significance.

    Parameters
    ----------
    paper
        ``sgs``, whose tables of significance are 4, 6 and 9.
    number
        As of `load_figures`, which also says what is raised.
    """
    common, table = _find(paper, "significance", number)
    instances, algorithms = tuple(table["instances"]), tuple(table["algorithms"])
    size = len(algorithms)
    verdicts = {}
    for place, instance in enumerate(instances):
        matrix: list[list[int | None]] = [[0] * size for _ in range(size)]
        for i, name in enumerate(algorithms[:-1]):
            for j, signs in enumerate(table["rows"][name], start=i + 1):
                verdict = _VERDICTS[signs[place]]
                matrix[i][j] = verdict
                matrix[j][i] = None if verdict is None else -verdict
        verdicts[instance] = tuple(tuple(row) for row in matrix)
    return PublishedVerdicts(
        **common,
        problem=table["problem"],
        instances=instances,
        algorithms=algorithms,
        verdicts=MappingProxyType(verdicts),
        legible=frozenset((row, column) for row, columns in table["legible"].items() for column in columns),
    )


def load_best(paper: str, number: int) -> PublishedBest:
    """A table of best known solutions.

    Parameters
    ----------
    paper
        ``sgs``, whose table of best solutions is 7.
    number
        As of `load_figures`, which also says what is raised.
    """
    common, table = _find(paper, "best_known", number)
    solutions = {
        name: MappingProxyType(
            {
                weight: (float(cost), float(value))
                for weight, cost, value in zip(table["weights"], row["cost"], row["value"], strict=True)
            }
        )
        for name, row in table["rows"].items()
    }
    return PublishedBest(
        **common,
        problem=table["problem"],
        solutions=MappingProxyType(solutions),
    )


def load_claims(paper: str, number: int) -> PublishedClaims:
    """What the text says about significance, where the paper prints no table of it.

    Parameters
    ----------
    paper
        ``sns``, which makes claims about its Tables 2, 4, 6 and 8.
    number
        The number of the table of means.
    """
    common, table = _find(paper, "claims", number)
    better = {name: tuple(others) for name, others in table["better"].items()}
    return PublishedClaims(**common, problem=table["problem"], better=MappingProxyType(better))


def load_text(paper: str, number: int) -> PublishedText:
    """A table of words.

    Parameters
    ----------
    paper
        ``sgs``, whose tables of threads per block are 13 to 15; ``sns``, ``pugace``, ``mls`` or ``pgap``, with 1, and
        ``pgap`` also with 2.
    number
        As of `load_figures`, which also says what is raised.
    """
    common, table = _find(paper, "printed", number)
    rows = tuple(tuple(row) for row in table["rows"])
    return PublishedText(**common, header=tuple(table["header"]), rows=rows)


def _find(paper: str, kind: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What all tables have, and the entry of this one."""
    if paper not in _PAPERS:
        raise InputError(f"papers with published figures are {', '.join(_PAPERS)}, but got {paper!r}")
    document = _load(paper)
    tables = document.get(kind, {})
    if str(number) not in tables:
        raise InputError(f"tables of this kind in {paper!r} are {', '.join(tables) or 'none'}, but got {number}")
    table = tables[str(number)]
    return {"source": document["source"], "number": number, "notes": tuple(table["notes"])}, table


@cache
def _load(paper: str) -> dict[str, Any]:
    text = (files("systola.lab") / "data" / f"{paper}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def _parse(cell: str) -> tuple[float, float | None]:
    mean, _, deviation = cell.partition(" ± ")
    return float(mean), float(deviation) if deviation else None
