"""Comparison and choice: setp, set, selp, slct."""

from __future__ import annotations

from ptx.floats import read_float
from ptx.rules import Rule, Site, rule
from ptx.scalars import PREDICATE, Scalar

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_UNORDERED = {f"{name}u": sign for name, sign in _SIGNS.items()}
_COMPARISONS = (*_SIGNS, *_UNSIGNED, *_UNORDERED, "num", "nan")
_JOINED = {"and": "&", "or": "|", "xor": "^"}


def _comparison(site: Site) -> str:
    """0 or 1. With NaN, ordered comparisons are false (also ne) and unordered ones (ltu) true."""
    name = site.instruction.one_of(*_COMPARISONS)
    if not site.scalar.is_float:
        sign = {**_SIGNS, **_UNSIGNED}.get(name)
        if sign is None:
            raise site.instruction.unsupported(f"comparison {name}")
        return f"({site.read(1)} {sign} {site.read(2)})"
    a, b = read_float(site, 1), read_float(site, 2)
    unordered = f"isunordered({a}, {b})"
    if name == "nan":
        return f"({unordered} != 0)"
    if name == "num":
        return f"({unordered} == 0)"
    if name in _UNORDERED:
        return f"({unordered} || {a} {_UNORDERED[name]} {b})"
    return f"(!{unordered} && {a} {_SIGNS[name]} {b})"


def _join(site: Site, truth: str) -> str:
    """A comparison combined with a predicate, if the instruction says so."""
    joined = [m for m in site.instruction.modifiers if m in _JOINED]
    return f"({truth} {_JOINED[joined[0]]} ({site.read(3, PREDICATE)} != 0))" if joined else truth


def _setp(site: Site) -> str:
    """`p|q`: q is the negated comparison, combined in the same way."""
    names = [name.strip() for name in site.operands[0].split("|")]
    truth = f"u8 truth = {_comparison(site)}, joined = {_join(site, 'truth')}, opposite = {_join(site, '!truth')};"
    values = ("joined", "opposite")
    return truth + "".join(site.scope.write(name, PREDICATE, value) for name, value in zip(names, values, strict=False))


def _set(site: Site) -> str:
    target = site.instruction.scalar_at(-2)
    yes = "1" if target.is_float else "-1"
    return site.write(f"{_join(site, _comparison(site))} ? {yes} : 0", target)


def _chosen(site: Site, condition: str, scalar: Scalar) -> str:
    return site.write(f"{condition} ? {site.read_bits(1, scalar)} : {site.read_bits(2, scalar)}", scalar.plain)


def _selp(site: Site) -> str:
    return _chosen(site, site.read(3, PREDICATE), site.scalar)


def _slct(site: Site) -> str:
    """By the sign of the third source; NaN chooses the second."""
    condition = f"{read_float(site, 3) if site.scalar.is_float else site.read(3)} >= 0"
    return _chosen(site, condition, site.instruction.scalar_at(-2))


RULES: dict[str, Rule] = {
    "setp": rule(_setp, " ".join((*_COMPARISONS, *_JOINED, "ftz"))),
    "set": rule(_set, " ".join((*_COMPARISONS, *_JOINED, "ftz"))),
    "selp": rule(_selp),
    "slct": rule(_slct, "ftz"),
}
