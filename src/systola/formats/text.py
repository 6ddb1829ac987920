"""Text files of numbers, read so that every complaint says the rule, what came, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from systola.errors import InputError

MOST_BYTES = 256 * 2**20  # a larger file is a mistake: the largest public instances have a few megabytes
_SHOWN = 40  # characters of a token in a message
_WORD = re.compile(r"\S+")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?")  # a digit fits one place only: else time is quadratic
_DIGITS = 18  # of a number that surely fits into 64 bits
_BATCH = 2**16  # words that are read at once


def read_text(path: Path) -> str:
    """The whole text of a file, with line ends as ``\\n``.

    Raises
    ------
    InputError
        If the file is missing, no regular file, not readable, larger than `MOST_BYTES`, or no UTF-8 text.
    """
    try:
        if path.is_dir():
            raise InputError(f"an instance must be a file, but {str(path)!r} is a directory")
        if path.exists() and not path.is_file():
            raise InputError(f"an instance must be a regular file, but {str(path)!r} is not")
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"an instance must be a file, but there is none at {str(path)!r}; check the path") from None
    except OSError as error:
        raise InputError(f"a file must be readable, but {str(path)!r} is not: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"a path must be one the system knows, but got {str(path)!r}: {error}") from None
    if len(raw) > MOST_BYTES:
        raise InputError(f"a file must have at most {MOST_BYTES // 2**20} MB, but {path.name} has more")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"a file must be text in UTF-8, but byte {error.start + 1} of {path.name} is no part of one"
        ) from None
    if "\0" in text:
        raise InputError(f"a file must be text, but {path.name} has a zero byte at {text.index(chr(0)) + 1}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_text(path: str | Path, lines: Iterable[str]) -> None:
    """Write a file of these lines; an InputError if that cannot be."""
    try:
        Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise InputError(f"the file must be writable, but {str(path)!r} is not: {error.strerror}") from None


def refuse_name_of_solution(path: Path, suffix: str) -> None:
    """An instance must not be named as solutions are."""
    if path.suffix.lower() == suffix:
        raise InputError(f"an instance must not be named {suffix}, as its solution is, but got {str(path)!r}")


def refuse_other_solution(solution: Path) -> None:
    """No solution of another instance must lie beside one that is written without."""
    if solution.exists():
        raise InputError(f"no solution of another instance must lie beside, but {str(solution)!r} does; remove it")


@contextmanager
def located(place: str) -> Iterator[None]:
    """Add a place to the message of an InputError raised inside."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error} ({place})") from None


def whole_number(token: str, what: str, low: int | None = None, high: int | None = None) -> int:
    """A whole number of 64 bits with low <= number <= high from its text; `what` names it in the message."""
    if not _WHOLE.fullmatch(token):
        raise InputError(f"`{what}` must be a whole number, but got {shown(token)}")
    # The length first: converting millions of digits takes minutes, and Python refuses to, zeros in front included.
    digits = token.lstrip("+-").lstrip("0") or "0"
    number = (-1 if token[0] == "-" else 1) * int(digits) if len(digits) < 20 else 2**63
    if not -(2**63) <= number < 2**63:
        raise InputError(f"`{what}` must fit into 64 bits, but got {shown(token)}")
    if (low is not None and number < low) or (high is not None and number > high):
        lower = f"{low} <= " if low is not None and high is not None else ""
        upper = f" <= {high}" if high is not None else f" >= {low}"
        raise InputError(f"`{lower}{what}{upper}` must hold, but got {number}")
    return number


def decimal_number(token: str, what: str) -> tuple[str, str]:
    """A number >= 0 from its text: the digits before the point and those after it, less zeros at the end."""
    match = _DECIMAL.fullmatch(token)
    if match is None or not match[2] + (match[3] or ""):
        raise InputError(f"`{what}` must be a number, but got {shown(token)}")
    whole, rest = match[2].lstrip("0"), (match[3] or "").rstrip("0")
    if match[1] == "-" and whole + rest:
        raise InputError(f"`{what} >= 0` must hold, but got {shown(token)}")
    if len(whole) + len(rest) > _DIGITS:
        raise InputError(f"`{what}` must have at most {_DIGITS} digits, but got {shown(token)}")
    return whole or "0", rest


def shown(token: str) -> str:
    """A token as messages show it: quoted, not too long."""
    return repr(token if len(token) <= _SHOWN else token[:_SHOWN] + "...")


