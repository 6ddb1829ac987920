"""What a run gives back, with everything needed to repeat it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from systola.checkpoint import write_atomically
from systola.encodings import Array
from systola.errors import InputError
from systola.trace import Trace
from systola.version import __version__

SCHEMA = 1


@dataclass(frozen=True)
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
        A value that no feasible solution beats, if the problem knows one, and how far the objective is from it, as a
        fraction of it.
    front, front_solutions : list and array, optional
        Of engines that look for more than one solution: the objectives of all that no other one found dominates, in
        ascending order, and their decisions, row by row.
    islands : dict, optional
        Of a run of islands: how parcels fared and what each deme did.
    found_at : int
        The step that made the solution.
    stop : str
        Why the run ended: iterations, evaluations, seconds, target, stall or interrupted.
    repeatable : bool
        Whether the same call gives the same result bit for bit; a budget in seconds does not.
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
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    version: str = __version__

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        data = {
            k: v
            for k, v in self.__dict__.items()
            if k not in ("solution", "trace") and (v is not None or ("front" not in k and k != "islands"))
        }
        data = json.loads(json.dumps(data, default=_plain))
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
            return cls(**data)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"this is not a complete result of systola: {error}") from None

    def save(self, path: str | Path) -> None:
        """Write JSON."""
        try:
            write_atomically(Path(path), (json.dumps(self.to_json()) + "\n").encode())
        except OSError as error:
            raise InputError(f"cannot write the result to {path}: {error.strerror}") from None

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read what `save` wrote."""
        try:
            data = json.loads(Path(path).read_text())
        except OSError as error:
            raise InputError(f"cannot read a result from {path}: {error.strerror}") from None
        except ValueError:
            raise InputError(f"{path} does not hold JSON; a result is written by Result.save or --output") from None
        if not isinstance(data, dict):
            raise InputError(f"{path} does not hold a result of systola")
        return cls.from_json(data)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return asdict(value)
