"""Generalized assignment instances: files of the OR-Library, those of single problems, and solutions beside them.

A problem is the numbers of agents and jobs, the costs agent by agent, the loads agent by agent, and the capacities,
wherever lines end. A file does not say whether costs are to be minimised: its name does, or an option. The solution
``NAME.sol`` has the agent of each job, counted from 0.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np

from systola.errors import InputError
from systola.formats.instance import Instance
from systola.formats.library import Library, Part
from systola.formats.text import Tokens, located, read_text, refuse_name_of_solution, refuse_other_solution, write_text
from systola.model.encodings import Array
from systola.model.problem import space_of
from systola.problems.generalized_assignment.problem import GeneralizedAssignment

SENSES = ("min", "max")

_SOLUTION = ".sol"
_OF_PROFITS = re.compile(r"gap([1-9]|1[0-2])", re.IGNORECASE)  # the names of files whose costs are profits

_Numbers = tuple[Array, Array, Array]  # costs, loads, capacities


def measure(problem: GeneralizedAssignment, solution: Array) -> tuple[int, int]:
    """The cost and the unfitness of a solution: as `evaluate`, at the speed of NumPy."""
    jobs = np.arange(problem.jobs)
    loads = np.zeros_like(problem.capacities)
    np.add.at(loads, solution, problem.loads[solution, jobs])
    return int(problem.costs[solution, jobs].sum()), int(np.maximum(loads - problem.capacities, 0).sum())


def read_numbered(path: str | Path, sense: str | None = None) -> Library:
    """Read a file of several problems, such as gap1.txt or gapd.txt of the OR-Library.

    The file has the number of problems, and then each of them.

    Parameters
    ----------
    path
        The file.
    sense
        ``min`` or ``max``; by default ``max`` for files named gap1 to gap12, as they are meant, and ``min`` for others.
    """
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    count = tokens.count("problems", each=5)
    named = sense is None and _OF_PROFITS.fullmatch(path.stem) is not None
    notes = ("costs are maximised, as the name of the file says; ?sense=min changes it",) if named else ()
    parts = []
    for _ in range(count):
        numbers = _read_numbers(tokens)
        agents, jobs = numbers[0].shape
        make = partial(GeneralizedAssignment, *numbers, maximise=named or sense == "max")
        parts.append(Part(make, {"agents": agents, "jobs": jobs}, None, notes))
    tokens.end(f"the {count} problems")
    return Library(path, "gap", "gap", tuple(parts))


def read_single(path: str | Path, sense: str | None = None) -> Instance:
    """Read a file of one problem, such as d05100 or e801600, and the solution beside it if there is one.

    A solution that breaks a rule does no harm to the instance: a note says what is wrong with it.

    Parameters
    ----------
    path
        The file.
    sense
        ``min`` (default) or ``max``, for which no solution is read.
    """
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    numbers = _read_numbers(tokens)
    tokens.end("the capacities")
    with located(path.name):
        problem = GeneralizedAssignment(*numbers, maximise=sense == "max")
    best_known, solution, notes = (None, None, ()) if problem.maximise else _known(_beside(path), problem)
    return Instance(path.stem, problem, best_known, f"single gap, file {path}", notes, "gap", solution)


def read_solution(path: str | Path, problem: GeneralizedAssignment) -> Array:
    """Read a solution: the agent of each job, counted from 0.

    Parameters
    ----------
    path
        The file.
    problem
        What it solves.

    Raises
    ------
    InputError
        If the file breaks the format, or the solution a capacity.
    """
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    solution = tokens.integers(problem.jobs, "agent", 0, problem.last).astype(np.int32)
    tokens.end(f"the agents of {problem.jobs} jobs")
    _, unfitness = measure(problem, solution)
    if unfitness:
        raise InputError(f"a solution must keep all capacities, but this one exceeds them by {unfitness} ({path.name})")
    return solution


def write(problem: GeneralizedAssignment, path: str | Path, solution: Array | None = None) -> None:
    """Write a file of one problem, and beside it the best known solution, if there is one. The sense is not written.

    Parameters
    ----------
    problem
        What to write.
    path
        The file; it is replaced if it exists, and so is the file of the solution.
    solution
        The agent of each job, counted from 0; for minimised problems only, as files are taken for such.
    """
    path = Path(path)
    refuse_name_of_solution(path, _SOLUTION)
    rows = [*problem.costs.tolist(), *problem.loads.tolist(), problem.capacities.tolist()]
    contents = {path: [problem.costs.shape, *rows]}
    if solution is None:
        refuse_other_solution(_beside(path))
    else:
        if problem.maximise:
            raise InputError("a solution can be written for minimised problems only, but costs are maximised here")
        problem.encoding.store(space_of(problem), solution)
        _, unfitness = measure(problem, solution)
        if unfitness:
            raise InputError(f"a solution must keep all capacities, but this one exceeds them by {unfitness}")
        contents[_beside(path)] = [solution.tolist()]
    for file, lines in contents.items():
        write_text(file, (" ".join(map(str, line)) for line in lines))


def _read_numbers(tokens: Tokens) -> _Numbers:
    agents = tokens.count("agents", each=3)
    jobs = tokens.count("jobs", each=2 * agents)
    costs = tokens.integers(agents * jobs, "cost").reshape(agents, jobs)
    loads = tokens.integers(agents * jobs, "load", 0).reshape(agents, jobs)
    return costs, loads, tokens.integers(agents, "capacity", 0)


def _beside(path: Path) -> Path:
    return path.parent / (path.stem + _SOLUTION)


def _known(path: Path, problem: GeneralizedAssignment) -> tuple[int | None, Array | None, tuple[str, ...]]:
    """The cost of the solution in a file that need not be there, the solution, and notes."""
    if not path.is_file():
        return None, None, ()
    try:
        solution = read_solution(path, problem)
    except InputError as error:
        return None, None, (f"the solution beside it is not used: {error}",)
    return measure(problem, solution)[0], solution, ()
