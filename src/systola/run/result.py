"""What a run gives back, with everything needed to repeat it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from systola.errors import InputError
from systola.files import write_atomically
from systola.model.encodings import Array
from systola.model.names import Labels
from systola.model.notebook import curve_svg, lines_html, rows_html
from systola.reading import Json, is_number, is_whole, parse_json, read_file
from systola.run.table import Table, front_table, solution_table, trace_table
from systola.run.trace import Trace
from systola.version import __version__

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

if TYPE_CHECKING:
    import pandas

SCHEMA = 1
_TEXTS = ("instance", "problem", "algorithm", "stop", "backend", "digest", "version")
_KINDS: dict[str, type] = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(("parameters", "limits", "versions"), dict),
    **dict.fromkeys(("feasible", "repeatable"), bool),
    **dict.fromkeys(("notes", "faults"), list),
}
_COUNTS = ("seed", "evaluations", "iterations", "threads")
_SHOWN = 60  # characters of a wrong value in a message
_MOST_BYTES = 2**30  # fronts of many solutions are large


@dataclass(frozen=True, repr=False)
class Result:
    """The best solution of a run and the story of how it was found.

    Attributes
    ----------
    objective : number or list of numbers
        In the problem's own sense and units.
    solution : array
        The decisions.
    feasible, violation :
        Whether all constraints hold, and by how much they are broken if not.
    bound, gap : number, optional
        A value that no feasible solution beats, if the problem or the engine knows one, and how far the objective is
        from it, as a fraction of it; a gap of 0 says that the solution is proven best.
    front, front_solutions : list and array, optional
        Of engines that look for more than one solution: the objectives of all that no other one found dominates, in
        ascending order, and their decisions, row by row.
    islands : dict, optional
        Of a run of islands: how messages fared and what each deme did.
    race : list of dicts, optional
        Of a race between engines: what each of them has found, with how much work, and what became of it.
    pool : list of dicts, optional
        If it was asked for: different solutions, the best one first, each with its objective and violation.
    runs : list of Result, optional
        Of several seeds: the results of all runs.
    compile_seconds : float
        How long kernels were compiled, or loaded, before the run; no part of `seconds`.
    names : Labels, optional
        What decisions and their values are called.
    found_at : int
        The step that made the solution.
    stop : str
        Why the run ended: iterations, evaluations, seconds, target, stall, interrupted or callback; finished if there
        was nothing left to do; memory if an exact engine met its limit of that.
    repeatable : bool
        Whether the same call gives the same result bit for bit; a budget in seconds does not.
    notes, faults : lists of str
        Remarks on the run; those of them that say what went wrong beside the search, such as a checkpoint that could
        not be written.
    """

    instance: str
    problem: str
    algorithm: str
    parameters: dict[str, Any]
    seed: int
    objective: Any
    feasible: bool
    violation: float
    bound: float | None
    gap: float | None
    solution: Array
    evaluations: int
    iterations: int
    found_at: int
    seconds: float
    stop: str
    repeatable: bool
    backend: str
    threads: int
    digest: str
    limits: dict[str, Any]
    trace: Trace
    front: list[list[Any]] | None = None
    front_solutions: Array | None = None
    islands: dict[str, Any] | None = None
    race: list[dict[str, Any]] | None = None
    pool: list[dict[str, Any]] | None = None
    runs: list[Result] | None = None
    compile_seconds: float = 0.0
    names: Labels | None = None
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    version: str = __version__

    def __repr__(self) -> str:
        return f"<Result: {self._worth()}, {self.algorithm}, {self.seconds:.2f} s, stop: {self.stop}>"

    def summary(self) -> str:
        """What was solved, how well, by which engine and in which time, for people; a line each."""
        return "\n".join(f"{name:<12}{value}" for name, value in self._lines().items() if value)

    def _repr_html_(self) -> str:
        """For notebooks: the summary, the course of the search, and the front, if there is one."""
        shown = lines_html("Result", self._lines())
        if isinstance(self.objective, list):
            rows = [[f"{value:,.10g}" for value in point] for point in self.front or []]
            names = [f"objective {k + 1}" for k in range(len(self.objective))]
            return shown + (rows_html("Front", names, rows) if rows else "")
        points = [(s.evaluations, float(s.objective)) for s in self.trace.samples if s.violation == 0]
        return shown + curve_svg(points, "Best feasible objective over the evaluations")

    def _lines(self) -> dict[str, str]:
        return {
            "instance": self.instance,
            "objective": self._worth(),
            "bound": "" if self.bound is None else f"{self.bound:,}",
            "front": "" if self.front is None else f"{len(self.front):,} solutions, none dominated by another",
            "algorithm": f"{self.algorithm}, seed {self.seed}, {platform_of(self)}",
            "race": "; ".join(f"{row['algorithm']} {row['verdict']}" for row in self.race or []),
            "found at": f"step {self.found_at:,} of {self.iterations:,} (stop: {self.stop})",
            "time": f"{self.seconds:.2f} s, {self.evaluations:,} solutions made",
            "runs": "" if self.runs is None else f"{len(self.runs):,}, of which this is the best",
            "pool": "" if self.pool is None else f"{len(self.pool):,} different solutions",
            "repeatable": "yes: the same call gives the same result" if self.repeatable else "no",
            "notes": "; ".join(self.notes),
        }

    def _worth(self) -> str:
        values = self.objective if isinstance(self.objective, list) else [self.objective]
        told = " / ".join(f"{value:,.10g}" if isinstance(value, float) else f"{value:,}" for value in values)
        if not self.feasible:
            return f"{told} (infeasible by {self.violation:,.6g})"
        if self.proven:
            return f"{told} (proven best)"
        return told if self.gap is None else f"{told} (gap {self.gap:.3%})"

    @property
    def proven(self) -> bool:
        """Whether the solution is proven best."""
        return self.feasible and self.gap == 0

    @property
    def named_solution(self) -> list[str | int] | dict[str, str | int]:
        """The solution by names: what is chosen, the order, or the value of each decision.

        Names came with the data: a column of a CSV file, `names` in JSON, an index of pandas, nodes of a graph. Where
        there are none, numbers count from 0, as in `solution`.
        """
        return (self.names or Labels()).tell(self.solution)

    def to_frame(self, part: Literal["solution", "front", "trace"] = "solution") -> pandas.DataFrame:
        """A table of pandas, which the extra "pandas" installs.

        Parameters
        ----------
        part : {"solution", "front", "trace"}
            A row for each decision of the solution, with the names that came with the data; a row for each solution of
            the front, with its objectives and decisions; or a row for each sample of the search.
        """
        return self._table(part).to_frame()

    def _table(self, part: str) -> Table:
        labels = self.names or Labels()
        if part == "solution":
            return solution_table(labels, self.solution)
        if part == "front":
            return front_table(labels, self.front, self.front_solutions)
        if part == "trace":
            return trace_table(self.trace)
        raise InputError(f"a table is of the solution, the front or the trace, but got {part!r}")

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        data = {
            k: v
            for k, v in self.__dict__.items()
            if k not in ("solution", "trace")
            and (v is not None or ("front" not in k and k not in ("islands", "race", "pool", "names")))
        }
        runs = data.pop("runs")
        if self.names and self.names.named:
            data["named_solution"] = self.named_solution
        data = json.loads(json.dumps(data, default=_plain))
        if runs is not None:
            data["runs"] = [result.to_json() for result in runs]
        return {"schema": SCHEMA, **data, "solution": self.solution.tolist(), "trace": self.trace.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Result:
        """The inverse of `to_json`."""
        data = dict(data)
        if data.pop("schema", None) != SCHEMA:
            raise InputError(f"a result needs schema {SCHEMA}; this one was written by another version of systola")
        try:
            data["solution"] = np.array(data["solution"])
            if data.get("front_solutions") is not None:
                data["front_solutions"] = np.array(data["front_solutions"])
            data["trace"] = Trace.from_json(data["trace"])
            if data.get("runs") is not None:
                data["runs"] = [cls.from_json(run) for run in data["runs"]]
            if data.get("pool") is not None:
                data["pool"] = [{**entry, "solution": np.array(entry["solution"])} for entry in data["pool"]]
            data.pop("named_solution", None)  # follows from the names
            if data.get("names") is not None:
                data["names"] = Labels.from_json(data["names"], data["solution"])
            result = cls(**data)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"this is not a complete result of systola: {error}") from None
        for name in result._invalid_fields():
            raise InputError(f"this is no result of systola: its {name} is {repr(getattr(result, name))[:_SHOWN]}")
        return result

    def _invalid_fields(self) -> Iterator[str]:
        """The names of what cannot be, in a result from a file."""
        yield from (name for name, kind in _KINDS.items() if not isinstance(getattr(self, name), kind))
        yield from (name for name in _COUNTS if not is_whole(getattr(self, name), 0, 2**64 - 1))
        yield from (name for name in ("violation", "seconds") if not is_number(getattr(self, name)))
        yield from (name for name in ("bound", "gap") if not _is_none_or(getattr(self, name), is_number))
        objectives = self.objective if isinstance(self.objective, list) else [self.objective]
        if not objectives or not all(map(is_number, objectives)):
            yield "objective"
        if self.solution.ndim != 1 or self.solution.dtype.kind not in "biu":
            yield "solution"
        if not _is_none_or(self.front, _is_front):
            yield "front"
        if not _is_none_or(self.front_solutions, lambda rows: rows.ndim == 2 and rows.dtype.kind in "biu"):
            yield "front_solutions"
        if self.front_solutions is not None and len(self.front_solutions) != len(self.front or []):
            yield "front_solutions"
        if not _is_none_or(self.islands, lambda told: isinstance(told, dict)):
            yield "islands"
        if not _is_none_or(self.race, _is_race):
            yield "race"
        if not _is_none_or(self.pool, lambda pool: all(_is_pooled(entry, self.solution) for entry in pool)):
            yield "pool"
        if not is_number(self.compile_seconds):
            yield "compile_seconds"

    def save(self, path: str | Path) -> None:
        """Write the result: as JSON, which `load` reads, or, if the name ends with .csv, a table of the solution.

        The table is that of `to_frame`: a row for each decision, or, if there is a front, for each of its solutions.
        """
        if Path(path).suffix.lower() == ".csv":
            text = self._table("front" if self.front else "solution").to_csv()
        else:
            text = json.dumps(self.to_json()) + "\n"
        try:
            write_atomically(Path(path), text.encode())
        except OSError as error:
            raise InputError(f"cannot write the result to {path}: {error.strerror}") from None

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read what `save` wrote."""
        try:
            data = parse_json(read_file(path, "a result from", _MOST_BYTES))
        except ValueError:
            raise InputError(f"{path} does not hold JSON; a result is written by Result.save or --output") from None
        if not isinstance(data, dict):
            raise InputError(f"{path} does not hold a result of systola")
        return cls.from_json(data)


T = TypeVar("T")


def _is_none_or(value: T | None, holds: Callable[[T], bool]) -> bool:
    return value is None or holds(value)


def _is_pooled(entry: dict[str, Any], like: Array) -> bool:
    objective, solution = entry.get("objective"), entry["solution"]
    numbers = objective if isinstance(objective, list) else [objective]
    known = bool(numbers) and all(map(is_number, numbers)) and is_number(entry.get("violation"))
    return known and solution.shape == like.shape and solution.dtype.kind in "biu"


def _is_race(told: list[dict[str, Json]]) -> bool:
    return isinstance(told, list) and all(
        isinstance(row, dict) and isinstance(row.get("algorithm"), str) and isinstance(row.get("verdict"), str)
        for row in told
    )


def _is_front(front: list[list[Json]]) -> bool:
    rows = isinstance(front, list) and all(isinstance(row, list) and row for row in front)
    return rows and len({len(row) for row in front}) <= 1 and all(is_number(v) for row in front for v in row)


def _plain(value: np.generic | Array | DataclassInstance) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return asdict(value)


def platform_of(result: Result) -> str:
    """Backend and threads, as people read them."""
    return f"{result.backend}, {result.threads} thread{'' if result.threads == 1 else 's'}"
