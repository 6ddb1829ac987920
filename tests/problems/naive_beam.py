"""The obvious twin of beam search on flowshops: nodes are lists of jobs, and all is counted anew for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Node(NamedTuple):
    firsts: list[int]  # the first jobs, in order
    lasts: list[int]  # the last jobs, the very last one first


def schedule(times: Sequence[Sequence[int]], jobs: Sequence[int]) -> tuple[list[int], int]:
    """When each machine is done with these jobs, and how long all of them have waited."""
    free, idle = [0] * len(times), 0
    for job in jobs:
        now = 0
        for machine, row in enumerate(times):
            begin = max(now, free[machine])
            idle += begin - free[machine]
            now = free[machine] = begin + row[job]
    return free, idle


def look(times: Sequence[Sequence[int]], node: Node) -> tuple[int, int]:
    """The bound of a node, and its idle time."""
    heads, idle = schedule(times, node.firsts)
    tails, more = schedule(times[::-1], node.lasts)
    placed = {*node.firsts, *node.lasts}
    left = [sum(time for job, time in enumerate(row) if job not in placed) for row in times]
    return max(h + w + t for h, w, t in zip(heads, left, tails[::-1], strict=True)), idle + more


def search_beam(times: Sequence[Sequence[int]], width: int, weight: int, limit: int) -> list[int] | None:
    """The best order of a beam, or None."""
    machines, jobs = len(times), len(times[0])
    nodes = [Node([], [])]
    for depth in range(jobs):
        children = []
        for node in nodes:
            rest = [job for job in range(jobs) if job not in node.firsts + node.lasts]
            ends = [
                [Node([*node.firsts, job], node.lasts) for job in rest],
                [Node(node.firsts, [*node.lasts, job]) for job in rest],
            ]
            looks = [[look(times, child) for child in end] for end in ends]
            few = [sum(bound < limit for bound, _ in end) for end in looks]
            large = [sum(bound for bound, _ in end) for end in looks]
            end = 0 if few[0] < few[1] or (few[0] == few[1] and large[0] >= large[1]) else 1
            children += [
                (bound * 100 * machines * jobs + idle * weight * (jobs - depth), child)
                for child, (bound, idle) in zip(ends[end], looks[end], strict=True)
                if bound < limit
            ]
        best = sorted(range(len(children)), key=lambda k: (children[k][0], k))[:width]
        nodes = [children[k][1] for k in sorted(best)]
    orders = [node.firsts + node.lasts[::-1] for node in nodes]
    return min(orders, key=lambda order: schedule(times, order)[0][-1], default=None)
