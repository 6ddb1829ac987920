"""Tables of results, rendered as text, Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from systola.errors import InputError
from systola.lab.blocks import Cell, Table
from systola.lab.writers import latex, markdown, text

__all__ = ["Cell", "Table", "compact_table", "format_number", "mean_table", "render", "significance_table"]

Format = Literal["text", "markdown", "csv", "latex"]

BETTER, WORSE, NEITHER, UNKNOWN = "▲", "▽", "–", "?"
"""The signs of a significance table: the row is better, worse, neither; a verdict that is not known."""

MOST_FEASIBLE = "The best of each instance stands out: of the algorithms with the most feasible runs, the best mean."

Samples = Mapping[str, Mapping[str, Sequence[float]]]
"""By instance, then by algorithm, one value a run."""

Printed = Mapping[tuple[str, str], tuple[float, float | None]]
"""By instance and algorithm, mean and standard deviation."""

Counts = Mapping[str, Mapping[str, int]]
"""By instance, then by algorithm."""

_SIGNS: dict[int | None, str] = {1: BETTER, -1: WORSE, 0: NEITHER, None: UNKNOWN}


def mean_table(
    samples: Samples, title: str, *, minimise: bool = True, published: Printed | None = None, runs: Counts | None = None
) -> Table:
    """Mean and standard deviation of every algorithm on every instance; the best of each stands out.

    Parameters
    ----------
    samples
        By instance, then by algorithm, one value a run. Algorithms appear in the order in which they are
        first met; one that is missing on an instance leaves its cell empty.
    title
        The title of the table.
    minimise
        Whether the lowest or the highest mean is the best. Means that print alike are equally good.
    published
        Mean and standard deviation (None if unknown) by (instance, algorithm), such as
        ``PublishedFigures.figures``. Each algorithm that has one gets a second column.
    runs
        How many runs were made, by instance and algorithm, if some may be infeasible. Samples are those of the
        feasible ones, then; each cell shows how many these are, and the best is the best mean of the algorithms
        that have the largest part of feasible runs.

    Returns
    -------
    Table
        One row an instance. A standard deviation (with n - 1) is left out where there is one run only.

    Raises
    ------
    InputError
        If there is nothing to show, or a sample is empty or not finite.
    """
    published = published or {}
    algorithms = list(dict.fromkeys(name for by_name in samples.values() for name in by_name))
    if not algorithms:
        raise InputError("a table needs one sample or more, but got none; run something first")
    doubled = {a for a in algorithms if any((instance, a) in published for instance in samples)}

    header = ["Instance"]
    for algorithm in algorithms:
        header.append(algorithm)
        if algorithm in doubled:
            header.append(f"{algorithm} (published)")

    rows = []
    for instance, by_name in samples.items():
        made = runs[instance] if runs else {}
        summaries = {
            n: _summarise(instance, n, values) for n, values in by_name.items() if len(values) or n not in made
        }
        leading = _leading(by_name, made)
        means = [mean for name, (mean, _) in summaries.items() if name in leading]
        best = format_number(min(means) if minimise else max(means)) if means else ""
        row = [Cell(instance)]
        for algorithm in algorithms:
            told = _format_summary(summaries.get(algorithm))
            bold = algorithm in leading and told.split()[0] == best
            if made.get(algorithm):
                told = f"{told or NEITHER} ({len(by_name[algorithm])}/{made[algorithm]})"
            mean = summaries[algorithm][0] if algorithm in summaries else None
            row.append(Cell(told, bold, mean, _infeasible_share(by_name.get(algorithm, ()), made.get(algorithm, 0))))
            if algorithm in doubled:
                row.append(Cell(_format_summary(published.get((instance, algorithm)))))
        rows.append(tuple(row))

    notes = ["Mean ± standard deviation; the best of each instance stands out."]
    if runs is not None:
        notes = ["Mean ± standard deviation of feasible runs, and how many of all runs are feasible.", MOST_FEASIBLE]
    if doubled:
        notes.append("Published figures stand beside ours and take no part in the choice of the best.")
    return Table(title, tuple(header), tuple(rows), tuple(notes))


def compact_table(
    samples: Samples,
    title: str,
    *,
    decimals: int,
    minimise: bool = True,
    published: Printed | None = None,
    runs: Counts | None = None,
) -> Table:
    """Means alone, a row for each algorithm and a column for each instance; the best of each column stands out.

    Parameters
    ----------
    samples
        By instance, then by algorithm, one value a run. An empty sample is shown as a dash.
    title
        The title of the table.
    decimals
        How many are shown. Means that print alike are equally good.
    minimise
        Whether the lowest or the highest mean is the best.
    published
        As in `mean_table`; here they follow ours in brackets.
    runs
        As in `mean_table`, but numbers are not shown.

    Raises
    ------
    InputError
        If there is nothing to show, or a value is not finite.
    """
    published = published or {}
    algorithms = list(dict.fromkeys(name for by_name in samples.values() for name in by_name))
    if not algorithms:
        raise InputError("a table needs one sample or more, but got none; run something first")
    columns = []
    for instance, by_name in samples.items():
        means = {name: _summarise(instance, name, values)[0] for name, values in by_name.items() if len(values)}
        ours = {name: f"{mean:,.{decimals}f}" for name, mean in means.items()}
        leading = _leading(by_name, runs[instance] if runs else {})
        best = ours[(min if minimise else max)(leading, key=lambda name: means[name])] if leading else ""
        column = []
        for name in algorithms:
            printed = published.get((instance, name))
            told = ours.get(name, NEITHER) + (f" ({printed[0]:,.{decimals}f})" if printed else "")
            column.append(Cell(told, bold=name in leading and ours[name] == best))
        columns.append(column)
    rows = [(Cell(name), *cells) for name, *cells in zip(algorithms, *columns, strict=True)]
    notes = ["Means; the best of each instance stands out."] if runs is None else ["Means.", MOST_FEASIBLE]
    if published:
        notes.append("Published figures follow in brackets and take no part in the choice of the best.")
    return Table(title, ("", *samples), tuple(rows), tuple(notes))


def significance_table(
    names: Sequence[str],
    verdicts: Mapping[str, Sequence[Sequence[int | None]]],
    title: str,
) -> Table:
    """Who is significantly better than whom: the upper triangle of all pairs, one sign an instance.

    Parameters
    ----------
    names
        The algorithms, in the order of the matrices.
    verdicts
        For each instance the square matrix of verdicts: +1 if the row is better, -1 if the column is, 0 if
        neither (as in ``Comparison.verdicts``), None where it is not known.
    title
        The title of the table.

    Returns
    -------
    Table
        A row for each algorithm but the last, a column for each but the first.

    Raises
    ------
    InputError
        If there are fewer than two names, no instances, or a matrix of another size or with other values.
    """
    size = len(names)
    if size < 2 or not verdicts:
        raise InputError(
            f"a significance table needs two algorithms and one instance or more, "
            f"but got {size} and {len(verdicts)}; compare something first"
        )
    for instance, matrix in verdicts.items():
        if len(matrix) != size or any(len(row) != size for row in matrix):
            raise InputError(f"verdicts form a {size} x {size} matrix, one row a name, but not for {instance!r}")
        for verdict in (verdict for row in matrix for verdict in row):
            if verdict not in _SIGNS:
                raise InputError(f"a verdict is -1, 0, +1 or None, but got {verdict!r} for {instance!r}")

    rows = []
    for i in range(size - 1):
        row = [Cell(names[i])]
        for j in range(1, size):
            signs = [_SIGNS[matrix[i][j]] for matrix in verdicts.values()] if j > i else []
            row.append(Cell(" ".join(signs)))
        rows.append(tuple(row))
    notes = [
        f"One sign for each instance, in this order: {', '.join(verdicts)}.",
        f"{BETTER} the row is significantly better, {WORSE} the column is, {NEITHER} neither.",
    ]
    if any(UNKNOWN in cell.text for row in rows for cell in row[1:]):
        notes.append(f"{UNKNOWN} not known.")
    return Table(title, ("", *names[1:]), tuple(rows), tuple(notes))


def format_number(value: float) -> str:
    """Three significant figures and a bare exponent: ``1.59e3``, ``3.88e-1``, ``0.00e0``."""
    mantissa, exponent = f"{value:.2e}".split("e")
    if float(mantissa) == 0:
        mantissa = "0.00"  # never -0.00
    return f"{mantissa}e{int(exponent)}"


def render(table: Table, format: Format) -> str:
    """Write a table as ``text``, ``markdown``, ``csv`` or ``latex``.

    Bold becomes a star in text and is lost in CSV. CSV holds header and rows only. LaTeX needs the packages
    ``booktabs`` and ``amssymb``.

    Raises
    ------
    InputError
        If the format is not one of these, or a row is not as long as the header.
    """
    renderers = {
        "text": text.write_table,
        "markdown": markdown.write_table,
        "csv": _write_csv,
        "latex": latex.write_table,
    }
    if format not in renderers:
        raise InputError(f"a format is one of {', '.join(renderers)}, but got {format!r}")
    return renderers[format](table)


def _summarise(instance: str, algorithm: str, values: Sequence[float]) -> tuple[float, float | None]:
    sample = np.asarray(values, dtype=np.float64)
    if len(sample) == 0 or not np.isfinite(sample).all():
        raise InputError(
            f"a sample holds one value or more, all finite, but that of {algorithm!r} on {instance!r} "
            f"{'is empty' if len(sample) == 0 else 'does not'}; leave such runs out"
        )
    if (sample == sample[0]).all():  # rounding would give equal values a spread
        return float(sample[0]), 0.0 if len(sample) > 1 else None
    return float(sample.mean()), float(sample.std(ddof=1))


def _leading(samples: Mapping[str, Sequence[float]], runs: Mapping[str, int]) -> set[str]:
    """The algorithms with the largest part of feasible runs; none if there is no feasible run."""
    shares = {name: len(values) / runs.get(name, len(values)) for name, values in samples.items() if len(values)}
    return {name for name, share in shares.items() if share == max(shares.values())}


def _infeasible_share(feasible: Sequence[float], runs: int) -> float:
    return 1 - len(feasible) / runs if runs else 0.0


def _format_summary(summary: tuple[float, float | None] | None) -> str:
    if summary is None:
        return ""
    mean, deviation = summary
    return format_number(mean) + ("" if deviation is None else f" ± {format_number(deviation)}")


def _write_csv(table: Table) -> str:
    table.check()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows([cell.text for cell in row] for row in table.rows)
    return out.getvalue()
