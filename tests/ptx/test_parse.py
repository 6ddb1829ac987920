"""What is not understood is an error that names it and its line."""

from __future__ import annotations

import pytest

from ptx.errors import Unsupported
from ptx.parse import parse, split_operands
from ptx.program import Instruction, Label, Registers
from ptx.snippet import HEAD, kernel
from ptx.translate import translate


def body_of(text: str) -> list[object]:
    (function,) = parse(text).functions.values()
    return list(function.body or ())


def test_parts_of_an_instruction() -> None:
    text = kernel("@!%p1 ld.global.nc.L2::128B.v2.u32 {%w0, %w1}, // two\n   [%l0+-8];")
    instruction = body_of(text)[-1]
    assert isinstance(instruction, Instruction)
    assert (instruction.guard, instruction.opcode) == ("!%p1", "ld")
    assert instruction.modifiers == ("global", "nc", "L2::128B", "v2", "u32")
    assert instruction.operands == ("{%w0, %w1}", "[%l0+-8]")
    assert text.splitlines()[instruction.line - 1].startswith("@!%p1")


def test_lines_are_counted_through_comments() -> None:
    text = kernel("/* one\n two */ mov.u32 %w0, 1;\n// three\nmov.u32 %w1, 2; mov.u32 %w2, 3;")
    lines = [s.line for s in body_of(text) if isinstance(s, Instruction)]
    first = text.splitlines().index("/* one") + 2
    assert lines == [first, first + 2, first + 2]


def test_declarations_and_labels() -> None:
    statements = body_of(kernel('.reg .f64 %x, %y<2>;\n.pragma "nounroll";\n.loc 1 2 3\n$L_one: mov.u32 %w0, 1;'))
    registers = [s for s in statements if isinstance(s, Registers)][-1]
    assert (registers.scalar.name, registers.names) == ("f64", ("%x", "%y0", "%y1"))
    assert [s.name for s in statements if isinstance(s, Label)] == ["$L_one"]


def test_variables_and_parameters() -> None:
    text = HEAD + (
        ".extern .shared .align 16 .b8 more[];\n.global .align 8 .b8 table[2][4] = {1, 2};\n"
        ".visible .entry one(.param .u64 .ptr .global .align 8 a, .param .align 8 .b8 b[12], .param .u16 c)\n"
        ".maxntid 128, 1, 1\n{ ret; }\n"
    )
    program = parse(text)
    assert [(v.name, v.size, v.align, v.initial) for v in program.variables] == [
        ("more", 0, 16, ()),
        ("table", 8, 8, ("1", "2")),
    ]
    assert program.functions["one"].offsets() == (0, 8, 20)


def test_a_declared_function_is_not_defined() -> None:
    program = parse(HEAD + ".extern .func (.param .b32 r) other(.param .b64 a);\n")
    assert program.functions["other"].body is None


def test_operands_are_split_outside_brackets() -> None:
    assert split_operands("(a, b), f, ({c, d}, [e+4]) ") == ("(a, b)", "f", "({c, d}, [e+4])")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("frobnicate.b32 %w0, %w1;", "unknown instruction"),
        ("wmma.load.a.sync.row.m16n16k16.f16 {%w0}, [%l0], 16;", "unknown instruction"),
        ("add.sat.s32 %w0, %w0, %w1;", "unknown modifier .sat"),
        ("add.s16x2 %w0, %w0, %w1;", "unknown modifier .s16x2"),
        ("min.NaN.f32 %w0, %w0, %w1;", "unknown modifier .NaN"),
        ("prmt.b32.f4e %w0, %w0, %w1, %w2;", "unknown modifier .f4e"),
        ("mul.lo %w0, %w0, %w1;", "type 'lo'"),
        ("mul.s32 %w0, %w0, %w1;", "one of lo, hi expected"),
        ("add.s32 %w0, %w0;", "too few operands"),
        ("add.s32 %w0, %w0, %none;", "unknown name '%none'"),
        ("add.s32 %none, %w0, %w0;", "unknown register '%none'"),
        ("mov.u32 %w0, %clock;", "unknown name '%clock'"),
        ("@%none add.s32 %w0, %w0, 1;", "unknown register '%none'"),
        ("ld.global.f16 %h0, [%l0];", "unknown modifier .f16"),
        ("ld.global.u32 %w0, %l0;", "address '%l0'"),
        (".reg .f16 %half;", "type 'f16'"),
        ("call (a), elsewhere, (b);", "call of a function that is not here"),
        ("call (a), %l0, (b), proto;", "indirect call"),
        ("brx.idx %w0, nowhere;", "unknown table"),
        (".dwarf 5;", "not understood"),
    ],
)
def test_what_is_not_understood_is_refused(line: str, what: str) -> None:
    text = kernel(f"mov.u32 %w0, 1;\n{line}\nret;")
    number = text.splitlines().index(line) + 1
    with pytest.raises(Unsupported) as error:
        translate(parse(text))
    assert str(error.value).startswith(f"PTX line {number}: {what}: {line.split()[0]}")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (".alias one, two;", "not understood"),
        (".extern .global .u32 elsewhere;", "variable of another module"),
        (".global .u64 pointer = other;", "initial value 'other' of pointer"),
        (".global .v4 .f32 vector;", "declaration"),
        (".func one(.reg .u32 a) { ret; }", "declaration"),
        (".entry one() .cluster { ret; }", "directive of a function"),
        (".entry one() { mov.u32 a, 1", "a statement without an end"),
        (".entry one() { ret; ", "a function without an end"),
    ],
)
def test_modules_that_are_not_understood_are_refused(line: str, what: str) -> None:
    with pytest.raises(Unsupported, match=f"PTX line 4: {what}"):
        translate(parse(HEAD + line))
