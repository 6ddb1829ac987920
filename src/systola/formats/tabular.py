"""The problems of systola in files with names: CSV tables, objects of JSON, NumPy archives.

Keys are the fields of a problem. What a file leaves open, such as the capacity of a table of items, is given beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systola import problems
from systola.errors import InputError
from systola.formats import columns
from systola.formats.csv_table import CsvTable, read_csv
from systola.formats.data import Data, is_archive, read_archive, read_json
from systola.formats.instance import Instance
from systola.formats.making import make
from systola.formats.text import read_text, shown
from systola.formats.values import parameters_of, show
from systola.model.encodings import Array
from systola.reading import Json

_TABLES = (".csv", ".tsv")


@dataclass(frozen=True)
class Form:
    """How a problem is written by names.

    Attributes
    ----------
    problem
        As the command line names it.
    make
        Its class, or a function; the parameters are the keys.
    title
        What messages call it.
    aliases
        Other words for keys.
    read
        Makes data of a table, if there are tables of it.
    fits
        Whether a table is one of it, if no problem is named.
    layout
        The columns of a table, for help.
    """

    problem: str
    make: Callable[..., Any]
    title: str
    aliases: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[CsvTable], Data] | None = None
    fits: Callable[[CsvTable], bool] = lambda table: False
    layout: str = ""

    def fields(self) -> dict[str, bool]:
        """The names of values, and whether they must be there."""
        return {key: entry.required for key, entry in parameters_of(self.make).items()}


def _release_by_requests(
    profits: Array, costs: Array, requests: Json, budget: int, dependencies: Json | tuple[()] = ()
) -> problems.CustomerRelease:
    """`CustomerRelease.from_requests` of plain data, checked."""
    lists = _lists("requests", requests)
    pairs = _lists("dependencies", dependencies)
    for pair in pairs:
        if len(pair) != 2:
            raise InputError(f"each of the dependencies must be a pair [a, b]: b needs a, but got {len(pair)} numbers")
    if profits.ndim != 1 or costs.ndim != 1:
        raise InputError("profits and costs must be lists of numbers, but have rows")
    return problems.CustomerRelease.from_requests(profits, costs, lists, [(a, b) for a, b in pairs], budget)


def _lists(key: str, value: Json | tuple[()]) -> list[list[int]]:
    """Lists of whole numbers of different lengths."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InputError(f"`{key}` must be a list of lists of numbers, but got {show(value)}")
    lists: list[list[int]] = []
    for k, entry in enumerate(value):
        if not isinstance(entry, list):
            raise InputError(f"`{key}` must be a list of lists of numbers, but got {show(entry)} at [{k}]")
        lists.append([])
        for number in entry:
            if isinstance(number, bool) or not isinstance(number, int):
                raise InputError(f"`{key}` must hold whole numbers, but got {show(number)} at [{k}]")
            lists[-1].append(number)
    return lists


FORMS = (
    Form(
        "flowshop",
        problems.Flowshop,
        "Flowshop",
        read=columns.read_flowshop,
        fits=columns.is_flowshop,
        layout="job names, then a column for each machine; columns due and release if there are such dates",
    ),
    Form(
        "gap",
        problems.GeneralizedAssignment,
        "GeneralizedAssignment",
        {"weights": "loads"},
        read=columns.read_generalized_assignment,
        fits=columns.is_generalized_assignment,
        layout="columns job, agent, cost, load, a row for each pair; a column capacity, or --set capacities=N,N",
    ),
    Form(
        "knapsack",
        problems.Knapsack,
        "Knapsack",
        read=columns.read_knapsack,
        fits=columns.is_knapsack,
        layout="columns name, profit, weight; --set capacity=N",
    ),
    Form("mmdp", problems.MMDP, "MMDP"),
    Form(
        "nrp",
        problems.NextRelease,
        "NextRelease",
        read=columns.read_next_release,
        fits=columns.is_next_release,
        layout="columns name, cost, value; --set weight=W",
    ),
    Form("nrp", _release_by_requests, "CustomerRelease"),
    Form("nrp", problems.CustomerRelease, "CustomerRelease"),
    Form("qap", problems.QuadraticAssignment, "QuadraticAssignment"),
    Form(
        "mkp",
        problems.MultiKnapsack,
        "MultiKnapsack",
        read=columns.read_multi_knapsack,
        fits=columns.is_multi_knapsack,
        layout="columns name, profit, one for each constraint; capacities by a row capacity or --set capacities=N,N",
    ),  # the last, for almost any table fits it
)


