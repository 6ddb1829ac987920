"""The obvious twin of Pareto local search: solutions are lists, neighbours are all made and measured in full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from systola.model.rng import START, STEP, below, draw

Solution = list[int]
Worth = tuple[int, tuple[int, ...]]  # by how much constraints are broken, and the objectives, all to be minimised


@dataclass
class Member:
    x: Solution
    worth: Worth
    explored: bool = False


@dataclass
class State:
    """After a step: the solution that is explored next, the archive, and what was put aside at restarts."""

    now: Solution
    archive: list[Member]
    aside: list[Member] = field(default_factory=list)
    restarts: int = 0

    def front(self) -> list[Member]:
        """What nothing found dominates, of equal ones the first, by objectives in ascending order."""
        found = self.archive + self.aside
        kept = [
            m
            for k, m in enumerate(found)
            if not any(
                weakly_dominates(o.worth, m.worth) and (o.worth != m.worth or j < k) for j, o in enumerate(found)
            )
        ]
        return sorted(kept, key=lambda m: m.worth[1])


def insertions(x: Solution) -> list[Solution]:
    """All neighbours, by the number of the move: from place i to place j, each different order once."""
    made = []
    for i in range(len(x)):
        for j in range(len(x)):
            if j not in (i, i - 1):
                rest = x[:i] + x[i + 1 :]
                made.append([*rest[:j], x[i], *rest[j:]])
    return made


def weakly_dominates(a: Worth, b: Worth) -> bool:
    """Dominates or equals: what breaks constraints less does, whatever its objectives."""
    if a[0] != b[0]:
        return a[0] < b[0]
    return all(p <= q for p, q in zip(a[1], b[1], strict=True))


def leave(members: list[Member], new: list[Member]) -> list[Member]:
    """Old members that new ones cover leave, and the last old one comes to the place of each; new ones follow.

    Where an old one leaves, the last of the new ones comes to the place that the last old one had.
    """
    old, new = list(members), list(new)
    k = 0
    while k < len(old):
        if any(weakly_dominates(n.worth, old[k].worth) for n in new):
            last = old.pop()
            if k < len(old):
                old[k] = last
            new.insert(0, new.pop())
        else:
            k += 1
    return old + new


def insert_all(members: list[Member], near: list[tuple[Solution, Worth]]) -> list[Member]:
    """New ones, of which no member covers any, first get along with each other; then old ones leave."""
    new: list[Member] = []
    for x, worth in near:
        if any(weakly_dominates(m.worth, worth) for m in new):
            continue
        k = 0
        while k < len(new):
            if weakly_dominates(worth, new[k].worth):
                last = new.pop()
                if k < len(new):
                    new[k] = last
            else:
                k += 1
        new.append(Member(x, worth))
    return leave(members, new)


def insert_one_by_one(members: list[Member], new: list[Member], archive_size: int | None) -> list[Member]:
    """If there is a limit, a full archive takes only what makes a member leave."""
    for one in new:
        if any(weakly_dominates(m.worth, one.worth) for m in members):
            continue
        if (
            archive_size is None
            or len(members) < archive_size
            or any(weakly_dominates(one.worth, m.worth) for m in members)
        ):
            members = leave(members, [one])
    return members


def shuffled(n: int, seed: int, step: int) -> Solution:
    order: list[int] = []
    for i in range(n):
        order.append(i)
        j = int(below(draw(seed, START, step, 0, i)[0], i + 1))
        order[i], order[j] = order[j], order[i]
    return order


def run(measure: Callable[[Solution], Worth], engine: Any, first: Solution, seed: int) -> Iterator[State]:
    """The state after step 0, step 1, and so on."""
    state = State(first, [Member(first, measure(first), True)])
    step = 0
    while True:
        yield state
        step += 1
        here = measure(state.now)
        near = [(x, measure(x)) for x in insertions(state.now)]
        if engine.accept == "dominating":
            near = [(x, w) for x, w in near if weakly_dominates(w, here) and w != here]
        near = [(x, w) for x, w in near if not any(weakly_dominates(m.worth, w) for m in state.archive)]
        if engine.archive_size is None:
            state.archive = insert_all(state.archive, near)
        else:
            state.archive = insert_one_by_one(state.archive, [Member(x, w) for x, w in near], engine.archive_size)
        left = [m for m in state.archive if not m.explored]
        if left:
            chosen = left[int(below(draw(seed, STEP, step, 0, 0)[0], len(left)))]
            chosen.explored = True
            state.now = chosen.x
        else:
            state.aside = insert_one_by_one(state.aside, state.archive, engine.archive_size)
            state.restarts += 1
            state.now = shuffled(len(first), seed, step)
            state.archive = [Member(state.now, measure(state.now), True)]
