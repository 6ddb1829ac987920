"""The log of a run: lines of JSON that are written while it goes on, for whoever watches it or looks at it later.

The run is worth more than its log. Frames come at most four times a second, and less often if they cost more than a
small part of the time; a file that cannot be written is a note in the result. Lines are appended whole, so that at any
moment a killed run leaves a log that can be read.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from systola.errors import InputError
from systola.files import write_atomically
from systola.model.drawing import Drawing, draw_solution
from systola.model.encodings import Array
from systola.model.problem import Problem
from systola.run.execution import REPORT_SECONDS, Callback, Progress
from systola.run.log_entries import FRAME, Header, end_entry, frame_entry, header_entry, line_of, message_entry
from systola.run.log_reading import LogReader
from systola.run.log_thinning import thinned
from systola.run.result import Result

SHARE = 0.007  # of the time may be spent in here, the first frame and the end not counted
_FRAMES_SHARE = 0.005
MOST_FRAMES = 4096
MOST_BYTES = 32 * 2**20
_MOST_MESSAGES = 1000


def log_of_rank(path: Path, rank: int, ranks: int) -> Path:
    """Where a process of several writes its log."""
    return path if ranks == 1 else path.with_name(f"{path.stem}.rank-{rank}{path.suffix}")


def as_log(log: str | Path | RunLog | None, best_known: float | None = None) -> RunLog:
    """What `solve` is given as a log; an InputError if that is no path."""
    if isinstance(log, RunLog):
        return log
    if log is not None and not isinstance(log, (str, os.PathLike)):
        raise InputError(f"`log` must be a path, but got {log!r}")
    return RunLog(None if log is None else Path(log), None if best_known is None else [best_known])


@dataclass
class _Costs:
    """Seconds that were spent in here."""

    inside: float = 0.0  # in all
    frames: float = 0.0  # in those without their drawings
    frame: float = 0.0  # the last one
    drawing: float = 0.0  # the last one


@dataclass
class RunLog:
    """The log of one run; without a path it is none, and does nothing.

    Parameters
    ----------
    path
        The file; where several processes share a run, each has one with its rank in the name.
    known
        The best known objectives, if there are any.
    clock
        Seconds, by which the cost of the log is counted.
    """

    path: Path | None
    known: list[float] | None = None
    clock: Callable[[], float] = time.perf_counter

    failure: str = field(default="", init=False)  # why nothing more is written
    frames: int = field(default=0, init=False)  # in the file
    costs: _Costs = field(default_factory=_Costs, init=False)
    _problem: Problem | None = field(default=None, init=False)
    _file: IO[bytes] | None = field(default=None, init=False)
    _size: int = field(default=0, init=False)
    _messages: int = field(default=0, init=False)
    _resumed: dict[str, Any] | None = field(default=None, init=False)  # the header, before a resumed run has begun
    _first: float = field(default=-1.0, init=False)  # seconds of the run at its first frame
    _last: float = field(default=0.0, init=False)  # at the last one
    _taken: float = field(default=float("-inf"), init=False)  # when that was, by the clock
    _drawn: tuple[int, bytes] | None = field(default=None, init=False)
    _draws: bool = field(default=True, init=False)
    _said: set[str] = field(default_factory=set, init=False)

    def check(self, several: bool = False) -> None:
        """Before anything is done: an InputError if the path cannot be that of a log."""
        if self.path is None:
            return
        if several:
            raise InputError("`seeds` makes several runs, and a log is of one; leave it out")
        if self.path.is_dir():
            raise InputError(f"`log` must be a file to write, but {str(self.path)!r} is a folder")
        if not self.path.parent.is_dir():
            raise InputError(f"`log` must be in a folder that there is, but {str(self.path.parent)!r} is none")
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"`log` must be a regular file, but {str(self.path)!r} is none")

    def open(self, header: Header, resumes: bool) -> None:
        """Begin, or get ready to go on with the log of a run that is resumed; an InputError if that cannot be done."""
        if self.path is None:
            return
        shared = hashlib.sha256(f"{header.job} {self.path}".encode()).hexdigest()[:16]
        self.path = log_of_rank(self.path, header.rank, header.ranks)
        self._problem = header.problem
        entry = header_entry(header, shared if header.job else secrets.token_hex(8), self.known, resumes)
        earlier = self._read_header()
        try:
            if not resumes or earlier is None:
                write_atomically(self.path, line_of(entry))
                self._reopen()
                return
            if earlier.get("run") != entry["run"]:
                raise InputError(f"the log {self.path} belongs to another run than the resumed one; name another")
            self._resumed = {**entry, "id": earlier["id"]}
            self._reopen()
        except OSError as error:
            raise InputError(f"the log {self.path} cannot be written: {error.strerror}") from None

    def _read_header(self) -> dict[str, Any] | None:
        """Of the log that is there, if any; whatever else is there is not written over."""
        assert self.path is not None
        if not self.path.exists() or self.path.stat().st_size == 0:
            return None
        try:
            return LogReader(self.path).read_header()
        except InputError as error:
            raise InputError(f"{error}; `log` does not write over other files, name another one") from None

    def follow(self, callback: Callback | None) -> Callback | None:
        """A callback that takes frames, too, and otherwise does what this one does."""
        if self.path is None:
            return callback

        def take(progress: Progress) -> Any:
            with self._safely():
                self._take(progress)
            return callback(progress) if callback else None

        return take

    def message(self, text: str) -> None:
        """A sentence for whoever watches."""
        with self._safely():
            self._tell(text)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While the run goes on: if it fails, the log says why, too."""
        try:
            yield
        except Exception as error:
            self.message(f"the run failed: {error}")
            self._close()
            raise

    def end(self, result: Result) -> None:
        """The last line, with the best solution drawn."""
        with self._safely():
            if self._file is None:
                return
            self._go_on(result.seconds)
            self._last = max(self._last, result.seconds)
            drawing = self._draw(result.solution)
            self._append(end_entry(result, drawing))
            self._close()

    @property
    def faults(self) -> list[str]:
        """What a result says of its log: nothing, if it is whole."""
        return [f"the log {self.path} could not be written: {self.failure}"] if self.failure else []

    # What follows may fail, and is called within `_safely`.

    @contextmanager
    def _safely(self) -> Iterator[None]:
        began = self.clock()
        try:
            yield
        except OSError as error:
            self._give_up(error.strerror or str(error))
        except Exception as error:  # whatever it is, the run goes on
            self._give_up(f"{type(error).__name__}: {error}")
        finally:
            self.costs.inside += self.clock() - began

    def _give_up(self, why: str) -> None:
        self.failure = self.failure or why
        if self._file is not None:
            with suppress(OSError):
                self._file.truncate(self._size)  # a line may have been written in part
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        self._file = None

    def _reopen(self) -> None:
        assert self.path is not None
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115  # open as long as the run goes on
        self._size = os.fstat(self._file.fileno()).st_size

    def _append(self, entry: dict[str, Any]) -> None:
        if self._file is None:
            return
        line = line_of(entry)
        written = self._file.write(line)
        if written != len(line):
            raise OSError(0, "the disk is full")
        self._size += written

    def _tell(self, text: str) -> None:
        if self._messages < _MOST_MESSAGES and self._resumed is None:
            self._messages += 1
            self._append(message_entry(self._last, text))

    def _go_on(self, seconds: float) -> None:
        """At the first frame of a resumed run: what was logged after its checkpoint is made once more, so it goes."""
        if self._resumed is None or self.path is None:
            return
        header, self._resumed = self._resumed, None
        kept, self.frames = [], 0
        for line in self._lines():
            entry = json.loads(line)
            if entry["kind"] == "header" or (entry["kind"] != "end" and entry["seconds"] < seconds):
                kept.append(line)
                self.frames += entry["kind"] == "frame"
        self._replace([*kept, line_of(header)])

    def _lines(self) -> list[bytes]:
        """What this run, or the one that it goes on from, has written; without a torn last line."""
        assert self.path is not None
        return [line for line in self.path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]

    def _replace(self, lines: list[bytes]) -> None:
        assert self.path is not None
        self._close()  # not every system replaces a file that is open
        write_atomically(self.path, b"".join(lines))
        self._reopen()

    def _take(self, progress: Progress) -> None:
        if self._file is None:
            return
        if progress.stage == "compiling":
            self._tell(f"compiling the kernels for {type(self._problem).__name__}")
            return
        if self._first < 0:
            self._first = 0.0 if self._resumed is None else progress.seconds
        self._go_on(progress.seconds)
        began, left = self.clock(), progress.seconds - self._first
        if progress.stage != "done" and not self._is_due(began, left):
            return
        self._taken, self._last = began, progress.seconds
        entry = frame_entry(progress)
        if progress.picture is not None:
            picture = self._picture(progress.picture)
            entry |= {"picture": picture} if picture else {}
        before = self.clock()
        drawing = self._draw_if_new(progress, SHARE * left - self.costs.inside)
        self.costs.drawing = self.clock() - before if drawing else self.costs.drawing
        self._append({**entry, "drawing": drawing.to_json()} if drawing else entry)
        self.frames += 1
        self.costs.frame = self.clock() - began - (self.costs.drawing if drawing else 0.0)
        self.costs.frames += self.costs.frame
        if self.frames > MOST_FRAMES or self._size > MOST_BYTES:
            kept = thinned(self._lines(), MOST_FRAMES // 2, MOST_BYTES // 2)
            self.frames = sum(line.startswith(FRAME) for line in kept)
            self._replace(kept)

    def _is_due(self, now: float, elapsed: float) -> bool:
        """Whether a frame is neither too early nor too dear."""
        costs = self.costs
        cheap = costs.frames + costs.frame <= _FRAMES_SHARE * elapsed
        within = costs.inside + costs.frame <= SHARE * elapsed
        rested = now - self._taken >= max(0.96 * REPORT_SECONDS, 100 * costs.frame)
        return rested and (self.frames == 0 or (cheap and within))

    def _picture(self, look: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
        try:
            return look()
        except Exception as error:  # `fitness` and `violation` may be a user's, and are called in plain Python here
            self._once(f"no picture could be made: {type(error).__name__}: {error}")
            return None

    def _draw_if_new(self, progress: Progress, left: float) -> Drawing | None:
        """The best solution, if it is another one than before and there is time to draw it."""
        if progress.best is None or not self._draws or self.costs.drawing > left:
            return None
        found = progress.best()
        key = found.step, found.measures.tobytes()
        if key == self._drawn:
            return None
        self._drawn = key
        return self._draw(found.decisions)

    def _draw(self, decisions: Array) -> Drawing | None:
        if not self._draws or self._problem is None:
            return None
        try:
            return draw_solution(self._problem, decisions)
        except InputError as error:
            self._draws = False
            self._tell(str(error))
            return None

    def _once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._tell(text)
