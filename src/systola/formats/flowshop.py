"""Flowshop instances: files of Taillard, and those with due dates of Liefooghe et al. and of Minella et al.

Which objectives are minimised is no part of a file: options say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from systola.errors import InputError
from systola.formats.flowshop_generator import SEEDS
from systola.formats.instance import Instance, UnfitOptions
from systola.formats.library import Library, Part
from systola.formats.text import Tokens, located, read_text, shown, write_text
from systola.model.encodings import Array
from systola.problems.flowshop.problem import Flowshop

Weights = Sequence[int] | Array


def read_taillard(path: str | Path, objectives: str = "makespan", weights: Weights = ()) -> Library:
    """Read a file of several problems, such as tai20_5.txt of Taillard 1993.

    Each problem has a line ``number of jobs, ... :``; the numbers of jobs and machines, the seed that it was drawn
    with, an upper and a lower bound of the makespan (0: unknown); a line ``processing times :``; and for each machine
    the times of all jobs. Those whose size and seed are published are named ta001 to ta120.

    Parameters
    ----------
    path
        The file.
    objectives, weights
        As in `Flowshop`; there are no due dates.
    """
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    parts: list[Part] = []
    known: set[tuple[int, int, int]] = set()
    while not parts or not tokens.at_end():
        _skip_title(tokens, "number")
        jobs = tokens.count("jobs")
        machines = tokens.count("machines", each=jobs)
        seed, upper, lower = (tokens.integer(what, 0) for what in ("seed", "upper bound", "lower bound"))
        _skip_title(tokens, "processing")
        times = tokens.integers(jobs * machines, "processing time", 0).reshape(machines, jobs).T
        key = (jobs, machines, seed)
        name = f"ta{SEEDS.index(key) + 1:03}" if key in SEEDS and key not in known else ""
        known.add(key)
        notes = (f"the file says that the least makespan is at least {lower} and at most {upper}",) if upper else ()
        make = partial(Flowshop, times, objectives=objectives, weights=np.asarray(weights))
        parts.append(Part(make, {"jobs": jobs, "machines": machines}, None, notes, name))
    return Library(path, "Taillard", "flowshop", tuple(parts))


def read_liefooghe(path: str | Path, objectives: str = "makespan,tardiness", weights: Weights = ()) -> Instance:
    """Read a file of one problem with due dates, such as 020_05_01.txt of Liefooghe et al. 2007.

    The file has a line each for the number of jobs, the number of machines and a seed; then for each job its number,
    counted from 0, its due date, and its times on all machines.

    Parameters
    ----------
    path
        The file.
    objectives, weights
        As in `Flowshop`.
    """
    path = Path(path)
    text = read_text(path)
    tokens = Tokens(text, path.name)
    jobs = tokens.count("jobs", each=3)
    machines = tokens.count("machines", each=jobs)
    tokens.integer("seed", 0)
    # The layout tells it from formats of equally many numbers.
    if any(len(line.split()) > 1 for line in islice(filter(str.strip, text.split("\n")), 3)):
        raise tokens.error("the numbers of jobs and machines and the seed must have a line each, but share one")
    due, times = np.empty(jobs, np.int64), np.empty((jobs, machines), np.int64)
    for job in range(jobs):
        number = tokens.integer("job", 0)
        if number != job:
            raise tokens.error(f"jobs must be numbered 0, 1, 2 and so on, but {number} comes instead of {job}")
        due[job] = tokens.integer("due date", 0)
        times[job] = tokens.integers(machines, "processing time", 0)
    tokens.end(f"the {jobs} jobs")
    return _instance(path, "Liefooghe", times, due, objectives, weights)


def read_minella(path: str | Path, objectives: str = "makespan,tardiness", weights: Weights = ()) -> Instance:
    """Read a file of one problem with due dates, such as DD_Ta001.txt of Minella et al. 2008.

    The file has the numbers of jobs and machines; for each job pairs of machine, counted from 0, and time; the word
    ``Reldue``; and for each job -1, its due date, -1 and its weight. `Flowshop` knows no weights of jobs: the notes
    say so.

    Parameters are those of `read_liefooghe`.
    """
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    jobs = tokens.count("jobs", each=6)
    machines = tokens.count("machines", each=2 * jobs)
    times, table = np.empty((jobs, machines), np.int64), np.empty((jobs, 4), np.int64)
    for job in range(jobs):
        pairs = tokens.integers(2 * machines, "machine and processing time", 0).reshape(machines, 2)
        if (pairs[:, 0] != np.arange(machines)).any():
            got = shown(" ".join(map(str, pairs[:, 0].tolist())))
            raise tokens.error(f"a job must pass the machines 0 to {machines - 1} in this order, but got {got}")
        times[job] = pairs[:, 1]
    word = tokens.word("Reldue")
    if word.casefold() != "reldue":
        raise tokens.error(f"`Reldue` must follow the times, but got {shown(word)}")
    for job in range(jobs):
        table[job] = tokens.integers(4, "due date and weight", -1)
        if table[job, 0] != -1 or table[job, 2] != -1 or table[job, 1] < 0:
            got = shown(" ".join(map(str, table[job].tolist())))
            raise tokens.error(f"a job must have -1, a due date, -1 and a weight, but got {got}")
    tokens.end(f"the {jobs} due dates")
    notes = ("the weights of jobs are not part of the problem: all jobs count alike",) if np.ptp(table[:, 3]) else ()
    return _instance(path, "Minella", times, table[:, 1], objectives, weights, notes)


def write(problem: Flowshop, path: str | Path) -> None:
    """Write an instance: as Liefooghe et al. if there are due dates, else as Taillard. Objectives are not written.

    Parameters
    ----------
    problem
        What to write; without release dates, for which the formats have no place.
    path
        The file; it is replaced if it exists.
    """
    if problem.release.any():
        job = int(np.argmax(problem.release > 0))
        raise InputError(
            f"only flowshops without release dates can be written, but got one of {problem.release[job]} at [{job + 1}]"
        )
    jobs, machines = problem.times.shape
    if problem.due.size:
        lines = [str(jobs), str(machines), "0"]
        for job, (date, times) in enumerate(zip(problem.due.tolist(), problem.times.tolist(), strict=True)):
            lines += [str(job), str(date), " ".join(map(str, times))]
    else:
        lines = ["number of jobs, number of machines, initial seed, upper bound and lower bound :"]
        lines += [f"{jobs} {machines} 0 0 {problem.lower_bound()}", "processing times :"]
        lines += [" ".join(map(str, times)) for times in problem.times.T.tolist()]
    write_text(path, lines)


def _skip_title(tokens: Tokens, first: str) -> None:
    """A title that begins with a word and ends with a colon."""
    title = {"number": "number of jobs, ... :", "processing": "processing times :"}[first]
    word = tokens.word(title)
    if word.casefold() != first:
        raise tokens.error(f"`{title}` must follow, but got {shown(word)}")
    while not word.endswith(":"):
        word = tokens.word(":")


def _instance(
    path: Path,
    form: str,
    times: Array,
    due: Array,
    objectives: str,
    weights: Weights,
    notes: tuple[str, ...] = (),
) -> Instance:
    with located(path.name):
        problem = Flowshop(times, due)
    try:
        problem = replace(problem, objectives=objectives, weights=np.asarray(weights))
    except InputError as error:
        raise UnfitOptions(f"{error} ({path.name})") from None
    return Instance(path.stem, problem, None, f"{form}, file {path}", notes, "flowshop")
