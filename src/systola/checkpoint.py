"""Checkpoints: plain arrays and JSON in one file, written atomically, with a schema version and a digest. No pickle."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from systola.encodings import Array
from systola.errors import InputError

SCHEMA = 1


def write_checkpoint(path: str | Path, state: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write beside the target, flush to disk, then replace it: at any moment one whole checkpoint is there.

    Raises OSError when the disk is full or the folder cannot be written; the old checkpoint is then untouched.
    """
    path = Path(path)
    body = io.BytesIO()
    np.savez(body, allow_pickle=False, **dict(arrays))
    raw = body.getvalue()
    told = json.dumps(dict(state), sort_keys=True)
    header = {"schema": SCHEMA, "digest": _digest(told, raw), "state": dict(state)}
    write_atomically(path, json.dumps(header).encode() + b"\n" + raw)


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside the target, flush, replace; a special file such as /dev/stdout is written directly."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent or ".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _digest(state: str, raw: bytes) -> str:
    return hashlib.sha256(state.encode() + b"\n" + raw).hexdigest()


def read_checkpoint(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """State and arrays; an InputError says what is wrong with the file."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the checkpoint {path}: {error.strerror}") from None
    line, _, raw = content.partition(b"\n")
    try:
        header = json.loads(line)
        schema, digest, state = header["schema"], header["digest"], header["state"]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not a checkpoint of systola") from None
    if schema != SCHEMA:
        raise InputError(f"{path} has checkpoint schema {schema}, this version reads {SCHEMA}")
    if _digest(json.dumps(state, sort_keys=True), raw) != digest:
        raise InputError(f"{path} is damaged: its digest does not fit its content")
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
            return state, {name: arrays[name] for name in arrays.files}
    except (ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is damaged: {error}") from None


def check_identity(state: dict[str, Any], identity: dict[str, Any], path: str | Path) -> None:
    """An InputError if a checkpoint's state is not of the run that this identity describes."""
    for key, wanted in identity.items():
        if state.get(key) != wanted:
            raise InputError(
                f"the checkpoint {path} belongs to another run: its {key} is {state.get(key)!r}, "
                f"this run has {wanted!r}"
            )
