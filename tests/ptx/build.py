"""C -> a shared library, by gcc. What was built is kept by the digest of all that it depends on.

Libraries lie where pytest keeps what it remembers, so that `pytest --cache-clear` removes them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

COMPILER = "gcc"
_RUNTIME = Path(__file__).with_name("runtime")
_FOLDER = Path(__file__).resolve().parents[2] / ".pytest_cache" / "d" / "ptx"
# Floats as PTX has them, not contracted; signed numbers wrap; memory is read and written by any type.
_FLAGS = ("-march=native", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-shared", "-fPIC", "-w")


class BuildError(RuntimeError):
    """The compiler refused a translation."""


def find_compiler() -> str | None:
    """Path of the compiler; None if there is none."""
    return shutil.which(COMPILER)


def build(source: str, checked: bool, folder: Path = _FOLDER) -> Path:
    """Compile a translation, with memory checks if asked, or find it compiled."""
    flags = (("-O0" if checked else "-O1"), *_FLAGS)  # checked runs are short: to optimise takes longer than it saves
    if checked:
        source = f"#define CHECK\n{source}"
    parts = (source, _runtime_text(), _version(), " ".join(flags))
    library = folder / f"{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _compile(source, library, flags)
    return library


def _compile(source: str, library: Path, flags: tuple[str, ...]) -> None:
    """Into a file of another name first: two processes may build the same at the same time."""
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        text, made = Path(folder) / "kernel.c", Path(folder) / "kernel.so"
        text.write_text(source)
        command = [COMPILER, *flags, f"-I{_RUNTIME}", str(text), "-o", str(made), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildError(f"{COMPILER} refused a translation of PTX:\n{done.stderr[:2000]}")
        os.replace(made, library)


@cache
def _runtime_text() -> str:
    return "".join(path.read_text() for path in sorted(_RUNTIME.glob("*.h")))


@cache
def _version() -> str:
    """The compiler and the machine that it compiles for: -march=native means another one elsewhere."""
    command = [COMPILER, "-march=native", "-Q", "--help=target", "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