def is_table(path: Path) -> bool:
    """Whether a file is a CSV table, by its name; those of numbers or with bars are of other formats."""
    if path.suffix.lower() not in _TABLES:
        return False
    first = read_text(path).lstrip("\n").partition("\n")[0]
    return "|" not in first and not first.replace(" ", "").replace(".", "").isdigit()


def is_tabular(path: Path) -> bool:
    """Whether a file is one of these forms, rather than of a library's."""
    named = path.suffix.lower() in (".npz", ".json") or is_table(path)
    return named or read_text(path).lstrip().startswith("{")


def open_tabular(path: Path, problem: str | None, given: Mapping[str, Any]) -> Instance:
    """The instance in a file; `given` are values for what it leaves open.

    Raises
    ------
    InputError
        If the file breaks a rule, or it is not clear which problem it is of.
    """
    if is_archive(path) or not is_table(path):
        data = read_archive(path) if is_archive(path) else read_json(path)
        form = _choose(data, problem, given)
        values = {form.aliases.get(key, key): value for key, value in data.values.items()}
        if len(values) < len(data.values):
            twice = " and ".join(f"{a} and {b}" for a, b in form.aliases.items())
            raise InputError(f"{form.title} must have one of {twice}, but has both ({data.name})")
        data = Data(data.name, data.form, values, data.names)
    else:
        table = read_csv(path)
        form = _choose_table(table, problem, given)
        assert form.read is not None
        data = form.read(table)
    made, taken = make(form.make, form.title, data, given)
    return Instance(path.stem, made, None, f"{data.form} file {path}", kind=form.problem, fields=taken)


def _choose(data: Data, problem: str | None, given: Mapping[str, Any]) -> Form:
    """The form that is meant: the problem that is named, or the one that has these keys."""
    if None not in (problem, data.problem) and problem != data.problem:
        raise InputError(f"{data.name} says that it is of the problem {shown(str(data.problem))}, not {problem}")
    wanted = problem or data.problem
    known = [form for form in FORMS if wanted in (None, form.problem)]
    if not known:
        names = ", ".join(dict.fromkeys(form.problem for form in FORMS))
        raise InputError(f"`problem` must be one of {names}, but got {shown(str(wanted))} ({data.name})")

    def strangeness(form: Form) -> tuple[int, int]:
        keys, here = form.fields(), {form.aliases.get(key, key) for key in data.values}
        missing = [key for key, required in keys.items() if required and key not in here]
        return len(here - set(keys)) + len([key for key in missing if key not in given]), len(missing)

    best = min(known, key=strangeness)
    sure = 0 if len(data.values) < 2 else 1  # a single key is in many files
    if wanted is None and (strangeness(best)[0] > sure or [*map(strangeness, known)].count(strangeness(best)) > 1):
        raise InputError(
            f'{data.name} does not say which problem it is of; add a key "problem", or --problem NAME '
            "(systola instances formats lists their keys)"
        )
    return best


def _choose_table(table: CsvTable, problem: str | None, given: Mapping[str, Any]) -> Form:
    """The form that is meant: the problem that is named, the one with the fields that are given, or these columns."""
    known = [form for form in FORMS if problem in (None, form.problem)]
    tables = [form for form in known if form.read is not None]
    if not tables:
        keys = ", ".join(known[0].fields()) if known else ""
        raise InputError(f"{table.name}: a {problem} is no table, but can be an object of JSON with the keys {keys}")
    fields = {key for key in given for form in tables if key in form.fields()}
    tables = [form for form in tables if fields <= set(form.fields())] or tables
    if problem is not None or (fields and len(tables) == 1):
        return tables[0]
    for form in tables:
        if form.fits(table):
            return form
    raise InputError(
        f"{table.name} has the columns {shown(', '.join(table.header))}, which do not say of which problem it is; add "
        "--problem NAME (systola instances formats lists the columns)"
    )
