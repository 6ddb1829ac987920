"""Parameters have types that say something: `Any`, `object` or none at all is for kernels only.

Kernels are compiled for whatever types they are called with, and mypy knows none of these. A function is one if Numba's
decorators say so, or if it is handed over as an implementation: to a registry, to a capability, to an engine as its
operator, or where an annotation says `Implementation`. What builds one for the compiler (`overload`, `intrinsic`) has
the same parameters.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import systola
from systola.model import capabilities

PACKAGE = Path(systola.__file__).parent
DECORATORS = {
    *("inlined", "called", "unaliased", "dispatched", "dispatched_call", "dispatched_objective", "dispatched_small"),
    *("kernel", "register_jitable", "intrinsic", "overload", "lower_builtin", "type_callable"),
}
REGISTRIES = {
    *("register", "register_each", "implement", "implement_walk", "enable_migration", "OperatorRegistry"),
    *("kernel", "overload", "lower_builtin", "type_callable"),
}
ALIASES = {"Implementation", "Operator"}
OPERATORS = {"selection", "crossover", "mutation", "replacement", "local_search"}  # that an engine may be given
METHODS = {"evaluate", "fitness", "violation"}  # that a problem's class may have
NOTHING = {"", "Any", "object"}


def last_name(node: ast.AST) -> str:
    """`c` of a, a.c, a.c(...) and a.c[...]."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def says_implementation(annotation: ast.AST | None) -> bool:
    return annotation is not None and any(last_name(node) in ALIASES for node in ast.walk(annotation))


def names_in(values: list[ast.expr]) -> Iterator[tuple[str, str]]:
    """Names that stand for themselves, not called, and the module that they are taken from, if one is named."""
    for value in values:
        called = {id(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)}
        for node in ast.walk(value):
            if isinstance(node, ast.Name | ast.Attribute) and id(node) not in called:
                yield last_name(node.value) if isinstance(node, ast.Attribute) else "", last_name(node)


def given_to_capability(call: ast.Call) -> list[ast.expr]:
    """Of what a capability is made of, its functions that kernels call."""
    kind = getattr(capabilities, last_name(call.func))
    places = [entry.name for entry in dataclasses.fields(kind)]
    given = [*zip(places, call.args, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]
    return [value for name, value in given if name in kind.implements]


def takes_implementations(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    return any(argument and says_implementation(argument.annotation) for argument in arguments)


def handed_over(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Modules and names of functions that a module hands over as implementations."""
    nodes = list(ast.walk(tree))
    registries = REGISTRIES | {node.name for node in nodes if takes_implementations(node)}
    tables = {
        last_name(node.target)
        for node in nodes
        if isinstance(node, ast.AnnAssign) and says_implementation(node.annotation)
    }
    for node in nodes:
        values: list[ast.expr | None] = []
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            if name in registries:
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
            elif hasattr(getattr(capabilities, name, None), "implements"):
                values = [*given_to_capability(node)]
            else:
                values = [keyword.value for keyword in node.keywords if keyword.arg in OPERATORS]
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [part for target in targets for part in getattr(target, "elts", [target])]
            values = [node.value] if tables & {last_name(part) for part in parts} else []
        elif isinstance(node, ast.FunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args]
            pairs: list[tuple[ast.arg, ast.expr | None]] = list(
                zip(reversed(arguments), reversed(node.args.defaults), strict=False)
            )
            pairs = [*pairs, *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
            values = [default for argument, default in pairs if says_implementation(argument.annotation)]
            if says_implementation(node.returns):
                values += [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
        yield from names_in([value for value in values if value is not None])


def find_kernels(trees: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """Module and name of all functions that are handed over somewhere, also where they were imported."""
    found = set()
    for module, tree in trees.items():
        origins = {
            alias.asname or alias.name: str(node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for owner, name in handed_over(tree):
            place = f"{origins[owner]}.{owner}" if owner in origins else origins.get(name, module)
            found.add((place, name))
    return found


def untyped(node: ast.AST, kernels: set[str]) -> Iterator[str]:
    """Functions outside kernels, and their parameters whose types say nothing."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            is_problem = any(last_name(base) == "Problem" for base in child.bases)
            yield from untyped(child, kernels | METHODS if is_problem else set())
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            decorated = {last_name(decorator) for decorator in child.decorator_list} & DECORATORS
            if decorated or child.name in kernels:
                continue  # with all that is defined inside
            for argument in [*child.args.posonlyargs, *child.args.args, *child.args.kwonlyargs]:
                said = ast.unparse(argument.annotation) if argument.annotation else ""
                if said in NOTHING and not (argument.arg in ("self", "cls") and not said):
                    yield f"{child.name}({argument.arg}), line {child.lineno}"
            yield from untyped(child, kernels)
        else:
            yield from untyped(child, kernels)


def test_parameters_outside_kernels_have_types() -> None:
    trees = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(("systola", *parts)).removesuffix(".__init__")
        trees[name] = ast.parse(path.read_text(encoding="utf-8"))
    kernels = find_kernels(trees)
    found = []
    for module, tree in trees.items():
        own = {name for place, name in kernels if place == module}
        found += [f"{module}: {line}" for line in untyped(tree, own)]
    assert not found, f"{len(found)} parameters without a type:\n" + "\n".join(found)
