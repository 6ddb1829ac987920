"""Checkpoints: plain arrays and JSON in one file, written atomically, with a schema version and a digest. No pickle."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from systola.engines.catalog import renamed_parameters
from systola.engines.renamed import RENAMED
from systola.errors import InputError
from systola.files import write_atomically
from systola.model.archive import unpack_arrays
from systola.model.encodings import Array
from systola.reading import Json, is_number, is_whole, parse_json, read_file
from systola.run.trace import Trace

SCHEMA = 2  # 1 had other names of parameters and arrays
_MOST_BYTES = 2**36  # more than a machine has memory


def write_checkpoint(path: str | Path, state: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write beside the target, flush to disk, then replace it: at any moment one whole checkpoint is there.

    Raises OSError when the disk is full or the folder cannot be written; the old checkpoint is then untouched.
    """
    write_atomically(Path(path), pack_checkpoint(state, arrays))


def pack_checkpoint(state: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """The content of a checkpoint."""
    body, named = io.BytesIO(), dict[str, Any](arrays)
    assert not any(array.dtype.hasobject for array in arrays.values()), "objects would be pickled"
    np.savez(body, **named)  # `allow_pickle=False` would be saved as an array before NumPy 2.1
    raw = body.getvalue()
    told = json.dumps(dict(state), sort_keys=True)
    header = {"schema": SCHEMA, "digest": _digest(told, raw), "state": dict(state)}
    return json.dumps(header).encode() + b"\n" + raw


def _digest(state: str, raw: bytes) -> str:
    return hashlib.sha256(state.encode() + b"\n" + raw).hexdigest()


def read_checkpoint(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """State and arrays; an InputError says what is wrong with the file."""
    line, _, raw = read_file(path, "the checkpoint", _MOST_BYTES).partition(b"\n")
    try:
        header = parse_json(line)
        schema, digest, state = header["schema"], header["digest"], header["state"]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not a checkpoint of systola") from None
    if schema != SCHEMA:
        raise InputError(f"{path} has checkpoint schema {schema!r}, this version reads {SCHEMA}{tell_renamed(state)}")
    if not isinstance(state, dict) or _digest(json.dumps(state, sort_keys=True), raw) != digest:
        raise InputError(f"{path} is damaged: its digest does not fit its content")
    try:
        return state, unpack_arrays(raw, len(raw), compressed=False)
    except Exception as error:  # readers of archives and of headers raise almost anything
        raise InputError(f"{path} is damaged: {error}") from None


def read_state(path: str | Path, identity: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Array]]:
    """State and arrays of a run with this identity; an InputError if it was another one."""
    state, arrays = read_checkpoint(path)
    check_identity(state, identity, path)
    _check_progress(state, path)
    return state, arrays


def tell_renamed(run: Json) -> str:
    """What to add to a refusal if the run that a file describes has parameters under old names; else nothing."""
    renamed: dict[str, str] = {}
    if isinstance(run, dict):
        for name, parameters in _engines_of(run):
            renamed |= renamed_parameters(name, parameters)
        islands = run.get("islands")
        if isinstance(islands, dict):
            renamed |= {old: new for old, new in RENAMED["Islands"].items() if old in islands}
    told = ", ".join(f"{old!r} is called {new!r} now" for old, new in renamed.items())
    return f"; parameters were renamed since: {told}; start the run again" if told else ""


def _engines_of(run: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names of engines and parameters that may belong to them, as a run or islands describe themselves."""
    names, tables = [run.get("algorithm")], [run.get("parameters")]
    if "engines" in run:  # run lengths
        names, tables = (
            [entry[0] for entry in told if isinstance(entry, list) and entry] if isinstance(told, list) else []
            for told in (run["engines"], run.get("parameters"))
        )
    for name in names:
        for table in tables:
            if isinstance(name, str) and isinstance(table, dict):
                yield name, table


def check_identity(state: dict[str, Any], identity: dict[str, Any], path: str | Path) -> None:
    """An InputError if a checkpoint's state is not of the run that this identity describes."""
    for key, wanted in identity.items():
        if state.get(key) != wanted:
            raise InputError(
                f"the checkpoint {path} belongs to another run: its {key} is {state.get(key)!r}, "
                f"this run has {wanted!r}{tell_renamed(state)}"
            )


def _check_progress(state: dict[str, Any], path: str | Path) -> None:
    """An InputError if a checkpoint's state does not say how far its run had come."""
    missing = {"step", "seconds", "trace"} - set(state)
    if missing:
        raise InputError(f"the checkpoint {path} is incomplete: it lacks {', '.join(sorted(missing))}")
    if not is_whole(state["step"]):
        raise InputError(f"the checkpoint {path} is damaged: its step must be a whole number, not {state['step']!r}")
    if not is_number(state["seconds"]) or not 0 <= state["seconds"] < math.inf:
        raise InputError(f"the checkpoint {path} is damaged: its seconds must be a number, not {state['seconds']!r}")
    try:
        Trace.from_json(state["trace"])
    except ValueError as error:
        raise InputError(f"the checkpoint {path} is damaged: {error}") from None
