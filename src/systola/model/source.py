"""What a Python file of a user defines: problems and engines that are named FILE.py:NAME.

Such a file is executed. So only a name that the user wrote may lead here, on a command line or in a program, never one
that came with a file of data or settings.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from systola.errors import InputError, SystolaError
from systola.reading import read_file

_loaded: dict[Path, tuple[str, ModuleType]] = {}  # by file, with the digest of its text


def is_code(name: str) -> bool:
    """Whether a name is of the form FILE.py:NAME, or of a Python file."""
    return ".py:" in name or name.endswith(".py")


def file_of(name: str) -> Path:
    """The file of FILE.py:NAME, such that two ways to write it are equal."""
    path, mark, wanted = name.rpartition(":")
    try:
        return Path(path if mark and wanted.isidentifier() else name).resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, or no path at all
        return Path(name)


def load(name: str, what: str) -> Any:
    """What FILE.py:NAME names; `what` it should be is for messages.

    Raises
    ------
    InputError
        If there is no such file, it cannot be executed, or it does not define the name.
    """
    path, mark, wanted = name.rpartition(":")
    if not mark or not wanted.isidentifier():
        path = name.rstrip(":")
        raise InputError(
            f"{path} is Python code, in which a name must say which {what} is meant: {path}:{_guess(path)}"
        )
    if not is_file(path):
        raise InputError(f"there is no file {path!r}, in which the {what} {wanted} should be")
    module = _execute(path)
    if not hasattr(module, wanted):
        known = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        near = difflib.get_close_matches(wanted, known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ";"
        raise InputError(f"{path} has no class or function {wanted!r}{hint} It has: {', '.join(known) or 'none'}")
    return getattr(module, wanted)


def tell_failure(error: BaseException, path: str | Path) -> str:
    """What a user's code raised, and in which line of its file."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == Path(path).resolve()]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return f"{said} ({Path(path).name}, line {line})" if line else said


def is_file(path: str) -> bool:
    """Whether there is one at this path, which may be no path at all."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _execute(path: str) -> ModuleType:
    """The module that a file defines; executed once, and again after an edit."""
    place = Path(path).resolve()
    source = read_file(place, "the Python file")
    digest = hashlib.sha256(source).hexdigest()
    known = _loaded.get(place)
    if known and known[0] == digest:
        return known[1]
    module = ModuleType(_free_name(place))
    module.__file__ = str(place)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    if str(place.parent) not in sys.path:
        sys.path.insert(0, str(place.parent))  # so that it finds files beside it, as a script does
    try:
        with redirect_stdout(sys.stderr):  # standard output is for the answer
            exec(compile(source, str(place), "exec", dont_inherit=True), module.__dict__)
    except SystolaError as error:
        raise InputError(f"{path} cannot be loaded: {error}") from error
    except SystemExit as error:
        raise InputError(
            f"{path} cannot be loaded: it ended Python, by {tell_failure(error, place)}; put what runs only when it is "
            'a program of its own under `if __name__ == "__main__":`'
        ) from None
    except Exception as error:
        raise InputError(f"{path} cannot be loaded: {tell_failure(error, place)}") from error
    _loaded[place] = digest, module
    return module


def _free_name(place: Path) -> str:
    """A name for the module: kernels on disk are found by it, so that it is the same in every process."""
    name = f"systola_user_{place.stem}"
    other = sys.modules.get(name)
    if other is None or getattr(other, "__file__", None) == str(place):
        return name
    return f"{name}_{hashlib.sha256(str(place).encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def _guess(path: str) -> str:
    """A class of a file, without executing it."""
    try:
        tree = ast.parse(read_file(path, "the Python file"))
    except (InputError, SyntaxError, ValueError, RecursionError, MemoryError):
        return "NAME"
    return next((node.name for node in tree.body if isinstance(node, ast.ClassDef)), "NAME")
