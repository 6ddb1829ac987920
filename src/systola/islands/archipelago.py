"""The run of all demes: who runs which, how far it has got, and what is saved of it."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from systola.errors import InputError
from systola.islands.arrival_log import ArrivalLog, ArrivalRecorder, Replay, join_records, part_of, read_arrival_log
from systola.islands.checkpoints import SavedSet, Saver, Saving, free_set, open_checkpoint
from systola.islands.deme import Deme
from systola.islands.deme_report import DemeReport, Outcome, ProcessReport, describe, history_of, report_of, summarise
from systola.islands.islands import Islands
from systola.islands.meeting import compile_waiting
from systola.islands.message import Message
from systola.islands.observer import Observer
from systola.islands.plan import Plan
from systola.islands.torus import neighbours_of
from systola.islands.transport import Mailboxes, Transport, World
from systola.islands.worker import Worker
from systola.model.encodings import Solutions
from systola.model.population import Population
from systola.model.problem import Problem, space_of
from systola.run.arguments import RunFiles
from systola.run.budget import FOREVER, Budget, Spent, Stop
from systola.run.ending import ask_to_stop, time_limit
from systola.run.execution import REPORT_SECONDS, Callback, Progress
from systola.run.search import Found, same_as
from systola.run.signals import Interruption, called_on
from systola.run.trace import Trace


@dataclass
class Archipelago:
    """One run of islands; `go` runs it to its end. To `solve` it is an `Execution`, as `Run` is."""

    plan: Plan
    islands: Islands
    stop: Stop
    threads: int
    compiled: bool = True
    callback: Callback | None = None
    files: RunFiles = field(default_factory=RunFiles)
    identity: dict[str, Any] = field(default_factory=dict)
    world: World | None = None  # processes that share the demes

    demes: list[Deme] = field(default_factory=list)  # those of this process
    reports: list[DemeReport] = field(default_factory=list)  # at the end: of all for the first process, else of its own
    reason: str = ""
    failure: Exception | None = None  # what the callback raised
    interruption: Interruption = field(default_factory=Interruption)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0
    _ended: bool = False  # by the callback, before the first step
    _asked: float = 0.0  # when a signal last asked for a checkpoint
    _earlier: float = 0.0
    _began: float = 0.0
    _error: BaseException | None = None
    _waiting: list[Message] = field(default_factory=list)  # for demes of this process, as their checkpoint has it
    _outcome: Outcome | None = None
    _arrival_log: ArrivalLog | None = None  # to replay

    def __post_init__(self) -> None:
        self._budget = Budget(self.stop, self.plan.per_step)
        self._observer = Observer(self.plan, self._budget.in_steps(self.plan.started), self.clock)

    @property
    def problem(self) -> Problem:
        """That of all demes."""
        return self.plan.problem

    def clock(self) -> float:
        """Seconds since the beginning, compiling not counted, earlier parts of a resumed run included."""
        return self._earlier + time.perf_counter() - self._began

    def compile(self) -> None:
        """Make the demes of this process, and compile all that they need: the clock does not run yet."""
        if self.files.replay and self.world:
            raise InputError("a record is replayed by the threads of one process; start it without mpiexec or srun")
        self._arrival_log = (
            read_arrival_log(self.files.replay, self.identity, len(self.plan)) if self.files.replay else None
        )
        if self.callback:
            self.callback(Progress("compiling", 0, 0, 0.0))
        rank, ranks = (self.world.rank, self.world.size) if self.world else (0, 1)
        for number in range(rank, len(self.plan), ranks):
            deme = self._make(number)
            deme.search.compile()
            self.demes.append(deme)
        if self.islands.synchronous and not self.world and self._count_workers() > 1:
            compile_waiting()

    def ask_to_stop(self) -> None:
        """Let all demes end after the steps under way, if these end soon, or within them; any thread may call it."""
        self.interruption.asked = True
        self._halt()

    def _halt(self) -> None:
        ask_to_stop(deme.search for deme in self.demes)

    def go(self, solutions: Solutions = ()) -> None:
        """Run until a budget is met or somebody interrupts."""
        rank, ranks = (self.world.rank, self.world.size) if self.world else (0, 1)
        with called_on("SIGUSR1", self._ask_to_save):  # which schedulers send before they end a job
            saved = open_checkpoint(self.files.resume, self.identity, len(self.plan)) if self.files.resume else None
            if saved:
                for deme in self.demes:
                    self._restore(deme, saved)
            if self.world:
                self.world.check_same_run(self._digest(saved))  # others may still compile, or have failed
            self._began = time.perf_counter()
            left = math.inf if self.files.replay else self._budget.seconds_left(self.clock())
            with time_limit(left, self._halt):
                if not saved:
                    self._start(solutions)
                workers = self._run_ranks() if self.world else self._run_threads()
        self.seconds = self.clock()
        self._summarise(workers, ranks)
        if workers[0].saver:
            workers[0].saver.finish(self.demes, self.world)
        if self.files.record and rank == 0:
            try:
                join_records(self.files.record, max(ranks, len(workers)), len(self.plan), self.identity)
            except OSError as error:
                self.faults.append(f"the record of arrivals {self.files.record} could not be written: {error.strerror}")
        if self.world:
            self.world.barrier()  # nobody leaves before all is saved
        self._report_progress("done")

    def _start(self, solutions: Solutions) -> None:
        """The first populations, one after the other; if that takes long, it is told."""
        told = time.perf_counter()
        for deme in self.demes:
            deme.start(solutions)
            if time.perf_counter() - told >= REPORT_SECONDS:
                self._ended = self._report_progress("starting") or self._ended
                if self.failure:
                    self._halt()
                told = time.perf_counter()

    def _summarise(self, workers: list[Worker], ranks: int) -> None:
        """Put together what all processes have to tell: the first one learns all of it, others what is the best."""
        for worker in workers:
            if worker.recorder:
                worker.recorder.close()
                if worker.recorder.failure:
                    self.faults.append(
                        f"what arrived could not be noted for {self.files.record}: {worker.recorder.failure}"
                    )
        problem, mine = self.plan.problem, [report_of(deme) for deme in self.demes]
        history = history_of(problem, self.demes)
        part = ProcessReport(mine, history, [w.reason for w in workers if w.reason], self.faults)
        parts = self.world.gather(part) if self.world else [part]
        found = summarise(problem, parts, self.seconds) if parts else None
        self._outcome = self.world.broadcast(found) if self.world else found
        assert self._outcome is not None
        self.reports = sorted((a for p in parts or [part] for a in p.reports), key=lambda a: a.number)
        self.faults = list(self._outcome.faults)
        left = self.world.size if self.world else 1
        if left < ranks:
            self.faults.append(f"{ranks - left} of {ranks} processes failed, and the others went on")
        known = ("interrupted", "target", "callback", "seconds")
        self.reason = next((r for r in known if r in self._outcome.reasons), "") or self._ran_out(self._outcome)

    def _report_failures(self, failures: list[str]) -> None:
        """Why the last checkpoint could not be written, or nothing, if it could."""
        told = f"the checkpoint {self.files.checkpoint} could not be written: "
        kept = [fault for fault in self.faults if not fault.startswith(told)]
        self.faults = kept + [told + failure for failure in dict.fromkeys(failures)]

    def _digest(self, saved: SavedSet | None) -> int:
        """Differs between processes that are about to make different runs."""
        told = (
            self.identity,
            self.stop.__dict__,
            bool(self.files.checkpoint),
            bool(self.files.record),
            saved and saved.digests,
        )
        return int(hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:15], 16)

    def _run_threads(self) -> list[Worker]:
        """Demes dealt out to threads; this one tells how they get on."""
        count = self._count_workers()
        slots, rate = self.islands.send_slots, self.islands.rate
        transport = Replay(count, self._arrival_log) if self._arrival_log else Mailboxes(count, slots, rate)
        transport.restore(self._waiting)
        saving = self._plan_saves(count)
        workers = [self._make_worker(k, self.demes[k::count], transport, saving) for k in range(count)]
        threads = [threading.Thread(target=self._run_worker, args=(w, transport), daemon=True) for w in workers]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            next(t for t in threads if t.is_alive() or t is threads[-1]).join(REPORT_SECONDS)
            if self._report_progress("running"):
                for worker in workers:
                    worker.reason = worker.reason or "callback"
        if self._error is not None:
            raise self._error
        return workers

    def _count_workers(self) -> int:
        return max(1, min(self.threads, len(self.demes)))

    def _run_ranks(self) -> list[Worker]:
        """The demes of this process, which also tells, between stretches."""
        assert self.world is not None
        row = self.plan.problem.encoding.empty(space_of(self.plan.problem), 1)[0]
        owners = [number % self.world.size for number in range(len(self.plan))]
        while True:
            transport = self.world.connect(owners, self.islands.send_slots, self.islands.rate, row)
            transport.restore(self._waiting)
            saving = self._plan_saves(self.world.size)
            worker = self._make_worker(self.world.rank, self.demes, transport, saving)
            worker.between_turns = _ProgressReports(self, worker).do
            try:
                worker.run()
                return [worker]
            except Exception as error:
                # Synchronous demes cannot go on: those of a checkpoint are some rounds behind.
                if self.islands.synchronous or not self.world.survives(error):
                    raise
                owners = self._take_over()

    def _take_over(self) -> list[int]:
        """Share out the demes of processes that have failed, as their checkpoint has them; the new owners of all."""
        assert self.world is not None
        kept = self.world.allgather([deme.number for deme in self.demes])
        owners = {number: rank for rank, numbers in enumerate(kept) for number in numbers}
        orphans = [number for number in range(len(self.plan)) if number not in owners]
        owners |= {number: k % self.world.size for k, number in enumerate(orphans)}
        mine = [number for number in orphans if owners[number] == self.world.rank]
        saved, self._waiting = None, []
        if mine and self.files.checkpoint and (self.files.checkpoint / "manifest.json").exists():
            saved = open_checkpoint(self.files.checkpoint, self.identity, len(self.plan))
        for number in mine:
            deme = self._make(number)
            if saved:
                self._restore(deme, saved)
            else:
                deme.start()
            self.demes.append(deme)
            self.faults.append(f"deme {number} was taken over at step {deme.step}, after a process had failed")
        return [owners[number] for number in range(len(self.plan))]

    def _make(self, number: int) -> Deme:
        return Deme(number, self.plan.setup(number), self.islands, neighbours_of(number, len(self.plan)), self.compiled)

    def _restore(self, deme: Deme, saved: SavedSet) -> None:
        state, arrays = saved.read(deme.number)
        self._waiting += deme.restore(state, arrays)
        self._earlier = max(self._earlier, float(state["seconds"]))

    def _plan_saves(self, workers: int) -> Saving | None:
        if self.files.checkpoint is None:
            return None
        first = free_set(self.files.checkpoint) if not self.world or self.world.rank == 0 else 0
        first = self.world.broadcast(first) if self.world else first
        return Saving(
            self.files.checkpoint,
            self.identity,
            self.files.checkpoint_every,
            first,
            workers,
            self.islands.synchronous,
            self.clock,
            lambda: self._asked,
            self._report_failures,
        )

    def _make_worker(self, number: int, demes: list[Deme], transport: Transport, saving: Saving | None) -> Worker:
        log, shared = self._arrival_log, self._budget.in_steps(self.plan.started)
        # A replay goes as far as its record, whatever the clock says.
        budgets = {deme.number: Budget(Stop(iterations=log.last[deme.number])) if log else shared for deme in demes}
        worker = Worker(demes, transport, budgets, self.clock, lambda: self.interruption.asked, lambda: None)
        worker.reason = "callback" if self._ended else ""
        worker.synchronous, worker.replaying = self.islands.synchronous, log is not None
        worker.saver = Saver(saving, number, demes, transport) if saving else None
        worker.recorder = ArrivalRecorder(part_of(self.files.record, number)) if self.files.record else None
        if isinstance(transport, Replay):
            worker.end_round = transport.end_round
        return worker

    def _run_worker(self, worker: Worker, transport: Mailboxes) -> None:
        try:
            worker.run()
        except threading.BrokenBarrierError:
            pass  # another worker has failed and says why
        except BaseException as error:
            self._error = self._error or error
            transport.abort()

    def _ran_out(self, outcome: Outcome) -> str:
        """Why there is nothing left to do."""
        if self.files.replay:
            return "replayed"
        made = self.plan.started + outcome.fewest * self.plan.per_step
        # Where neither iterations nor evaluations ended a deme, it must have stalled.
        return self._budget.met(Spent(outcome.fewest, made, found=-FOREVER))

    def _ask_to_save(self) -> None:
        self._asked = time.perf_counter()

    def _report_progress(self, stage: str) -> bool:
        """Tell how far the demes of this process have got; whether the run shall end."""
        told = self._observer.progress(stage, self.demes) if self.callback else None
        if self.callback is None or told is None:
            return False
        try:
            return bool(self.callback(told))
        except Exception as error:  # the run is not lost for it: it ends well, and then the error is raised
            self.failure = self.failure or error
            return True

    @property
    def repeatable(self) -> bool:
        """Whether the same call would give the same result: on one thread demes take turns, whatever the clock says."""
        in_turns = self.world is None and self._count_workers() == 1
        bound = self.islands.synchronous or in_turns or len(self.plan) == 1 or self.files.replay is not None
        return bound and self.stop.repeatable and self.reason not in ("interrupted", "callback")

    @property
    def backend(self) -> str:
        """Its name."""
        return "cpu" if self.compiled else "python"

    @property
    def outcome(self) -> Outcome:
        """What is known in the end."""
        assert self._outcome is not None
        return self._outcome

    search = None  # there are several
    step = same_as("outcome.step", int)  # of the deme that has made most
    evaluations = same_as("outcome.evaluations", int)  # in all demes
    trace = same_as("outcome.trace", Trace)

    def best(self) -> Found:
        """The best solution of all demes."""
        problem, best_deme = self.plan.problem, self.outcome.best_deme
        return Found(
            best_deme.measures, problem.encoding.load(space_of(problem), best_deme.best)[0], best_deme.found_at
        )

    def population(self) -> None:
        """There are many, in other threads and processes."""

    def populations(self) -> list[Population]:
        return [deme.search.session.population() for deme in self.demes]

    def report(self) -> dict[str, Any]:
        """What all demes did together, and each of them; a process that is not the first tells of its own ones."""
        return {
            **{k: v for k, v in self.islands.described().items() if k != "demes"},
            "ranks": self.world.size if self.world else 1,
            **self.outcome.counts,
            "demes": [describe(self.plan.problem, a, self.plan.engines[a.number].name) for a in self.reports],
        }


class _ProgressReports:
    """What a process of several does between stretches: tell how its demes get on."""

    def __init__(self, run: Archipelago, worker: Worker) -> None:
        self._run, self._worker = run, worker
        self._told = time.perf_counter()

    def do(self) -> None:
        now = time.perf_counter()
        if now - self._told >= REPORT_SECONDS:
            self._told = now
            if self._run._report_progress("running") and not self._worker.reason:
                self._worker.reason = "callback"
