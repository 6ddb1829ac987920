"""Floating point arithmetic, rounded to the nearest. Approximate instructions are computed exactly, see the package."""

from __future__ import annotations

from ptx.rules import Rule, Site, Writer, rule
from ptx.scalars import PREDICATE


def read_float(site: Site, index: int) -> str:
    """An operand; subnormal numbers are zero if the instruction says so (.ftz)."""
    value = site.read(index)
    return f"without_subnormals({value})" if site.has("ftz") and site.scalar.bits == 32 else value


def _write(site: Site, value: str) -> str:
    if site.has("ftz") and site.scalar.bits == 32:
        value = f"without_subnormals({value})"
    if site.has("sat"):
        value = f"saturated({value})"
    return site.write(value)


def _suffix(site: Site) -> str:
    """C's functions of single precision end in f."""
    return "f" if site.scalar.bits == 32 else ""


def _infix(operator: str) -> Writer:
    def write(site: Site) -> str:
        return _write(site, f"{read_float(site, 1)} {operator} {read_float(site, 2)}")

    return write


def _fma(site: Site) -> str:
    """One rounding, also of mad."""
    a, b, c = (read_float(site, i) for i in (1, 2, 3))
    return _write(site, f"fma{_suffix(site)}({a}, {b}, {c})")


def _extreme(name: str) -> Writer:
    def write(site: Site) -> str:
        return _write(site, f"{name}_{site.scalar.name}({read_float(site, 1)}, {read_float(site, 2)})")

    return write


def _neg(site: Site) -> str:
    return _write(site, f"-{read_float(site, 1)}")


def _of_one(pattern: str) -> Writer:
    """A function of one operand: `f` stands for the suffix, `x` for the operand."""

    def write(site: Site) -> str:
        return _write(site, pattern.format(f=_suffix(site), x=read_float(site, 1)))

    return write


def _copysign(site: Site) -> str:
    """The magnitude of the second source with the sign of the first."""
    return site.write(f"copysign{_suffix(site)}({site.read(2)}, {site.read(1)})")


def _testp(site: Site) -> str:
    tests = {
        "finite": "isfinite({})",
        "infinite": "isinf({})",
        "number": "!isnan({})",
        "notanumber": "isnan({})",
        "normal": "isnormal({})",
        "subnormal": "fpclassify({}) == FP_SUBNORMAL",
    }
    kind = site.instruction.one_of(*tests)
    return site.write(f"({tests[kind].format(site.read(1))}) != 0", PREDICATE)


RULES: dict[str, Rule] = {
    "add": rule(_infix("+"), "rn ftz sat"),
    "sub": rule(_infix("-"), "rn ftz sat"),
    "mul": rule(_infix("*"), "rn ftz sat"),
    "div": rule(_infix("/"), "rn ftz approx full"),
    "fma": rule(_fma, "rn ftz sat"),
    "mad": rule(_fma, "rn ftz sat"),
    "min": rule(_extreme("least"), "ftz"),
    "max": rule(_extreme("largest"), "ftz"),
    "neg": rule(_neg, "ftz"),
    "abs": rule(_of_one("fabs{f}({x})"), "ftz"),
    "sqrt": rule(_of_one("sqrt{f}({x})"), "rn ftz approx"),
    "rsqrt": rule(_of_one("1 / sqrt{f}({x})"), "ftz approx"),
    "rcp": rule(_of_one("1 / {x}"), "rn ftz approx"),
    "ex2": rule(_of_one("exp2{f}({x})"), "ftz approx"),
    "lg2": rule(_of_one("log2{f}({x})"), "ftz approx"),
    "sin": rule(_of_one("sin{f}({x})"), "ftz approx"),
    "cos": rule(_of_one("cos{f}({x})"), "ftz approx"),
    "tanh": rule(_of_one("tanh{f}({x})"), "approx"),
    "copysign": rule(_copysign),
    "testp": rule(_testp, "finite infinite number notanumber normal subnormal"),
}
