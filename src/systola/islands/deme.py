"""A deme: an engine's run on its own, that exports some of its solutions and lets in what others send."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from systola.backends.session import Work
from systola.encodings import Array
from systola.engines.immigration import berth
from systola.errors import InputError
from systola.islands.dwelling import COUNT, INJECTED, Dwelling, put_in, toss
from systola.islands.islands import Islands
from systola.islands.parcel import Parcel

_SEED, _HOLD, _CHOICE = range(3)  # what random numbers are for


@dataclass
class Counters:
    """What a deme did, counted in solutions unless said otherwise."""

    exports: int = 0  # parcels
    held: int = 0  # exports that were not made because nothing better had been found
    skipped: int = 0  # parcels that found no free slot
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
    work: Work
    islands: Islands
    neighbours: list[int]
    compiled: bool = True
    step: int = 0
    pace: float = 0.0  # seconds that a step takes
    counters: Counters = field(default_factory=Counters)
    history: list[tuple[int, float, Array]] = field(default_factory=list)  # better and better: step, seconds, measures
    _elites: list[Array] = field(default_factory=list)
    _serials: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.session = Dwelling(self.work, self.compiled, self.islands.pool)
        self.pool = self.session.pool
        self._mark = b""

    def start(self, given: Array) -> None:
        """Make the first population."""
        self.session.give(given)
        self.session.start(0, self.session.lanes)
        self.look(0.0)

    def next_stop(self) -> int:
        """The next step after which something is exported or imported."""
        out, back = self.islands.export_every, self.islands.import_every
        return min((self.step // out + 1) * out, (self.step // back + 1) * back)

    def advance(self, last: int) -> None:
        """Steps up to this one."""
        began = time.perf_counter()
        self.session.dwell(self.step + 1, last - self.step)
        took = time.perf_counter() - began
        self.pace = took / (last - self.step)
        self.step = last
        self.counters.injected = int(self.pool.state[INJECTED])
        self.counters.computing += took

    def look(self, seconds: float) -> None:
        """After a stretch: see whether it brought anything better; now, `seconds` after the beginning of the run."""
        if self.session.mark != self._mark:
            best = self.session.best()
            if self._mark:
                self._elites = [*self._elites, best.best[0].copy()][-self.islands.rate :]
            self._mark = self.session.mark
            self.history.append((self.step, seconds, best.score[0].copy()))
        if self.islands.lags and self.step:
            time.sleep(self.islands.lags[self.number])

    def exports_now(self) -> bool:
        """Whether an export is due and not held back."""
        if self.step % self.islands.export_every or not self.neighbours:
            return False
        if self._elites:
            return True
        number, _, _, _ = toss(np.uint64(self.work.seed), self.step, _HOLD, 0)
        if int(number) < round(self.islands.holding * 2**32):
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
            number, _, _, _ = toss(np.uint64(self.work.seed), self.step, _CHOICE, k)
            place = int(berth(self.work.design.record, np.uint64(number), self.step + 1))
            rows.append(self.session.row(place))
        self._elites = []
        return np.stack(rows), np.arange(self.islands.rate) < elites

    def parcel_for(self, target: int, rows: Array, elite: Array) -> Parcel:
        """The next parcel to a neighbour."""
        return Parcel(target, self.number, self._serials.get(target, 0), self.step, elite.astype(np.uint8), rows)

    def count_sent(self, parcel: Parcel, accepted: bool) -> None:
        """Whether a parcel found a slot."""
        if accepted:
            self._serials[parcel.target] = parcel.serial + 1
            self.counters.exports += 1
            self.counters.sent += len(parcel.rows)
        else:
            self.counters.skipped += 1

    def take_in(self, parcel: Parcel) -> None:
        """What has arrived waits in the pool for its turn."""
        for row, elite in zip(parcel.rows, parcel.elite, strict=True):
            self.counters.overwritten += put_in(self.pool, row, bool(elite))
            self.counters.received += 1

    @property
    def waiting(self) -> int:
        """Solutions in the pool."""
        return int(self.pool.state[COUNT])

    def save(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that the deme needs to go on, between two steps."""
        elites = np.stack(self._elites) if self._elites else self.pool.guests[:0]
        state = {
            "deme": self.number,
            "step": self.step,
            "counters": asdict(self.counters),
            "history": [[step, seconds, measures.tolist()] for step, seconds, measures in self.history],
            "serials": {str(k): v for k, v in self._serials.items()},
        }
        arrays = {f"pool.{k}": v for k, v in self.pool._asdict().items()}
        return state, {**self.session.save(), **arrays, "elites": elites}

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        """The inverse of `save`."""
        self.session.restore(arrays)
        for name, values in self.pool._asdict().items():
            source = arrays.get(f"pool.{name}")
            if source is None or source.shape != values.shape:
                raise InputError(f"the checkpoint's pool.{name} does not fit these islands")
            values[...] = source
        self.step = int(state["step"])
        self.counters = Counters(**state["counters"])
        self.history = [(s, t, np.array(m, self.work.dtype)) for s, t, m in state["history"]]
        self._serials = {int(k): v for k, v in state["serials"].items()}
        self._elites = list(arrays["elites"])
        self._mark = self.session.mark


def seed_of(seed: int, deme: int) -> int:
    """The seed of a deme: streams of their own, from one seed."""
    low, high, _, _ = toss(np.uint64(seed), 0, deme, _SEED)
    return int(low) | int(high) << 32
