"""`systola simulate`: migration among many demes, in virtual time."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from systola.cli.answer import deliver
from systola.cli.screen import Bar
from systola.errors import InputError

_MACHINE = ("iteration_seconds", "spread", "stall_chance", "stall_seconds", "latency")


@click.command()
@click.option(
    "--demes",
    default="64,256,1024,4096,16384",
    show_default=True,
    metavar="N,N,...",
    help="How many, in increasing order.",
)
@click.option("--rounds", type=int, default=200, show_default=True, help="Export intervals that each deme makes.")
@click.option("--iteration-seconds", type=float, metavar="S", help="Mean time of an iteration.")
@click.option("--spread", type=float, metavar="SIGMA", help="Relative spread of the time between two migrations.")
@click.option("--stall-chance", type=float, metavar="P", help="Chance of a stall between two migrations.")
@click.option("--stall-seconds", type=float, metavar="S", help="How long a stall is.")
@click.option("--latency", type=float, metavar="S", help="Time of an empty message from deme to deme.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--output", type=str, metavar="FILE", help="Draw a picture: PNG, PDF or SVG.")
@click.option("--json", "as_json", is_flag=True)
@click.option("--quiet", is_flag=True, help="No progress.")
def simulate(demes: str, rounds: int, seed: int, output: str | None, **options: Any) -> None:
    """Simulate asynchronous migration among many demes, and the same with barriers.

    Time is virtual and no problem is solved: what an iteration and a message cost is given, what a search finds is a
    model. Costs that are not named have the defaults of `systola.lab.machine.Machine`; started by mpiexec or srun with
    two processes or more, those of messages are measured between them.
    """
    from systola.lab.machine import Machine
    from systola.lab.messages import find_message_costs
    from systola.lab.scaling import costs_table, plot_scaling, scaling_tables, simulate_scaling
    from systola.lab.style import check_target, save, style
    from systola.lab.tables import render

    named = {name: options[name] for name in _MACHINE if options[name] is not None}
    Machine(**named)
    if output:  # errors now, not after a minute
        check_target(output)
        style()
    rank, costs = find_message_costs()
    if rank > 0:
        return
    machine = Machine(**{**costs, **named})
    with Bar("simulation, %", options["quiet"] or options["as_json"]) as bar:
        rows = simulate_scaling(
            _read_sizes(demes),
            rounds,
            machine=machine,
            seed=seed,
            on_progress=lambda part: bar.update(int(100 * part), 100),
        )
    if options["as_json"]:
        runs = [run.to_json() for row in rows for run in (row.asynchronous, row.synchronous)]
        told = json.dumps({"simulation": True, "machine": asdict(machine), "runs": runs})
    else:
        tables = (costs_table(machine, costs),) * bool(costs) + scaling_tables(rows)
        told = "\n".join(render(table, "text") for table in tables)
    deliver(told, *([lambda: save(plot_scaling(rows), output)] if output else []))


def _read_sizes(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"--demes needs whole numbers with commas between, but got {text!r}") from None
