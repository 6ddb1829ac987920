"""The entries of a log, as plain data and as lines; `docs/log.md` says what they mean."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np

from systola.model.drawing import Drawing
from systola.model.problem import MAXIMISE, Problem, senses_of
from systola.reading import Json
from systola.run.budget import Stop
from systola.run.execution import Progress
from systola.run.log_reading import FORMAT
from systola.run.result import Result
from systola.version import __version__

FRAME = b'{"kind":"frame",'  # how such a line begins
_MOST_LETTERS = 1000  # of a parameter: plans of a grid are longer than anybody reads


@dataclass(frozen=True)
class Header:
    """What a log says of its run."""

    problem: Problem
    instance: str
    algorithm: str
    engine: str  # the name of its class
    parameters: dict[str, Any]
    identity: dict[str, Any]  # of the run
    stop: Stop
    threads: int
    backend: str
    rank: int = 0
    ranks: int = 1
    job: str = ""  # 16 hexadecimal digits that all processes of the run know


def header_entry(header: Header, identifier: str, known: list[float] | None, resumed: bool) -> dict[str, Any]:
    """The first line of a log, or of a part of it."""
    identity = json.dumps(header.identity, sort_keys=True, default=str)
    limits = {k: v for k, v in header.stop.__dict__.items() if v is not None}
    return {
        "kind": "header",
        "format": FORMAT,
        "id": identifier,
        "run": hashlib.sha256(identity.encode()).hexdigest()[:16],
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "instance": header.instance or str(header.problem),
        "problem": type(header.problem).__name__,
        "algorithm": header.algorithm,
        "engine": header.engine,
        "seed": header.identity["seed"],
        "threads": header.threads,
        "backend": header.backend,
        "objectives": objectives_of(header.problem),
        "known": None if known is None else [_finite(value) for value in known],
        "stop": _clean(limits),
        "parameters": {name: _brief(_clean(value)) for name, value in header.parameters.items()},
        "rank": header.rank,
        "ranks": header.ranks,
        "version": __version__,
        **({"resumed": True} if resumed else {}),
    }


def objectives_of(problem: Problem) -> list[dict[str, str]]:
    """What the objectives are called, and whether they are maximised."""
    senses, told = senses_of(problem), getattr(problem, "objectives", "")
    names = told.split(",") if isinstance(told, str) and told else []
    if len(names) != len(senses):
        names = ["objective"] if len(senses) == 1 else [f"objective {k + 1}" for k in range(len(senses))]
    return [
        {"name": name, "sense": "maximise" if sense == MAXIMISE else "minimise"}
        for name, sense in zip(names, senses, strict=True)
    ]


def frame_entry(progress: Progress) -> dict[str, Any]:
    """How far a run has got."""
    return {
        "kind": "frame",
        "seconds": round(progress.seconds, 4),
        "iterations": progress.step,
        "evaluations": progress.evaluations,
        "best": _listed(progress.objective),
        "feasible": progress.violation == 0,
        "violation": _finite(progress.violation),
        "stage": progress.stage,
    }


def message_entry(seconds: float, text: str) -> dict[str, Any]:
    """A sentence."""
    return {"kind": "message", "seconds": round(seconds, 4), "text": text[:_MOST_LETTERS]}


def end_entry(result: Result, drawing: Drawing | None) -> dict[str, Any]:
    """The last line."""
    entry = {
        "kind": "end",
        "seconds": round(result.seconds, 4),
        "iterations": result.iterations,
        "evaluations": result.evaluations,
        "best": _listed(result.objective),
        "feasible": result.feasible,
        "violation": _finite(result.violation),
        "stop": result.stop,
        "trace": [[s.evaluations, round(s.seconds, 4), *_told(s.objective, s.violation)] for s in result.trace.samples],
    }
    return {**entry, "drawing": drawing.to_json()} if drawing else entry


def line_of(entry: dict[str, Any]) -> bytes:
    """An entry as it is written."""
    return json.dumps(entry, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _told(objective: float | list[float], violation: float) -> list[float | None]:
    values = objective if isinstance(objective, list) else [objective]
    return [_finite(value) if violation == 0 else None for value in values]


def _listed(objective: float | list[float] | None) -> list[float | None] | None:
    if objective is None:
        return None
    return [_finite(value) for value in (objective if isinstance(objective, list) else [objective])]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _clean(value: Json) -> Any:
    """Plain data without what JSON does not have."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, dict):
        return {str(k): _clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(v) for v in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _brief(value: Json) -> Any:
    text = json.dumps(value)
    return value if len(text) <= _MOST_LETTERS else f"{text[:100]} ... ({len(text):,} letters)"
