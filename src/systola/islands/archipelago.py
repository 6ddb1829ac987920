"""The run of all demes: who runs which, how far it has got, and what is saved of it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systola.backends.session import Work
from systola.checkpoint import check_identity, read_checkpoint, write_checkpoint
from systola.encodings import Array
from systola.errors import InputError
from systola.faults import told_plainly
from systola.islands.account import Account, account_of, find_leader, join_histories, summarise
from systola.islands.deme import Deme
from systola.islands.islands import Islands
from systola.islands.journal import Journal, Replay, read_journal
from systola.islands.torus import neighbours_of
from systola.islands.transport import Mailboxes, Transport, World
from systola.islands.worker import Worker
from systola.population import ranks_above
from systola.run import Callback, Progress, objective_of, violation_of
from systola.signals import held_signals, interruptible
from systola.stop import Stop
from systola.trace import Trace

_REPORT_SECONDS = 0.25
_FOREVER = 2**62


@dataclass
class Archipelago:
    """One run of islands; `go` runs it to its end. It has what a result is made from, as `Run` has."""

    works: list[Work]
    islands: Islands
    stop: Stop
    threads: int
    compiled: bool = True
    callback: Callback | None = None
    checkpoint: Path | None = None  # a folder
    checkpoint_every: float = 60.0
    identity: dict[str, Any] = field(default_factory=dict)
    record: Path | None = None
    replay: Path | None = None
    world: World | None = None  # processes that share the demes

    demes: list[Deme] = field(default_factory=list)  # those of this process
    accounts: list[Account] = field(default_factory=list)  # of all, at the end
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    saves_asked: float = 0.0  # when a signal last asked for checkpoints
    _earlier: float = 0.0
    _began: float = 0.0
    _error: BaseException | None = None

    @property
    def work(self) -> Work:
        """That of the first deme; the problem is that of all."""
        return self.works[0]

    def clock(self) -> float:
        """Seconds since the beginning, compiling not counted, earlier parts of a resumed run included."""
        return self._earlier + time.perf_counter() - self._began

    def go(self, given: Array, resumed: Path | None = None) -> None:
        """Run until a budget is met or the user interrupts."""
        rank, ranks = (self.world.rank, self.world.size) if self.world else (0, 1)
        with interruptible():
            self._prepare(range(rank, len(self.works), ranks))
        journal = read_journal(self.replay, self.identity, len(self.works)) if self.replay else None
        with held_signals() as interruption, self._saving_on_signal():
            asked = lambda: interruption.asked  # noqa: E731
            if self.world:
                self.world.wait()  # first populations are not made while others still compile
            self._begin(given, resumed)
            crew = self._run_ranks(asked) if self.world else self._run_threads(asked, journal)
        self.seconds = self.clock()
        noted = Journal()
        for worker in crew:
            noted.absorb(worker.journal)
        mine = [account_of(deme) for deme in self.demes], noted, [w.reason for w in crew if w.reason], self.notes
        everyone = self.world.share(mine) if self.world else [mine]
        self.accounts = sorted((a for accounts, *_ in everyone for a in accounts), key=lambda a: a.number)
        self.notes = [note for *_, notes in everyone for note in notes]
        if len(everyone) < ranks:
            self.notes.append(f"{ranks - len(everyone)} of {ranks} processes failed, and the others went on")
        self._tell_why([reason for _, _, reasons, _ in everyone for reason in reasons])
        if self.checkpoint:
            for deme in self.demes:
                self.save(deme)
        self._tell("done")
        if self.record and (self.world is None or self.world.rank == 0):
            whole = Journal()
            for _, part, *_ in everyone:
                whole.absorb(part)
            whole.save(self.record, self.identity)

    def _run_threads(self, asked: Callable[[], bool], journal: Journal | None) -> list[Worker]:
        """Demes dealt out to threads; this one tells how they get on."""
        workers = self._count_workers()
        slots, rate = self.islands.send_slots, self.islands.rate
        transport = Replay(workers, journal) if journal else Mailboxes(workers, slots, rate)
        crew = [self._hire(self.demes[k::workers], transport, asked, journal) for k in range(workers)]
        threads = [threading.Thread(target=self._man, args=(w, transport), daemon=True) for w in crew]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            next(t for t in threads if t.is_alive() or t is threads[-1]).join(_REPORT_SECONDS)
            if self._tell("running"):
                for worker in crew:
                    worker.reason = worker.reason or "callback"
        if self._error is not None:
            raise self._error
        return crew

    def _count_workers(self) -> int:
        return max(1, min(self.threads, len(self.demes)))

    def _run_ranks(self, asked: Callable[[], bool]) -> list[Worker]:
        """The demes of this process, which also tells, between stretches."""
        assert self.world is not None
        row = self.work.problem.encoding.empty(self.work.problem.space, 1)[0]
        owners = [number % self.world.size for number in range(len(self.works))]
        while True:
            transport = self.world.connect(owners, self.islands.send_slots, self.islands.rate, row)
            worker = self._hire(self.demes, transport, asked, None)
            try:
                worker.run()
                return [worker]
            except Exception as error:
                # Synchronous demes cannot go on: those of a checkpoint are some rounds behind.
                if self.islands.synchronous or not self.world.survives(error):
                    raise
                owners = self._adopt()

    def _adopt(self) -> list[int]:
        """Share out the demes of processes that have failed, as their checkpoints have them; the new owners of all."""
        assert self.world is not None
        kept = self.world.share([deme.number for deme in self.demes])
        owners = {number: rank for rank, numbers in enumerate(kept) for number in numbers}
        orphans = [number for number in range(len(self.works)) if number not in owners]
        owners |= {number: k % self.world.size for k, number in enumerate(orphans)}
        for number in orphans:
            if owners[number] == self.world.rank:
                deme = self._make(number)
                self._settle(deme, self.work.problem.encoding.empty(self.work.problem.space, 0), self.checkpoint)
                self.demes.append(deme)
                self.notes.append(f"deme {number} was adopted at step {deme.step}, after a process had failed")
        return [owners[number] for number in range(len(self.works))]

    def _prepare(self, numbers: Any) -> None:
        """Make the demes of these numbers, and compile what they need."""
        if self.callback:
            self.callback(Progress("compiling", 0, 0, 0.0))
        with told_plainly(self.work.problem):
            for number in numbers:
                deme = self._make(number)
                deme.session.start(0, 0)
                deme.session.dwell(1, 0)
                self.demes.append(deme)

    def _make(self, number: int) -> Deme:
        around = neighbours_of(number, len(self.works))
        return Deme(number, self.works[number], self.islands, around, self.compiled)

    def _begin(self, given: Array, resumed: Path | None) -> None:
        """First populations, or those of a checkpoint."""
        self._began = time.perf_counter()
        if resumed is not None and not any(resumed.glob("deme-*.checkpoint")):
            raise InputError(f"there are no checkpoints of demes in {resumed}; a folder of them is what to resume from")
        for deme in self.demes:
            self._earlier = max(self._earlier, self._settle(deme, given, resumed))
            if resumed is not None and deme.step == 0:
                self.notes.append(f"deme {deme.number} has no checkpoint in {resumed} and starts anew")

    def _settle(self, deme: Deme, given: Array, folder: Path | None) -> float:
        """A deme's checkpoint in this folder, or else its first population; seconds that the run had taken then."""
        path = folder / _name(deme.number) if folder else None
        if path is None or not path.exists():
            deme.start(given)
            return 0.0
        state, arrays = read_checkpoint(path)
        check_identity(state, self.identity, path)
        deme.restore(state, arrays)
        return float(state["seconds"])

    def _hire(
        self, demes: list[Deme], transport: Transport, asked: Callable[[], bool], journal: Journal | None
    ) -> Worker:
        last = dict(journal.last) if journal else dict.fromkeys(range(len(self.works)), self._last_step())
        stop = Stop() if journal else self.stop
        worker = Worker(demes, transport, stop, last, self.clock, asked, lambda: None)
        worker.synchronous, worker.replaying = self.islands.synchronous, journal is not None
        worker.rest = _Chores(self, worker).do
        if isinstance(transport, Replay):
            worker.note_round = transport.note_round
        return worker

    def _last_step(self) -> int:
        last = _FOREVER if self.stop.iterations is None else self.stop.iterations
        if self.stop.evaluations is not None:
            started = sum(w.design.started for w in self.works)
            each = sum(w.design.per_step for w in self.works)
            last = min(last, (self.stop.evaluations - started) // each)
        return last

    def _man(self, worker: Worker, transport: Mailboxes) -> None:
        try:
            worker.run()
        except threading.BrokenBarrierError:
            pass  # another worker has failed and says why
        except BaseException as error:
            self._error = self._error or error
            transport.give_up()

    def _tell_why(self, reasons: list[str]) -> None:
        known = ("interrupted", "target", "callback", "seconds")
        self.reason = next((r for r in known if r in reasons), "") or self._ran_out()

    def _ran_out(self) -> str:
        """Why there is nothing left to do."""
        if self.replay:
            return "replayed"
        if self.stop.stall is not None and any(account.step < self._last_step() for account in self.accounts):
            return "stall"
        return "evaluations" if self._last_step() != self.stop.iterations else "iterations"

    def save(self, deme: Deme) -> None:
        """Write the checkpoint of a deme; a run is worth more than its checkpoint, so that it goes on if it cannot."""
        assert self.checkpoint is not None
        state, arrays = deme.save()
        try:
            self.checkpoint.mkdir(parents=True, exist_ok=True)
            write_checkpoint(
                self.checkpoint / _name(deme.number), {**self.identity, **state, "seconds": self.clock()}, arrays
            )
        except OSError as error:
            told = f"the checkpoint of deme {deme.number} could not be written: {error.strerror}"
            self.notes = [n for n in self.notes if n != told] + [told]

    @contextmanager
    def _saving_on_signal(self) -> Iterator[None]:
        """SIGUSR1, which schedulers send before they end a job, asks for a checkpoint."""
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGUSR1"):
            yield
            return

        def ask(number: int, frame: Any) -> None:
            self.saves_asked = time.perf_counter()

        before = signal.signal(signal.SIGUSR1, ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGUSR1, before)

    def _tell(self, stage: str) -> bool:
        """Tell how far the demes of this process have got; whether the run shall end.

        By what they have noted themselves: others may be at work in their sessions.
        """
        if self.callback is None or not self.demes:
            return False
        problem, seconds = self.work.problem, self.clock()
        measures, step = self.demes[0].history[-1][2], max(deme.step for deme in self.demes)
        for deme in self.demes[1:]:
            if ranks_above(problem.record, deme.history[-1][2], measures):
                measures = deme.history[-1][2]
        fractions = [0.0]
        if self._last_step() < _FOREVER:
            fractions.append(step / max(1, self._last_step()))
        if self.stop.seconds:
            fractions.append(seconds / self.stop.seconds)
        told = Progress(
            stage,
            step,
            sum(d.work.design.started + d.step * d.work.design.per_step for d in self.demes),
            seconds,
            objective_of(problem, measures),
            violation_of(problem, measures),
            min(1.0, max(fractions)),
            sum(deme.session.memory for deme in self.demes),
        )
        return bool(self.callback(told))

    @property
    def repeatable(self) -> bool:
        """Whether the same call would give the same result: on one thread demes take turns, whatever the clock says."""
        in_turns = self.world is None and self._count_workers() == 1
        bound = self.islands.synchronous or in_turns or len(self.works) == 1 or self.replay is not None
        return bound and self.stop.repeatable and self.reason not in ("interrupted", "callback")

    @property
    def backend(self) -> str:
        """Its name."""
        return "cpu" if self.compiled else "python"

    @property
    def step(self) -> int:
        """Steps of the deme that has made most."""
        return max(account.step for account in self.accounts)

    @property
    def evaluations(self) -> int:
        """Solutions made in all demes."""
        return sum(account.evaluations for account in self.accounts)

    @property
    def trace(self) -> Trace:
        """How the best solution developed."""
        return join_histories(self.work.problem, self.accounts)

    def best(self) -> tuple[Array, Array, int]:
        """Measures, decisions and step of the best solution."""
        leader = find_leader(self.work.problem, self.accounts)
        decisions = self.work.problem.encoding.load(self.work.problem.space, leader.best)[0]
        return leader.measures, decisions, leader.found_at

    def report(self) -> dict[str, Any]:
        """What each deme did, and all of them together."""
        names = self.identity["engines"]
        ranks = self.world.size if self.world else 1
        return summarise(self.work.problem, self.accounts, names, self.islands, self.seconds, ranks)


class _Chores:
    """What a worker does between stretches: save its demes, and tell how they get on if nobody else does."""

    def __init__(self, run: Archipelago, worker: Worker) -> None:
        self._run, self._worker = run, worker
        self._saved = self._told = time.perf_counter()

    def do(self) -> None:
        run, now = self._run, time.perf_counter()
        if run.checkpoint and (now - self._saved >= run.checkpoint_every or run.saves_asked > self._saved):
            self._saved = now
            for deme in self._worker.demes:
                run.save(deme)
        if run.world and now - self._told >= _REPORT_SECONDS:
            self._told = now
            if run._tell("running") and not self._worker.reason:
                self._worker.reason = "callback"


def _name(deme: int) -> str:
    return f"deme-{deme:05d}.checkpoint"
