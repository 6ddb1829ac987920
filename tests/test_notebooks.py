"""Notebooks: those of examples/ are valid, were executed, and run; what objects show in them; a run's live line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import systola as sy
from lab.page import Page
from systola.lab.report import Cell, Table
from systola.lab.statistics import compare
from systola.lab.sweep import Sweep
from systola.run.execution import Progress
from systola.run.live_line import live_line, open_line, tell

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
BOOKS = sorted(EXAMPLES.glob("*.ipynb"))
LARGEST = 300_000  # bytes


def cells_of(book: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def printed(cell: dict[str, Any]) -> str:
    """What a cell has printed: the same every time, as runs are."""
    outputs = [out for out in cell["outputs"] if out["output_type"] == "stream" and out["name"] == "stdout"]
    return "".join("".join(out["text"]) for out in outputs)


def test_there_are_three() -> None:
    assert [book.name for book in BOOKS] == ["compare.ipynb", "own_problem.ipynb", "solve.ipynb"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.name)
def test_notebooks_are_valid_and_were_executed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < LARGEST
    for word in ("/tmp/", "/home/", "/root/", "Traceback"):
        assert word not in text
    book = json.loads(text)
    assert (book["nbformat"], book["metadata"]["kernelspec"]["name"]) == (4, "python3")
    cells = cells_of(book)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    shown = 0
    for cell in cells:
        compile("".join(cell["source"]), path.name, "exec")
        for out in cell["outputs"]:
            assert out["output_type"] != "error"
            html = "".join(out.get("data", {}).get("text/html", ""))
            assert Page(html).fetched() == []
            shown += bool(html)
    assert shown >= 3


@pytest.mark.long
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.name)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    book = nbformat.read(path, 4)
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    before = cells_of(json.loads(path.read_text(encoding="utf-8")))
    assert [printed(cell) for cell in cells_of(book)] == [printed(cell) for cell in before]


@pytest.fixture(scope="module")
def solved() -> sy.Result:
    problem = sy.Knapsack(np.arange(1, 9), np.arange(1, 9), 12)
    return sy.solve(problem, sy.SGA(size=8), stop=sy.Iterations(9), seed=1, backend="python", instance="</table><b>")


def test_results(solved: sy.Result) -> None:
    page = Page(solved._repr_html_())
    assert page.of("b") == []
    assert "instance </table><b>" in page.text
    for name, value in solved._lines().items():
        assert not value or f"{name} {value}" in page.text
    assert len(page.of("polyline")) == 1


def test_fronts(solved: sy.Result) -> None:
    front = [[k, 2.5 * k] for k in range(20)]
    result = replace(solved, objective=front[0], front=front)
    page = Page(result._repr_html_())
    assert "Front objective 1 objective 2 0 0 1 2.5 2 5" in page.text
    assert "8 more" in page.text
    assert len(page.of("tr")) == sum(map(bool, result._lines().values())) + 1 + 12
    swept = Sweep((0.0, 0.5, 1.0), (solved,) * 3, ((1, 2), (3, 4)))
    assert "Front of 3 weights objective 1 objective 2 1 2 3 4" in Page(swept._repr_html_()).text


def test_problems_comparisons_and_tables(solved: sy.Result) -> None:
    problem = sy.Knapsack(np.arange(1, 9), np.arange(1, 9), 12)
    assert "encoding Binary, 8 decisions" in Page(problem._repr_html_()).text
    found = compare({"<b>": [1, 2, 3, 4, 5, 6], "c": [11, 12, 13, 14, 15, 16]})
    page = Page(found._repr_html_())
    assert page.of("b") == []
    assert "<b> is better than c" in page.text
    assert len(Page(Table("T", ("a", "b"), ((Cell("<b>"), Cell("1")),))._repr_html_()).of("table")) == 1


def test_no_live_line_without_a_notebook() -> None:
    assert live_line("run") is None
    assert open_line() is None


def test_a_live_line_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """With IPython itself, but for the kernel, of which nothing is wanted but that it is there."""
    IPython = pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.display_pub = CapturingDisplayPublisher()
    shell.kernel = object()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr(InteractiveShell, "_instance", shell)
    problem = sy.Knapsack(np.arange(1, 9), np.arange(1, 9), 12)
    sy.solve(problem, sy.SGA(size=8), stop=sy.Iterations(9), seed=1, backend="python", instance="<i>run")
    first, *others = shell.display_pub.outputs
    assert "getting ready" in first["data"]["text/plain"]
    assert others
    assert all(out["update"] for out in others)  # in the same place
    assert others[-1]["data"]["text/plain"].startswith("<i>run: best 12, step 9, ")
    assert Page(others[-1]["data"]["text/html"]).of("i") == []


def test_progress_in_words() -> None:
    assert tell(Progress("running", 1200, 5000, 1.25, [1, 2.5], 3.0)) == (
        "best (1, 2.5) (infeasible by 3), step 1,200, 5,000 solutions, 1.2 s"
    )
    assert "cache" in tell(Progress("compiling", 0, 0, 0.0))
