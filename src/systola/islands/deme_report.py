"""What is told of a deme at the end of a run, and what follows for all demes together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from systola.islands.deme import Counters, Deme
from systola.model.encodings import Array
from systola.model.population import ranks_above
from systola.model.problem import Problem, record_of
from systola.run.trace import MOST_SAMPLES, Sample, Trace
from systola.run.units import objective_of, violation_of

DemeEvent = tuple[int, int, float, Array]  # a better solution: step, deme, seconds, measures


@dataclass(frozen=True)
class DemeReport:
    """Of one deme; plain data, so that it can be sent to another process."""

    number: int
    step: int
    started: int  # solutions of the first population, or of as much of it as was made
    per_step: int
    counters: Counters
    waiting: int
    measures: Array
    best: Array  # a row of storage
    found_at: int

    @property
    def evaluations(self) -> int:
        """Solutions made."""
        return self.started + self.step * self.per_step


def report_of(deme: Deme) -> DemeReport:
    """What there is to tell of a deme now."""
    best, design = deme.session.best(), deme.setup.design
    return DemeReport(
        deme.number,
        deme.step,
        deme.search.evaluations - deme.step * design.per_step,
        design.per_step,
        deme.counters,
        deme.waiting,
        best.score[0].copy(),
        best.best.copy(),
        int(best.step[0]),
    )


@dataclass(frozen=True)
class ProcessReport:
    """What one process tells in the end."""

    reports: list[DemeReport]
    history: list[DemeEvent]
    reasons: list[str]
    faults: list[str]


@dataclass(frozen=True)
class Outcome:
    """What is known of all demes in the end, however many there are."""

    best_deme: DemeReport
    step: int  # of the deme that has made most
    fewest: int  # of the one that has made fewest
    evaluations: int
    trace: Trace
    counts: dict[str, Any]
    reasons: list[str]
    faults: list[str]


def summarise(problem: Problem, parts: list[ProcessReport], seconds: float) -> Outcome:
    """All that processes have told, put together."""
    reports = sorted((a for part in parts for a in part.reports), key=lambda a: a.number)
    return Outcome(
        _find_best_deme(problem, reports),
        max(a.step for a in reports),
        min(a.step for a in reports),
        sum(a.evaluations for a in reports),
        _trace_of(problem, reports, [event for part in parts for event in part.history]),
        _count(reports, seconds),
        [reason for part in parts for reason in part.reasons],
        [fault for part in parts for fault in part.faults],
    )


def _find_best_deme(problem: Problem, reports: list[DemeReport]) -> DemeReport:
    """The deme with the best answer; of equals the first."""
    first, *others = reports
    for report in others:
        if ranks_above(record_of(problem), report.measures, first.measures):
            first = report
    return first


def history_of(problem: Problem, demes: list[Deme]) -> list[DemeEvent]:
    """When the best solution of these demes became a better one."""
    seen = ((deme.number, event) for deme in demes for event in (*deme.history, *filter(None, [deme.provisional])))
    return join_histories(problem, [(step, number, seconds, m) for number, (step, seconds, m) in seen])


def join_histories(problem: Problem, events: list[DemeEvent]) -> list[DemeEvent]:
    """When the best solution of all became a better one, in the order of steps and demes.

    Of what was joined in parts the whole becomes the same.
    """
    joined: list[DemeEvent] = []
    record = record_of(problem)
    for event in sorted(events, key=lambda event: event[:2]):
        if not joined or ranks_above(record, event[3], joined[-1][3]):
            joined.append(event)
    return joined


def _trace_of(problem: Problem, reports: list[DemeReport], events: list[DemeEvent]) -> Trace:
    """How the best solution of all demes developed, at steps after which one of them found a better one."""
    each, started = sum(a.per_step for a in reports), sum(a.started for a in reports)
    samples = [
        Sample(step, started + step * each, seconds, objective_of(problem, measures), violation_of(problem, measures))
        for step, _, seconds, measures in join_histories(problem, events)
    ]
    stride = max(1, -(-len(samples) // MOST_SAMPLES))
    return Trace(1, samples[:-1:stride] + samples[-1:])


def describe(problem: Problem, report: DemeReport, engine: str) -> dict[str, Any]:
    """What a deme did."""
    return {
        "deme": report.number,
        "engine": engine,
        "objective": objective_of(problem, report.measures),
        "feasible": violation_of(problem, report.measures) == 0,
        "iterations": report.step,
        **asdict(report.counters),
        "waiting": report.waiting,
    }


def _count(reports: list[DemeReport], seconds: float) -> dict[str, Any]:
    counters = [{**asdict(a.counters), "waiting": a.waiting} for a in reports]
    counted = ("exports", "held", "skipped", "sent", "received", "injected", "overwritten", "waiting")
    moving = sum(c["migrating"] for c in counters)
    busy = moving + sum(c["computing"] for c in counters)
    return {
        **{k: sum(c[k] for c in counters) for k in counted},
        "iterations_per_second": float(np.mean([a.step for a in reports])) / max(seconds, 1e-9),
        "communication_share": moving / max(busy, 1e-9),
    }
