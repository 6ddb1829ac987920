"""Reports: the same contents in every format, hostile names, no request to anybody, and LaTeX that compiles."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from lab.page import Page
from systola.errors import InputError
from systola.lab.plots import boxplots
from systola.lab.report import Cell, Picture, Provenance, Report, Section, Table

HOSTILE = "</script><script>alert(1)</script>\"'&amp; \x1b[31m|`*_{$%#~^\\ \N{RIGHT-TO-LEFT OVERRIDE}\n# 中 ▲"
WIDE = Table(
    "A wide table",
    ("Instance", *(f"algorithm {k}" for k in range(30))),
    tuple((Cell(f"instance {i}"), *(Cell(f"{i * k:,} ± 12", value=i * k) for k in range(30))) for i in range(3)),
)


def report_of(name: str, *blocks: str | Table | Picture) -> Report:
    table = Table(
        f"Table of {name}", (name, "b"), ((Cell(name), Cell("1,234 ± 5", True)), (Cell("x"), Cell(name))), (name,)
    )
    origin = Provenance({name: name}, "1 to 30", {"systola": "0.1"}, name, "2026-01-02 03:04 UTC")
    first = Section(f"First {name}", (f"Words of {name}.", table, *blocks))
    return Report(
        f"Report on {name}", (first, Section("Second", ("More.",))), origin, f"systola compare '{name}'", (name,)
    )


@pytest.fixture(scope="module")
def picture() -> Picture:
    return Picture("Spread of <b> & others", boxplots({"<b>": [1, 2, 3], "$x_1$": [2, 3, 4]}))


def test_everything_is_in_every_format(picture: Picture) -> None:
    report = report_of("alpha", picture)
    told = ["Report on alpha", "First alpha", "Words of alpha.", "Table of alpha", "1,234 ± 5", "More.", "1 to 30"]
    told += ["systola 0.1", "2026-01-02 03:04 UTC", "systola compare 'alpha'", "Spread of <b> & others"]
    page = Page(report.to_html()).text
    for words in told:
        assert words in page, words
        assert words in report.to_text(), words
        assert words.replace("<", "\\<") in report.to_markdown() or words in report.to_markdown(), words
    latex = report.to_latex()
    assert r"1,234 $\pm$ 5" in latex
    assert r"Spread of \textless{}b\textgreater{} \& others" in latex


def test_html_asks_nobody_for_anything(picture: Picture) -> None:
    text = report_of("alpha", picture, picture).to_html()
    page = Page(text)
    assert page.fetched() == []
    assert len(page.of("svg")) == 2
    assert len(set(page.ids())) == len(page.ids())  # the same picture twice, and yet no name twice
    assert {"role": "img", "aria-label": "Spread of <b> & others"}.items() <= page.of("svg")[0].items()
    links = {attrs["href"] for attrs in page.of("a")} | {attrs["href"] for attrs in page.of("use")}
    assert {link[1:] for link in links if link} <= set(page.ids())
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []


def test_only_the_sorting_script_may_run(picture: Picture) -> None:
    text = report_of(HOSTILE, picture).to_html()
    (policy,) = (m["content"] or "" for m in Page(text).of("meta") if m.get("http-equiv") == "Content-Security-Policy")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    assert "aria-sort" in script


def test_html_is_valid_html5(picture: Picture) -> None:
    html5lib = pytest.importorskip("html5lib", reason="html5lib is not installed")
    parser = html5lib.HTMLParser(strict=True)
    parser.parse(report_of(HOSTILE, picture).to_html())
    assert parser.errors == []


def test_hostile_names_are_only_texts(picture: Picture) -> None:
    report = report_of(HOSTILE, picture)
    page = Page(report.to_html())
    assert len(page.of("script")) == 1
    assert "</script><script>alert(1)</script>" in page.text
    assert "\x1b" not in report.to_text() + report.to_html() + report.to_markdown() + report.to_latex()
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in report.to_text()
    markdown = report.to_markdown()
    assert "<script" not in markdown.replace("\\<script", "").partition("## Make it again")[0]
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {line.replace("\\\\", "").replace("\\|", "").count("|") for line in rows} == {3}
    assert r"\textbackslash{} ?" in report.to_latex()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_name(name: str) -> None:
    report = report_of(name)
    page = Page(report.to_html())
    assert len(page.of("table")) == 1
    assert page.fetched() == []
    assert max(cell_len(line) for line in report.to_text().partition("Make it again")[0].splitlines()) <= 120
    assert report.to_latex().isprintable() or "\n" in report.to_latex()


def test_tables_say_how_to_sort_them() -> None:
    rows = (
        (Cell("a"), Cell("– (0/2)", infeasible=1.0)),
        (Cell("b"), Cell("9.00e0 (1/2)", value=9.0, infeasible=0.5)),
        (Cell("c"), Cell("1,234.5 ± 3")),
        (Cell("d"), Cell("−2")),
    )
    page = Page(Report("R", (Section("S", (Table("T", ("", "x"), rows),)),)).to_html())
    assert page.of("td") == [
        {"data-infeasible": "1.0"},
        {"data-value": "9.0", "data-infeasible": "0.5"},
        {"data-value": "1234.5"},
        {"data-value": "-2.0"},
    ]
    assert page.of("table") == [{"class": "sortable"}]
    assert {attrs.get("scope") for attrs in page.of("th")} == {"col", "row"}


def test_wide_tables_fit_a_terminal() -> None:
    long = Table("T" * 150, ("x" * 70, "y" * 200), ((Cell("n" * 130), Cell("v" * 300)),), ("w " * 100,))
    text = Report("R " * 90, (Section("S " * 90, (WIDE, long, "p " * 100)),)).to_text()
    assert max(map(len, text.splitlines())) <= 120
    for k in range(30):
        assert len(re.findall(rf"\balgorithm {k}\b", text)) == 1
    assert text.count("instance 2") > 1  # rows have their name in every part
    assert text.count("v") == 300


def test_files_and_their_pictures(tmp_path: Path, picture: Picture) -> None:
    report = report_of("alpha", picture, Picture("Drawn by hand", SQUARE))
    for ending, count in ((".txt", 1), (".html", 1), (".md", 3), (".tex", 2)):
        files = report.save(tmp_path / f"found{ending}")
        assert [file.is_file() for file in files] == [True] * count
        assert files[-1] == tmp_path / f"found{ending}"
        for file in files[:-1]:
            assert file.relative_to(tmp_path).as_posix() in files[-1].read_text()
    assert sorted(p.name for p in (tmp_path / "found-pictures").iterdir()) == [
        "01-spread-of-b-others.pdf",
        "01-spread-of-b-others.svg",
        "02-drawn-by-hand.svg",
    ]
    pdf = (tmp_path / "found-pictures/01-spread-of-b-others.pdf").read_bytes()
    assert b"/FontFile2" in pdf  # TrueType
    assert b"/Type3" not in pdf
    assert "<text" in (tmp_path / "found-pictures/01-spread-of-b-others.svg").read_text()


SQUARE = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)" width="9" '
    'height="9"><style>@import "http://x.test/a.css"</style><script>alert(1)</script><a href="http://x.test"/>'
    '<image xlink:href="http://x.test/p.png"/><rect id="r" width="9" height="9" style="fill: url(http://x.test)"/>'
    '<foreignObject/><use href="#r" onclick="alert(1)" fill="url(#r)"/><text>&lt;b&gt; &amp;</text></svg>'
)


def test_pictures_do_nothing_but_show() -> None:
    text = report_of("alpha", Picture("A square", SQUARE)).to_html()
    page = Page(text)
    assert page.fetched() == []
    assert len(page.of("script")) == 1
    assert len(page.of("style")) == 1
    assert "http" not in text.replace("http-equiv", "")
    assert page.of("use") == [{"href": "#p1-r", "fill": "url(#p1-r)"}]
    assert [name for _, attrs in page.tags for name in attrs if name.startswith("on")] == []
    assert "<b> &" in page.text


@pytest.mark.parametrize(("svg", "words"), [("<svg", "well-formed"), ("<html/>", "begins with <html>")])
def test_wrong_pictures(svg: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        report_of("alpha", Picture("A square", svg)).to_html()


def test_wrong_endings_and_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in .txt, .md, .tex, .html, but got 'report.docx'"):
        report_of("alpha").save("report.docx")
    with pytest.raises(InputError, match="can be written"):
        report_of("alpha").save(tmp_path / "none" / "report.html")


def test_provenance_of_here() -> None:
    lines = dict(Provenance.here({"runs": "30"}, "1 to 30").lines())
    assert lines["runs"] == "30"
    assert {"seeds", "versions", "machine", "date"} <= lines.keys()
    assert "systola" in lines["versions"]
    assert "cores" in lines["machine"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path: Path, picture: Picture) -> None:
    long = Table("Long", ("a", "b"), tuple((Cell(f"[{k}]"), Cell("* ±")) for k in range(100)))
    every = "".join(map(chr, range(32, 0x250))) + "→∞²½ﬁ😀é中"
    report_of(HOSTILE, picture, WIDE, long, every).save(tmp_path / "found.tex")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "found.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in (tmp_path / "found.log").read_text(errors="replace")
    assert (tmp_path / "found.pdf").stat().st_size > 10_000
