"""Logs as runs write them, made by hand."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any


def header(instance: str = "demo", **rest: Any) -> dict[str, Any]:
    return {
        "kind": "header",
        "format": 1,
        "id": "0123456789abcdef",
        "started": "2026-11-18T03:00:00+00:00",
        "instance": instance,
        "problem": "MMDP",
        "algorithm": "sgs-b",
        "engine": "SGS",
        "seed": 1,
        "threads": 2,
        "backend": "cpu",
        "objectives": [{"name": "value", "sense": "maximise"}],
        "known": [50],
        "stop": {"iterations": 1000},
        "parameters": {"flavour": "B", "width": 4},
        "rank": 0,
        "ranks": 1,
        "version": "0.1",
        **rest,
    }


def frame(seconds: float, best: float | list[float], **rest: Any) -> dict[str, Any]:
    return {
        "kind": "frame",
        "seconds": seconds,
        "iterations": round(seconds * 100),
        "evaluations": round(seconds * 10_000),
        "best": best if isinstance(best, list) else [best],
        "feasible": True,
        "violation": 0,
        "stage": "running",
        **rest,
    }


def end(seconds: float, best: float | list[float], **rest: Any) -> dict[str, Any]:
    told = frame(seconds, best, **{"kind": "end", "stop": "iterations", "trace": [], **rest})
    del told["stage"]
    return told


def field(values: list[int], columns: int, low: float = 0, high: float = 50) -> dict[str, Any]:
    rows = len(values) // columns
    coded = base64.b64encode(bytes(values)).decode()
    return {
        "type": "field",
        "rows": rows,
        "columns": columns,
        "low": low,
        "high": high,
        "values": coded,
        "name": "fitness",
    }


def write(path: Path, *entries: dict[str, Any], mode: str = "w") -> Path:
    with path.open(mode, encoding="utf-8") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in entries)
    return path


def append(path: Path, *entries: dict[str, Any]) -> Path:
    return write(path, *entries, mode="a")


def demes(best: list[float | None], columns: int, migrations: list[list[int]]) -> dict[str, Any]:
    return {
        "type": "demes",
        "name": "objective",
        "rows": len(best) // columns,
        "columns": columns,
        "best": best,
        "iterations": [1 for _ in best],
        "migrations": migrations,
    }


def walk(current: list[float], best: list[float]) -> dict[str, Any]:
    return {"type": "walk", "name": "objective", "current": current, "best": best}


def front(points: list[list[float]]) -> dict[str, Any]:
    return {"type": "front", "points": points, "size": len(points)}


def drawing(boxes: int) -> dict[str, Any]:
    marks = [{"mark": "rect", "x": k, "y": 0, "w": 1, "h": 1, "colour": k, "label": f"box {k}"} for k in range(boxes)]
    return {"width": boxes, "height": 1, "caption": f"{boxes} boxes", "marks": marks}
