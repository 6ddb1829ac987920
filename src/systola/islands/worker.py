"""A worker runs some demes, a stretch of each in turn, and moves their messages.

Asynchronous demes take turns by what they have spent, so that one with long steps does not hold up the others. That is
solutions made and measured, which anybody would count alike; or seconds, if seconds are what the run is given.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from systola.islands.arrival_log import ArrivalRecorder
from systola.islands.checkpoints import Saver
from systola.islands.deme import Deme
from systola.islands.message import Message
from systola.islands.transport import BREAK, END, Transport, Vote
from systola.run.budget import Budget, Spent
from systola.run.execution import CALL_SECONDS
from systola.run.units import reaches

_REST_SECONDS = 50e-6


@dataclass
class Worker:
    """Some of the demes and one end of the transport."""

    demes: list[Deme]
    transport: Transport
    budgets: Mapping[int, Budget]  # of each deme, in steps
    clock: Callable[[], float]  # seconds since the beginning of the run
    interrupted: Callable[[], bool]
    between_turns: Callable[[], None]  # what else is to be done from time to time
    synchronous: bool = False
    replaying: bool = False
    end_round: Callable[[bool], None] = lambda idle: None  # in a replay: whether there was nothing to do
    recorder: ArrivalRecorder | None = None
    saver: Saver | None = None
    reason: str = ""
    _held: set[int] = field(default_factory=set)  # demes that wait for what they need, in a replay
    _spent: dict[int, float] = field(default_factory=lambda: defaultdict(int))

    def run(self) -> None:
        """Go on until all agree to end."""
        (self._run_synchronously if self.synchronous else self._run_asynchronously)()
        if self.recorder:
            for deme in self.demes:
                self.recorder.record_last_step(deme.number, deme.step)

    def _run_asynchronously(self) -> None:
        """Each deme at its own pace."""
        while not ((told := self.transport.agree(self._vote())) and told.over):
            idle, on_turn = True, self._demes_on_turn()
            for deme in self.demes:
                if deme.number in self._held:
                    idle = not self._import(deme) and idle
                elif deme.number in on_turn and not self.reason:
                    idle = False
                    if self._take_turn(deme):
                        self._export(deme)
                        if deme.imports_now():
                            self._import(deme)
                elif not self.replaying and not self._may_go_on(deme):
                    self._receive(deme, self.transport.collect(deme.number, deme.step))
                self._check(deme)
            self._pause(told)
            self.end_round(idle)
            if idle:
                time.sleep(_REST_SECONDS)
        if not self.replaying:
            self.transport.flush()
            for deme in self.demes:
                self._receive(deme, self.transport.collect(deme.number, deme.step))

    def _demes_on_turn(self) -> set[int]:
        """The demes that have not spent more than others have on average."""
        active = [d.number for d in self.demes if d.number not in self._held and self._may_go_on(d)]
        total = sum(self._spent[number] for number in active)
        return {number for number in active if self._spent[number] * len(active) <= total}

    def _take_turn(self, deme: Deme) -> bool:
        began, step = time.perf_counter(), deme.step
        stopped = self._run_stretch(deme, deme.next_stop())
        by_time = self.budgets[deme.number].stop.seconds is not None
        made = (deme.step - step) * deme.search.per_step
        self._spent[deme.number] += time.perf_counter() - began if by_time else made
        return stopped

    def _run_synchronously(self) -> None:
        """All demes wait for each other wherever one exports or imports.

        A round that is broken off leaves each deme where it is, and what was sent in the boxes: it can be gone on with.
        """
        told = Vote(more=1)
        while not told.over:
            for deme in self.demes:
                if deme.step < deme.goal and self._may_go_on(deme) and self._run_stretch(deme, deme.goal):
                    self._export(deme)
            for deme in self.demes:
                self._check(deme)
            began = time.perf_counter()
            importing = {deme.number: deme.step for deme in self.demes if deme.imports_now()}
            told, arrived = self.transport.exchange(self._vote(), importing)
            if told.halt != BREAK:
                for deme in self.demes:
                    messages = sorted(arrived.get(deme.number, ()), key=lambda p: (p.source, p.serial))
                    self._record_and_receive(deme, messages)
                    deme.goal = deme.next_stop() if deme.step == deme.goal else deme.goal
            for deme in self.demes:
                deme.counters.migrating += (time.perf_counter() - began) / len(self.demes)
            self._pause(told)

    def _vote(self) -> Vote:
        halt = 0 if not self.reason else END if self.reason == "target" else BREAK
        vote = Vote(halt, more=not self._is_done())
        return self.saver.vote(vote) if self.saver else vote

    def _pause(self, told: Vote | None) -> None:
        if self.saver:
            self.saver.act_on(told)
        self.between_turns()

    def _may_go_on(self, deme: Deme) -> bool:
        if self.reason:
            return False
        return self.budgets[deme.number].steps_left(Spent(deme.step, 0, 0.0, deme.history[-1][0])) > 0

    def _is_done(self) -> bool:
        return not self._held and not any(self._may_go_on(deme) for deme in self.demes)

    def _run_stretch(self, deme: Deme, stop: int) -> bool:
        """Steps up to the next export or import; false if the run ends before."""
        budget = self.budgets[deme.number]
        last = min(stop, budget.last_step())  # whether a deme has stalled is known only where it stops
        while deme.step < last and not self._must_end(budget):
            deme.advance(last, CALL_SECONDS)
        deme.update_history(self.clock(), deme.step == stop)
        return deme.step == stop

    def _must_end(self, budget: Budget) -> bool:
        """Before each call: when the time is over, not one more solution of a slow objective is waited for."""
        if not self.reason and budget.seconds_left(self.clock()) <= 0:
            self.reason = "seconds"
        elif not self.reason and self.interrupted():
            self.reason = "interrupted"
        return bool(self.reason)

    def _check(self, deme: Deme) -> None:
        target = self.budgets[deme.number].stop.target
        if target is not None and not self.reason and reaches(deme.setup.problem, deme.latest[2], target):
            self.reason = "target"

    def _export(self, deme: Deme) -> None:
        began = time.perf_counter()
        if deme.exports_now():
            rows, elite = deme.choose()
            for target in deme.neighbours:
                message = deme.message_for(target, rows, elite)
                accepted = self.transport.post(message)
                deme.count_sent(message, accepted)
                if not accepted and self.recorder:
                    self.recorder.record_skip(message)
        deme.counters.migrating += time.perf_counter() - began

    def _import(self, deme: Deme) -> bool:
        if not self.transport.is_ready(deme.number, deme.step):
            self._held.add(deme.number)
            return False
        self._held.discard(deme.number)
        began = time.perf_counter()
        self._record_and_receive(deme, self.transport.collect(deme.number, deme.step))
        deme.counters.migrating += time.perf_counter() - began
        return True

    def _record_and_receive(self, deme: Deme, messages: list[Message]) -> None:
        if self.recorder:
            self.recorder.record_import(deme.number, deme.step, messages)
        self._receive(deme, messages)

    @staticmethod
    def _receive(deme: Deme, messages: list[Message]) -> None:
        for message in messages:
            deme.receive(message)
