"""The search that a race of engines makes: turns of several searches, and then the winner alone.

Turns are parts of the budget. If that is work, iterations or evaluations, the race is the same whenever it is made: it
waits for kernels that are still being compiled, which goes on while others have their turns. If it is seconds, who is
not ready yet is left out for now, the leader goes on, and latecomers get their turns until half of the time is over.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cmp_to_key, partial
from typing import Any

from systola.backends.session import Setup
from systola.engines.engine import Engine
from systola.engines.picture import Picture
from systola.engines.race import Race
from systola.errors import InputError
from systola.model.encodings import Array, Solutions
from systola.model.population import Population, ranks_above
from systola.model.problem import Problem, record_of
from systola.reading import is_number, is_whole
from systola.run.arguments import usual_evaluations
from systola.run.budget import Budget, Spent, Stop
from systola.run.compilers import Compilers
from systola.run.engine_search import EngineSearch
from systola.run.execution import CALL_SECONDS
from systola.run.racer import ROUNDS, Racer, is_saved_racer, prepare_behind
from systola.run.search import Found, Saved, Search, same_as
from systola.run.signals import BEHIND
from systola.run.units import objective_of, violation_of

_CONTENDERS = 2  # of the second round
_LAST_JOIN = 0.5  # of the time; who is not compiled by then is left out
_ENDLESS = 2.0  # a part of the budget that is never spent


class RaceSearch(Search):
    """A race of several searches.

    Parameters
    ----------
    problem
        What they search for.
    racers
        The first one begins.
    stop
        The budget of the whole, of which turns are parts.
    share
        The part of it that a round takes.
    """

    per_step = same_as("_current.design.per_step", int)
    backend = same_as("_search.backend", str)
    threads = same_as("_search.threads", int)

    def __init__(self, problem: Problem, racers: Sequence[Racer], stop: Stop, share: float) -> None:
        self.problem, self.racers, self.share = problem, list(racers), share
        self.left_out: dict[str, str] = {}  # engines that do not fit the problem, and why
        self.compilers = Compilers(1)
        self.step = self.evaluations = 0
        self.whole = True
        if all(limit is None for limit in (stop.iterations, stop.evaluations, stop.seconds)):
            stop = replace(stop, evaluations=usual_evaluations(self.racers[0].design))  # of which turns are parts
        self._stop, self._timed = replace(stop, cap=None), stop.seconds is not None
        self._clock = 0.0  # seconds of all turns
        self._given: Solutions = ()
        self._current = self.racers[0]
        self._until = 0.0  # the part of the budget after which the turn ends
        self._counts = True  # whether the turn is one of a round
        self._offset = 0  # steps of others before those of this turn
        self._contenders: list[Racer] = []
        self._final = False
        self._best: Found | None = None
        self._whole_best: tuple[int, int] = (0, 0)  # after the last whole step: whose it is, and the step
        self._best_of = 0  # whose it is
        self._asked = False
        self._closed = threading.Event()

    @property
    def memory(self) -> int:
        return sum(racer.search.memory for racer in self.racers if racer.search)

    @property
    def _search(self) -> EngineSearch:
        """Of the current racer; while that is waited for, of the first one."""
        search = self._current.search if self._current.started else self.racers[0].search
        assert search is not None
        return search

    def compile(self) -> None:
        first = self.racers[0]
        first.list_jobs()
        if first.search:
            first.search.on_kernel = self.on_kernel
        first.prepare()
        if first.failure:
            raise first.failure
        first.ready.set()
        args = self.racers, self.compilers, self._closed
        threading.Thread(target=prepare_behind, args=args, name=BEHIND).start()

    def close(self) -> None:
        self._closed.set()  # compile no more
        self.compilers.end()

    def start(self, solutions: Solutions = ()) -> None:
        self._given, self._until = solutions, self.share / len(self.racers)
        self._begin_turn(self._current)

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        began = time.perf_counter()
        if not self._current.started:
            return self._try_to_begin(seconds)
        search, left = self._search, self._steps_of_turn()
        if search.whole and left == 0:
            self._end_turn()
            return 0
        limit = seconds
        if self._timed and self._until < _ENDLESS:
            assert self._stop.seconds is not None
            limit = max(1e-3, min(seconds, self._until * self._stop.seconds - self._clock))
        # Other cores compile: threads that wait for each other would wait for those, too.
        is_compiling = any(not racer.ready.is_set() for racer in self.racers)
        search.session.reserved = max(1, self.compilers.busy) if is_compiling else 0
        made = search.advance(min(steps, left), limit)
        self._take_stock(time.perf_counter() - began)
        return made

    def best(self) -> Found:
        assert self._best is not None
        return self._best

    def population(self) -> Population:
        return self._search.population()

    def picture(self) -> Picture | None:
        found = self._search.picture()
        return None if found is None else {**found, "engine": self._current.name}

    def populations(self) -> list[Population]:
        return [racer.search.population() for racer in self.racers if racer.search and racer.started]

    def stop(self, at_once: bool = False) -> None:
        self._asked = True
        for racer in self.racers:
            if racer.search:
                racer.search.stop(at_once)

    # Turns

    def _spent(self) -> Spent:
        return Spent(self.step, self.evaluations, self._clock)

    def _fraction(self) -> float:
        return Budget(self._stop).fraction(self._spent()) or 0.0

    def _steps_of_turn(self) -> int:
        """How many more steps the turn has; 0 if its time is over."""
        if self._timed and self._fraction() >= self._until:
            return 0
        return Budget(self._stop, self.per_step).steps_until(self._until, self._spent())

    def _try_to_begin(self, seconds: float) -> int:
        """Begin the turn of a racer that was waited for; no step is made by that."""
        patience = seconds if seconds < math.inf else CALL_SECONDS
        while not self._current.ready.wait(min(patience, CALL_SECONDS)) and seconds == math.inf and not self._asked:
            pass
        if self._current.ready.is_set() and not self._asked:
            self._go_on_with(self._current)
        return 0

    def _begin_turn(self, racer: Racer) -> None:
        """Go on with this racer; with its first population, if it had no turn before."""
        began, self._current = time.perf_counter(), racer
        fresh, racer.started = not racer.started, True
        search = self._search
        if fresh:
            search.start(self._given[: racer.design.started])
        self._offset = self.step - search.step
        self._take_stock(time.perf_counter() - began)

    def _take_stock(self, seconds: float) -> None:
        """After the current search has done something."""
        racer, search = self._current, self._search
        racer.seconds += seconds
        self._clock += seconds
        opened = [r.search for r in self.racers if r.search and r.started]
        self.step, self.evaluations = sum(s.step for s in opened), sum(s.evaluations for s in opened)
        self.whole = search.whole
        found = search.best()
        if self._best is None or ranks_above(record_of(self.problem), found.measures, self._best.measures):
            self._best = Found(found.measures, lambda: found.decisions, found.step + self._offset)
            self._best_of = self.racers.index(racer)
        if self.whole:
            self._whole_best = self._best_of, self._best.step

    def _end_turn(self) -> None:
        if self._counts:
            self._current.turns += 1
        racer, self._counts = self._choose()
        part = math.inf if self._final else self.share / (_CONTENDERS if self._contenders else len(self.racers))
        self._until = min(_ENDLESS, self._fraction() + part)
        self._go_on_with(racer)

    def _go_on_with(self, racer: Racer) -> None:
        """Begin a turn, unless its kernels are still being compiled or it cannot be made."""
        self._current = racer
        if racer.started or self._is_fit(racer):
            self._begin_turn(racer)
        elif racer.ready.is_set():
            self._counts = False
            self._end_turn()

    def _is_fit(self, racer: Racer) -> bool:
        """Whether a racer can have its first turn, now."""
        if not racer.ready.is_set():
            return False
        if racer.failure:
            racer.verdict = f"left out: {racer.failure}"
        else:
            least, room = racer.design.started + racer.design.per_step, self._evaluations_of_turn()
            if least > room:
                racer.verdict = f"left out: a first step takes {least:,} evaluations, and its turn has {room:,}"
        return not racer.verdict

    def _evaluations_of_turn(self) -> float:
        """About how many evaluations a first turn may have; by the pace so far, where it is limited by time."""
        part, room = self.share / len(self.racers), math.inf
        if self._stop.evaluations is not None:
            room = int(part * self._stop.evaluations)
        if self._stop.seconds is not None and self._clock > 0:
            room = min(room, int(part * self._stop.seconds * self.evaluations / self._clock))
        return room

    def _choose(self) -> tuple[Racer, bool]:
        """Whose turn it is, and whether it is one of a round."""
        fresh = [racer for racer in self.racers if racer.turns == 0 and not racer.verdict]
        if fresh and not self._timed:
            return fresh[0], True
        if fresh:
            for racer in fresh:
                if racer.ready.is_set():
                    return racer, True
            if self._fraction() < _LAST_JOIN:
                return self._ranked()[0], False
            for racer in fresh:
                racer.verdict = "left out: its kernels were still being compiled"
        ranked = self._ranked()
        if not self._contenders:
            self._contenders = ranked[:_CONTENDERS]
        for racer in self._contenders if len(ranked) > _CONTENDERS else []:
            if racer.turns < ROUNDS:
                return racer, True
        self._final = True
        self._hand_over(ranked)
        return ranked[0], False

    def _ranked(self) -> list[Racer]:
        """Those who had a turn, the best one first; of equals the one that is listed first."""
        record = record_of(self.problem)

        def compare(one: Racer, other: Racer) -> int:
            assert one.search is not None
            assert other.search is not None
            mine, theirs = one.search.best().measures, other.search.best().measures
            return -1 if ranks_above(record, mine, theirs) else int(ranks_above(record, theirs, mine))

        return sorted((racer for racer in self.racers if racer.turns > 0), key=cmp_to_key(compare))

    def _hand_over(self, ranked: list[Racer]) -> None:
        """The winner gets the best solutions of the others, if its backend takes any."""
        winner, *others = ranked
        winner.verdict = "won"
        for racer in others:
            racer.verdict = "out after the second round" if racer.turns == ROUNDS else "out after the first round"
        bests = [racer.search.best().decisions for racer in others if racer.search]
        if winner.search and winner.search.session.accepts_immigrants and bests:
            winner.search.inject(bests)

    # Checkpoints

    def save(self) -> Saved | None:
        arrays: dict[str, Array] = {}
        racers = []
        for k, racer in enumerate(self.racers):
            saved = racer.search.save() if racer.search and racer.started else None
            if saved is None and racer.started:
                return None
            step = -1 if saved is None else saved[0]["step"]
            racers.append([step, racer.turns, racer.seconds, racer.verdict])
            arrays |= {f"{k}.{name}": array for name, array in (saved[1] if saved else {}).items()}
        turn = [self.racers.index(self._current), self._until, self._counts, self._offset, self._clock, self._final]
        contenders = [self.racers.index(racer) for racer in self._contenders]
        state = {"racers": racers, "turn": turn, "contenders": contenders, "best": list(self._whole_best)}
        return {"step": sum(max(0, racer[0]) for racer in racers), **state}, arrays

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        if not self._is_state(state):
            raise InputError("the checkpoint must be one of a race between the same engines, but is not")
        current, self._until, self._counts, self._offset, self._clock, self._final = state["turn"]
        self._current = self.racers[current]
        self._contenders = [self.racers[k] for k in state["contenders"]]
        for k, (racer, (step, turns, seconds, verdict)) in enumerate(zip(self.racers, state["racers"], strict=True)):
            racer.turns, racer.seconds, racer.verdict = turns, seconds, verdict
            if step < 0:
                continue
            racer.ready.wait()
            if racer.failure:
                raise racer.failure
            assert racer.search is not None
            racer.started = True
            own = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{k}.")}
            racer.search.restore({"step": step}, own)
        self._best_of, step = state["best"]
        found = self.racers[self._best_of].search
        assert found is not None
        best = found.best()
        self._best = Found(best.measures, lambda: best.decisions, step)
        opened = [racer.search for racer in self.racers if racer.search and racer.started]
        self.step, self.evaluations = sum(s.step for s in opened), sum(s.evaluations for s in opened)
        self._whole_best = self._best_of, step

    def _is_state(self, state: dict[str, Any]) -> bool:
        """Whether plain data can be what `save` gave."""
        parts = [state.get(key) for key in ("racers", "turn", "contenders", "best")]
        if not all(isinstance(part, list) for part in parts):
            return False
        racers, turn, among, best = (list(part or ()) for part in parts)
        count = len(self.racers)
        if len(racers) != count or not all(map(is_saved_racer, racers)) or len(turn) != 6 or len(best) != 2:
            return False
        begun = [k for k, racer in enumerate(racers) if racer[0] >= 0]
        return (
            is_whole(turn[0], 0, count - 1)
            and all(is_number(turn[k]) for k in (1, 4))
            and all(isinstance(turn[k], bool) for k in (2, 5))
            and is_whole(turn[3], 0)
            and all(is_whole(k) and k in begun for k in [*among, best[0]])
            and is_whole(best[1], 0)
        )

    # What is told

    def race(self) -> list[dict[str, Any]]:
        told = []
        for racer in self.racers:
            row: dict[str, Any] = {"algorithm": racer.name, "verdict": racer.verdict or self._unfinished(racer)}
            if racer.search and racer.started:
                measures = racer.search.best().measures
                row |= {
                    "objective": objective_of(self.problem, measures),
                    "violation": violation_of(self.problem, measures),
                    "iterations": racer.search.step,
                    "evaluations": racer.search.evaluations,
                    "seconds": racer.seconds,
                }
            told.append(row)
        return told + [{"algorithm": name, "verdict": f"left out: {why}"} for name, why in self.left_out.items()]

    def _unfinished(self, racer: Racer) -> str:
        return "the run ended before the race" if racer.started else "left out: the run ended before its turn"


def open_race(race: Race, setup: Setup, stop: Stop, open_one: Callable[[Setup, Engine], EngineSearch]) -> RaceSearch:
    """The search of a race whose first engine is set up like this.

    Engines that do not fit the problem are left out, but for the first one. `open_one` makes the search of a setup.
    """
    first, *others = race.engines
    racers, left_out = [Racer(first.name, setup.design, partial(open_one, setup, first))], {}
    for engine in others:
        try:
            design = engine.prepare(setup.in_kernels)
        except InputError as error:
            left_out[engine.name] = str(error)
        else:
            own = replace(setup, design=design)
            racers.append(Racer(engine.name, design, partial(open_one, own, engine)))
    search = RaceSearch(setup.problem, racers, stop, race.share)
    search.left_out = left_out
    return search
