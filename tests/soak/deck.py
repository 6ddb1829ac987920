"""The runs that the soak kills: every engine, islands on threads and on MPI processes, comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

BINARY = ("knapsack:100-1000", "mmdp:120", "nrp:40-20", "mkp:60x5")
BINARY_ENGINES = (
    *("sgs-t", "sgs-e", "sgs-v", "sgs-b"),
    *("sns", "sns-mr", "sns-r", "sns-r-mr", "sns-exp", "sns-exp-mr", "sns-exp-r", "sns-exp-r-mr"),
    *("rs", "sga", "ega", "ga", "cellular", "ssga", "hill", "tabu", "pls"),
    *("sa", "ils"),
)
OTHERS = {
    "qap:grid-4x4": ("memetic", "pugace", "rs", "cellular", "ssga", "hill", "tabu", "pls", "sa", "ils", "race"),
    "flowshop:20x5": ("ig", "memetic", "rs", "cellular", "ssga", "hill", "tabu", "pls", "sa"),
    "flowshop:20x5?objectives=makespan,tardiness": ("pls", "ig", "hill", "cellular"),
    "gap:c-3x30": ("auto", "rs", "cellular", "ssga", "hill", "tabu", "pls", "sa", "ils", "black-box"),
}
DECLARED = Path(__file__).with_name("declared.py")
MINIMISED = ("qap", "flowshop", "gap", f"{DECLARED}:Tour")  # all other objectives are maximised
DEMES = (("gap:c-3x30", "ssga"), ("knapsack:100-1000", "sga"), ("qap:grid-4x4", "cellular"))
MIGRATION = ("--migration", "export_every=8", "--migration", "import_every=4", "--migration", "export_probability=1.0")


@dataclass(frozen=True)
class Case:
    """A run that is made once in peace and then killed again and again.

    Attributes
    ----------
    name
        What the ledger calls it.
    kind
        ``solve``, ``islands``, ``mpi`` or ``compare``.
    arguments
        Of the command line, without the budget.
    repeatable
        Whether a resumed run must end with the same numbers; else its objective must not get worse.
    extendable
        Whether a run that has ended may be resumed with a larger budget, as if it had had that from the start.
    """

    name: str
    kind: str
    arguments: tuple[str, ...]
    repeatable: bool = True
    extendable: bool = True

    @property
    def minimise(self) -> bool:
        """The sense of the objective."""
        return self.arguments[1].startswith(MINIMISED)


def make_deck() -> list[Case]:
    """Each engine on two of the binary instances and on every other one that it is for; demes; comparisons."""
    pairs = [(BINARY[(k + shift) % 4], engine) for k, engine in enumerate(BINARY_ENGINES) for shift in (0, 2)]
    pairs += [("mkp:60x5", "auto"), ("knapsack:100-1000", "race"), ("knapsack:pisinger-16-10000-100000@50", "exact")]
    pairs += [(instance, engine) for instance, engines in OTHERS.items() for engine in engines]
    pairs += [(f"{DECLARED}:Tour", "tour"), (f"{DECLARED}:Agreement", "its"), (f"{DECLARED}:Tour", "sa")]
    deck = [solve_case(instance, engine) for instance, engine in pairs]
    deck.append(Case("proof mkp:60x5", "solve", ("solve", "mkp:60x5", "--algorithm", "proof"), repeatable=False))
    for (instance, engine), kind, together in product(DEMES, ("islands", "mpi"), (True, False)):
        mode = "synchronous" if together else "asynchronous"
        demes = ("--islands", "5", *MIGRATION, "--migration", f"synchronous={str(together).lower()}")
        arguments = ("solve", instance, "--algorithm", engine, *demes)
        deck.append(Case(f"{kind} {mode} {engine} {instance}", kind, arguments, together))
    for instance, engines in (("knapsack:100-1000", "sgs-b,sga,rs"), ("gap:c-3x30", "ssga,hill")):
        arguments = ("compare", instance, "--algorithms", engines, "--runs", "5", "--workers", "2", "--quiet")
        deck.append(Case(f"compare {engines} {instance}", "compare", arguments))
    return deck


def solve_case(instance: str, engine: str) -> Case:
    """One engine on one instance. How long the rounds of a race are depends on its budget."""
    arguments = ("solve", instance, "--algorithm", engine)
    return Case(f"{engine} {Path(instance).name}", "solve", arguments, extendable=engine != "race")
