"""Many demes on a torus, simulated: what asynchronous migration costs, and what a barrier at each migration would.

Liu, Wang 2014 ran their genetic algorithm on up to 16,384 cores. Here each deme has a clock of its own instead of a
core of its own, and no solutions: computing is time passed, drawn around a mean, and a message is its moment of
arrival. What a search would find is a model, see `Search`. All figures made here are simulated and must be called so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from systola.engines.engine import check_number, refuse_if_too_large
from systola.engines.topology import SHAPES, near_square
from systola.errors import InputError
from systola.islands.conditions import check_conditions
from systola.lab import virtual_time
from systola.lab.machine import Machine
from systola.lab.virtual_time import Demes, Rules
from systola.model.rng import check_seed

Mode = Literal["asynchronous", "synchronous"]
MODES: tuple[Mode, ...] = ("asynchronous", "synchronous")
THRESHOLDS = (0.3, 0.2, 0.1, 0.07, 0.05, 0.03)
MOST_DEMES = 2**20
_NEIGHBOURS = 4

_Floats = npt.NDArray[np.float64]

_AT_ONCE = 200_000  # stretches between two signs of progress: a fraction of a second


@dataclass(frozen=True)
class Migration:
    """Who migrates when; the defaults are those of Table 2 of the paper.

    Parameters
    ----------
    export_every, import_every
        Iterations from one export, or import, to the next.
    rate
        Solutions in a message; a message goes to each of the four neighbours.
    export_probability
        The chance that a deme exports though its best solution is no better than at its last export.
    send_slots
        Solutions of a deme that may be under way; a message that finds less room is skipped. There is room again when
        a message was imported.
    pool
        Solutions that a deme keeps until it injects them, one an iteration; a full pool loses the oldest.
    overflowing
        Whether numbers with which buffers overflow by themselves, against the paper's Conditions 1 and 2, are allowed:
        to see what is lost then.
    """

    export_every: int = 50
    import_every: int = 25
    rate: int = 2
    export_probability: float = 1 / 20
    send_slots: int = 20
    pool: int = 80
    overflowing: bool = False

    def __post_init__(self) -> None:
        for name in ("export_every", "import_every"):
            check_number(name, getattr(self, name), 1, 10**6)
        for name in ("rate", "send_slots", "pool"):
            check_number(name, getattr(self, name), 1, 10**4)
        check_number("export_probability", self.export_probability, 0, 1, whole=False)
        if self.send_slots < self.rate:
            raise InputError(
                f"`send_slots >= rate` must hold, or no message can be sent, but got {self.send_slots} < {self.rate}"
            )
        if not self.overflowing:
            intervals = self.export_every, self.import_every
            check_conditions(_NEIGHBOURS, self.rate, intervals, self.send_slots, self.pool)

    @property
    def messages(self) -> int:
        """That may be under way from one deme."""
        return self.send_slots // self.rate


@dataclass(frozen=True)
class Search:
    """A model of what a deme finds; it stands for no problem and no engine.

    The best solution of a deme has a gap to the optimum, 1 at the start. While it is g, the deme finds better ones at a
    mean of `improvements * g ** hardness` an iteration, at most one in a stretch; each takes a part of the gap away
    that is uniform between 0 and `stride`. An elite that comes from a neighbour, with a lower gap, is adopted. Random
    solutions change nothing.

    Parameters
    ----------
    improvements
        How many a deme finds in an iteration at the start.
    hardness
        How fast this falls.
    stride
        The largest part of the gap that one improvement closes.
    thresholds
        Gaps of which the time to reach them is wanted.
    """

    improvements: float = 0.1
    hardness: float = 4.0
    stride: float = 0.3
    thresholds: tuple[float, ...] = THRESHOLDS

    def __post_init__(self) -> None:
        check_number("improvements", self.improvements, 0, 1, whole=False)
        check_number("hardness", self.hardness, 0, 100, whole=False)
        check_number("stride", self.stride, 0, 1, whole=False)
        for threshold in self.thresholds:
            check_number("threshold", threshold, 0, 1, whole=False)


@dataclass(frozen=True, eq=False)
class Simulation:
    """What a simulated run did.

    Attributes
    ----------
    mode, demes, rounds, seed
        What was simulated.
    seconds
        Virtual time at the end: when the first deme had made all its iterations, as the paper's runs end; synchronous
        demes make them together.
    rates
        Iterations per second, of each deme.
    shares
        The part of the time that each deme spent on communication, waiting included.
    efficiency
        Mean rate, relative to a deme alone, which neither migrates nor waits but has stalls.
    sent, received, under_way
        Messages; sent are as many as the two others together.
    skipped, held
        Messages for which no slot was free; exports that were held back.
    injected, overwritten, pooled
        Solutions that were received: used; lost in a full pool; still there.
    gap
        The lowest at the end, by the model.
    reached
        For each threshold of the gap, when the first deme was there, and after how many iterations of it; None if none
        was.
    """

    mode: Mode
    demes: int
    rounds: int
    seed: int
    seconds: float
    rates: _Floats
    shares: _Floats
    efficiency: float
    sent: int
    received: int
    under_way: int
    skipped: int
    held: int
    injected: int
    overwritten: int
    pooled: int
    gap: float
    reached: dict[float, tuple[float, int] | None]

    @property
    def rate(self) -> float:
        """Iterations per second of a deme: the mean."""
        return float(self.rates.mean())

    @property
    def share(self) -> float:
        """The part of the time that goes into communication: the mean."""
        return float(self.shares.mean())

    def to_json(self) -> dict[str, Any]:
        """All of it, with mean, standard deviation and quantiles in place of the values of each deme."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("rates", "shares"):
            values = found[name]
            quantiles = np.quantile(values, (0, 0.05, 0.5, 0.95, 1)).tolist()
            found[name] = {"mean": float(values.mean()), "sd": float(values.std()), "quantiles": quantiles}
        found["reached"] = [
            {"gap": gap, "seconds": at[0] if at else None, "iterations": at[1] if at else None}
            for gap, at in self.reached.items()
        ]
        return found


