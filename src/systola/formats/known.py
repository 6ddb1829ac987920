"""The file formats and generators of instances.

A new one is one more entry of `FORMATS` or `GENERATORS`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from systola.errors import InputError
from systola.formats import (
    flowshop,
    generalized_assignment,
    knapsack,
    knapsack_classes,
    multi_knapsack,
    next_release,
    quadratic_assignment,
)
from systola.formats import flowshop_generator as flowshops
from systola.formats import generalized_assignment_generator as generalized
from systola.formats import quadratic_assignment_generator as assignments
from systola.formats.instance import Instance
from systola.formats.library import Library
from systola.formats.tabular import FORMS, open_tabular
from systola.formats.text import shown, whole_number
from systola.model.problem import Problem
from systola.problems.flowshop.problem import split_objectives
from systola.problems.mmdp import MMDP

Option = Callable[[str, str], Any]  # the value of an option from its name and text; InputError if it is none


def one_of(word: str, valid: Iterable[str], what: str) -> str:
    """The word, if it is valid; else an error that lists what is, and names the nearest."""
    valid = list(valid)
    if word in valid:
        return word
    near = difflib.get_close_matches(word, valid, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(f"`{what}` must be one of {', '.join(valid)}, but got {shown(word)}{hint}")


def _weight(name: str, text: str) -> float:
    weight = _decimal(name, text)
    if not 0 <= weight <= 1:
        raise InputError(f"`0 <= {name} <= 1` must hold, but got {shown(text)}")
    return weight


def _ratio(name: str, text: str) -> float:
    ratio = _decimal(name, text)
    if not 0 < ratio <= 1:
        raise InputError(f"`0 < {name} <= 1` must hold, but got {shown(text)}")
    return ratio


def _decimal(name: str, text: str) -> float:
    if not re.fullmatch(r"[0-9]+|[0-9]*\.[0-9]+", text):
        raise InputError(f"`{name}` must be a number such as 0.5, but got {shown(text)}")
    return float(text)


def _kind(name: str, text: str) -> str:
    return one_of(text, knapsack.KINDS, name)


def _sense(name: str, text: str) -> str:
    return one_of(text, generalized_assignment.SENSES, name)


def _objectives(name: str, text: str) -> str:
    return ",".join(split_objectives(text))


def _weights(name: str, text: str) -> list[int]:
    return [whole_number(word, "weight", 0) for word in text.split(",")]


def _make_published_flowshop(number: int, **options: Any) -> tuple[Problem, None]:
    return flowshops.taillard(number, **options), None


def _make_flowshop(jobs: int, machines: int, seed: int, **options: Any) -> tuple[Problem, None]:
    return flowshops.uniform(jobs, machines, seed, **options), None


def _make_generalized_assignment(kind: str, agents: int, jobs: int, seed: int) -> tuple[Problem, None]:
    return generalized.generate(one_of(kind, generalized.KINDS, "type"), agents, jobs, seed), None


def _make_knapsack(items: int, spread: int, kind: str = "paper") -> tuple[Problem, int | None]:
    best_known = knapsack.TABLE_1.get((items, spread)) if kind == "paper" else None
    return knapsack.pisinger(items, spread, kind), best_known


def _make_knapsack_of_class(group: int, items: int, spread: int, seed: int) -> tuple[Problem, None]:
    return knapsack_classes.generate(group, items, spread, seed), None


def _make_multi_knapsack(items: int, constraints: int, seed: int, tightness: float = 0.25) -> tuple[Problem, None]:
    return multi_knapsack.generate(items, constraints, seed, tightness), None


def _make_mmdp(bits: int) -> tuple[Problem, int]:
    return MMDP(bits), bits // 6


def _make_next_release(customers: int, requirements: int, seed: int, weight: float = 0.5) -> tuple[Problem, None]:
    return next_release.generate(customers, requirements, seed, weight), None


def _make_uniform_assignment(facilities: int, seed: int) -> tuple[Problem, None]:
    return assignments.uniform(facilities, seed), None


def _make_opposed_assignment(facilities: int, seed: int) -> tuple[Problem, int]:
    problem, solution = assignments.opposed(facilities, seed)
    return problem, quadratic_assignment.cost(problem, solution)


def _make_grid_assignment(rows: int, columns: int, seed: int) -> tuple[Problem, int]:
    problem, solution = assignments.grid(rows, columns, seed)
    return problem, quadratic_assignment.cost(problem, solution)


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    name
        For messages.
    problem
        As the command line names it.
    read
        Makes an Instance of a path and options, or a Library if the format has room for several problems; InputError
        if the file has another format.
    options
        What may follow ``?``, by name.
    lines
        Whether it matters where lines end. If a file fits such a format and also one that sees words only, it is meant.
    layout
        What is in such a file, in a few words, for help.
    """

    name: str
    problem: str
    read: Callable[..., Instance | Library]
    options: Mapping[str, Option] = field(default_factory=dict)
    lines: bool = False
    layout: str = ""