class Tokens:
    """The words of a text, one after the other.

    Parameters
    ----------
    text
        As `read_text` gives it.
    name
        Of the file, for messages.
    """

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._next = 0  # where to look for the next word
        self._last = 0  # where the last word began

    def word(self, what: str) -> str:
        """The next word."""
        match = _WORD.search(self._text, self._next)
        if match is None:
            raise self._ended(what)
        self._last, self._next = match.span()
        return match[0]

    def integer(self, what: str, low: int | None = None, high: int | None = None) -> int:
        """The next word as a whole number with low <= number <= high."""
        word = self.word(what)
        try:
            return whole_number(word, what, low, high)
        except InputError as error:
            raise self.error(str(error)) from None

    def integers(self, count: int, what: str, low: int | None = None, high: int | None = None) -> NDArray[np.int64]:
        """The next `count` words as whole numbers."""
        if count > self._room():
            raise self._ended(what)
        numbers = np.empty(count, np.int64)
        for begin in range(0, count, _BATCH):
            batch = numbers[begin : begin + _BATCH]
            words = self._plain(len(batch), low, high)
            if words is not None:
                batch[:] = words
                continue
            for i in range(len(batch)):
                batch[i] = self.integer(what, low, high)
        return numbers

    def decimals(self, count: int, what: str) -> tuple[NDArray[np.int64], int]:
        """The next `count` words as numbers >= 0 made whole, and by how many places their points were moved for it."""
        if count > self._room():
            raise self._ended(what)
        start = self._last, self._next
        values = np.empty(count, np.int64)
        for begin in range(0, count, _BATCH):
            batch = values[begin : begin + _BATCH]
            words = self._plain(len(batch), 0, None)
            if words is None:
                break
            batch[:] = words
        else:
            return values, 0
        self._last, self._next = start
        numbers: list[tuple[str, str]] = []
        for _ in range(count):
            word = self.word(what)
            try:
                numbers.append(decimal_number(word, what))
            except InputError as error:
                raise self.error(str(error)) from None
        places = max((len(rest) for _, rest in numbers), default=0)
        try:
            return np.array([int(whole + rest.ljust(places, "0")) for whole, rest in numbers], np.int64), places
        except OverflowError:
            raise self.error(f"each `{what}`, without its decimal point, must fit into 64 bits") from None

    def count(self, what: str, each: int = 1, low: int = 1) -> int:
        """The next word as a number of things, each of which takes at least `each` words of the rest."""
        number = self.integer(what, low)
        if number * each > self._room():
            raise self.error(f"`{what}` must be what the rest of the file can hold, but got {number}")
        return number

    @contextmanager
    def line(self, what: str) -> Iterator[None]:
        """What is read inside must be exactly one line: a layout tells formats of equally many numbers apart."""
        begin = self._next
        yield
        end = self._text.find("\n", self._next)
        rest = self._text[self._next : end if end >= 0 else None]
        if "\n" in self._text[begin : self._next].strip() or rest.strip():
            raise self.error(f"{what} must be a line of their own, but are more or less than one")

    def at_end(self) -> bool:
        """Whether no word is left."""
        return _WORD.search(self._text, self._next) is None

    def end(self, what: str) -> None:
        """No word may be left after `what`."""
        if not self.at_end():
            raise self.error(f"the file must end after {what}, but goes on with {shown(self.word(what))}")

    def error(self, message: str) -> InputError:
        """An error at the last word read."""
        return InputError(f"{message} ({self._name}, line {self._line(self._last)})")

    def _plain(self, count: int, low: int | None, high: int | None) -> NDArray[np.int64] | None:
        """The next `count` words at once if they are plain digits in bounds; else None, and nothing is read."""
        spans = list(islice(_WORD.finditer(self._text, self._next), count))
        words = [match[0] for match in spans]
        digits = "".join(words)
        if len(words) < count or not (digits.isascii() and digits.isdigit()) or max(map(len, words)) > _DIGITS:
            return None
        numbers = np.array([int(word) for word in words], np.int64)
        if (low is not None and numbers.min() < low) or (high is not None and numbers.max() > high):
            return None
        self._last, self._next = spans[-1].span()
        return numbers

    def _room(self) -> int:
        """How many words the rest can hold: each has a character and a space before it."""
        return (len(self._text) - self._next + 1) // 2

    def _ended(self, what: str) -> InputError:
        if not self._text.strip():
            return InputError(f"`{what}` must come first, but the file is empty ({self._name})")
        last = self._line(len(self._text.rstrip()))
        return InputError(f"`{what}` must follow, but the file ends ({self._name}, line {last})")

    def _line(self, place: int) -> int:
        return self._text.count("\n", 0, place) + 1
