"""Moving values: mov, loads, stores, atomic operations and addresses."""

from __future__ import annotations

from ptx.parse import members
from ptx.rules import Rule, Site, rule
from ptx.scalars import PREDICATE, U64, Scalar
from ptx.scope import as_bits

_SPACES = {
    "param": "param",
    "param::entry": "param",
    "param::func": "param",
    "global": "global",
    "const": "const",
    "local": "local",
    "shared": "shared",
    "shared::cta": "shared",
}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_CACHES = "ca cg cs cv lu wb wt nc L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"
_PREFETCHED = "L2::evict_normal L2::evict_first L2::evict_last L2::64B L2::128B L2::256B"
# All the same where one thread runs at a time.
_ORDERS = "weak volatile relaxed acquire release acq_rel sc cta gpu sys gl"
_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


def _space(site: Site) -> str:
    found = [_SPACES[m] for m in site.instruction.modifiers if m in _SPACES]
    return found[0] if found else "generic"


def _reach(site: Site, operand: str, size: int, access: str) -> str:
    """C statement that finds the memory of an access and, if asked when built, checks that it is allowed."""
    address, space = site.scope.address(operand), _space(site)
    if space == "param":
        return f"u8 *place = (u8 *){address};"
    memory = space if space in ("shared", "local") else "any"
    return f"u8 *place = {memory}_memory(thread, {address}, {size}, {access}, {site.instruction.line});"


def _mov(site: Site) -> str:
    scalar = site.scalar
    target, source = site.operands
    if target.startswith("{"):
        parts = members(target)
        part = _fraction(site, scalar, len(parts))
        taken = [site.scope.write(name, part, f"whole >> {part.bits * i}") for i, name in enumerate(parts)]
        return f"{scalar.word} whole = {site.read_bits(1)};" + "".join(taken)
    if source.startswith("{"):
        parts = members(source)
        part = _fraction(site, scalar, len(parts))
        words = [
            f"({scalar.word}){site.scope.read_bits(name, part)} << {part.bits * i}" for i, name in enumerate(parts)
        ]
        return site.write(" | ".join(words), scalar.plain)
    return site.write(site.read(1))


def _fraction(site: Site, scalar: Scalar, parts: int) -> Scalar:
    bits = scalar.bits // parts
    if bits not in (8, 16, 32, 64):
        raise site.instruction.unsupported("parts")
    return Scalar(f"b{bits}", "b", bits)


def _length(site: Site) -> int:
    return next((_VECTORS[m] for m in site.instruction.modifiers if m in _VECTORS), 1)


def _ld(site: Site) -> str:
    scalar = site.scalar
    found = scalar.plain if scalar.is_float else scalar
    reach = _reach(site, site.operands[1], scalar.size * _length(site), "READ")
    values = [
        site.scope.write(name, found, f"(({scalar.word} *)place)[{i}]")
        for i, name in enumerate(members(site.operands[0]))
    ]
    return reach + "".join(values)


def _st(site: Site) -> str:
    scalar = site.scalar
    reach = _reach(site, site.operands[0], scalar.size * _length(site), "WRITE")
    values = [
        f"(({scalar.word} *)place)[{i}] = {site.scope.read_bits(name, scalar)};"
        for i, name in enumerate(members(site.operands[1]))
    ]
    return reach + "".join(values)


def _atom(site: Site) -> str:
    return _atomic(site, site.operands)


def _red(site: Site) -> str:
    """An atomic operation whose old value nobody wants."""
    return _atomic(site, ("_", *site.operands))


def _atomic(site: Site, operands: tuple[str, ...]) -> str:
    scalar = site.scalar
    old = f"as_{scalar.name}(before)" if scalar.is_float else f"(({scalar.c_type})before)"
    value = site.scope.read(operands[2], scalar)
    operation = site.instruction.one_of(*_OPERATIONS)
    if operation == "cas":
        wanted, new = (site.scope.read_bits(name, scalar) for name in operands[2:4])
        after = f"before == {wanted} ? {new} : before"
    else:
        choices = {
            "add": f"{old} + {value}",
            "min": f"{value} < {old} ? {value} : {old}",
            "max": f"{value} > {old} ? {value} : {old}",
            "and": f"{old} & {value}",
            "or": f"{old} | {value}",
            "xor": f"{old} ^ {value}",
            "exch": value,
            "inc": f"{old} >= {value} ? 0 : {old} + 1",
            "dec": f"{old} == 0 || {old} > {value} ? {value} : {old} - 1",
        }
        after = as_bits(choices[operation], scalar)
    reach = _reach(site, operands[1], scalar.size, "ATOMIC")
    update = f"{scalar.word} before = *({scalar.word} *)place; *({scalar.word} *)place = {after};"
    return f"{reach} {update} {site.scope.write(operands[0], scalar.plain, 'before')}"


def _base(site: Site) -> str:
    """Where a space lies among all addresses."""
    bases = {"shared": "(u64)thread->block->shared", "local": "(u64)thread->local"}
    return bases.get(_space(site), "0")


def _cvta(site: Site) -> str:
    return site.write(f"{site.read(1, U64)} {'-' if site.has('to') else '+'} {_base(site)}", U64)


def _isspacep(site: Site) -> str:
    return site.write(f"is_in_{_space(site)}(thread, {site.read(1, U64)})", PREDICATE)


def _nothing(site: Site) -> str:
    """Hints, and fences between threads: here a thread sees what all others did before."""
    return ";"


_ANY_SPACE = " ".join(_SPACES)
RULES: dict[str, Rule] = {
    "mov": rule(_mov),
    "ld": rule(_ld, f"{_ANY_SPACE} {_CACHES} {_PREFETCHED} {_ORDERS} {' '.join(_VECTORS)}"),
    "ldu": rule(_ld, f"{_ANY_SPACE} {' '.join(_VECTORS)}"),
    "st": rule(_st, f"{_ANY_SPACE} {_CACHES} {_PREFETCHED} {_ORDERS} {' '.join(_VECTORS)}"),
    "atom": rule(_atom, f"global shared shared::cta {_ORDERS} {' '.join(_OPERATIONS)}"),
    "red": rule(_red, f"global shared shared::cta {_ORDERS} {' '.join(_OPERATIONS)}"),
    "cvta": rule(_cvta, f"to {_ANY_SPACE}"),
    "isspacep": rule(_isspacep, "global shared shared::cta local"),
    "membar": rule(_nothing, _ORDERS),
    "fence": rule(_nothing, _ORDERS),
    "prefetch": rule(_nothing, "global local L1 L2"),
    "prefetchu": rule(_nothing, "L1"),
    "nanosleep": rule(_nothing),
}