@dataclass(frozen=True)
class Generator:
    """A generator of instances.

    Attributes
    ----------
    problem
        As the command line names it; also the word before the colon. Several may make the same.
    usage
        The whole argument, for help.
    pattern
        What follows the colon as a regular expression; its named groups are keywords of `make`, digits as numbers.
    source
        Whose generator it is.
    make
        Makes the problem, and says the best known objective or None.
    options
        What may follow ``?``, by name.
    seeded
        Whether ``@SEED`` may follow; then `make` gets the keyword `seed`.
    """

    problem: str
    usage: str
    pattern: str
    source: str
    make: Callable[..., tuple[Problem, int | float | None]]
    options: Mapping[str, Option] = field(default_factory=dict)
    seeded: bool = False


_FLOWSHOP_OPTIONS: Mapping[str, Option] = {"objectives": _objectives, "weights": _weights}

_DATED = "jobs, machines, due dates and times"

FORMATS = (
    Format("Taillard", "flowshop", flowshop.read_taillard, _FLOWSHOP_OPTIONS, layout="tai20_5.txt: times by machine"),
    Format(
        *("Liefooghe", "flowshop", flowshop.read_liefooghe, _FLOWSHOP_OPTIONS),
        lines=True,
        layout=f"020_05_01.txt: {_DATED}, a line each",
    ),
    Format("Minella", "flowshop", flowshop.read_minella, _FLOWSHOP_OPTIONS, layout=f"DD_Ta001.txt: {_DATED}"),
    Format(
        *("gap", "gap", generalized_assignment.read_numbered, {"sense": _sense}),
        layout="gapa.txt of the OR-Library: number of problems, agents, jobs, costs, loads, capacities",
    ),
    Format(
        *("single gap", "gap", generalized_assignment.read_single, {"sense": _sense}),
        layout="d05100: agents, jobs, costs, loads, capacities",
    ),
    Format("knapPI", "knapsack", knapsack.read, layout="items, capacity, then profit and weight of each item"),
    Format(
        *("mknap1 and mknapcb", "mkp", multi_knapsack.read_numbered),
        layout="mknapcb5.txt of the OR-Library: number of problems; for each as gk",
    ),
    Format("mknap2", "mkp", multi_knapsack.read_named, layout="mknap2.txt of the OR-Library: problems with names"),
    Format(
        *("gk", "mkp", multi_knapsack.read_single),
        layout="gk11.dat: items, constraints, optimum or 0, profits, weights, capacities",
    ),
    Format(
        *("customers' requests", "nrp", next_release.read_requests, {"ratio": _ratio}),
        layout="nrp1.txt: levels of costs, dependencies, then profit and requests of each customer",
    ),
    Format(
        *("requirements by stakeholders", "nrp", next_release.read_table, {"weight": _weight}),
        lines=True,
        layout="sizes and bound, importances, then cost and values of each requirement",
    ),
    Format(
        *("release planning set", "nrp", next_release.read_planner_set, {"weight": _weight}),
        lines=True,
        layout="*requirements*, beside it *stakeholders* and *value*: names and numbers with | between",
    ),
    Format("QAPLIB", "qap", quadratic_assignment.read_qaplib, layout="nug30.dat: n, flows, distances"),
)


def _read_tabular(problem: str, path: str | Path) -> Instance:
    return open_tabular(Path(path), problem, {})


