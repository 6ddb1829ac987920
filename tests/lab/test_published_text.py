"""Published figures, read a second time: by a script, from the text of the papers, which does not come with systola."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from systola.lab.contents import load_contents
from systola.lab.published import load_best, load_figures, load_text

PAPERS = Path(__file__).parents[3] / "shared" / "seeds"
FILES = {"sgs": "000_", "sns": "001_", "pugace": "002_", "mls": "003_", "pgap": "004_"}
MARKUP = re.compile(r"\\(?:textbf|mathrm|text|mathbf)|[${}_ ~]")
LEAST = 4  # rows of a table; fewer are left over from its caption
NUMBER = r"\d+(?:\.\d+)?(?:e-?\d+)?"

Rows = dict[str, list[str]]


@cache
def lines_of(paper: str) -> list[str]:
    found = sorted(PAPERS.glob(f"{FILES[paper]}*.txt"))
    if not found:
        pytest.skip("the text of the papers is not here")
    return found[0].read_text(encoding="utf-8").splitlines()


def plain(cell: str) -> str:
    """A cell without markup, without commas in numbers, and with one kind of minus."""
    cell = cell.replace(r"\pm", "±").replace(r"\times", "×").replace("−", "-").replace("–", "-").replace("%", "")
    return MARKUP.sub("", cell).replace(",", "")


def rows_at(paper: str, caption: str, above: bool = False, parts: int = 1) -> Rows:
    """The rows of the table below or above a caption, by what their first cell says; a table may come in parts, of
    which the second has other instances."""
    lines = lines_of(paper)
    captions = [k for k, line in enumerate(lines) if re.match(rf"\W*{caption}(?!\d)", line)]
    (start,) = (k for k in captions if "presents" not in lines[k] and "shows" not in lines[k])
    step = -1 if above else 1
    at = start + step
    rows: Rows = {}
    while parts and 0 <= at < len(lines):
        if not is_row(lines[at]):
            at += step
            continue
        block = []
        while 0 <= at < len(lines) and is_row(lines[at]):
            block.append(cells_of(lines[at]))
            at += step
        if len(block) >= LEAST:
            for name, *cells in block[:: -1 if above else 1]:
                rows.setdefault(name, []).extend(cells)
            parts -= 1
    return rows


def is_row(line: str) -> bool:
    return ("\t" in line or line.startswith("|")) and not re.match(r"\W*Table", line)


def cells_of(line: str) -> list[str]:
    return [plain(cell) for cell in (line.strip().strip("|").split("|") if line.startswith("|") else line.split("\t"))]


def printed(paper: str, number: int) -> dict[str, list[tuple[float, float | None]]]:
    """Our own, row by row."""
    table = load_figures(paper, number)
    return {
        name: [table.figures[name, a] for a in table.algorithms if (name, a) in table.figures]
        for name in table.instances
    }


def pair(cell: str) -> tuple[float, float | None]:
    assert re.fullmatch(rf"{NUMBER}(±{NUMBER})?", cell), cell
    mean, _, deviation = cell.partition("±")
    return float(mean), float(deviation) if deviation else None


ABOVE = {12, 16}  # their captions stand below them


@pytest.mark.parametrize("number", [1, 3, 5, 8, 10, 11, 12, *range(16, 23)])
def test_systolic_genetic_search(number: int) -> None:
    found = rows_at("sgs", f"Table {number}" if number != 1 else "Table 1Knapsack", number in ABOVE)
    second = {name: [pair(cell) for cell in cells if cell] for name, cells in found.items() if re.match(r"\d", name)}
    ours = {name.split(":")[1]: figures for name, figures in printed("sgs", number).items()}
    assert second == ours


def test_deceptive_function() -> None:
    found = rows_at("sgs", "Table 2")
    second = {name: [pair(cell) for cell in cells if cell] for name, cells in found.items() if name.isdigit()}
    assert second == printed("sgs", 2)


@pytest.mark.parametrize("number", [13, 14, 15])
def test_threads_per_block(number: int) -> None:
    found = rows_at("sgs", f"Table {number}")
    ours = [list(row) for row in load_text("sgs", number).rows]
    if number == 13:  # the names of its rows are lost
        lines = lines_of("sgs")
        start = next(k for k, line in enumerate(lines) if line.startswith("Table 13"))
        second = [line.split("\t") for line in lines[start + 3 : start + 11]]
        assert second == [row[1:] for row in ours]
        return
    second = [[name, *cells] for name, cells in found.items() if name[:1].isdigit()]
    assert second == [[row[0].split(":")[1], *row[1:]] for row in ours]


def test_best_solutions() -> None:
    lines = lines_of("sgs")
    start = next(k for k, line in enumerate(lines) if line.startswith("Table 7 Best"))
    kinds = {"Cost": 0, "Value": 1}
    second: list[list[float]] = []
    for cells in (cells_of(line) for line in lines[start : start + 26] if line.startswith(tuple(kinds))):
        second.append([float(cell) for cell in cells[1:]])
    ours = [
        [pair[k] for pair in by_weight.values()]
        for by_weight in load_best("sgs", 7).solutions.values()
        for k in kinds.values()
    ]
    assert second == ours


SNS_ROWS = {
    **{"RCPU": "rs-cpu", "RGPU": "rs-gpu", "GACPU": "ga-cpu", "GAGPU": "ga-gpu", "GASNS": "ga-sns"},
    **{"GASNS^exp": "ga-sns-exp", "SNS": "sns", "(r)SNS": "sns-r", "(mr)SNS": "sns-mr", "(rmr)SNS": "sns-r-mr"},
    **{"SNS^exp": "sns-exp", "(r)SNS^exp": "sns-exp-r", "(mr)SNS^exp": "sns-exp-mr", "(rmr)SNS^exp": "sns-exp-r-mr"},
}


@pytest.mark.parametrize("number", range(2, 10))
def test_systolic_neighbourhood_search(number: int) -> None:
    table = load_figures("sns", number)
    found = rows_at("sns", f"Table {number} Average", parts=2 if number == 3 else 1)
    second = {SNS_ROWS.get(name, name): cells for name, cells in found.items()}
    for algorithm in table.algorithms:
        ours = [table.figures.get((name, algorithm), (None,))[0] for name in table.instances]
        assert [None if cell == "NA" else float(cell) for cell in second[algorithm]] == ours, algorithm
    if table.optima:
        best = found["Optimal" if number == 2 else "Optimum"]
        assert [float(cell) for cell in best] == list(table.optima.values())


def test_cellular_algorithm() -> None:
    hits, optima = rows_at("pugace", "TABLE II Results"), load_figures("pugace", 2).optima
    for name, figures in printed("pugace", 2).items():
        n, best, *others = map(float, hits[name])
        assert [n, *others] == [figure for figure, _ in figures]
        assert best == optima[name]
    seconds = {name: cells for name, cells in rows_at("pugace", "TABLE III").items() if name[-1:].isalnum()}
    ours = printed("pugace", 3)
    assert {name: [pair(cell) for cell in seconds[name]] for name in ours} == ours
    assert len(seconds) == len(ours) + 1  # the header
    parameters = rows_at("pugace", "TABLE I$")
    assert [[name, *cells] for name, cells in parameters.items()] == [
        [plain(cell) for cell in row] for row in load_text("pugace", 1).rows
    ]


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_multiobjective_local_search(number: int) -> None:
    found = {name: cells for name, cells in rows_at("mls", rf"Table {number}\.").items() if name[:1].isdigit()}
    second = {name: [float(part) for cell in cells for part in cell.split("×")] for name, cells in found.items()}
    assert second == {name: [figure for figure, _ in cells] for name, cells in printed("mls", number).items()}


def test_parallel_genetic_algorithm() -> None:
    lines = lines_of("pgap")
    start = next(k for k, line in enumerate(lines) if line.startswith("Table 3Solution"))
    second = {}
    for kind, m, n, *cells in (cells_of(line) for line in lines[start:] if re.match(r"\| [DEF] \|", line)):
        second[f"{kind.lower()}-{m}x{n}"] = [0.0 if cell == "opt" else float(cell) for cell in cells]
    assert second == {name: [figure for figure, _ in cells] for name, cells in printed("pgap", 3).items()}
    assert len(second) == 39


@pytest.mark.parametrize(
    ("paper", "number", "caption", "rows"),
    [
        ("sns", 1, "Table 1 Parameter", 4),
        ("mls", 1, r"Table 1\.", 4),
        ("pgap", 1, "Table 1$", 6),
        ("pgap", 2, "Table 2$", 15),
    ],
)
def test_parameters(paper: str, number: int, caption: str, rows: int) -> None:
    """Words are ours, so that only numbers and names can be compared."""
    found = [(name, cells) for name, cells in rows_at(paper, caption).items() if re.search(r"\w", name)]
    found = [one for one in found if one[0].lower() not in ("operator", "typeofmemory", "parameters")]
    ours = load_text(paper, number).rows
    assert len(found) == len(ours) == rows
    for (name, cells), row in zip(found, ours, strict=True):
        assert plain(row[0]).lower()[:8] == name.lower()[:8].replace("\\t", "")
        if paper != "pgap" or number == 2:
            numbers = re.findall(NUMBER, " ".join(cells))[: len(re.findall(NUMBER, row[1]))]
            assert numbers == re.findall(NUMBER, plain(row[1]))


@pytest.mark.parametrize("paper", FILES)
def test_contents_name_all_captions(paper: str) -> None:
    text = "\n".join(lines_of(paper))
    roman = {"I": 1, "II": 2, "III": 3}
    tables = {roman.get(n) or int(n) for n in re.findall(r"(?:Table|TABLE)s? ([IVX]+|\d+)", text)}
    figures = {int(n) for n in re.findall(r"\bFig(?:ure|\.) (\d+)", text)}
    items = load_contents(paper)
    assert tables <= {item.number for item in items if item.kind == "table"}
    assert figures <= {item.number for item in items if item.kind == "figure"}
