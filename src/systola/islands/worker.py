"""A worker runs some demes, a stretch of each in turn, and moves their parcels."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from systola.faults import check_faults
from systola.islands.deme import Deme
from systola.islands.journal import Journal
from systola.islands.parcel import Parcel
from systola.islands.transport import Transport
from systola.run import reaches
from systola.stop import Stop

_CALL_SECONDS = 0.1  # a call of a kernel lasts about this long, so that a run ends promptly
_REST_SECONDS = 50e-6


@dataclass
class Worker:
    """Some of the demes and one end of the transport."""

    demes: list[Deme]
    transport: Transport
    stop: Stop
    last: dict[int, int]  # the step that is a deme's last
    clock: Callable[[], float]  # seconds since the beginning of the run
    interrupted: Callable[[], bool]
    rest: Callable[[], None]  # what else is to be done from time to time
    synchronous: bool = False
    replaying: bool = False
    note_round: Callable[[bool], None] = lambda idle: None  # in a replay: whether there was nothing to do
    journal: Journal = field(default_factory=Journal)
    reason: str = ""
    _held: set[int] = field(default_factory=set)  # demes that wait for what they need, in a replay

    def run(self) -> None:
        """Go on until all agree to end."""
        (self._go_together if self.synchronous else self._go_alone)()
        for deme in self.demes:
            self.journal.last[deme.number] = deme.step

    def _go_alone(self) -> None:
        """Each deme at its own pace."""
        while not self.transport.agree(bool(self.reason), self._is_done()):
            idle = True
            for deme in self.demes:
                if deme.number in self._held:
                    idle = not self._import(deme) and idle
                elif self._may_go_on(deme):
                    idle = False
                    if self._stretch(deme):
                        self._export(deme)
                        if deme.imports_now():
                            self._import(deme)
                else:
                    self._receive(deme, self.transport.collect(deme.number, deme.step) if not self.replaying else [])
                self._check(deme)
            self.rest()
            self.note_round(idle)
            if idle:
                time.sleep(_REST_SECONDS)
        if not self.replaying:
            self.transport.gather()
            for deme in self.demes:
                self._receive(deme, self.transport.collect(deme.number, deme.step))

    def _go_together(self) -> None:
        """All demes wait for each other wherever one exports or imports."""
        while not self.transport.agree_now(bool(self.reason), self._is_done()):
            for deme in self.demes:
                if self._may_go_on(deme) and self._stretch(deme):
                    self._export(deme)
                self._check(deme)
            began = time.perf_counter()
            self.transport.gather()
            for deme in self.demes:
                if deme.imports_now():
                    parcels = self.transport.collect(deme.number, deme.step)
                    self._receive(deme, sorted(parcels, key=lambda p: (p.source, p.serial)))
            for deme in self.demes:
                deme.counters.migrating += (time.perf_counter() - began) / len(self.demes)
            self.rest()

    def _may_go_on(self, deme: Deme) -> bool:
        return not self.reason and deme.step < self.last[deme.number] and not self._has_stalled(deme)

    def _has_stalled(self, deme: Deme) -> bool:
        stall = self.stop.stall
        return stall is not None and bool(deme.history) and deme.step - deme.history[-1][0] >= stall

    def _is_done(self) -> bool:
        return not self._held and not any(self._may_go_on(deme) for deme in self.demes)

    def _stretch(self, deme: Deme) -> bool:
        """Steps to the next export or import; false if the run ends before."""
        stop = deme.next_stop()
        last = min(stop, self.last[deme.number])
        while deme.step < last and not self.reason:
            steps = int(_CALL_SECONDS / deme.pace) if deme.pace > 0 else 1
            deme.advance(min(last, deme.step + max(1, steps)))
            if self.stop.seconds is not None and self.clock() >= self.stop.seconds:
                self.reason = "seconds"
            elif self.interrupted():
                self.reason = "interrupted"
        check_faults(deme.work.problem, deme.session)
        deme.look(self.clock())
        return deme.step == stop

    def _check(self, deme: Deme) -> None:
        target = self.stop.target
        if target is not None and not self.reason and reaches(deme.work.problem, deme.history[-1][2], target):
            self.reason = "target"

    def _export(self, deme: Deme) -> None:
        began = time.perf_counter()
        if deme.exports_now():
            rows, elite = deme.choose()
            for target in deme.neighbours:
                parcel = deme.parcel_for(target, rows, elite)
                accepted = self.transport.post(parcel)
                deme.count_sent(parcel, accepted)
                if not accepted:
                    self.journal.note_skip(parcel)
        deme.counters.migrating += time.perf_counter() - began

    def _import(self, deme: Deme) -> bool:
        if not self.transport.is_ready(deme.number, deme.step):
            self._held.add(deme.number)
            return False
        self._held.discard(deme.number)
        began = time.perf_counter()
        parcels = self.transport.collect(deme.number, deme.step)
        self.journal.note_import(deme.number, deme.step, parcels)
        self._receive(deme, parcels)
        deme.counters.migrating += time.perf_counter() - began
        return True

    @staticmethod
    def _receive(deme: Deme, parcels: list[Parcel]) -> None:
        for parcel in parcels:
            deme.take_in(parcel)
