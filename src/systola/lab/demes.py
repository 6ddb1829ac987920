"""Demes that are run outside of `solve`, to see more of them: how long stretches take, which solutions they hold."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from systola.backends.session import Setup
from systola.errors import InputError
from systola.islands.deme import Deme, seed_of
from systola.islands.islands import Islands
from systola.islands.meeting import compile_waiting
from systola.islands.torus import neighbours_of
from systola.islands.transport import Mailboxes
from systola.islands.worker import Worker
from systola.model.encodings import Array
from systola.model.problem import MINIMISE, Problem, bind, senses_of, space_of
from systola.run.budget import Budget, Stop
from systola.run.probing import measures_of
from systola.run.units import objective_of, violation_of


@dataclass(frozen=True)
class Census:
    """The different solutions that were seen in the populations of a run.

    Attributes
    ----------
    objectives
        Of each of them, sorted; of feasible ones only.
    iterations
        Of all demes together.
    seconds
        What the run took, counting included.
    """

    objectives: Array
    iterations: int
    seconds: float

    def count(self, limit: float) -> int:
        """How many have an objective of at most this."""
        return int(np.searchsorted(self.objectives, limit, side="right"))


def make_demes(problem: Problem, islands: Islands, seed: int = 1) -> list[Deme]:
    """The demes that `solve` would run, with their first populations."""
    bind(type(problem))
    _, measures, dtype = measures_of(problem, problem.encoding.example(space_of(problem)), "cpu")
    engines = islands.engines()
    demes = []
    for number, engine in enumerate(engines):
        setup = Setup(problem, engine.prepare(problem), measures, dtype, seed_of(seed, number))
        deme = Deme(number, setup, islands, neighbours_of(number, len(engines)))
        deme.search.compile()
        deme.start()
        demes.append(deme)
    return demes


def time_stretches(deme: Deme, count: int) -> list[float]:
    """Seconds of so many stretches, each up to the next export or import; nothing is sent."""
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        deme.advance(deme.next_stop())
        seconds.append(time.perf_counter() - began)
    return seconds


def take_census(problem: Problem, islands: Islands, stop: Stop, threads: int = 1, seed: int = 1) -> Census:
    """Run islands on threads, and note the solutions of all populations after each stretch of their iterations.

    A solution that comes in and is replaced within one stretch is not seen. Solutions are told apart by hashes of 64
    bits.

    Parameters
    ----------
    problem
        With one objective, which is minimised.
    islands, threads, seed
        As for `solve`.
    stop
        Seconds or iterations.
    """
    if senses_of(problem) != (MINIMISE,) or not (stop.seconds or stop.iterations):
        raise InputError("a census needs one objective that is minimised, and a budget of seconds or iterations")
    demes = make_demes(problem, islands, seed)
    count = max(1, min(threads, len(demes)))
    if islands.synchronous and count > 1:
        compile_waiting()
    transport = Mailboxes(count, islands.send_slots, islands.rate)
    budgets = dict.fromkeys(range(len(demes)), Budget(stop))
    halted = threading.Event()
    began = time.perf_counter()
    workers, books = [], []
    for k in range(count):
        book: dict[int, Any] = {}
        mine = demes[k::count]
        workers.append(
            Worker(mine, transport, budgets, lambda: time.perf_counter() - began, halted.is_set, _noting(mine, book))
        )
        workers[-1].synchronous = islands.synchronous
        books.append(book)

    def run_worker(worker: Worker) -> None:
        try:
            worker.run()
        except BaseException:
            transport.abort()  # or others would wait for this one
            raise

    with ThreadPoolExecutor(count) as pool:
        try:
            for done in [pool.submit(run_worker, worker) for worker in workers]:
                done.result()
        except BaseException:
            halted.set()
            raise
    seconds = time.perf_counter() - began
    whole = {mark: objective for book in books for mark, objective in book.items()}
    return Census(np.sort(np.array(list(whole.values()))), sum(deme.step for deme in demes), seconds)


def _noting(demes: list[Deme], book: dict[int, Any]) -> Callable[[], None]:
    """Writes into the book what these demes hold now, as far as it is new."""
    before: dict[int, Array] = {}

    def note() -> None:
        for deme in demes:
            population, size = deme.session.population(), deme.setup.design.started
            rows = population.x[:size]
            new = (rows != before[deme.number]).any(axis=1) if deme.number in before else np.ones(size, bool)
            before[deme.number] = rows
            for place in np.flatnonzero(new):
                measures = population.scores[place]
                if violation_of(deme.setup.problem, measures) == 0:
                    book[hash(rows[place].tobytes())] = objective_of(deme.setup.problem, measures)

    return note
