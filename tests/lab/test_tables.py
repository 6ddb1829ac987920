"""Tables: what is in them, and exactly how each format looks."""

from __future__ import annotations

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from systola.errors import InputError
from systola.lab.tables import Cell, Table, format_number, mean_table, render, significance_table

SAMPLES = {
    "knapsack:100-1000": {"rs": [1500.0, 1680.0, 1590.0], "sgs_v": [0.0, 0.0, 0.0], "sgs_b": [0.0, 0.0, 0.0]},
    "knapsack:200-1000": {"rs": [5270.0, 5100.0, 5400.0], "sgs_v": [0.5, 0.0, 1.0], "sgs_b": [0.0, 0.0, 0.3]},
}
PUBLISHED = {("knapsack:100-1000", "rs"): (1590.0, 85.6), ("knapsack:200-1000", "rs"): (5270.0, None)}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1590, "1.59e3"),
        (85.6, "8.56e1"),
        (0, "0.00e0"),
        (-0.0, "0.00e0"),
        (0.388, "3.88e-1"),
        (-12.345, "-1.23e1"),
        (9.999, "1.00e1"),
        (1.34e105, "1.34e105"),
    ],
)
def test_format_number(value: float, text: str) -> None:
    assert format_number(value) == text


@given(st.floats(-1e100, 1e100))
def test_format_number_is_close(value: float) -> None:
    assert float(format_number(value)) == pytest.approx(value, rel=0.0051)


def test_text() -> None:
    assert render(mean_table(SAMPLES, "Error"), "text") == (
        "Error\n"
        "\n"
        "Instance                        rs              sgs_v               sgs_b\n"
        "-------------------------------------------------------------------------\n"
        "knapsack:100-1000  1.59e3 ± 9.00e1   *0.00e0 ± 0.00e0    *0.00e0 ± 0.00e0\n"
        "knapsack:200-1000  5.26e3 ± 1.50e2  5.00e-1 ± 5.00e-1  *1.00e-1 ± 1.73e-1\n"
        "\n"
        "Mean ± standard deviation; the best of each instance stands out.\n"
    )


def test_markdown_with_published() -> None:
    assert render(mean_table(SAMPLES, "Error", published=PUBLISHED), "markdown") == (
        "**Error**\n"
        "\n"
        "| Instance | rs | rs (published) | sgs\\_v | sgs\\_b |\n"
        "| :-- | --: | --: | --: | --: |\n"
        "| knapsack:100-1000 | 1.59e3 ± 9.00e1 | 1.59e3 ± 8.56e1 "
        "| **0.00e0 ± 0.00e0** | **0.00e0 ± 0.00e0** |\n"
        "| knapsack:200-1000 | 5.26e3 ± 1.50e2 | 5.27e3 | 5.00e-1 ± 5.00e-1 | **1.00e-1 ± 1.73e-1** |\n"
        "\n"
        "Mean ± standard deviation; the best of each instance stands out.\n"
        "\n"
        "Published figures stand beside ours and take no part in the choice of the best.\n"
    )


def test_csv() -> None:
    assert render(mean_table(SAMPLES, "Error"), "csv") == (
        "Instance,rs,sgs_v,sgs_b\n"
        "knapsack:100-1000,1.59e3 ± 9.00e1,0.00e0 ± 0.00e0,0.00e0 ± 0.00e0\n"
        "knapsack:200-1000,5.26e3 ± 1.50e2,5.00e-1 ± 5.00e-1,1.00e-1 ± 1.73e-1\n"
    )


def test_latex() -> None:
    assert render(mean_table(SAMPLES, "Error in %"), "latex") == (
        "\\begin{table}\n"
        "\\centering\n"
        "\\caption{Error in \\%}\n"
        "\\begin{tabular}{lrrr}\n"
        "\\toprule\n"
        "Instance & rs & sgs\\_v & sgs\\_b \\\\\n"
        "\\midrule\n"
        "knapsack:100-1000 & 1.59e3 $\\pm$ 9.00e1 & \\textbf{0.00e0 $\\pm$ 0.00e0} & "
        "\\textbf{0.00e0 $\\pm$ 0.00e0} \\\\\n"
        "knapsack:200-1000 & 5.26e3 $\\pm$ 1.50e2 & 5.00e-1 $\\pm$ 5.00e-1 & "
        "\\textbf{1.00e-1 $\\pm$ 1.73e-1} \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\n"
        "\\smallskip Mean $\\pm$ standard deviation; the best of each instance stands out.\n"
        "\\end{table}\n"
    )


def test_maximise_missing_and_single_runs() -> None:
    table = mean_table({"x": {"a": [1.0], "b": [2.0, 4.0]}, "y": {"b": [1.0]}}, "Profit", minimise=False)
    assert table.header == ("Instance", "a", "b")
    assert table.rows == (
        (Cell("x"), Cell("1.00e0", value=1.0), Cell("3.00e0 ± 1.41e0", bold=True, value=3.0)),
        (Cell("y"), Cell(""), Cell("1.00e0", bold=True, value=1.0)),
    )


