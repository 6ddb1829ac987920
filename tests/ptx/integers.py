"""Integer arithmetic. Sums and products wrap; what PTX leaves open, as division by zero, gives what GPUs give."""

from __future__ import annotations

from ptx.rules import Rule, Site, Writer, of_two, rule


def _infix(operator: str) -> Writer:
    def write(site: Site) -> str:
        if site.has("cc"):
            return _with_carry(site, f"{site.read_bits(1)} {operator} (u128){site.read_bits(2)}")
        return site.write(f"{site.read_bits(1)} {operator} {site.read_bits(2)}")

    return write


def _infix_carried(operator: str) -> Writer:
    def write(site: Site) -> str:
        return _with_carry(site, f"{site.read_bits(1)} {operator} (u128){site.read_bits(2)} {operator} carry")

    return write


def _with_carry(site: Site, total: str) -> str:
    """The low word of a sum that is wider, and the carry or borrow that is left of it, if it is to be kept."""
    scalar = site.scalar
    kept = f"carry = (wide >> {scalar.bits}) & 1;" if site.has("cc") else ""
    return f"u128 wide = {total}; {kept} {site.write('wide', scalar.plain)}"


def _product(site: Site) -> str:
    """The half of the product that is asked for, as a word."""
    scalar = site.scalar
    if site.instruction.one_of("lo", "hi") == "lo":
        return f"({scalar.word})((u64){site.read(1)} * (u64){site.read(2)})"
    wide = scalar.wide.c_type
    return f"({scalar.word})((({wide}){site.read(1)} * ({wide}){site.read(2)}) >> {scalar.bits})"


def _mul(site: Site) -> str:
    if site.has("wide"):
        wide = site.scalar.wide
        return site.write(f"({wide.c_type}){site.read(1)} * ({wide.c_type}){site.read(2)}", wide)
    return site.write(_product(site))


def _mad(site: Site) -> str:
    if site.has("wide"):
        wide = site.scalar.wide
        total = f"({wide.word})(({wide.c_type}){site.read(1)} * ({wide.c_type}){site.read(2)}) + {site.read(3, wide)}"
        return site.write(total, wide)
    if site.has("cc"):
        return _with_carry(site, f"{_product(site)} + (u128){site.read_bits(3)}")
    return site.write(f"{_product(site)} + {site.read_bits(3)}")


def _madc(site: Site) -> str:
    return _with_carry(site, f"{_product(site)} + (u128){site.read_bits(3)} + carry")


def _divided(operation: str) -> Writer:
    """Division truncates; the helpers of the runtime know the cases in which C's is undefined."""

    def write(site: Site) -> str:
        kind = "s64" if site.scalar.is_signed else "u64"
        return site.write(f"{operation}_{kind}({site.read(1)}, {site.read(2)})")

    return write


def _neg(site: Site) -> str:
    return site.write(f"0 - {site.read_bits(1)}")


def _abs(site: Site) -> str:
    return site.write(f"{site.read(1)} < 0 ? 0 - {site.read_bits(1)} : {site.read_bits(1)}")


def _sad(site: Site) -> str:
    a, b = site.read(1), site.read(2)
    larger, smaller = site.read_bits(1), site.read_bits(2)
    return site.write(f"{site.read_bits(3)} + ({a} > {b} ? {larger} - {smaller} : {smaller} - {larger})")


RULES: dict[str, Rule] = {
    "add": rule(_infix("+"), "cc"),
    "sub": rule(_infix("-"), "cc"),
    "addc": rule(_infix_carried("+"), "cc"),
    "subc": rule(_infix_carried("-"), "cc"),
    "mul": rule(_mul, "lo hi wide"),
    "mad": rule(_mad, "lo hi wide cc"),
    "madc": rule(_madc, "lo hi cc"),
    "div": rule(_divided("quotient")),
    "rem": rule(_divided("remainder")),
    "min": rule(of_two("{a} < {b} ? {a} : {b}")),
    "max": rule(of_two("{a} > {b} ? {a} : {b}")),
    "neg": rule(_neg),
    "abs": rule(_abs),
    "sad": rule(_sad),
}
