"""An engine with an exact method beside it, which proves what the engine finds or finds something better itself.

How it is run is in `systola.exact.proof_search`.
"""

from __future__ import annotations

from dataclasses import dataclass

from systola.engines.engine import Design, Engine
from systola.engines.exact import Exact
from systola.engines.presets import recommend
from systola.errors import InputError
from systola.model.integer_program import is_linear
from systola.model.problem import Problem


@dataclass(frozen=True)
class Proof:
    """An engine, and HiGHS beside it in a process of its own; each gets the better solutions of the other.

    The run ends as soon as the best solution is proven. Who finds what when depends on the clock, so that such a run
    cannot be repeated bit for bit.

    Parameters
    ----------
    engine : Engine
        One that searches by itself.
    """

    engine: Engine
    name = "proof"

    def __post_init__(self) -> None:
        if isinstance(self.engine, (Exact, Proof)) or not hasattr(self.engine, "prepare"):
            raise InputError(f"a proof is beside an engine that searches, such as SGS('B'), but got {self.engine!r}")

    def prepare(self, problem: Problem) -> Design:
        """That of the engine; an InputError if the problem is not linear."""
        if not is_linear(problem):
            raise InputError(
                f"a proof beside an engine is for linear problems, such as generalized assignment, but "
                f"{type(problem).__name__} is none; choose auto"
            )
        return self.engine.prepare(problem)


def proof(problem: Problem) -> Proof:
    """Beside the recommended engine."""
    return Proof(recommend(problem))
