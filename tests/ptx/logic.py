"""Logic, shifts and bit fields."""

from __future__ import annotations

from ptx.rules import Rule, Site, Writer, of_two, rule
from ptx.scalars import U32


def _not(site: Site) -> str:
    return site.write(f"{'!' if site.scalar.kind == 'p' else '~'}{site.read(1)}")


def _cnot(site: Site) -> str:
    return site.write(f"{site.read(1)} == 0")


def _shl(site: Site) -> str:
    """Shift amounts are clamped to the width, unlike C's, which are undefined there."""
    return site.write(f"shifted_left({site.read_bits(1)}, {site.read(2, U32)}, {site.scalar.bits})")


def _shr(site: Site) -> str:
    kind = "s64" if site.scalar.is_signed else "u64"
    return site.write(f"shifted_right_{kind}({site.read(1)}, {site.read(2, U32)}, {site.scalar.bits})")


def _shf(site: Site) -> str:
    """The upper half of b:a shifted left, or the lower half of b:a shifted right."""
    amount = site.read(3, U32)
    if site.instruction.one_of("wrap", "clamp") == "wrap":
        amount = f"({amount} & 31)"
    return site.write(f"funnel_{site.instruction.one_of('l', 'r')}({site.read(1)}, {site.read(2)}, {amount})")


def _counted(function: str) -> Writer:
    """A count of bits is 32 bits wide, whatever it counts in."""

    def write(site: Site) -> str:
        return site.write(f"{function}({site.read_bits(1)}, {site.scalar.bits})", U32)

    return write


def _brev(site: Site) -> str:
    return site.write(f"reversed_bits({site.read_bits(1)}, {site.scalar.bits})")


def _bfind(site: Site) -> str:
    name = "highest_bit_s64" if site.scalar.is_signed else "highest_bit_u64"
    found = f"{name}({site.read(1)})"
    if site.has("shiftamt"):
        found = f"({found} == ~0u ? ~0u : {site.scalar.bits - 1} - {found})"
    return site.write(found, U32)


def _bfe(site: Site) -> str:
    kind = "s64" if site.scalar.is_signed else "u64"
    place = f"{site.read(2, U32)}, {site.read(3, U32)}, {site.scalar.bits}"
    return site.write(f"extracted_field_{kind}({site.read(1)}, {place})")


def _bfi(site: Site) -> str:
    place = f"{site.read(3, U32)}, {site.read(4, U32)}, {site.scalar.bits}"
    return site.write(f"inserted_field({site.read(1)}, {site.read(2)}, {place})")


def _prmt(site: Site) -> str:
    return site.write(f"permuted_bytes({site.read(1)}, {site.read(2)}, {site.read(3)})")


def _lop3(site: Site) -> str:
    table = site.read(4, U32)
    return site.write(f"looked_up_bits({site.read(1)}, {site.read(2)}, {site.read(3)}, {table})")


RULES: dict[str, Rule] = {
    "and": rule(of_two("{a} & {b}")),
    "or": rule(of_two("{a} | {b}")),
    "xor": rule(of_two("{a} ^ {b}")),
    "not": rule(_not),
    "cnot": rule(_cnot),
    "shl": rule(_shl),
    "shr": rule(_shr),
    "shf": rule(_shf, "l r wrap clamp"),
    "popc": rule(_counted("count_of_ones")),
    "clz": rule(_counted("leading_zeros")),
    "brev": rule(_brev),
    "bfind": rule(_bfind, "shiftamt"),
    "bfe": rule(_bfe),
    "bfi": rule(_bfi),
    "prmt": rule(_prmt),
    "lop3": rule(_lop3),
}
