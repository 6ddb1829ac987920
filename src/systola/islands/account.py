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

Found = tuple[int, int, float, Array]  # a better solution: step, deme, seconds, measures


@dataclass(frozen=True)
class Account:
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


def account_of(deme: Deme) -> Account:
    """What there is to tell of a deme now."""
    best, design = deme.session.best(), deme.work.design
    return Account(
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
class Part:
    """What one process tells in the end."""

    accounts: list[Account]
    history: list[Found]
    reasons: list[str]
    notes: list[str]


@dataclass(frozen=True)
class Outcome:
    """What is known of all demes in the end, however many there are."""

    leader: Account
    step: int  # of the deme that has made most
    fewest: int  # of the one that has made fewest
    evaluations: int
    trace: Trace
    counts: dict[str, Any]
    reasons: list[str]
    notes: list[str]


def conclude(problem: Problem, parts: list[Part], seconds: float) -> Outcome:
    """All that processes have told, put together."""
    accounts = sorted((a for part in parts for a in part.accounts), key=lambda a: a.number)
    return Outcome(
        _find_leader(problem, accounts),
        max(a.step for a in accounts),
        min(a.step for a in accounts),
        sum(a.evaluations for a in accounts),
        _trace_of(problem, accounts, [event for part in parts for event in part.history]),
        _count(accounts, seconds),
        [reason for part in parts for reason in part.reasons],
        [note for part in parts for note in part.notes],
    )


def _find_leader(problem: Problem, accounts: list[Account]) -> Account:
    """The deme with the best answer; of equals the first."""
    first, *others = accounts
    for account in others:
        if ranks_above(record_of(problem), account.measures, first.measures):
            first = account
    return first


def events_of(demes: list[Deme]) -> list[Found]:
    """All better solutions that these demes have seen."""
    seen = ((deme.number, event) for deme in demes for event in (*deme.history, *filter(None, [deme.glimpse])))
    return [(step, number, seconds, measures) for number, (step, seconds, measures) in seen]


def join_histories(problem: Problem, events: list[Found]) -> list[Found]:
    """When the best solution of all became a better one, in the order of steps and demes.

    Of what was joined in parts the whole becomes the same.
    """
    joined: list[Found] = []
    for event in sorted(events, key=lambda event: event[:2]):
        if not joined or ranks_above(record_of(problem), event[3], joined[-1][3]):
            joined.append(event)
    return joined


def _trace_of(problem: Problem, accounts: list[Account], events: list[Found]) -> Trace:
    """How the best solution of all demes developed, at steps after which one of them found a better one."""
    each, started = sum(a.per_step for a in accounts), sum(a.started for a in accounts)
    samples = [
        Sample(step, started + step * each, seconds, objective_of(problem, measures), violation_of(problem, measures))
        for step, _, seconds, measures in join_histories(problem, events)
    ]
    stride = max(1, -(-len(samples) // MOST_SAMPLES))
    return Trace(1, samples[:-1:stride] + samples[-1:])


def describe(problem: Problem, account: Account, engine: str) -> dict[str, Any]:
    """What a deme did."""
    return {
        "deme": account.number,
        "engine": engine,
        "objective": objective_of(problem, account.measures),
        "feasible": violation_of(problem, account.measures) == 0,
        "iterations": account.step,
        **asdict(account.counters),
        "waiting": account.waiting,
    }


def _count(accounts: list[Account], seconds: float) -> dict[str, Any]:
    counters = [{**asdict(a.counters), "waiting": a.waiting} for a in accounts]
    counted = ("exports", "held", "skipped", "sent", "received", "injected", "overwritten", "waiting")
    moving = sum(c["migrating"] for c in counters)
    busy = moving + sum(c["computing"] for c in counters)
    return {
        **{k: sum(c[k] for c in counters) for k in counted},
        "iterations_per_second": float(np.mean([a.step for a in accounts])) / max(seconds, 1e-9),
        "communication_share": moving / max(busy, 1e-9),
    }
