"""Next release instances: a generator, and readers of three public formats.

Requirements are the decisions (`NextRelease`) of `generate`, `read_table` and `read_planner_set`; customers are those
(`CustomerRelease`) of `read_requests`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from systola.errors import InputError
from systola.formats.instance import Instance, check_sizes
from systola.formats.text import Tokens, located, read_text, shown, whole_number
from systola.model.encodings import Array
from systola.model.rng import below, check_seed, draw
from systola.problems.customer_release import CustomerRelease
from systola.problems.next_release import NextRelease

MOST_WISHES = 10_000_000  # customers times requirements

_GENERATOR = 9  # purpose of the draws, apart from those of a run with the same seed
_COSTS, _IMPORTANCES, _WISHES = range(3)
_LARGEST_COST, _LARGEST_IMPORTANCE, _LARGEST_WISH = 9, 100, 5

_RELATION = re.compile(r"r([0-9]+)(·|->)r([0-9]+)")
_SET_FILE = "requirements"


def generate(customers: int, requirements: int, seed: int = 1, weight: float = 0.5) -> NextRelease:
    """Generate an instance in the style of Durillo et al. 2011.

    Costs are uniform in 1..9, and so are in 0..5 the values that each customer sees in each requirement (0: of no
    interest). Importances of customers are uniform in 1..100: the magnitudes in Table 7 of Pedemonte, Luna, Alba 2014
    suggest fractions from 0.01 to 1, which are counted in hundredths here so that all data are integers.

    Parameters
    ----------
    customers, requirements
        m and n of an instance called m-n.
    seed
        Equal seeds give equal instances, everywhere.
    weight
        As in `NextRelease`.
    """
    check_sizes(MOST_WISHES, customers=customers, requirements=requirements)
    seed = check_seed(seed)
    values = np.zeros(requirements, np.int64)
    for customer, importance in enumerate(_uniform(seed, _IMPORTANCES, customers, 0, 1, _LARGEST_IMPORTANCE)):
        values += importance * _uniform(seed, _WISHES, requirements, customer, 0, _LARGEST_WISH)
    return NextRelease(_uniform(seed, _COSTS, requirements, 0, 1, _LARGEST_COST), values, weight)


def read_table(path: str | Path, weight: float = 0.5) -> Instance:
    """Read a table of requirements by stakeholders, such as dataset 2 of del Sagrado, del Águila, Orellana 2015.

    The file has a line of n requirements, m stakeholders and a bound; a line of m importances; for each requirement
    a line of its cost and m values; then relations ``r1->r2`` (r2 needs r1) and ``r1·r2`` (both or none).
    `NextRelease` knows neither relations nor a bound: they are checked, and the notes say so.

    Parameters
    ----------
    path
        The file.
    weight
        As in `NextRelease`.
    """
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    with tokens.line("the sizes and the bound"):
        n = tokens.count("requirements", each=2)
        m = tokens.count("stakeholders", each=n)
        bound = tokens.integer("bound", 0)
    with tokens.line("the importances"):
        importances = tokens.integers(m, "importance", 0)
    costs, wishes = np.empty(n, np.int64), np.empty((n, m), np.int64)
    for j in range(n):
        with tokens.line("cost and values"):
            costs[j] = tokens.integer("cost", 0)
            wishes[j] = tokens.integers(m, "value", 0)
    relations = 0
    while not tokens.at_end():
        word = tokens.word("relation")
        match = _RELATION.fullmatch(word)
        if match is None:
            raise tokens.error(f"a relation must look like r1->r2 or r1·r2, but got {shown(word)}")
        for number in match.group(1, 3):
            _checked(tokens, number, n)
        relations += 1
    notes = [f"the bound of {bound} on the cost is not part of the problem: cost is an objective"]
    if relations:
        notes.append(_left_out(relations))
    with located(path.name):
        problem = NextRelease(costs, _weighted(wishes, importances), weight)
    return Instance(path.stem, problem, None, f"requirements by stakeholders, file {path}", tuple(notes), "nrp")


def read_planner_set(path: str | Path, weight: float = 0.5) -> Instance:
    """Read a set of files as ReleasePlanner uses them, such as that of MS Word.

    The set is named by its file of requirements, ``*requirements*``, with a line ``name|cost|names|names`` for
    each; the two lists say which others it is tied to. Beside it are ``*stakeholders*``, an importance a line, and
    ``*value*``, lines of ``name|value|value...`` with one value for each stakeholder.

    Parameters
    ----------
    path
        The file of requirements.
    weight
        As in `NextRelease`.
    """
    path = Path(path)
    rows = dict(_named_rows(path, 4))
    if _SET_FILE not in path.name:
        raise InputError(f"a set must be named by its file *{_SET_FILE}*, but got {path.name!r}")
    beside = {part: path.with_name(path.name.replace(_SET_FILE, part)) for part in ("stakeholders", "value")}
    costs, relations = [], 0
    for name, (line, fields) in rows.items():
        with located(f"{path.name}, line {line}"):
            costs.append(whole_number(fields[0], "cost", 0))
            for other in filter(None, (other.strip() for tied in fields[1:] for other in tied.split(","))):
                if other not in rows:
                    raise InputError(f"`{name}` must be tied to requirements of the file, but got {shown(other)}")
                relations += 1
    stakeholders = beside["stakeholders"]
    tokens = Tokens(read_text(stakeholders), stakeholders.name)
    importances: list[int] = []
    while not importances or not tokens.at_end():
        importances.append(tokens.integer("importance", 0))
    wishes = {}
    for name, (line, fields) in _named_rows(beside["value"], 1 + len(importances)):
        with located(f"{beside['value'].name}, line {line}"):
            if name not in rows:
                raise InputError(f"a value must belong to a requirement of {path.name}, but got {shown(name)}")
            wishes[name] = [whole_number(field, "value", 0) for field in fields]
    for name in rows:
        if name not in wishes:
            raise InputError(f"each requirement must have values, but {name!r} has none ({beside['value'].name})")
    notes = ["the values of a requirement are weighted by the stakeholders' importances; urgencies are not used"]
    if relations:
        notes.append(_left_out(relations))
    with located(path.name):
        values = _weighted(np.array([wishes[name] for name in rows], np.int64), np.array(importances, np.int64))
        problem = NextRelease(np.array(costs, np.int64), values, weight)
    stem = path.stem.replace(_SET_FILE, "").strip("_- ") or path.stem
    return Instance(stem, problem, None, f"release planning set, file {path}", tuple(notes), "nrp")


def read_requests(path: str | Path, ratio: float = 0.5) -> Instance:
    """Read a file of customers' requests: the classic and realistic sets nrp*.txt of Xuan et al. 2012.

    The file has the number of levels; for each the number of requirements and their costs; the number of dependencies
    and pairs ``a b`` (b needs a); the number of customers, and for each profit, number of requests, and requests.

    Parameters
    ----------
    path
        The file.
    ratio
        The budget as a part of the cost of all requirements, rounded half up; 0.3, 0.5 and 0.7 are customary.
    """
    if not 0 < ratio <= 1:
        raise InputError(f"`0 < ratio <= 1` must hold, but got {ratio}")
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    costs: list[int] = []
    for _ in range(tokens.count("levels", each=2)):
        costs.extend(tokens.integers(tokens.count("requirements of the level"), "cost", 0).tolist())
    n = len(costs)
    dependencies = tokens.integers(2 * tokens.count("dependencies", each=2, low=0), "requirement", 1, n) - 1
    customers = tokens.count("customers", each=2)
    profits, requests = [], []
    for _ in range(customers):
        profits.append(tokens.integer("profit", 0))
        asked = tokens.count("requests of the customer", low=0)
        requests.append((tokens.integers(asked, "requirement", 1, n) - 1).tolist())
    tokens.end(f"the {customers} customers")
    share = Fraction(str(ratio))
    budget = math.floor(share * sum(costs) + Fraction(1, 2))
    with located(path.name):
        problem = CustomerRelease.from_requests(
            profits, costs, requests, [(a, b) for a, b in dependencies.reshape(-1, 2).tolist()], budget
        )
    percent = f"{float(100 * share):g}"
    return Instance(
        f"{path.stem}-{percent}",
        problem,
        None,
        f"customers' requests, file {path}",
        (f"the budget of {budget} is {percent} % of what all requirements cost",),
        "nrp",
    )


def _uniform(seed: int, stream: int, count: int, row: int, low: int, high: int) -> Array:
    """`count` numbers in low..high; the generator's own draws are vectors over the cells."""
    number, _, _, _ = draw(seed, _GENERATOR, stream, np.arange(count), row)
    numbers: Array = low + below(number, high - low + 1)
    return numbers


