"""What `make docs` does beyond MkDocs, so that each page has one source that also reads well on a code host.

- README.md, CHANGELOG.md and CONTRIBUTING.md, which lie outside of docs/, become pages;
- links between files of the repository become links between pages; a source file that is linked to becomes a page, too;
- formulas become MathML, which browsers draw by themselves;
- a page that would fetch something from elsewhere is an error.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml"}

_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"^(`{3,})\w*\n.*?^\1$", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_TAG = re.compile(r"\\tag\{(\w+)\}")
_FETCHED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")


def _page_of(target: str) -> str:
    """Which page of the site a file of the repository is on; both by their paths."""
    if target in PAGES:
        return PAGES[target]
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"source/{target}.md"


def _source_of(page: str) -> str:
    """The file of the repository that a page is made from."""
    return next((source for source, name in PAGES.items() if name == page), f"docs/{page}")


def _outside_of_code(text: str, change: Any) -> str:
    """The text with everything changed but fenced code."""
    parts, end = [], 0
    for fence in _CODE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def _linked_files(source: str, text: str) -> list[str]:
    targets = (posixpath.normpath(posixpath.join(posixpath.dirname(source), m[1])) for m in _LINK.finditer(text))
    return [t for t in targets if (ROOT / t).is_file()]


def _notebook(book: dict[str, Any]) -> str:
    """A notebook as it was executed: its words, its code, and what that printed and showed."""
    parts = []
    for cell in book["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for out in cell.get("outputs", []):
            shown = "".join(out.get("data", {}).get("text/html", ""))
            if out["output_type"] == "stream":
                parts.append(f"```text\n{''.join(out['text']).rstrip()}\n```")
            elif shown:
                parts.append(f"<div>{shown}</div>".replace("\n", "&#10;"))  # HTML ends at an empty line
    return "\n\n".join(parts) + "\n"


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for file in list(files.documentation_pages()):
        for target in _linked_files(_source_of(file.src_uri), file.content_string):
            page = _page_of(target)
            if page.startswith("source/") and files.get_file_from_path(page) is None:
                text = (ROOT / target).read_text(encoding="utf-8").rstrip()
                language = LANGUAGES.get(Path(target).suffix, "text")
                content = f"# {target}\n\n`````{language}\n{text}\n`````\n"
                if target.endswith(".ipynb"):
                    content = _notebook(json.loads(text))
                files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to pages, and write formulas as MathML."""
    here = page.file.src_uri
    if here.startswith("source/"):
        return markdown
    source = _source_of(here)

    def lead(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        if not (ROOT / target).is_file():
            return link[0]  # MkDocs says what is wrong with it
        return f"]({posixpath.relpath(_page_of(target), posixpath.dirname(here) or '.')}{link[2] or ''})"

    def draw(formula: re.Match[str]) -> str:
        return convert(_TAG.sub(r"\\qquad (\1)", formula[1]), display="block")

    return _outside_of_code(markdown, lambda text: _FORMULA.sub(draw, _LINK.sub(lead, text)))


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse what a browser would fetch from elsewhere."""
    fetched = _FETCHED.search(output)
    if fetched:
        raise PluginError(f"{page.file.src_uri}: the site must need nothing from elsewhere, but has {fetched[0]}")
    return output
