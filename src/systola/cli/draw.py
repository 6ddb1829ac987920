"""`systola draw`: pictures of saved results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from systola.cli.answer import write_file
from systola.cli.settings import read_fields, refuse_unused
from systola.errors import InputError
from systola.formats.instance import Instance
from systola.model.drawing import draw_solution
from systola.model.problem import digest_of, senses_of

if TYPE_CHECKING:
    from systola.lab.style import Columns
    from systola.model.problem import Problem


@click.command()
@click.argument("kind", type=click.Choice(["front", "attainment", "gantt", "convergence", "solution"]))
@click.argument("results", nargs=-1, required=True)
@click.option("--output", type=str, required=True, metavar="FILE", help="PNG, PDF or SVG.")
@click.option("--instance", type=str, help="What was solved: names objectives and their senses; gantt needs it.")
@click.option("--problem", help="Name the problem of the instance instead of recognising it.")
@click.option("--data", type=str, metavar="FILE", help="Data of a problem of your own: JSON, CSV or .npz.")
@click.option("--columns", type=click.IntRange(1, 2), default=2, show_default=True, help="Width: of a page.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A value that the instance leaves open.")
def draw(kind: str, results: tuple[str, ...], output: str, instance: str | None, **options: Any) -> None:
    """Draw RESULTS, files that `systola solve --output` wrote.

    front: the fronts of results, together. attainment: what the runs of each algorithm attain, in two objectives.
    gantt: the schedule of a flowshop. convergence: how the best objective developed. solution: as its problem draws
    it, an SVG.
    """
    from systola.lab.plots import save
    from systola.run.result import Result

    columns: Columns = options.pop("columns")
    loaded = {path: Result.load(path) for path in results}
    problem = _open(instance, **options).problem if instance else None
    if kind == "solution":
        _draw_solution(loaded, problem, output)
        return
    if kind == "gantt":
        figure = _draw_gantt(loaded, problem, columns)
    elif kind == "convergence":
        figure = _draw_convergence(loaded, columns)
    else:
        figure = _draw_fronts(kind, loaded, problem, columns)
    save(figure, output)


def _open(spec: str, problem: str | None, data: str | None, pairs: tuple[str, ...]) -> Instance:
    from systola.formats.source import Source

    given = read_fields(pairs)
    found = Source(spec, problem, data, given, code=True).open()
    refuse_unused(given, [found])
    return found


def _draw_fronts(kind: str, loaded: dict[str, Any], problem: Problem | None, columns: Columns) -> Any:
    from systola.lab.front_plots import plot_attainment, plot_front

    for path, result in loaded.items():
        if not result.front:
            raise InputError(
                f"{path} has no front: {result.algorithm} looks for one solution; solve with an algorithm such as pls"
            )
    counts = {len(result.front[0]) for result in loaded.values()}
    if len(counts) > 1:
        raise InputError(f"all fronts must have as many objectives, but these have {sorted(counts)}")
    count = counts.pop()
    senses = list(senses_of(problem)) if problem else None
    if senses is not None and len(senses) != count:
        raise InputError(f"the instance has {len(senses)} objectives, but the fronts have {count}; name the right one")
    labels = _labels(problem, count)
    if kind == "front":
        fronts = {path: result.front for path, result in loaded.items()}
        return plot_front(fronts, labels, senses=senses, columns=columns)
    runs = defaultdict(list)
    for result in loaded.values():
        runs[result.algorithm].append(result.front)
    return plot_attainment(runs, labels, senses=senses, columns=columns)


def _labels(problem: Problem | None, count: int) -> Sequence[str]:
    names = getattr(problem, "objectives", "")
    return names.split(",") if names else [f"objective {k + 1}" for k in range(count)]


def _draw_solution(loaded: dict[str, Any], problem: Problem | None, output: str) -> None:
    if problem is None:
        raise InputError("a solution is drawn by its problem; name what was solved with --instance")
    result = _only_result(loaded, problem, "a drawing")
    if not output.lower().endswith(".svg"):
        raise InputError(f"a solution is drawn as SVG, so the name must end in .svg, but got {output!r}")
    drawing = draw_solution(problem, result.solution)
    if drawing is None:
        raise InputError(f"{problem!s} has nothing to draw; a method `draw` says how its solutions look")
    write_file(output, drawing.to_svg() + "\n", "drawing")


def _only_result(loaded: dict[str, Any], problem: Problem, what: str) -> Any:
    """The one result that there is, if it is one of this problem."""
    if len(loaded) > 1:
        raise InputError(f"{what} is of one result, but got {len(loaded)}")
    (result,) = loaded.values()
    if result.digest != digest_of(problem):
        raise InputError(f"the result is not one of {problem!s}; name what was solved with --instance")
    return result


def _draw_gantt(loaded: dict[str, Any], problem: Problem | None, columns: Columns) -> Any:
    from systola.lab.front_plots import plot_gantt
    from systola.problems import Flowshop

    if not isinstance(problem, Flowshop):
        raise InputError("a Gantt chart needs the flowshop that was solved; name it with --instance")
    result = _only_result(loaded, problem, "a Gantt chart")
    ends = problem.schedule(result.solution)
    return plot_gantt(ends, problem.times, result.solution, title=result.instance, columns=columns)


def _draw_convergence(loaded: dict[str, Any], columns: Columns) -> Any:
    from systola.lab.plots import convergence

    curves: dict[str, list[Any]] = defaultdict(list)
    infeasible: dict[str, int] = defaultdict(int)
    for path, result in loaded.items():
        if isinstance(result.objective, list):
            raise InputError(f"{path} has several objectives, and a convergence plot is of one; draw its front instead")
        samples = [s for s in result.trace.samples if s.violation == 0]
        found = curves[result.algorithm]
        if samples:
            found.append(([s.evaluations for s in samples], [s.objective for s in samples]))
        else:
            infeasible[result.algorithm] += 1
    return convergence(curves, infeasible=infeasible, columns=columns)