GENERATORS = (
    Generator(
        "flowshop",
        "flowshop:taNNN[?objectives=LIST&weights=LIST]",
        r"ta(?P<number>[0-9]+)",
        "Taillard's instances ta001 to ta120; due dates of Liefooghe et al. 2007 if the objectives need them",
        _make_published_flowshop,
        _FLOWSHOP_OPTIONS,
    ),
    Generator(
        "flowshop",
        "flowshop:JOBSxMACHINES[@SEED][?objectives=LIST&weights=LIST]",
        r"(?P<jobs>[0-9]+)x(?P<machines>[0-9]+)",
        "drawn as those of Taillard 1993 and Liefooghe et al. 2007",
        _make_flowshop,
        _FLOWSHOP_OPTIONS,
        seeded=True,
    ),
    Generator(
        "gap",
        "gap:TYPE-AGENTSxJOBS[@SEED]",
        r"(?P<kind>[a-z]+)-(?P<agents>[0-9]+)x(?P<jobs>[0-9]+)",
        "types a to d of Chu, Beasley 1997, and e of Laguna et al. 1995, by their rules",
        _make_generalized_assignment,
        seeded=True,
    ),
    Generator(
        "knapsack",
        "knapsack:ITEMS-SPREAD[?kind=KIND]",
        r"(?P<items>[0-9]+)-(?P<spread>[0-9]+)",
        "Pisinger's generator; by default the instances of Pedemonte, Luna, Alba 2014",
        _make_knapsack,
        {"kind": _kind},
    ),
    Generator(
        "knapsack",
        "knapsack:pisinger-CLASS-ITEMS-SPREAD[@NUMBER]",
        r"pisinger-(?P<group>[0-9]+)-(?P<items>[0-9]+)-(?P<spread>[0-9]+)",
        "classes 1 to 16 of Pisinger 2005; an instance, 1 to 100, of a series with growing capacities",
        _make_knapsack_of_class,
        seeded=True,
    ),
    Generator(
        "mkp",
        "mkp:ITEMSxCONSTRAINTS[@SEED][?tightness=T]",
        r"(?P<items>[0-9]+)x(?P<constraints>[0-9]+)",
        "drawn by the rules of Chu, Beasley 1998",
        _make_multi_knapsack,
        {"tightness": _ratio},
        seeded=True,
    ),
    Generator("mmdp", "mmdp:BITS", r"(?P<bits>[0-9]+)", "Goldberg, Deb, Horn 1992", _make_mmdp),
    Generator(
        "nrp",
        "nrp:CUSTOMERS-REQUIREMENTS[@SEED][?weight=W]",
        r"(?P<customers>[0-9]+)-(?P<requirements>[0-9]+)",
        "drawn in the style of Durillo et al. 2011",
        _make_next_release,
        {"weight": _weight},
        seeded=True,
    ),
    Generator(
        "qap",
        "qap:uniform-FACILITIES[@SEED]",
        r"uniform-(?P<facilities>[0-9]+)",
        "uniform and symmetric, like those of Taillard 1991",
        _make_uniform_assignment,
        seeded=True,
    ),
    Generator(
        "qap",
        "qap:opposed-FACILITIES[@SEED]",
        r"opposed-(?P<facilities>[0-9]+)",
        "flows and distances in opposite order, so that the optimum is known",
        _make_opposed_assignment,
        seeded=True,
    ),
    Generator(
        "qap",
        "qap:grid-ROWSxCOLUMNS[@SEED]",
        r"grid-(?P<rows>[0-9]+)x(?P<columns>[0-9]+)",
        "a grid, with flows made of triangles, so that the optimum is known; after Palubeckis",
        _make_grid_assignment,
        seeded=True,
    ),
)


def list_generators() -> tuple[Generator, ...]:
    """All generators, for help."""
    return GENERATORS


def list_formats() -> tuple[Format, ...]:
    """All file formats by problem, for help."""
    found = list(FORMATS)
    for form in FORMS:
        read = partial(_read_tabular, form.problem)
        if form.read is not None:
            found.append(Format("CSV", form.problem, read, layout=form.layout))
        keys = [key if required else f"[{key}]" for key, required in form.fields().items()]
        found.append(Format("JSON or .npz", form.problem, read, layout=", ".join((*keys, "[names]"))))
    return tuple(sorted(found, key=lambda form: form.problem))
