"""Conversion between types (cvt)."""

from __future__ import annotations

from ptx.rules import Rule, Site, rule
from ptx.scalars import Scalar

_TO_INTEGER = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_TO_FLOAT = ("rn", "rz", "rm", "rp")


def _cvt(site: Site) -> str:
    target, source = site.instruction.scalar_at(-2), site.scalar
    value = site.read(1)
    if site.has("ftz") and source.name == "f32":
        value = f"without_subnormals({value})"
    if source.is_float:
        return _from_float(site, target, source, value)
    if target.is_float:
        if site.instruction.one_of(*_TO_FLOAT) != "rn" or site.has("sat"):
            raise site.instruction.unsupported("rounding")
        return site.write(f"({target.c_type}){value}", target)
    return site.write(_clamped(value, target) if site.has("sat") else value, target)


def _from_float(site: Site, target: Scalar, source: Scalar, value: str) -> str:
    rounded = [m for m in site.instruction.modifiers if m in _TO_INTEGER]
    if rounded:
        value = f"{_TO_INTEGER[rounded[0]]}((f64){value})"
    if not target.is_float:
        if not rounded:
            raise site.instruction.unsupported("rounding")
        kind = "s64" if target.is_signed else "u64"
        # A NaN is zero between types of 32 bits and fewer, and the highest bit alone otherwise.
        nan = 0 if source.bits == 32 and target.bits <= 32 else 2 ** (target.bits - 1)
        return site.write(f"clamped_to_{kind}({value}, {target.bits}, {nan}ull)", target)
    if target.bits < source.bits and site.instruction.one_of(*_TO_FLOAT) != "rn":
        raise site.instruction.unsupported("rounding")
    value = f"({target.c_type})({value})"
    if site.has("ftz") and target.bits == 32:
        value = f"without_subnormals({value})"
    return site.write(f"saturated({value})" if site.has("sat") else value, target)


def _clamped(value: str, target: Scalar) -> str:
    """128 bits hold the values of all types, so that one comparison serves for all."""
    if target.is_signed:
        least, largest = f"-((s128)1 << {target.bits - 1})", f"((s128)1 << {target.bits - 1}) - 1"
    else:
        least, largest = "0", f"((s128)1 << {target.bits}) - 1"
    return f"clamped((s128){value}, {least}, {largest})"


RULES: dict[str, Rule] = {"cvt": rule(_cvt, " ".join((*_TO_INTEGER, *_TO_FLOAT, "ftz sat")))}
