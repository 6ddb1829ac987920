"""What surrounds the code agrees with it: licence, citation, metadata, workflows, and the pages of the site.

YAML is read by patterns, since no dependency of systola reads it.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import systola
import systola.extend
import systola.formats
import systola.problems

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ELSEWHERE = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
# Constants have no docstring that the reference could show; its pages name them in a sentence.
IN_SENTENCES = re.compile(r"[A-Z]+|__version__")
MODULES = [systola, systola.extend, systola.problems, systola.formats]
DEVELOPERS = "The systola developers"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(read("pyproject.toml"))
    return found


def nav_pages() -> list[str]:
    nav = re.search(r"^nav:\n(.*?)^\S", read("mkdocs.yml"), re.MULTILINE | re.DOTALL)
    assert nav
    return re.findall(r": (\S+\.md)$", nav[1], re.MULTILINE)


def reference() -> list[str]:
    """All that the API reference shows, by its full name."""
    return [name for page in (DOCS / "api").glob("*.md") for name in re.findall(r"^::: (\S+)$", page.read_text(), re.M)]


def classified_pythons() -> set[str]:
    return set(re.findall(r"Python :: (3\.\d+)", "\n".join(project()["project"]["classifiers"])))


def test_licence() -> None:
    text = read("LICENSE")
    assert text.startswith("MIT License\n")
    assert re.search(rf"^Copyright \(c\) \d{{4}} {DEVELOPERS}$", text, re.MULTILINE)
    assert (project()["project"]["license"], project()["project"]["license-files"]) == ("MIT", ["LICENSE"])


def test_citation() -> None:
    text = read("CITATION.cff")
    own, _, papers = text.partition("\nreferences:\n")
    fields = dict(re.findall(r"^([a-z-]+): *(.+)$", own, re.MULTILINE))
    assert fields["cff-version"] == "1.2.0"
    assert fields["version"] == systola.__version__
    assert fields["license"] == "MIT"
    assert re.search(rf'^authors:\n  - name: "{DEVELOPERS}"$', own, re.MULTILINE)
    assert "\t" not in text
    entries = re.split(r"^  - ", papers, flags=re.MULTILINE)[1:]
    assert len(entries) == 5
    for entry in entries:
        assert {"type", "title", "authors", "year", "notes"} <= set(re.findall(r"^ *([a-z-]+):", entry, re.MULTILINE))


def test_no_names_and_no_addresses() -> None:
    metadata = project()["project"]
    assert metadata["authors"] == [{"name": DEVELOPERS}]
    assert "urls" not in metadata


def test_workflows_try_the_pythons_that_are_promised() -> None:
    assert {w.name for w in WORKFLOWS} == {"tests.yml", "docs.yml", "wheels.yml"}
    for name in ("tests.yml", "wheels.yml"):
        matrix = re.search(r"^ +python-version: \[(.*)\]$", read(f".github/workflows/{name}"), re.MULTILINE)
        assert matrix, name
        assert set(re.findall(r'"(3\.\d+)"', matrix[1])) == classified_pythons(), name
    oldest = min(classified_pythons(), key=lambda v: int(v.partition(".")[2]))
    assert project()["project"]["requires-python"] == f">={oldest}"
    assert set(re.findall(r"\b3\.\d+", re.findall(r"^\| Python \|.*$", read("docs/platforms.md"), re.M)[0])) == (
        classified_pythons()
    )


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda p: p.name)
def test_workflows_run_what_make_has(workflow: Path) -> None:
    used = re.findall(r"run: make (\S+)", workflow.read_text())
    assert used
    for target in used:
        assert re.search(rf"^{target}:", read("Makefile"), re.MULTILINE), f"{workflow.name} runs make {target}"


def test_oldest_versions_are_the_lower_bounds() -> None:
    pinned = dict(re.findall(r"^(\w+)==(\S+)$", read("constraints-oldest.txt"), re.MULTILINE))
    allowed = dict(re.findall(r"(\w+)>=([\d.]+)", " ".join(project()["project"]["dependencies"])))
    assert pinned
    assert pinned == {name: allowed[name] for name in pinned}


def test_hooks_call_the_tools_of_the_environment() -> None:
    text = read(".pre-commit-config.yaml")
    assert re.findall(r"repo: (\S+)", text) == ["local"]
    extras = " ".join(project()["project"]["optional-dependencies"]["dev"])
    tools = re.findall(r"entry: \.venv/bin/(\w+)", text)
    assert tools
    for tool in tools:
        assert f"{tool}>=" in extras


def test_every_page_is_in_the_nav() -> None:
    written = {p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")}
    pages = nav_pages()
    assert len(pages) == len(set(pages))
    assert set(pages) == written | set(ELSEWHERE)
    for source in ELSEWHERE.values():
        assert (ROOT / source).is_file()


@pytest.mark.parametrize("name", reference())
def test_what_the_reference_shows_exists_and_has_a_docstring(name: str) -> None:
    try:
        found = importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        found = getattr(importlib.import_module(module), last)
    assert found.__doc__, name


@pytest.mark.parametrize(
    "module", [systola, systola.extend, systola.problems, systola.formats], ids=lambda m: m.__name__
)
def test_the_reference_shows_every_public_name(module: Any) -> None:
    shown = {name.rpartition(".")[2] for name in reference()}
    page = (DOCS / "api" / f"{module.__name__.rpartition('.')[2]}.md").read_text()
    for name in module.__all__:
        if IN_SENTENCES.fullmatch(name) and name not in shown:
            assert re.search(rf"`(sy\.)?{name}`", page), f"{page[:30]!r} does not name {name}"
        else:
            assert name in shown, (
                f"docs/api does not show {module.__name__}.{name}; add a line `::: {module.__name__}.{name}`"
            )


def test_types_are_shipped() -> None:
    assert (ROOT / "src" / "systola" / "py.typed").is_file()
    assert "Typing :: Typed" in project()["project"]["classifiers"]


PUBLIC = ("systola", "systola.problems", "systola.formats", "systola.lab", "systola.extend")


def imported_modules(text: str) -> set[str]:
    """Modules of systola that Python code in a text imports from."""
    found = re.findall(r"^\s*(?:from (systola[\w.]*) import|import (systola[\w.]*))", text, re.MULTILINE)
    return {one or other for one, other in found}


@pytest.mark.parametrize(
    "path",
    [
        *sorted(DOCS.rglob("*.md")),
        *sorted((ROOT / "examples").rglob("*.py")),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    ],
    ids=lambda path: path.name,
)
def test_pages_and_examples_import_public_modules_only(path: Path) -> None:
    for module in imported_modules(path.read_text(encoding="utf-8")):
        inside_lab = module.startswith(("systola.lab.", "systola.formats.", "systola.problems."))
        assert module in PUBLIC or inside_lab, f"{path.name} imports {module}, which is not public"


def test_the_root_has_few_modules() -> None:
    modules = {path.name for path in (ROOT / "src" / "systola").glob("*.py")}
    assert len(modules) <= 10, modules


def test_functions_have_at_most_eight_parameters() -> None:
    """`solve` and `ask_and_tell` have more: all that a user may say of a run."""
    long = set()
    for path in (ROOT / "src" / "systola").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = node.args
                if len([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]) > 8:
                    long.add(f"{path.name}:{node.name}")
    assert long == {"solve.py:solve", "solve.py:ask_and_tell"}
