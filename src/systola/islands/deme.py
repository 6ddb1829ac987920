"""A deme: a search on its own, that exports some of its solutions and imports those of others."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from systola.backends.session import Setup
from systola.engines.migration import COUNT, HEAD, INJECTED, enqueue, migration_slot
from systola.errors import InputError
from systola.islands.deme_session import DemeSession, draw_for_deme
from systola.islands.islands import Islands
from systola.islands.message import Message, count_in, message_size, pack, unpack
from systola.model.encodings import Array, Solutions
from systola.model.problem import space_of
from systola.reading import Json, is_number, is_whole
from systola.run.engine_search import EngineSearch
from systola.run.search import Saved

_SEED, _HOLD, _CHOICE = range(3)  # what random numbers are for

Event = tuple[int, float, Array]  # a better solution: step, seconds, measures


@dataclass
class Counters:
    """What a deme did, counted in solutions unless said otherwise."""

    exports: int = 0  # messages
    held: int = 0  # exports that were not made because nothing better had been found
    skipped: int = 0  # messages that found no free slot
    sent: int = 0
    received: int = 0
    injected: int = 0
    overwritten: int = 0  # in a pool that was full
    computing: float = 0.0  # seconds
    migrating: float = 0.0  # seconds


@dataclass
class Deme:
    """One population and its surroundings."""

    number: int
    setup: Setup
    islands: Islands
    neighbours: list[int]
    compiled: bool = True
    counters: Counters = field(default_factory=Counters)
    history: list[Event] = field(default_factory=list)  # better and better, at exports and imports
    provisional: Event | None = None  # what is better still, where a run ends between two of them
    best_row: Array = field(default_factory=lambda: np.zeros(0), init=False)  # of storage: the best solution noted
    _elites: list[Array] = field(default_factory=list)
    _serials: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.session = DemeSession(self.setup, self.compiled, self.islands.pool)
        self.search = EngineSearch(self.setup, self.session)
        self.pool = self.session.pool
        self.goal = self.next_stop()  # of a round of synchronous demes; what was sent by its end is imported after it

    @property
    def step(self) -> int:
        """Steps made."""
        return self.search.step

    def start(self, solutions: Solutions = ()) -> None:
        """Make the first population."""
        self.search.start(solutions)
        self.update_history(0.0)

    def next_stop(self) -> int:
        """The next step after which something is exported or imported."""
        out, back = self.islands.export_every, self.islands.import_every
        return min((self.step // out + 1) * out, (self.step // back + 1) * back)

    def advance(self, last: int, seconds: float = math.inf) -> None:
        """Steps up to this one, or those that fit into the time, unless they are asked to stop."""
        began = time.perf_counter()
        self.search.advance(last - self.step, seconds)
        self.counters.computing += time.perf_counter() - began
        self.counters.injected = int(self.pool.state[INJECTED])

    def update_history(self, seconds: float, stopped: bool = True) -> None:
        """After some steps: see whether they brought anything better; now, `seconds` after the beginning of the run.

        Where demes do not stop to export or import, nothing is kept that would change what they export next.
        """
        if not self.history or self.session.best_bytes != self.history[-1][2].tobytes():
            best = self.session.best()
            event = self.step, seconds, best.score[0].copy()
            self.best_row = best.best[0].copy()
            if not stopped:
                self.provisional = event
            else:
                if self.history:
                    self._elites = [*self._elites, best.best[0].copy()][-self.islands.rate :]
                self.history.append(event)
        if self.islands.delays and self.step:
            time.sleep(self.islands.delays[self.number])

    @property
    def latest(self) -> Event:
        """The best solution that was seen."""
        return self.provisional or self.history[-1]

    def exports_now(self) -> bool:
        """Whether an export is due and not held back."""
        if self.step % self.islands.export_every or not self.neighbours:
            return False
        if self._elites:
            return True
        number, _, _, _ = draw_for_deme(np.uint64(self.setup.seed), self.step, _HOLD, 0)
        if int(number) < round(self.islands.export_probability * 2**32):
            return True
        self.counters.held += 1
        return False

    def imports_now(self) -> bool:
        """Whether an import is due."""
        return self.step % self.islands.import_every == 0 and bool(self.neighbours)

    def choose(self) -> tuple[Array, Array]:
        """Solutions to send, the newest best ones first, and which of them these are."""
        rows = self._elites[::-1]
        elites = len(rows)
        for k in range(elites, self.islands.rate):
            number, _, _, _ = draw_for_deme(np.uint64(self.setup.seed), self.step, _CHOICE, k)
            place = int(migration_slot(self.setup.design.record, np.uint64(number), self.step + 1))
            rows.append(self.session.row(place))
        self._elites = []
        return np.stack(rows), np.arange(self.islands.rate) < elites

    def message_for(self, target: int, rows: Array, elite: Array) -> Message:
        """The next message to a neighbour."""
        return Message(target, self.number, self._serials.get(target, 0), self.step, elite.astype(np.uint8), rows)

    def count_sent(self, message: Message, accepted: bool) -> None:
        """Whether a message found a slot."""
        if accepted:
            self._serials[message.target] = message.serial + 1
            self.counters.exports += 1
            self.counters.sent += len(message.rows)
        else:
            self.counters.skipped += 1

    def receive(self, message: Message) -> None:
        """What has arrived waits in the pool for its turn."""
        for row, elite in zip(message.rows, message.elite, strict=True):
            self.counters.overwritten += enqueue(self.pool, row, bool(elite))
            self.counters.received += 1

    @property
    def messages_sent(self) -> dict[int, int]:
        """To each neighbour; any thread may ask."""
        return dict(self._serials)

    @property
    def waiting(self) -> int:
        """Solutions in the pool."""
        return int(self.pool.state[COUNT])

    def save(self, waiting: list[Message]) -> Saved | None:
        """All that the deme needs to go on, with what has arrived and was not imported; None if it left a step."""
        saved = self.search.save()
        if saved is None:
            return None
        elites = np.stack(self._elites) if self._elites else self.pool.immigrants[:0]
        unread = np.zeros((len(waiting), self._message_size), np.uint8)
        for message, room in zip(waiting, unread, strict=True):
            pack(message, room)
        state = {
            "deme": self.number,
            **saved[0],
            "goal": self.goal,
            "counters": asdict(self.counters),
            "history": [[step, seconds, measures.tolist()] for step, seconds, measures in self.history],
            "serials": {str(k): v for k, v in self._serials.items()},
        }
        arrays = {f"pool.{k}": v for k, v in self.pool._asdict().items()}
        return state, {**saved[1], **arrays, "elites": elites, "unread": unread}

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> list[Message]:
        """The inverse of `save`; gives back what waits for the deme."""
        wrong = self._find_wrong(state, arrays)
        if wrong:
            raise InputError(f"the checkpoint's {wrong} does not fit these islands")
        self.search.restore(state, arrays)
        self.best_row = self.session.best().best[0].copy()
        for name, values in self.pool._asdict().items():
            values[...] = arrays[f"pool.{name}"]
        self.goal = int(state["goal"])
        self.counters = Counters(**state["counters"])
        self.history = [(s, t, np.array(m, self.setup.dtype)) for s, t, m in state["history"]]
        self._serials = {int(k): v for k, v in state["serials"].items()}
        self._elites = list(arrays["elites"])
        return [unpack(room, self.pool.immigrants[0]) for room in arrays["unread"]]

    @property
    def _message_size(self) -> int:
        return message_size(self.islands.rate, self.pool.immigrants[0])

    def _find_wrong(self, state: dict[str, Any], arrays: dict[str, Array]) -> str:
        """What of a checkpoint cannot be of this deme; empty if all can."""
        for name, values in (
            *((f"pool.{k}", v) for k, v in self.pool._asdict().items()),
            ("elites", self.pool.immigrants),
        ):
            found = arrays.get(name)
            if found is None or found.dtype != values.dtype or found.shape[1:] != values.shape[1:]:
                return name
            if len(found) != len(values) if name != "elites" else len(found) > self.islands.rate:
                return name
        encoding, space = self.setup.problem.encoding, space_of(self.setup.problem)
        immigrants, told = arrays["pool.immigrants"], arrays["pool.state"]
        waiting = (
            np.arange(told[HEAD], told[HEAD] + told[COUNT]) % len(immigrants)
            if 0 <= told[COUNT] <= len(immigrants)
            else [-1]
        )
        if not 0 <= told[HEAD] < len(immigrants) or -1 in waiting or told[INJECTED] < 0:
            return "pool.state"
        if not encoding.are_valid(space, immigrants[waiting]).all():
            return "pool.immigrants"
        if not encoding.are_valid(space, arrays["elites"]).all():
            return "elites"
        counters, history, serials = (state.get(name) for name in ("counters", "history", "serials"))
        if not isinstance(counters, dict) or set(counters) != set(asdict(Counters())):
            return "counters"
        if not all(map(is_number, counters.values())):
            return "counters"
        if not isinstance(serials, dict) or not all(k.isdecimal() and is_whole(v) for k, v in serials.items()):
            return "serials"
        if not isinstance(history, list) or not history or not all(map(self._is_event, history)):
            return "history"
        if not self._are_messages(arrays.get("unread")):
            return "unread"
        times = (state.get("step"), state.get("goal"))
        return "" if is_number(state.get("seconds")) and all(map(is_whole, times)) else "step, goal and seconds"

    def _are_messages(self, unread: Array | None) -> bool:
        """Whether these are packed messages for this deme."""
        if unread is None or unread.dtype != np.uint8 or unread.shape[1:] != (self._message_size,):
            return False
        encoding, space = self.setup.problem.encoding, space_of(self.setup.problem)
        for room in unread:
            if not 0 <= count_in(room) <= self.islands.rate:
                return False
            message = unpack(room, self.pool.immigrants[0])
            known = message.target == self.number and message.source in self.neighbours
            if not known or not encoding.are_valid(space, message.rows).all():
                return False
        return True

    def _is_event(self, event: Json) -> bool:
        """Whether it is a step, seconds, and measures."""
        if not isinstance(event, list) or len(event) != 3 or not isinstance(event[2], list):
            return False
        numbers = len(event[2]) == self.setup.measures and all(map(is_number, event[2]))
        whole = self.setup.dtype != np.int64 or all(isinstance(v, int) and is_whole(abs(v)) for v in event[2])
        return is_whole(event[0]) and is_number(event[1]) and numbers and whole


def seed_of(seed: int, deme: int) -> int:
    """The seed of a deme: streams of their own, from one seed."""
    low, high, _, _ = draw_for_deme(np.uint64(seed), 0, deme, _SEED)
    return int(low) | int(high) << 32