def simulate(
    demes: int,
    rounds: int = 500,
    mode: Mode = "asynchronous",
    *,
    machine: Machine | None = None,
    migration: Migration | None = None,
    search: Search | None = None,
    seed: int = 1,
    on_progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Simulate a run of so many demes on a torus, its sides as close as possible.

    Parameters
    ----------
    demes
        How many; a product of two numbers of 2 or more.
    rounds
        Export intervals that a deme makes.
    mode
        "asynchronous", or "synchronous": the same with a global barrier before each export and each import, and with
        sends that return when their message has arrived.
    machine, migration, search
        What things cost, who migrates when, what is found.
    seed
        The same seed gives the same run.
    on_progress
        Is called from time to time with the part that is done.

    Raises
    ------
    InputError
        If something is out of its range.
    """
    machine, migration, search = machine or Machine(), migration or Migration(), search or Search()
    if mode not in MODES:
        raise InputError(f"`mode` must be one of {', '.join(MODES)}, but got {mode!r}")
    check_number("rounds", rounds, 1, 10**6)
    places = place_demes(demes)
    rules = _state_rules(demes, rounds, machine, migration, search, check_seed(seed))
    state = _start(places, migration, search.thresholds)
    stretches = rounds * migration.export_every * _stretches_per_iteration(migration)
    virtual_time.begin(rules, state)
    if mode == "asynchronous":
        state.heap[:] = np.lexsort((state.heap, state.clock))
        advance, at_once = virtual_time.advance_freely, _AT_ONCE
    else:
        advance, at_once = virtual_time.advance_together, max(1, _AT_ONCE // demes)
    while not advance(rules, state, at_once):
        if on_progress:
            on_progress(min(1.0, float(state.stretch.mean()) / stretches))
    return _sum_up(mode, rounds, rules, state, _pace_alone(machine, migration))


def place_demes(demes: int) -> npt.NDArray[np.int64]:
    """The four neighbours of each deme on a torus: up, down, left, right."""
    check_number("demes", demes, 4, MOST_DEMES)
    height, width = near_square(demes)
    if height < 2:
        raise InputError(
            f"demes lie on a torus with sides of 2 or more, but {demes} of them form none; choose a number that is a "
            "product, such as 64"
        )
    i, j = np.divmod(np.arange(demes), width)
    sides = [(i + di) % height * width + (j + dj) % width for di, dj in SHAPES["L5"]]
    return np.stack(sides, axis=1).astype(np.int64)


def _state_rules(demes: int, rounds: int, machine: Machine, migration: Migration, search: Search, seed: int) -> Rules:
    return Rules(
        seed=np.uint64(seed),
        iterations=int(rounds * migration.export_every),
        iteration_seconds=float(machine.iteration_seconds),
        spread=float(machine.spread),
        stall_chance=float(machine.stall_chance),
        stall_seconds=float(machine.stall_seconds),
        transfer_seconds=float(machine.latency + machine.message_bytes * machine.byte_seconds),
        export_seconds=float(machine.export_seconds),
        import_seconds=float(machine.import_seconds),
        probe_seconds=float(machine.probe_seconds),
        barrier_seconds=float(machine.barrier_seconds * math.ceil(math.log2(demes))),
        export_interval=int(migration.export_every),
        import_interval=int(migration.import_every),
        rate=int(migration.rate),
        export_probability=float(migration.export_probability),
        improvements=float(search.improvements),
        hardness=float(search.hardness),
        stride=float(search.stride),
    )


def _start(neighbours: npt.NDArray[np.int64], migration: Migration, thresholds: Sequence[float]) -> Demes:
    size, slots, pool = len(neighbours), migration.messages, migration.pool
    refuse_if_too_large(size * 8 * (2 * 4 * slots + pool + 24))
    integers, floats = np.int64, np.float64
    return Demes(
        neighbours=neighbours,
        heap=np.arange(size),
        began=np.zeros(size),
        clock=np.zeros(size),
        made=np.zeros(size, integers),
        stretch=np.zeros(size, integers),
        communication=np.zeros(size),
        gap=np.ones(size),
        improved=np.zeros(size, np.bool_),
        used=np.zeros(size, integers),
        pool=np.zeros((size, pool)),
        pool_first=np.zeros(size, integers),
        pool_size=np.zeros(size, integers),
        arrivals=np.zeros((size, 4, slots)),
        elites=np.zeros((size, 4, slots)),
        link_first=np.zeros((size, 4), integers),
        link_size=np.zeros((size, 4), integers),
        counts=np.zeros(6, integers),
        thresholds=np.array(sorted(set(thresholds), reverse=True), floats),
        reached=np.full(len(set(thresholds)), np.inf),
        reached_after=np.zeros(len(set(thresholds)), integers),
    )


def _stretches_per_iteration(migration: Migration) -> float:
    a, b = migration.export_every, migration.import_every
    return 1 / a + 1 / b - 1 / math.lcm(a, b)


def _pace_alone(machine: Machine, migration: Migration) -> float:
    """Mean seconds of an iteration of a deme alone."""
    stalls = machine.stall_chance * _stretches_per_iteration(migration)
    return machine.iteration_seconds + stalls * machine.stall_seconds


def _sum_up(mode: Mode, rounds: int, rules: Rules, state: Demes, alone: float) -> Simulation:
    done = state.made >= rules.iterations
    seconds = float(state.began[done].max())
    ahead = np.minimum(
        (state.made // rules.export_interval + 1) * rules.export_interval,
        (state.made // rules.import_interval + 1) * rules.import_interval,
    )
    part = np.clip((seconds - state.began) / (state.clock - state.began), 0, 1)  # of the stretch under way
    rates = (state.made + part * (ahead - state.made)) / seconds
    communication = state.communication - np.maximum(state.began - seconds, 0)  # a migration may last beyond the end
    counts = {
        name: int(state.counts[getattr(virtual_time, name.upper())])
        for name in ("sent", "received", "skipped", "held", "injected", "overwritten")
    }
    return Simulation(
        mode=mode,
        demes=len(state.gap),
        rounds=rounds,
        seed=int(rules.seed),
        seconds=seconds,
        rates=rates,
        shares=communication / seconds,
        efficiency=float(rates.mean()) * alone,
        under_way=int(state.link_size.sum()),
        pooled=int(state.pool_size.sum()),
        gap=float(state.gap.min()),
        reached={
            float(gap): (float(at), int(after)) if np.isfinite(at) else None
            for gap, at, after in zip(state.thresholds, state.reached, state.reached_after, strict=True)
        },
        **counts,
    )
