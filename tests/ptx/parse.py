"""PTX text -> `Program`. What is not understood is an error that names the line."""

from __future__ import annotations

import re
from bisect import bisect_right

from ptx.errors import Unsupported
from ptx.program import Brace, Function, Instruction, Label, Program, Registers, Statement, Variable
from ptx.scalars import SCALARS, Scalar

_NAME = r"[%$\w]+"
_SPACE = re.compile(r"\s+")
_ABOUT_SOURCE = re.compile(r"\.(?:version|target|address_size|file|loc)\b[^\n]*")
_SECTION = re.compile(r"\.section\b[^{]*\{[^}]*\}")
_LINKAGE = r"((?:\.(?:visible|weak|extern|common)\s+)*)"
_FUNCTION = re.compile(_LINKAGE + r"\.(entry|func)\b\s*(?:\(([^)]*)\))?\s*(" + _NAME + r")\s*(?:\(([^)]*)\))?")
_TUNING = re.compile(r"\s*\.(?:noreturn|(?:maxntid|reqntid|minnctapersm|maxnctapersm|maxnreg)\b[\s\d,]+)")
_VARIABLE = re.compile(_LINKAGE + r"\.(global|const|shared)\b([^;=]*)(?:=([^;]*))?;")
_LABEL = re.compile(rf"({_NAME})\s*:(?!:)")
_DECLARED = re.compile(
    rf"(?:\.align\s+(\d+)\s*)?\.(\w+)\s*(?:\.ptr(?:\s*\.\w+)?(?:\s*\.align\s+\d+)?\s*)?({_NAME})\s*((?:\[\s*\d*\s*\])*)"
)
_INSTRUCTION = re.compile(rf"(?:@(!?{_NAME})\s+)?([a-z]\w*)((?:\.[\w:]+)*)\s*(.*)", re.DOTALL)


def parse(text: str) -> Program:
    """The variables and functions of a module."""
    return _Reader(text).program()


def split_operands(text: str) -> tuple[str, ...]:
    """Cut at commas that are not within brackets."""
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return tuple(part.strip() for part in (*parts, text[begin:]) if part.strip())


def members(operand: str) -> tuple[str, ...]:
    """`{a, b}` or `(a, b)` -> a and b; anything else is its only member."""
    return split_operands(operand[1:-1]) if operand[:1] in ("{", "(") else (operand,)


class _Reader:
    """A place in the text, moving on."""

    def __init__(self, text: str):
        text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL)
        self._text = re.sub(r"//[^\n]*", "", text)
        self._ends = [end.start() for end in re.finditer("\n", self._text)]
        self._at = 0

    @property
    def _line(self) -> int:
        return bisect_right(self._ends, self._at - 1) + 1

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found

    def _unsupported(self, what: str) -> Unsupported:
        shown, _, _ = self._text[self._at : self._at + 60].partition("\n")
        return Unsupported(f"{what}: {shown}", self._line)

    def _is_done(self) -> bool:
        self._take(_SPACE)
        return self._at >= len(self._text)

    def program(self) -> Program:
        program = Program()
        while not self._is_done():
            line = self._line
            if self._take(_ABOUT_SOURCE) or self._take(_SECTION):
                continue
            if found := self._take(_FUNCTION):
                function = self._function(found, line)
                if function.body is not None or function.name not in program.functions:
                    program.functions[function.name] = function
            elif found := self._take(_VARIABLE):
                program.variables.append(_global_variable(found, line))
            else:
                raise self._unsupported("not understood")
        return program

    def _function(self, found: re.Match[str], line: int) -> Function:
        _, kind, results, name, parameters = found.groups(default="")
        while self._take(_TUNING):
            pass
        self._take(_SPACE)
        if self._text.startswith(";", self._at):
            self._at += 1
            body = None
        elif self._text.startswith("{", self._at):
            self._at += 1
            body = tuple(self._body())
        else:
            raise self._unsupported("directive of a function")
        return Function(line, name, kind == "entry", _parameters(results, line), _parameters(parameters, line), body)

    def _body(self) -> list[Statement]:
        statements: list[Statement] = []
        depth = 1
        while not self._is_done():
            line, character = self._line, self._text[self._at]
            if character in "{}":
                depth += 1 if character == "{" else -1
                self._at += 1
                if depth == 0:
                    return statements
                statements.append(Brace(line, character))
            elif self._take(_ABOUT_SOURCE):
                continue
            elif found := self._take(_LABEL):
                statements.append(Label(line, found[1]))
            else:
                statements += self._statement(line, statements)
        raise self._unsupported("a function without an end")

    def _statement(self, line: int, before: list[Statement]) -> list[Statement]:
        end = self._text.find(";", self._at)
        if end < 0:
            raise self._unsupported("a statement without an end")
        text = self._text[self._at : end].strip()
        self._at = end + 1
        word, rest = (*text.split(None, 1), "", "")[:2]
        if word in (".pragma", ""):
            return []
        if word == ".branchtargets":
            label = before.pop()
            if not isinstance(label, Label):
                raise Unsupported(f"targets without a label: {text}", line)
            return [Label(label.line, label.name, split_operands(rest))]
        if word == ".reg":
            kind, names = (*rest.split(None, 1), "", "")[:2]
            return [Registers(line, _scalar(kind.lstrip("."), text, line), _register_names(names))]
        if word in (".local", ".shared", ".param"):
            return [_variable(word[1:], rest, line)]
        return [_instruction(text, line)]


def _scalar(name: str, text: str, line: int) -> Scalar:
    if name not in SCALARS:
        raise Unsupported(f"type {name!r}: {text}", line)
    return SCALARS[name]


def _variable(space: str, text: str, line: int, initial: str = "") -> Variable:
    found = _DECLARED.fullmatch(re.sub(r"\.attribute\s*\([^)]*\)", "", text).strip())
    if not found:
        raise Unsupported(f"declaration: {text.strip()}", line)
    align, kind, name, sizes = found.groups()
    scalar, count = _scalar(kind, text, line), 1
    for size in re.findall(r"\[\s*(\d*)\s*\]", sizes):
        count *= int(size or 0)
    values = tuple(value.strip() for value in initial.strip(" \t\n{}").split(",") if value.strip())
    return Variable(line, space, name, scalar, count, int(align or scalar.size), values)


def _global_variable(found: re.Match[str], line: int) -> Variable:
    linkage, space, declaration, initial = found.groups(default="")
    variable = _variable(space, declaration, line, initial)
    if ".extern" in linkage and variable.space != "shared":
        raise Unsupported(f"variable of another module: {variable.name}", line)
    return variable


def _parameters(text: str, line: int) -> tuple[Variable, ...]:
    return tuple(_variable("param", part.replace(".param", "", 1), line) for part in text.split(",") if part.strip())


def _register_names(text: str) -> tuple[str, ...]:
    """`%r<3>` stands for %r0, %r1 and %r2."""
    names: list[str] = []
    for name in split_operands(text):
        found = re.fullmatch(r"(.*)<(\d+)>", name)
        names += [f"{found[1]}{i}" for i in range(int(found[2]))] if found else [name]
    return tuple(names)


def _instruction(text: str, line: int) -> Instruction:
    found = _INSTRUCTION.fullmatch(text)
    if not found:
        raise Unsupported(f"not understood: {text}", line)
    guard, opcode, modifiers, operands = found.groups(default="")
    return Instruction(line, text, guard, opcode, tuple(modifiers.split(".")[1:]), split_operands(operands))