def _weighted(wishes: Array, importances: Array) -> Array:
    """Values of requirements, summed over stakeholders; exact, or refused."""
    if int(wishes.max()) * sum(map(int, importances)) >= 2**62:
        raise InputError("values times importances must stay below 2**62; scale the data down")
    values: Array = wishes @ importances
    return values


def _checked(tokens: Tokens, number: str, n: int) -> None:
    try:
        whole_number(number, "requirement", 1, n)
    except InputError as error:
        raise tokens.error(str(error)) from None


def _left_out(relations: int) -> str:
    return (
        f"{relations} dependencies between requirements are not part of the problem: "
        "check an answer against them before it is used"
    )


def _named_rows(path: Path, width: int) -> Iterator[tuple[str, tuple[int, list[str]]]]:
    """Lines ``name|field|...`` of `width` columns: the name, then its line and the other fields."""
    seen: set[str] = set()
    for line, text in enumerate(read_text(path).split("\n"), 1):
        if not text.strip():
            continue
        name, *fields = (field.strip() for field in text.split("|"))
        with located(f"{path.name}, line {line}"):
            if 1 + len(fields) != width:
                raise InputError(f"a line must have {width} columns with | between, but has {1 + len(fields)}")
            if not name or name in seen:
                raise InputError(f"a requirement must have a name of its own, but got {shown(name)}")
        seen.add(name)
        yield name, (line, fields)
    if not seen:
        raise InputError(f"a line for each requirement must follow, but the file is empty ({path.name})")
