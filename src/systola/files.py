"""Files that are whole at any moment: written beside their place, flushed, then moved there."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
from pathlib import Path

_NAMED = 50  # characters of the target's name in that of its temporary file: 255 bytes are room for all
_TEMPORARY = re.compile(rf"\..{{1,{_NAMED}}}\.systola-([0-9a-f]{{8}})-([0-9]{{1,10}})-[0-9a-f]{{8}}", re.DOTALL)

_tidied: set[Path] = set()  # folders in which this process has looked for what killed ones left


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside the target, flush, replace; a special file such as /dev/stdout is written directly.

    A new file has the mode that the umask gives, one that is replaced keeps its own. What killed processes left
    in the folder is removed. Raises OSError when the disk is full or the folder cannot be written; the old file
    is then untouched.
    """
    if path.exists() and not path.is_file():
        _write_into(path, content)
        return
    _tidy(path.parent)
    temporary = path.parent / f".{path.name[:_NAMED]}.systola-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file():
            os.chmod(temporary, path.stat().st_mode & 0o777)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_into(path: Path, content: bytes) -> None:
    """Into a device or a pipe; opening a pipe that nobody reads would wait forever, so that it fails instead."""
    handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def _machine() -> str:
    """Tells the process numbers of one machine or container from those of another that shares the folder."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:  # no Linux, no containers
        space = ""
    return hashlib.sha256(f"{platform.node()} {space}".encode()).hexdigest()[:8]


def _tidy(folder: Path) -> None:
    """Remove the temporary files of processes of this machine that are no more, once a process and folder."""
    place = folder.resolve()
    if place in _tidied:
        return
    _tidied.add(place)
    try:
        names = os.listdir(folder)
    except OSError:  # a folder may be written and not read
        return
    for name in names:
        made = _TEMPORARY.fullmatch(name)
        if made and made[1] == _machine() and not _lives(int(made[2])):
            try:
                (folder / name).unlink(missing_ok=True)
            except OSError:  # another user's
                continue


def _lives(process: int) -> bool:
    if os.name != "posix":  # elsewhere signal 0 is no question
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's, or a number that no process can have
        return True
    return True
