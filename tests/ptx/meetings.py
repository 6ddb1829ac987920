"""Threads that wait for each other: barriers of a block, and shuffles, votes and reductions of a warp."""

from __future__ import annotations

from ptx.rules import Rule, Site, rule
from ptx.scalars import PREDICATE, U32

_SHUFFLES = ("up", "down", "bfly", "idx")
_VOTES = ("ballot", "all", "any", "uni")
_REDUCTIONS = ("add", "min", "max", "and", "or", "xor")


def _barrier(site: Site) -> str:
    site.scope.waits = True
    line, count = site.instruction.line, len(site.operands)
    if site.has("warp"):
        return f"meet_in_warp(thread, SYNC, {site.read(0, U32)}, 0, 0, 0, {line});"
    if site.has("sync") and count == 1:
        return f"meet_at_barrier(thread, {site.read(0, U32)}, COUNT, 0, {line});"
    if site.has("red") and count == 3:
        combined = {"and": "ALL_OF", "or": "ANY_OF", "popc": "COUNT"}[site.instruction.one_of("and", "or", "popc")]
        predicate = site.read(2, PREDICATE)
        return site.write(f"meet_at_barrier(thread, {site.read(1, U32)}, {combined}, {predicate}, {line})")
    raise site.instruction.unsupported("barrier of some threads only")


def _meeting(site: Site, kind: str, mask: int, value: str, more: str = "0, 0") -> str:
    site.scope.waits = True
    mask_value = site.read(mask, U32)
    return f"u64 answer = meet_in_warp(thread, {kind}, {mask_value}, {value}, {more}, {site.instruction.line});"


def _answer_and_flag(site: Site) -> str:
    """`d|p`: p says whether there was anything to take."""
    names = [name.strip() for name in site.operands[0].split("|")]
    answer = site.scope.write(names[0], U32, "answer")
    return answer + (site.scope.write(names[1], PREDICATE, "thread->flag") if len(names) == 2 else "")


def _shfl(site: Site) -> str:
    kind = f"SHUFFLE_{site.instruction.one_of(*_SHUFFLES).upper()}"
    more = f"{site.read(2, U32)}, {site.read(3, U32)}"
    return _meeting(site, kind, 4, site.read(1, U32), more) + _answer_and_flag(site)


def _vote(site: Site) -> str:
    kind = f"VOTE_{site.instruction.one_of(*_VOTES).upper()}"
    return _meeting(site, kind, 2, f"{site.read(1, PREDICATE)} != 0") + site.write("answer")


def _match(site: Site) -> str:
    kind = f"MATCH_{site.instruction.one_of('any', 'all').upper()}"
    return _meeting(site, kind, 2, site.read(1)) + _answer_and_flag(site)


def _redux(site: Site) -> str:
    operation = site.instruction.one_of(*_REDUCTIONS).upper()
    signed = "SIGNED_" if site.scalar.is_signed and operation in ("MIN", "MAX") else ""
    return _meeting(site, f"REDUCE_{signed}{operation}", 2, site.read(1, U32)) + site.write("answer")


RULES: dict[str, Rule] = {
    "bar": rule(_barrier, "cta sync red and or popc warp"),
    "barrier": rule(_barrier, "cta sync red and or popc aligned"),
    "shfl": rule(_shfl, f"sync {' '.join(_SHUFFLES)}"),
    "vote": rule(_vote, f"sync {' '.join(_VOTES)}"),
    "match": rule(_match, "sync any all"),
    "redux": rule(_redux, f"sync {' '.join(_REDUCTIONS)}"),
}
