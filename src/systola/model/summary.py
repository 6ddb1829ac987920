"""What a problem can do, in words: how its solutions are measured, what a move costs, and what declaring would gain."""

from __future__ import annotations

import inspect

from systola.model.capabilities import Bound, Capability, Construction, Formulation, Opening, Seeding, TieBreak
from systola.model.encodings import Binary, Integers
from systola.model.problem import MAXIMISE, Problem, senses_of, space_of
from systola.model.structure.declare import is_hard, kept_size, parts_of

_NO_MOVES = (Bound, Construction, Formulation, Opening, Seeding, TieBreak)  # capabilities that say nothing of moves
_WOULD_GAIN = {
    Binary: "a sum of Terms, a Quadratic form or Linear sums and constraints",
    Integers: "a sum of Terms, or Groups of decisions with the same value",
}
_FOR_ORDERS = "a Chain of links between neighbours, or a Passage along the order"


def summarise(problem: Problem) -> str:
    """Several lines for people."""
    space = space_of(problem)
    senses = ["maximised" if sense == MAXIMISE else "minimised" for sense in senses_of(problem)]
    objectives = f"one objective, {senses[0]}" if len(senses) == 1 else f"{len(senses)} objectives: {', '.join(senses)}"
    constrained = "; with constraints" if hasattr(problem, "violation") else ""
    lines = [
        str(problem),
        f"  encoding     {type(problem.encoding).__name__}, {space.n} decisions",
        f"  measures     {objectives}{constrained}",
    ]
    parts, listed = parts_of(problem), [c for c in problem.capabilities if not isinstance(c, _NO_MOVES)]
    for part in parts:
        what = "a constraint" if is_hard(part) else f"objective {part.objective + 1}"
        lines.append(f"  declared     {type(part).__name__}, {what}: {part.describe(problem)}")
    if parts:
        lines.append(f"  derived      evaluate, and what every move changes; {kept_size(problem)} numbers kept")
    lines += [f"  capability   {type(entry).__name__}: {_first_sentence(entry)}" for entry in problem.capabilities]
    if not parts and not listed:
        gain = next((words for kind, words in _WOULD_GAIN.items() if isinstance(problem.encoding, kind)), _FOR_ORDERS)
        lines += [
            "  moves        each costs a whole `evaluate`",
            f"  would gain   if the objective is {gain}, declare it as `structure`: a move then costs what it changes",
        ]
    return "\n".join(lines)


def _first_sentence(entry: Capability) -> str:
    text = " ".join((inspect.getdoc(type(entry)) or "").split("\n\n")[0].split())
    return text.rstrip(".")
