"""What is told of a deme at the end of a run, and what follows for all demes together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from systola.encodings import Array
from systola.islands.deme import Counters, Deme
from systola.islands.islands import Islands
from systola.population import ranks_above
from systola.problem import Problem
from systola.run import objective_of, violation_of
from systola.trace import MOST_SAMPLES, Sample, Trace


@dataclass(frozen=True)
class Account:
    """Of one deme; plain data, so that it can be sent to another process."""

    number: int
    step: int
    started: int
    per_step: int
    counters: Counters
    waiting: int
    history: list[tuple[int, float, Array]]
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
        design.started,
        design.per_step,
        deme.counters,
        deme.waiting,
        deme.history,
        best.score[0].copy(),
        best.best.copy(),
        int(best.step[0]),
    )


def find_leader(problem: Problem, accounts: list[Account]) -> Account:
    """The deme with the best answer; of equals the first."""
    first, *others = accounts
    for account in others:
        if ranks_above(problem.record, account.measures, first.measures):
            first = account
    return first


def join_histories(problem: Problem, accounts: list[Account]) -> Trace:
    """How the best solution of all demes developed, at steps after which one of them found a better one."""
    samples: list[Sample] = []
    found: Array | None = None
    events = [(step, a.number, seconds, m) for a in accounts for step, seconds, m in a.history]
    each, started = sum(a.per_step for a in accounts), sum(a.started for a in accounts)
    for step, _, seconds, measures in sorted(events, key=lambda event: event[:2]):
        if found is None or ranks_above(problem.record, measures, found):
            found = measures
            told = objective_of(problem, measures), violation_of(problem, measures)
            samples.append(Sample(step, started + step * each, seconds, *told))
    stride = max(1, -(-len(samples) // MOST_SAMPLES))
    return Trace(1, samples[:-1:stride] + samples[-1:])


def summarise(
    problem: Problem, accounts: list[Account], names: list[str], islands: Islands, seconds: float, ranks: int
) -> dict[str, Any]:
    """What each deme did, and all of them together."""
    demes = [
        {
            "deme": a.number,
            "engine": names[a.number],
            "objective": objective_of(problem, a.measures),
            "feasible": violation_of(problem, a.measures) == 0,
            "iterations": a.step,
            **asdict(a.counters),
            "waiting": a.waiting,
        }
        for a in accounts
    ]
    counted = ("exports", "held", "skipped", "sent", "received", "injected", "overwritten", "waiting")
    moving = sum(a.counters.migrating for a in accounts)
    busy = moving + sum(a.counters.computing for a in accounts)
    return {
        **{k: v for k, v in islands.described().items() if k != "demes"},
        "ranks": ranks,
        **{k: sum(d[k] for d in demes) for k in counted},
        "iterations_per_second": float(np.mean([a.step for a in accounts])) / max(seconds, 1e-9),
        "communication_share": moving / max(busy, 1e-9),
        "demes": demes,
    }
