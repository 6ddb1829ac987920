"""A race: several engines try their luck for a part of the budget, and the best of them gets the rest.

Successive halving (Jamieson, Talwalkar 2016), in two rounds: first each engine has a turn, then the better two have
another one each, and from then on the winner goes on alone, with the best solutions of the others. How it is run is in
`run.race`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from systola.engines.annealing import SimulatedAnnealing
from systola.engines.cellular import Cellular
from systola.engines.engine import Design, Engine
from systola.engines.iterated_local_search import IteratedLocalSearch
from systola.engines.systolic import SGS
from systola.engines.tabu import Tabu
from systola.errors import InputError
from systola.model.encodings import Bits
from systola.model.problem import Problem, space_of
from systola.reading import is_number


@dataclass(frozen=True)
class Race:
    """Several engines race for a part of the budget; the winner gets the rest, and starts from what others have found.

    With a budget of iterations or evaluations, turns are counted in these, and the same seed gives the same race. With
    seconds, turns are, too, and engines whose kernels are still being compiled join later.

    Parameters
    ----------
    engines : sequence of Engine
        At least two; the first one begins.
    share : float
        The part of the budget that a round takes: at most two rounds.
    """

    engines: Sequence[Engine]
    share: float = 0.16
    name = "race"

    def __post_init__(self) -> None:
        listed = self.engines
        if (
            isinstance(listed, str)
            or not isinstance(listed, Sequence)
            or not all(hasattr(e, "prepare") for e in listed)
        ):
            raise InputError(f"a race is between engines, such as (Tabu(), SGS('B')), but got {listed!r}")
        if len(listed) < 2:
            raise InputError(f"a race needs at least two engines, but got {len(listed)}")
        if not is_number(self.share) or not 0 < self.share <= 0.5:
            raise InputError(f"`share` must be a part of the budget, 0 < share <= 0.5, but got {self.share!r}")
        object.__setattr__(self, "engines", tuple(listed))

    def prepare(self, problem: Problem) -> Design:
        """That of the first engine, which is what runs where there is no race: in a deme, for one."""
        return self.engines[0].prepare(problem)


def race(problem: Problem) -> Race:
    """The engines that need nothing but an objective, and among them one that has a population."""
    crowd: Engine = SGS("B") if isinstance(space_of(problem), Bits) else Cellular()
    return Race((SimulatedAnnealing(), IteratedLocalSearch(), Tabu(ties="random"), crowd))
