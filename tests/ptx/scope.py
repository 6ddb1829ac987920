"""What the names in a function mean in C: how operands are read, results written and addresses computed.

Registers are C variables of unsigned words, whatever they mean; an instruction's type says how their bits are taken.
Addresses of shared and local memory are offsets, as on a GPU; all others are addresses of this process.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ptx.program import Function, Label, Registers, Variable, align_up
from ptx.scalars import U64, Scalar

_LANE = "(thread->number % 32)"
_SPECIAL = {
    **{f"%tid.{axis}": f"thread->index[{i}]" for i, axis in enumerate("xyz")},
    **{f"%ntid.{axis}": f"thread->block->size[{i}]" for i, axis in enumerate("xyz")},
    **{f"%ctaid.{axis}": f"thread->block->index[{i}]" for i, axis in enumerate("xyz")},
    **{f"%nctaid.{axis}": f"thread->block->grid[{i}]" for i, axis in enumerate("xyz")},
    "%laneid": _LANE,
    "%warpid": "(thread->number / 32)",
    "WARP_SZ": "32",
    "%lanemask_eq": f"(1u << {_LANE})",
    "%lanemask_lt": f"((1u << {_LANE}) - 1)",
    "%lanemask_le": f"((2u << {_LANE}) - 1)",
    "%lanemask_gt": f"~((2u << {_LANE}) - 1)",
    "%lanemask_ge": f"~((1u << {_LANE}) - 1)",
}
_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})")
_INTEGER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?")
_OFFSET = re.compile(r"([%$\w]+)\s*\+\s*(-?\w+)")


def c_name(name: str) -> str:
    """A name of PTX as one of C."""
    return re.sub(r"\W", "_", name.replace("%", "R_").replace("$", "D_"))


def _integer(text: str) -> int | None:
    found = _INTEGER.fullmatch(text)
    if not found:
        return None
    sign, digits = found.groups()
    is_octal = digits.isdigit() and digits.startswith("0")
    return int(sign + "1") * int(digits, 8 if is_octal else 0)


def _constant(text: str, scalar: Scalar) -> str | None:
    """C of a number as the type asked for; None if it is not a number."""
    if found := _FLOAT.fullmatch(text):
        value = f"as_f32(0x{found[1]}u)" if found[1] else f"as_f64(0x{found[2]}ull)"
        return value if scalar.is_float else f"{'bits_f32' if found[1] else 'bits_f64'}({value})"
    number = _integer(text)
    if number is None:
        return None
    return f"(({scalar.c_type}){number})" if scalar.is_float else f"(({scalar.c_type}){number % 2**64}ull)"


def as_bits(expression: str, scalar: Scalar) -> str:
    """The word that holds a value."""
    return f"bits_{scalar.name}({expression})" if scalar.is_float else f"({scalar.word})({expression})"


class Scope:
    """The names of a function, as far as they are declared; `{` and `}` open and close scopes within it.

    A name that is not there is a LookupError.
    """

    def __init__(self, function: Function, places: Mapping[str, str], functions: Mapping[str, Function]):
        self.functions = functions
        self.tables = {s.name: s.targets for s in function.body or () if isinstance(s, Label) and s.targets}
        self.waits = False  # whether anything waits for other threads
        self.local_bytes = 0
        self._registers: list[dict[str, Scalar]] = [{}]
        self._places: list[dict[str, str]] = [dict(places)]
        self._add_parameters(function)

    def _add_parameters(self, function: Function) -> None:
        for i, (variable, offset) in enumerate(zip(function.parameters, function.offsets(), strict=True)):
            place = f"parameters + {offset}" if function.is_entry else f"argument_{i}"
            self._places[0][variable.name] = f"(u64)({place})"
        for i, variable in enumerate(function.results):
            self._places[0][variable.name] = f"(u64)result_{i}"

    def open(self) -> None:
        self._registers.append({})
        self._places.append({})

    def close(self) -> None:
        self._registers.pop()
        self._places.pop()

    def declare_registers(self, registers: Registers) -> str:
        self._registers[-1] |= dict.fromkeys(registers.names, registers.scalar)
        return "".join(f"{registers.scalar.word} {c_name(name)} = 0;\n" for name in registers.names)

    def declare_local(self, variable: Variable) -> None:
        offset = align_up(self.local_bytes, variable.align)
        self._places[-1][variable.name] = f"(frame + {offset}ull)"
        self.local_bytes = offset + variable.size

    def declare_shared(self, variable: Variable, offset: int) -> None:
        self._places[-1][variable.name] = f"{offset}ull"

    def declare_parameter(self, variable: Variable) -> str:
        """Room for what is passed to a function or comes back from it."""
        self._places[-1][variable.name] = f"(u64){c_name(variable.name)}"
        return f"u8 {c_name(variable.name)}[{variable.size}] __attribute__((aligned(16)));\n"

    def register(self, name: str) -> Scalar | None:
        """The declared type of a register; None if there is none of this name."""
        return next((names[name] for names in reversed(self._registers) if name in names), None)

    def place(self, name: str) -> str:
        """The address of a variable."""
        for places in reversed(self._places):
            if name in places:
                return places[name]
        raise LookupError(f"unknown name {name!r}")

    def read(self, operand: str, scalar: Scalar) -> str:
        """C expression of an operand's value."""
        if scalar.kind == "p" and operand.startswith("!"):
            return f"(!{self.read(operand[1:], scalar)})"
        if operand in _SPECIAL:
            return f"(({scalar.c_type}){_SPECIAL[operand]})"
        if self.register(operand):
            name = c_name(operand)
            return f"as_{scalar.name}({name})" if scalar.is_float else f"(({scalar.c_type}){name})"
        constant = _constant(operand, scalar)
        if constant is not None:
            return constant
        found = _OFFSET.fullmatch(operand)
        name, offset = found.groups() if found else (operand, "0")
        return f"(({scalar.c_type})({self.place(name)} + {offset}))"

    def read_bits(self, operand: str, scalar: Scalar) -> str:
        """The bits of an operand, as a word."""
        return as_bits(self.read(operand, scalar), scalar)

    def write(self, operand: str, scalar: Scalar, expression: str) -> str:
        """C statement that puts a value into a register; narrower values are extended by their sign."""
        if operand == "_":
            return f"(void)({expression});"
        register = self.register(operand)
        if register is None:
            raise LookupError(f"unknown register {operand!r}")
        value = as_bits(expression, scalar) if scalar.is_float else f"({scalar.c_type})({expression})"
        return f"{c_name(operand)} = ({register.word}){value};"

    def address(self, operand: str) -> str:
        """`[name + offset]` as C."""
        text = operand.strip("[] \t\n")
        found = _OFFSET.fullmatch(text)
        name, offset = found.groups() if found else (text, "0")
        number = _integer(offset)
        if not operand.startswith("[") or number is None:
            raise LookupError(f"address {operand!r}")
        if self.register(name):
            return f"((u64){c_name(name)} + {number}ll)"
        constant = _constant(name, U64)
        if constant is not None:
            return f"({constant} + {number}ll)"
        return f"({self.place(name)} + {number}ll)"
