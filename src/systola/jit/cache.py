"""Compiled kernels on disk: never stale, loaded only if nobody else can have written them, and never in a run's way.

Numba's own cache looks at the file of the function only, not at what it calls. Here the folder is named after a digest
of all sources of the package and of the versions that matter: any edit or upgrade starts a new one. And Numba's cache
has an index that processes which start together overwrite for each other. Here a kernel is one file, named after all
that it was compiled for, the processor too.

A file holds a pickle, and loading one runs whatever its writer wanted. Whatever is wrong with a file or a folder, the
kernel is compiled instead, and a warning says so once.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

from systola.errors import CacheWarning, warn
from systola.jit.digest import digest_of_functions
from systola.jit.shapes import Key

_KEPT_FOLDERS = 4
_MARKER = "made-by-systola"  # only folders with this file in them are ever removed
_WITHOUT_KERNELS = (
    "black_box",
    "cli",
    "formats",
    "lab",
    "run",
    "solve.py",
)  # editing these leaves the cache valid, unless they are compiled
_COMPILED = re.compile(rb"^@(kernel|inlined|called)\b", re.MULTILINE)
_DIGEST_BYTES = 32

UNKEPT = "compiled kernels cannot be kept"  # with which the sentence begins that says why

_warned = False
_unkept = ""


class _Unfit(Exception):
    """A file or folder that is not to be used, and why."""


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Digest of the package's kernels, Numba's version and Python's."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(root.rglob("*.py")):
        source = path.read_bytes()
        if path.relative_to(root).parts[0] in _WITHOUT_KERNELS and not _COMPILED.search(source):
            continue
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(source)
    return digest.hexdigest()[:16]


def cache_folder() -> Path | None:
    """Where new kernels are kept: SYSTOLA_CACHE_DIR, else the user's cache folder, else a temporary one, or nowhere."""
    for base in _bases():
        with suppress(_Unfit, OSError), tempfile.TemporaryFile(dir=_make_folder(base)):
            return base / source_digest()
    return None


def size_on_disk() -> tuple[int, int]:
    """How many kernels of this version are kept, and how many bytes they take."""
    sizes = []
    for base in _bases():
        with suppress(OSError):
            sizes += [path.stat().st_size for path in (base / source_digest()).glob("*.nbc")]
    return len(sizes), sum(sizes)


def why_unkept() -> str:
    """Why compiled kernels could not be kept, if so; told once."""
    global _unkept
    told, _unkept = _unkept, ""
    return told


class KernelCache:
    """The kernels made of one function: a `Keeper`."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    def load(self, key: Key, rebuild: Callable[[Any], Any]) -> Any:
        name = self._name_of(key)
        for base in _bases():
            try:
                data = _read(base / source_digest() / name)
                found, payload = pickle.loads(data)
                if found == key:
                    return rebuild(payload)
            except OSError:
                continue  # nothing there
            except _Unfit as unfit:
                _warn(str(unfit))
            except Exception as error:
                _warn(f"{base / source_digest() / name} cannot be loaded ({error!r}), so its kernel is compiled anew")
        return None

    def has(self, key: Key) -> bool:
        name = self._name_of(key)
        return any((base / source_digest() / name).is_file() for base in _bases())

    def save(self, key: Key, dump: Callable[[], bytes]) -> None:
        reasons = []
        for base in _bases():
            try:
                _write(_make_folder(base) / self._name_of(key), dump())
                return
            except Exception as error:
                reasons.append(str(error))
        _warn_of_unkept(f", so that the next start takes as long: {'; '.join(reasons)}")

    def refuse(self) -> None:
        _warn_of_unkept(
            f" with Numba {numba.__version__}, so that the next start takes as long; install a version that systola "
            "was tested with"
        )

    def _name_of(self, key: Key) -> str:
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        code, _ = digest_of_functions({name: self._function})
        signature, processor = key
        types = [(str(t), str(getattr(t, "instance_class", ""))) for t in signature]
        digest = hashlib.sha256(repr((code, types, processor)).encode()).hexdigest()[:16]
        return f"{re.sub('[<>]', '', name)}-{digest}.nbc"


@lru_cache(maxsize=1)
def _bases() -> list[Path]:
    """Where folders of kernels may be, the best place first."""
    found = []
    with suppress(RuntimeError):  # a user without a home
        chosen = os.environ.get("SYSTOLA_CACHE_DIR")
        own = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "systola"
        found.append(own.resolve())
    with suppress(OSError):  # no place for temporary files
        found.append(Path(tempfile.gettempdir()).resolve() / f"systola-{_user()}")
    return found


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0  # Windows has no such numbers, neither here nor in `stat`


def _make_folder(base: Path) -> Path:
    """The folder for kernels of this version, made if need be."""
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check(base)
    folder = base / source_digest()
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        _check(folder)
    else:
        (folder / _MARKER).touch()
        _remove_old(base)
    return folder


def _remove_old(base: Path) -> None:
    """Remove kernels of versions that were not used for long."""
    ours = []
    for folder in base.iterdir():
        with suppress(OSError, _Unfit):  # others may remove them at the same time
            if re.fullmatch("[0-9a-f]{16}", folder.name) and (folder / _MARKER).is_file():
                ours.append((_check(folder).st_mtime, folder))
    for _, folder in sorted(ours, reverse=True)[_KEPT_FOLDERS:]:
        shutil.rmtree(folder, ignore_errors=True)


def _check(folder: Path) -> os.stat_result:
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode):
        raise _Unfit(f"{folder} is not a folder")
    _check_owner(folder, state)
    return state


def _check_owner(path: Path, state: os.stat_result) -> None:
    if state.st_uid not in (_user(), 0):
        raise _Unfit(
            f"{path} belongs to another user (number {state.st_uid}), so compiled kernels in it are not used; set "
            "SYSTOLA_CACHE_DIR to a folder of yours"
        )
    if os.name == "posix" and state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _Unfit(
            f"others can write to {path}, so compiled kernels in it are not used; remove it or, if you trust what is "
            "in it, run `chmod -R go-w` on it"
        )


def _read(path: Path) -> bytes:
    """What `_write` wrote."""
    _check(path.parent.parent)
    _check(path.parent)
    # A file is judged by what was opened; opening a link fails, and opening a pipe must not wait for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        state = os.fstat(file.fileno())
        _check_owner(path, state)
        data = file.read() if stat.S_ISREG(state.st_mode) else b""
    if hashlib.sha256(data[_DIGEST_BYTES:]).digest() != data[:_DIGEST_BYTES]:
        raise _Unfit(f"{path} is damaged, so its kernel is compiled anew")
    with suppress(OSError):
        os.utime(path.parent)  # the folders that were used last are kept
    return data[_DIGEST_BYTES:]


def _write(path: Path, data: bytes) -> None:
    """A whole file or none, whoever else writes it at the same time."""
    number, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")  # for its owner only, whatever the umask
    try:
        with os.fdopen(number, "wb") as file:
            file.write(hashlib.sha256(data).digest())
            file.write(data)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _warn_of_unkept(why: str) -> None:
    global _unkept
    if not _warned:
        _unkept = f"{UNKEPT}{why}"
    _warn(f"{UNKEPT}{why}")


def _warn(what: str) -> None:
    """Say what is wrong with the cache, once in a process."""
    global _warned
    if not _warned:
        _warned = True
        warn(what, CacheWarning)
