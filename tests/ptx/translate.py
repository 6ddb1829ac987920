"""`Program` -> C. Each function becomes one of C, each kernel an entry of a table that the runtime launches from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptx import compare, control, convert, floats, integers, logic, meetings, memory
from ptx.errors import Unsupported
from ptx.program import Brace, Function, Instruction, Label, Program, Registers, Statement, Variable, align_up
from ptx.rules import Rule
from ptx.scalars import SCALARS
from ptx.scope import Scope, c_name

_COMMON_RULES: dict[str, Rule] = {
    **logic.RULES,
    **compare.RULES,
    **convert.RULES,
    **memory.RULES,
    **control.RULES,
    **meetings.RULES,
}
_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?")
_FLOAT_BITS = re.compile(r"0[fFdD]([0-9a-fA-F]+)")
_WIDEST_ALIGNMENT = 16


@dataclass(frozen=True)
class Translation:
    """C source, and the kernels in the order in which the source numbers them."""

    source: str
    entries: tuple[Function, ...]


def find_rule(instruction: Instruction) -> Rule:
    """The rule of an opcode; arithmetic differs by type."""
    last = SCALARS.get(instruction.modifiers[-1]) if instruction.modifiers else None
    arithmetic = floats.RULES if last and last.is_float else integers.RULES
    found = arithmetic.get(instruction.opcode) or _COMMON_RULES.get(instruction.opcode)
    if found is None:
        raise instruction.unsupported("unknown instruction")
    return found


def translate(program: Program) -> Translation:
    return _Translator(program).translation()


class _Translator:
    def __init__(self, program: Program):
        self._program = program
        self._waits = False
        self._local_bytes = 0
        self._shared_bytes = 0
        self._places: dict[str, str] = {}

    def translation(self) -> Translation:
        functions = [f for f in self._program.functions.values() if f.body is not None]
        entries = tuple(f for f in functions if f.is_entry)
        for variable in (v for v in self._program.variables if v.space != "shared"):
            self._places[variable.name] = f"(u64)variable_{c_name(variable.name)}"
        shared = [v for v in self._program.variables if v.space == "shared"]
        for variable in sorted(shared, key=lambda v: v.count == 0):  # of the size that the launch gives: at the end
            self._places[variable.name] = f"{self._shared_offset(variable)}ull"
        bodies = [self._function(function) for function in functions]
        dynamic = any(v.count == 0 for v in shared)
        limits = {
            "WAITS": int(self._waits),
            "LOCAL_BYTES": self._local_bytes,
            "SHARED_BYTES": align_up(self._shared_bytes, _WIDEST_ALIGNMENT) if dynamic else self._shared_bytes,
        }
        source = [
            *(f"#define {name} {value}" for name, value in limits.items()),
            '#include "runtime.h"',
            *self._variables(),
            *(f"{_signature(function)};" for function in functions),
            *bodies,
            f"static const Kernel kernels[] = {{{', '.join(f'entry_{c_name(f.name)}' for f in entries)}}};",
            '#include "launch.h"',
        ]
        return Translation("\n".join(source), entries)

    def _variables(self) -> list[str]:
        variables = [v for v in self._program.variables if v.space != "shared"]
        ranges = [f"{{(u64)variable_{c_name(v.name)}, {v.size}}}" for v in variables]
        return [
            *(_definition(variable) for variable in variables),
            f"static const Room variables[] = {{{', '.join([*ranges, '{0, 0}'])}}};",
        ]

    def _shared_offset(self, variable: Variable) -> int:
        align = variable.align if variable.count else max(variable.align, _WIDEST_ALIGNMENT)
        offset = align_up(self._shared_bytes, align)
        self._shared_bytes = offset + variable.size
        return offset

    def _function(self, function: Function) -> str:
        scope = Scope(function, self._places, self._program.functions)
        lines = [self._statement(statement, scope) for statement in function.body or ()]
        frame = align_up(scope.local_bytes, _WIDEST_ALIGNMENT)
        self._local_bytes += frame
        self._waits |= scope.waits
        opening = f"enum {{ local_bytes = {frame} }}; const u64 frame = enter(thread, local_bytes); u32 carry = 0;"
        return "\n".join([_signature(function), "{", opening, *lines, ";", "}"])

    def _statement(self, statement: Statement, scope: Scope) -> str:
        if isinstance(statement, Instruction):
            return _instruction(statement, scope)
        if isinstance(statement, Registers):
            return scope.declare_registers(statement)
        if isinstance(statement, Label):
            return "" if statement.targets else f"{c_name(statement.name)}: ;"
        if isinstance(statement, Brace):
            if statement.text == "{":
                scope.open()
            else:
                scope.close()
            return statement.text if statement.text == "{" else ";}"
        if statement.space == "local":
            scope.declare_local(statement)
        elif statement.space == "shared":
            scope.declare_shared(statement, self._shared_offset(statement))
        else:
            return scope.declare_parameter(statement)
        return ""


def _instruction(instruction: Instruction, scope: Scope) -> str:
    written = find_rule(instruction).apply(instruction, scope)
    if not instruction.guard:
        return f"{{ {written} }}"
    negated, register = instruction.guard.startswith("!"), instruction.guard.lstrip("!")
    if scope.register(register) is None:
        raise instruction.unsupported(f"unknown register {register!r}")
    return f"if ({'!' if negated else ''}{c_name(register)}) {{ {written} }}"


def _signature(function: Function) -> str:
    if function.is_entry:
        return f"static void entry_{c_name(function.name)}(Thread *thread, const u8 *parameters)"
    results = "".join(f", u8 *result_{i}" for i in range(len(function.results)))
    arguments = "".join(f", u8 *argument_{i}" for i in range(len(function.parameters)))
    return f"static void function_{c_name(function.name)}(Thread *thread{results}{arguments})"


def _definition(variable: Variable) -> str:
    values = [_initial(value, variable) for value in variable.initial]
    initial = f" = {{{', '.join(values)}}}" if values else ""
    name, aligned = f"variable_{c_name(variable.name)}", f"__attribute__((aligned({variable.align})))"
    return f"static {variable.scalar.word} {name}[{variable.count}] {aligned}{initial};"


def _initial(text: str, variable: Variable) -> str:
    if found := _FLOAT_BITS.fullmatch(text):
        return f"0x{found[1]}ull"
    if not _NUMBER.fullmatch(text):
        raise Unsupported(f"initial value {text!r} of {variable.name}", variable.line)
    return f"({variable.scalar.word}){text}"
