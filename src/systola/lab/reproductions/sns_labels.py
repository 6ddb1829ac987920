"""Systolic Neighborhood Search: whether the labels (r) and (mr) of a published table are exchanged.

Random changes cost random numbers, so (r) must take longer than the plain mesh, and moving rows nothing. Table 2 has
both blocks against that, and in another order than all other tables; the tables of seconds have the square mesh.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from systola.lab.outcomes import Samples
from systola.lab.published import load_figures
from systola.lab.tables import Cell, Table

BLOCKS = {"square": "sns", "exponential": "sns-exp"}
DOUBTFUL = {2: ("square", "exponential"), 3: ("square",), 5: ("square",), 7: ("square",), 9: ("square",)}
"""The blocks of each table in which the labels are probably exchanged."""


def label_table(number: int, samples: Samples, what: str) -> tuple[Table, ...]:
    """Mean deviation of ours from the published figures, with the labels as printed and with (r) and (mr) exchanged;
    none for a table whose labels are not in doubt, or if not all variants ran."""
    printed = load_figures("sns", number).figures
    rows = []
    for base in (BLOCKS[block] for block in DOUBTFUL.get(number, ())):
        exchanged = {f"{base}-r": f"{base}-mr", f"{base}-mr": f"{base}-r"}
        for variant in (base, f"{base}-r", f"{base}-mr", f"{base}-r-mr"):
            pair = [
                _deviation(samples, printed, variant, other) for other in (variant, exchanged.get(variant, variant))
            ]
            known = [part for part in pair if part is not None]
            if len(known) < 2:
                return ()
            least = min(map(abs, known)) if variant in exchanged else None
            rows.append((Cell(variant), *(Cell(f"{100 * part:+.1f} %", abs(part) == least) for part in known)))
    if not rows:
        return ()
    why = (
        "in the exponential block of Tables 4 and 6 it is (r) that gains most, here (mr), and Table 2 alone has (mr) "
        "before (r) there. Neither reading gives the figures of the plain mesh."
        if what == "profit"
        else "random changes cost time and moving rows hardly any, but here it is (mr) that costs."
    )
    notes = (
        f"Mean over the instances of ours by the published {what}, less one. Exchanged: ours of (r) beside what is "
        "printed as (mr), and the other way round. The closer one stands out.",
        f"Why they are probably exchanged: {why}",
    )
    title = f"Table {number}: the labels (r) and (mr), as printed and exchanged"
    return (Table(title, ("", "as printed", "exchanged"), tuple(rows), notes),)


def _deviation(
    samples: Samples, printed: Mapping[tuple[str, str], tuple[float, float | None]], ours: str, theirs: str
) -> float | None:
    parts = [
        fmean(by_name[ours]) / printed[name, theirs][0] - 1
        for name, by_name in samples.items()
        if by_name.get(ours) and (name, theirs) in printed
    ]
    return fmean(parts) if parts else None
