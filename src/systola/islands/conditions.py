"""The conditions under which migration loses nothing: Liu, Wang 2015, section 3.3."""

from __future__ import annotations

from systola.errors import InputError


def check_conditions(degree: int, rate: int, intervals: tuple[int, int], slots: int, pool: int) -> None:
    """An InputError if buffers could overflow.

    Parameters
    ----------
    degree
        Neighbours of a deme.
    rate
        Solutions in an export.
    intervals
        Iterations from one export to the next, and from one import to the next.
    slots, pool
        Solutions that may be on their way from a deme, and that may wait in one.
    """
    out, back = intervals
    if back * rate > slots * out:
        raise InputError(
            "`import_every / export_every <= send_slots / rate` must hold, or sending buffers overflow (Condition "
            f"1 of Liu, Wang 2015), but got {back} / {out} > {slots} / {rate}; set import_every to "
            f"{slots * out // rate} or less, or send_slots to {-(-back * rate // out)} or more"
        )
    if degree * rate > out:
        raise InputError(
            f"`{degree} * rate <= export_every` must hold for demes with {degree} neighbours, or more arrives than "
            f"can be imported (Condition 2 of Liu, Wang 2015), but got rate {rate} and export_every {out}; set "
            f"export_every to {degree * rate} or more, or rate to {out // degree} or less"
        )
    if pool < slots * degree:
        raise InputError(
            f"`pool >= {degree} * send_slots` must hold for demes with {degree} neighbours, or what has arrived may"
            f" be lost (Condition 2 of Liu, Wang 2015), but got pool {pool} and send_slots {slots}; set pool "
            f"to {slots * degree} or more, or send_slots to {pool // degree} or less"
        )