def test_most_feasible_runs_first() -> None:
    """Samples are those of feasible runs: more of them are better than a better mean, and none are never the best."""
    samples = {"x": {"a": [9.0], "b": [1.0, 3.0], "c": [2.0, 3.0], "d": []}, "y": {"a": [], "d": []}}
    runs = {"x": dict.fromkeys("abcd", 2), "y": {"a": 2, "d": 0}}
    table = mean_table(samples, "Profit", minimise=False, runs=runs)
    assert [[cell.text for cell in row[1:]] for row in table.rows] == [
        ["9.00e0 (1/2)", "2.00e0 ± 1.41e0 (2/2)", "2.50e0 ± 7.07e-1 (2/2)", "– (0/2)"],
        ["– (0/2)", "", "", ""],
    ]
    assert [cell.bold for row in table.rows for cell in row[1:]] == [False, False, True, False] + [False] * 4
    assert [cell.infeasible for row in table.rows for cell in row[1:]] == [0.5, 0, 0, 1, 1, 0, 0, 0]


def test_equal_values_have_no_spread() -> None:
    (row,) = mean_table({"x": {"a": [0.1] * 3, "b": [1.0, 2.0]}}, "Error").rows
    assert row[1] == Cell("1.00e-1 ± 0.00e0", bold=True, value=0.1)


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_bad_sample(values: list[float]) -> None:
    with pytest.raises(InputError, match="'a' on 'x'"):
        mean_table({"x": {"a": values}}, "Error")


def test_nothing_to_show() -> None:
    with pytest.raises(InputError, match="one sample or more"):
        mean_table({}, "Error")


VERDICTS = {
    "300": [[0, -1, -1], [1, 0, 0], [1, 0, 0]],
    "600": [[0, -1, -1], [1, 0, 1], [1, -1, 0]],
}


def test_significance_text() -> None:
    assert render(significance_table(["rs", "ega", "sgs-b"], VERDICTS, "Significance"), "text") == (
        "Significance\n"
        "\n"
        "     ega  sgs-b\n"
        "---------------\n"
        "rs   ▽ ▽    ▽ ▽\n"
        "ega         – ▲\n"
        "\n"
        "One sign for each instance, in this order: 300, 600.\n"
        "▲ the row is significantly better, ▽ the column is, – neither.\n"
    )


def test_significance_latex() -> None:
    text = render(significance_table(["rs", "ega", "sgs-b"], VERDICTS, "Significance"), "latex")
    assert "rs & $\\triangledown$ $\\triangledown$ & $\\triangledown$ $\\triangledown$ \\\\\n" in text
    assert "ega &  & -- $\\blacktriangle$ \\\\\n" in text


def test_significance_unknown() -> None:
    table = significance_table(["a", "b"], {"x": [[0, None], [None, 0]]}, "Significance")
    assert table.rows == ((Cell("a"), Cell("?")),)
    assert table.notes[-1] == "? not known."


@pytest.mark.parametrize(
    ("names", "verdicts", "words"),
    [
        (["a"], {"x": [[0]]}, "two algorithms"),
        (["a", "b"], {}, "one instance"),
        (["a", "b"], {"x": [[0, 1]]}, "2 x 2"),
        (["a", "b"], {"x": [[0, 1, 0], [0, 1, 0]]}, "2 x 2"),
        (["a", "b"], {"x": [[0, 2], [0, 0]]}, "got 2 for 'x'"),
    ],
)
def test_bad_verdicts(names: list[str], verdicts: dict[str, list[list[int]]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        significance_table(names, verdicts, "Significance")


def test_unknown_format() -> None:
    with pytest.raises(InputError, match="text, markdown, csv, latex"):
        render(mean_table(SAMPLES, "Error"), "html")  # type: ignore[arg-type]


def test_ragged_rows() -> None:
    with pytest.raises(InputError, match="row 'x'"):
        render(Table("T", ("a", "b"), ((Cell("x"),),)), "text")


def test_latex_escapes() -> None:
    text = render(Table("T", ("a\\b{c}", "x^2~&#$"), ()), "latex")
    assert "a\\textbackslash{}b\\{c\\} & x\\textasciicircum{}2\\textasciitilde{}\\&\\#\\$ \\\\" in text


names = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=8)


@given(st.lists(st.tuples(names, names), max_size=4))
def test_csv_reads_back(pairs: list[tuple[str, str]]) -> None:
    table = Table("T", ("a", "b"), tuple((Cell(left), Cell(right, bold=True)) for left, right in pairs))
    back = list(csv.reader(io.StringIO(render(table, "csv"), newline="")))
    assert back == [["a", "b"], *([left, right] for left, right in pairs)]


@given(st.lists(st.tuples(names, names), max_size=4))
def test_markdown_keeps_its_columns(pairs: list[tuple[str, str]]) -> None:
    table = Table("T", ("a", "b"), tuple((Cell(left), Cell(right, bold=True)) for left, right in pairs))
    for line in render(table, "markdown").splitlines()[2:]:
        assert line.replace("\\\\", "").replace("\\|", "").count("|") == 3
