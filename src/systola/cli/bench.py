"""`systola bench`: how fast this machine is."""

from __future__ import annotations

import json
import statistics
from typing import Any

import click

from systola.cli.answer import show
from systola.cli.screen import Bar

_CASES = (
    ("knapsack:1000-1000", "sgs-b", 2000),
    ("mmdp:1500", "sgs-b", 1000),
    ("knapsack:1000-1000", "sga", 100),
    ("knapsack:1000-1000", "ega", 100),
    ("knapsack:200-1000", "rs", 100),
)


@click.command()
@click.option("--backend", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--repeat", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--threads", type=int, help="Default: all cores.")
@click.option("--json", "as_json", is_flag=True)
def bench(backend: str, repeat: int, threads: int | None, as_json: bool) -> None:
    """Measure solutions per second on a few cases; medians of several interleaved repetitions.

    With --backend cuda, each case is first run on the CPU and must give the same answer, bit for bit.
    """
    from systola.engines.catalog import make_engine
    from systola.errors import CheckFailed
    from systola.formats.catalog import open_instance
    from systola.run.budget import Iterations
    from systola.solve import solve

    cases: list[tuple[str, str, int, Any, Any]] = []
    for spec, name, steps in _CASES:
        problem = open_instance(spec).problem
        cases.append((spec, name, steps, problem, make_engine(name, problem)))
    rates: dict[tuple[str, str], list[float]] = {}
    with Bar("bench", as_json) as bar:
        for k in range(repeat):
            for number, (spec, name, steps, problem, engine) in enumerate(cases):
                run = solve(problem, engine, stop=Iterations(steps), backend=backend, threads=threads)
                if run.stop == "interrupted":
                    raise KeyboardInterrupt
                if backend == "cuda" and k == 0:
                    check = solve(problem, engine, stop=Iterations(steps), threads=threads)
                    if check.objective != run.objective or check.found_at != run.found_at:
                        raise CheckFailed(f"{spec} {name}: the GPU found {run.objective}, the CPU {check.objective}")
                rates.setdefault((spec, name), []).append(run.evaluations / run.seconds)
                bar.update(k * len(cases) + number + 1, repeat * len(cases))
    rows: list[dict[str, Any]] = [
        {"instance": spec, "algorithm": name, "solutions_per_second": statistics.median(values), "all": values}
        for (spec, name), values in rates.items()
    ]
    if as_json:
        show(json.dumps({"backend": backend, "repeat": repeat, "rates": rows}))
        return
    for row in rows:
        show(f"{row['instance']:<20} {row['algorithm']:<6} {row['solutions_per_second'] / 1e6:>9.3f} M solutions/s")
