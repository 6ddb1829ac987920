"""Reports as one HTML page that needs no other file, and tables as parts of one.

The page has a content policy by which a browser fetches nothing and executes nothing but the script that sorts tables.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from html import escape as escape_html
from importlib.resources import files
from typing import TYPE_CHECKING

from systola.lab.blocks import Block, Cell, Picture, Table
from systola.lab.style import figure_bytes
from systola.lab.writers.plain import one_line
from systola.lab.writers.svg import inline_svg

if TYPE_CHECKING:
    from systola.lab.report import Report

_NUMBER = re.compile(r"[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_SORT_FROM = 2  # rows: fewer have one order


def write(report: Report) -> str:
    """The page."""
    body = "\n".join([_contents(report), "<main>", fragment(report), "</main>"])
    return _page(report.title, body, _read("report.js"))


def write_page(title: str, body: str, script: str) -> str:
    """A page of its own, in the style of reports; `body` is HTML already."""
    return _page(title, f"<main>{body}</main>", script)


def _page(title: str, body: str, script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Pictures have styles of their own, which only 'unsafe-inline' allows.
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<style>{_read('report.css')}</style>",
            "</head>",
            "<body>",
            body,
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def fragment(report: Report) -> str:
    """What the page says, without the page around it: for notebooks."""
    parts = [f"<h1>{escape(report.title)}</h1>"]
    if report.notes:
        parts.append(f'<div class="notes" role="note">{_paragraphs(report.notes)}</div>')
    pictures = 0
    for number, section in enumerate(report.sections, 1):
        parts.append(f'<section aria-labelledby="s{number}"><h2 id="s{number}">{escape(section.title)}</h2>')
        for block in section.blocks:
            pictures += isinstance(block, Picture)
            parts.append(write_block(block, f"p{pictures}-"))
        parts.append("</section>")
    lines = report.provenance.lines()
    if lines:
        rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in lines)
        parts.append(
            f'<section aria-labelledby="origin"><h2 id="origin">Where it comes from</h2><dl>{rows}</dl></section>'
        )
    if report.command:
        told = f'<pre tabindex="0"><code>{escape(report.command)}</code></pre>'
        parts.append(f'<section aria-labelledby="again"><h2 id="again">Make it again</h2>{told}</section>')
    return "\n".join(parts)


def write_table(table: Table) -> str:
    """One table with its title and notes."""
    table.check()
    first, *rest = table.header
    head = f'<th scope="col">{escape(first)}</th>' + "".join(f'<th scope="col">{escape(name)}</th>' for name in rest)
    rows = []
    for name, *cells in table.rows:
        texts = "".join(f"<td{_order(cell)}>{_mark(cell)}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row"{_order(name)}>{_mark(name)}</th>{texts}</tr>')
    kind = ' class="sortable"' if len(table.rows) >= _SORT_FROM else ""
    title = escape(table.title)
    return (
        f'<div class="table"><div class="wide" role="region" tabindex="0" aria-label="{title}"><table{kind}>'
        f"<caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f'<div class="small">{_paragraphs(table.notes)}</div></div>'
    )


def escape(text: str) -> str:
    """A text as it is, between tags and in attributes."""
    return escape_html(one_line(text), quote=True)


def _read(name: str) -> str:
    return (files("systola.lab.writers") / name).read_text(encoding="utf-8")


def _contents(report: Report) -> str:
    if len(report.sections) < 2:
        return ""
    links = [(f"s{number}", section.title) for number, section in enumerate(report.sections, 1)]
    if report.provenance.lines():
        links.append(("origin", "Where it comes from"))
    if report.command:
        links.append(("again", "Make it again"))
    items = "".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title in links)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def write_block(block: Block, prefix: str | None = None) -> str:
    """One paragraph, table or picture; the names in a picture get the prefix, or one that no other picture has."""
    if isinstance(block, Table):
        return write_table(block)
    if isinstance(block, Picture):
        drawn = block.drawn if isinstance(block.drawn, str) else figure_bytes(block.drawn, "svg").decode()
        caption = one_line(block.caption)
        svg = inline_svg(drawn, prefix or f"{secrets.token_hex(4)}-", caption)
        return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
    return f"<p>{escape(block)}</p>"


def _paragraphs(texts: tuple[str, ...]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _mark(cell: Cell) -> str:
    return f"<strong>{escape(cell.text)}</strong>" if cell.bold and cell.text else escape(cell.text)


def _order(cell: Cell) -> str:
    """By what the script sorts: attributes of a cell."""
    value = cell.value
    if value is None:
        begins = _NUMBER.match(cell.text)
        value = float(begins[0].replace(",", "").replace("−", "-")) if begins else None
    told = "" if value is None else f' data-value="{value!r}"'
    return told + (f' data-infeasible="{cell.infeasible!r}"' if cell.infeasible else "")
