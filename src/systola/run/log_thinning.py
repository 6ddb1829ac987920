"""Fewer frames of a log: older ones at even distances in time, the last minute as it was."""

from __future__ import annotations

import json
from typing import Any

from systola.run.log_entries import line_of

_RECENT_SECONDS = 60.0


def thinned(lines: list[bytes], most: int, most_bytes: int) -> list[bytes]:
    """The lines with at most so many frames, and about so many bytes.

    A drawing that only a dropped frame has goes to the next frame that is kept.
    """
    entries = [(json.loads(line), line) for line in lines]
    frames = [entry["seconds"] for entry, _ in entries if entry["kind"] == "frame"]
    if not frames:
        return lines
    span, recent = frames[-1] - frames[0], _RECENT_SECONDS
    distance = span / max(1, 0.75 * most)
    while True:
        kept, count = _at_distance(entries, len(frames), distance, frames[-1] - recent)
        if count <= 2 or (count <= most and sum(map(len, kept)) <= most_bytes):
            return kept
        distance, recent = 2 * distance or span / 64 or 1.0, recent / 2


def _at_distance(
    entries: list[tuple[dict[str, Any], bytes]], count: int, distance: float, recent: float
) -> tuple[list[bytes], int]:
    """Lines with the first frame, the last one, and others at this distance or since `recent`; how many these are."""
    kept: list[bytes] = []
    last, met, taken, drawing = None, 0, 0, None
    for entry, line in entries:
        if entry["kind"] != "frame":
            kept.append(line)
            continue
        met += 1
        drawing = entry.get("drawing", drawing)
        if last is None or met == count or entry["seconds"] >= min(last + distance, recent):
            handed_on = drawing is not None and "drawing" not in entry
            kept.append(line_of({**entry, "drawing": drawing}) if handed_on else line)
            taken, last, drawing = taken + 1, entry["seconds"], None
    return kept, taken
