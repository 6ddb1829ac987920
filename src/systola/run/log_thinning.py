"""Fewer frames of a log: older ones at even distances in time, the last minute as it was."""

from __future__ import annotations

from typing import Any

from systola.run.log_entries import line_of

_RECENT_SECONDS = 60.0


def thinned(entries: list[dict[str, Any]], most: int, most_bytes: int) -> list[dict[str, Any]]:
    """The entries with at most so many frames, and about so many bytes.

    A drawing that only a dropped frame has goes to the next frame that is kept.
    """
    frames = [entry["seconds"] for entry in entries if entry["kind"] == "frame"]
    if not frames:
        return entries
    span, recent = frames[-1] - frames[0], _RECENT_SECONDS
    distance = span / max(1, 0.75 * most)
    while True:
        kept = _at_distance(entries, distance, frames[-1] - recent)
        count = sum(entry["kind"] == "frame" for entry in kept)
        if count <= 2 or (count <= most and sum(len(line_of(entry)) for entry in kept) <= most_bytes):
            return kept
        distance, recent = 2 * distance or span / 64 or 1.0, recent / 2


def _at_distance(entries: list[dict[str, Any]], distance: float, recent: float) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    last, frames, drawing = None, 0, None
    count = sum(entry["kind"] == "frame" for entry in entries)
    for entry in entries:
        if entry["kind"] != "frame":
            kept.append(entry)
            continue
        frames += 1
        drawing = entry.get("drawing", drawing)
        if last is None or frames == count or entry["seconds"] >= min(last + distance, recent):
            kept.append(entry if drawing is None or "drawing" in entry else {**entry, "drawing": drawing})
            last, drawing = entry["seconds"], None
    return kept
