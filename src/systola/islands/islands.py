"""What a user says of islands: engines, how many demes, and how solutions migrate (Liu, Wang 2015, Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from systola.engines.engine import Engine, check_number
from systola.engines.steady_state import SteadyState
from systola.errors import InputError
from systola.islands.conditions import check_conditions
from systola.islands.torus import connectivity

_MOST_DEMES = 1 << 20


@dataclass(frozen=True)
class Islands:
    """Demes on a torus that send each other solutions; by default with the parameters of Liu, Wang 2015, Table 2.

    Parameters
    ----------
    engine : Engine, or a list of them
        What runs in each deme: one for all, or one for each. By default `SteadyState()`.
    demes : int, optional
        How many there are; by default as many as engines are listed, or 4.
    rate : int
        Solutions in an export: the best ones found since the last one first, then random ones.
    export_every, import_every : int
        Iterations from one export or import to the next.
    export_probability : float
        Of an export when nothing better was found since the last one.
    send_slots : int
        Solutions on their way from a deme to all its neighbours, at most; a message that finds less room is skipped.
    pool : int
        Solutions that have arrived and wait for their turn, one in each iteration; when there are more, new ones
        replace the oldest ones.
    synchronous : bool
        Whether all demes wait for each other at each export and import. Then a run can be repeated bit for bit on any
        number of threads and processes; else only from a record of its arrivals.
    delays : list of float
        Seconds that each deme waits after each stretch of iterations: to see what slow demes do to others.
    """

    engine: Engine | Sequence[Engine] | None = None
    demes: int | None = None
    rate: int = 2
    export_every: int = 50
    import_every: int = 25
    export_probability: float = 0.05
    send_slots: int = 20
    pool: int = 80
    synchronous: bool = False
    delays: Sequence[float] = ()
    name = "islands"

    def engines(self) -> list[Engine]:
        """The engine of each deme; an InputError if the parameters do not fit each other."""
        listed: list[Any] = list(self.engine) if isinstance(self.engine, (list, tuple)) else [self.engine]
        listed = [SteadyState() if engine is None else engine for engine in listed]
        demes = self.demes if self.demes is not None else (len(listed) if len(listed) > 1 else 4)
        check_number("demes", demes, 1, _MOST_DEMES)
        for engine in listed:
            if not is_dataclass(engine) or not hasattr(engine, "prepare"):
                raise InputError(f"the engine of a deme must be one such as SteadyState(), but got {engine!r}")
        if len(listed) not in (1, demes):
            raise InputError(
                f"there must be one engine for all demes or one for each, but got {len(listed)} engines for {demes} "
                "demes; leave `demes` out"
            )
        self._check(demes)
        return listed if len(listed) == demes else listed * demes

    def _check(self, demes: int) -> None:
        for name in ("rate", "export_every", "import_every", "send_slots", "pool"):
            check_number(name, getattr(self, name), 1, 10**9)
        check_number("export_probability", self.export_probability, 0, 1, whole=False)
        if not isinstance(self.synchronous, bool):
            raise InputError(f"`synchronous` must be True or False, but got {self.synchronous!r}")
        if not isinstance(self.delays, (list, tuple, np.ndarray)) or len(self.delays) not in (0, demes):
            raise InputError(f"`delays` must have a number for each of the {demes} demes, but got {self.delays!r}")
        for lag in self.delays:
            check_number("delays", lag, 0, 3600, whole=False)
        intervals = self.export_every, self.import_every
        check_conditions(connectivity(demes), self.rate, intervals, self.send_slots, self.pool)

    def described(self) -> dict[str, Any]:
        """All parameters but the engines."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "engine"}
