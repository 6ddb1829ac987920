"""Where execution goes on: branches, calls and the end of a thread."""

from __future__ import annotations

from ptx.parse import members
from ptx.rules import Rule, Site, rule
from ptx.scalars import U32
from ptx.scope import c_name


def _bra(site: Site) -> str:
    return f"goto {c_name(site.operands[0])};"


def _brx(site: Site) -> str:
    targets = site.scope.tables.get(site.operands[1])
    if targets is None:
        raise site.instruction.unsupported("unknown table")
    cases = "".join(f"case {i}: goto {c_name(name)};" for i, name in enumerate(targets))
    return f"switch ({site.read(0, U32)}) {{{cases}}}"


def _ret(site: Site) -> str:
    return "return;"


def _exit(site: Site) -> str:
    return "leave(thread);"


def _trap(site: Site) -> str:
    return f'fail(thread, "trap, PTX line %u", {site.instruction.line});'


def _call(site: Site) -> str:
    """`call (results), name, (arguments)`; results and arguments are .param variables and passed by address."""
    at = next((i for i, operand in enumerate(site.operands) if not operand.startswith("(")), 0)
    if at > 1 or len(site.operands) > at + 2:
        raise site.instruction.unsupported("indirect call")
    name = site.operands[at]
    if name == "__assertfail":
        return f'fail(thread, "assertion failed, PTX line %u", {site.instruction.line});'
    function = site.scope.functions.get(name)
    if function is None or function.body is None:
        raise site.instruction.unsupported("call of a function that is not here")
    passed = [member for operand in (*site.operands[:at], *site.operands[at + 1 :]) for member in members(operand)]
    places = "".join(f", (u8 *)({site.scope.place(member)})" for member in passed)
    call = f"function_{c_name(name)}(thread{places});"
    return f"thread->frame = frame + local_bytes; {call} thread->frame = frame;"


RULES: dict[str, Rule] = {
    "bra": rule(_bra, "uni"),
    "brx": rule(_brx, "idx uni"),
    "ret": rule(_ret, "uni"),
    "exit": rule(_exit),
    "trap": rule(_trap),
    "call": rule(_call, "uni"),
}
