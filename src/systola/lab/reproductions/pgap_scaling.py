"""Liu, Wang 2015, section 4.2 to 4.4, on the cores of this machine: time to a quality, rates, communication, and how
many different solutions are found, with asynchronous migration and with barriers; beyond these cores, simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean

from systola.engines.steady_state import SteadyState
from systola.formats.catalog import open_instance
from systola.islands.islands import Islands
from systola.islands.message import message_size
from systola.lab.demes import make_demes, take_census, time_stretches
from systola.lab.experiment import Job
from systola.lab.machine import Machine, measure_machine
from systola.lab.reproductions.effort import OnDone
from systola.lab.reproductions.pgap_figures import Layout, population_figures, strong_figures
from systola.lab.reproductions.pgap_runs import (
    EXPERIMENT,
    Facts,
    Outcomes,
    Setting,
    count_threads,
    in_both_modes,
    mean_seconds_to,
    plan_runs,
    rates_of,
    run_missing,
    shares_of,
)
from systola.lab.reproductions.products import Made, Product, Sketch, figure
from systola.lab.scaling import costs_table, plot_scaling, scaling_tables, simulate_scaling
from systola.lab.simulation import MODES
from systola.lab.store import Store
from systola.lab.tables import Cell, Table
from systola.model.problem import Problem, digest_of
from systola.problems.generalized_assignment.problem import GeneralizedAssignment
from systola.run.budget import Stop

DEMES = (1, 2, 4, 8)
POPULATION = 800  # of all demes together, in strong scaling
DEME = 100  # individuals of a deme, in population scaling
GAPS = (20.0, 10.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0)  # percent above the bound
STRETCHES = 400  # that are timed for the simulation

_TWICE = "asynchronous (synchronous)"
_MISSING = "–"


@dataclass(frozen=True)
class ScalingTest:
    """On which instance, for how long, how often and on how many threads islands run; the store keeps the outcomes."""

    store: Store
    instance: str
    seconds: float
    runs: int
    threads: int | None
    on_done: OnDone | None

    @cached_property
    def problem(self) -> Problem:
        """The instance, opened."""
        return open_instance(self.instance).problem

    @cached_property
    def most_threads(self) -> int:
        """That a run uses."""
        return count_threads(self.threads)

    @property
    def budget(self) -> str:
        """How often and how long, for titles."""
        return f"{self.runs} run{'s' * (self.runs > 1)} of {self.seconds:g} s"

    def more_demes(self) -> list[Layout]:
        """Of the same size."""
        return [(demes, DEME, min(demes, self.most_threads)) for demes in DEMES]

    def run(
        self,
        layouts: Sequence[Layout],
        name: str = "islands",
        do: Callable[[Problem, Setting, Job], Facts] | None = None,
    ) -> Outcomes:
        """Both modes of all layouts; what the store has is not run again."""
        queue = plan_runs(self.problem, self.instance, in_both_modes(layouts), self.seconds, self.runs, name)
        return run_missing(self.problem, queue, self.store, self.on_done, do)


def scale_strongly(test: ScalingTest) -> Made:
    """As Fig. 5: the same population in more demes; and its 8 demes on more threads."""
    problem, most = test.problem, test.most_threads
    by_demes = [(demes, POPULATION // demes, min(demes, most)) for demes in DEMES]
    by_threads = [(DEMES[-1], POPULATION // DEMES[-1], count) for count in _doubled(min(most, DEMES[-1]))]
    outcomes = test.run(list(dict.fromkeys(by_demes + by_threads)))
    about = f"{test.instance}, {POPULATION} individuals in all, {test.budget}"
    note = f"Seconds until the best objective is at most so many percent above the bound, {_bound(problem):,}."
    tables = (
        _times(f"Strong scaling: seconds to a gap, {_TWICE}; {about}", problem, by_demes, outcomes, note),
        _speedups(f"Strong scaling: speed-up, {_TWICE}, ratio of speed-ups", problem, by_demes, outcomes),
        _speedups(f"Strong scaling: the {DEMES[-1]} demes on more threads", problem, by_threads, outcomes),
    )
    drawn = strong_figures(by_demes, outcomes, _limits(problem))
    return {"strong": tables, **{figure(number): (one,) for number, one in drawn.items()}}


def scale_population(test: ScalingTest) -> Made:
    """As Figs. 6 to 12: more demes of the same size."""
    problem, layouts = test.problem, test.more_demes()
    outcomes = test.run(layouts)
    about = f"{test.instance}, {DEME} individuals a deme, {test.budget}"
    note = (
        f"Seconds until the best objective is at most so many percent above the bound, {_bound(problem):,}, and how "
        "many percent less asynchronous ones are (as Fig. 6)."
    )
    title = f"Population scaling: seconds to a gap, {_TWICE}, improvement; {about}"
    tables = (
        _times(title, problem, layouts, outcomes, note, improvement=True),
        _work(f"Population scaling: rate, communication and quality, {_TWICE}", layouts, outcomes),
    )
    drawn = population_figures(layouts, outcomes, _limits(problem))
    return {"population": tables, **{figure(number): (one,) for number, one in drawn.items()}}


def count_solutions(test: ScalingTest) -> Made:
    """As section 4.4.3: how many different solutions of a quality a run finds."""
    layouts = test.more_demes()
    outcomes = test.run(layouts, "islands-census", _census)
    rows = []
    for layout in layouts:
        ours, theirs = (outcomes[Setting(*layout, mode)] for mode in MODES)
        texts = [*map(str, layout)]
        for gap in GAPS:
            counts = [fmean(result["counts"][f"{gap:g}"] for result in some) for some in (ours, theirs)]
            more = f" {100 * (counts[0] / counts[1] - 1):+.0f} %" if counts[1] else ""
            texts.append(f"{counts[0]:,.0f} ({counts[1]:,.0f}){more}")
        rows.append(texts)
    notes = (
        "Counted are feasible solutions, at most so many percent above the bound, that are in a population at the end "
        "of a stretch, every 25 iterations; each once, wherever it is found. Those that come in and are replaced "
        "within a stretch are not seen, so that fewer are counted than are made.",
        "Published, 16,384 cores, one hour, E801600: 11,093 with a cost below 194,000, 19.98 % more than with "
        "barriers; 40.62 % more below 188,000 and 75.90 % more below 186,000.",
    )
    title = f"Different solutions, {_TWICE}, more; {test.instance}, {DEME} individuals a deme, {test.budget}"
    return {"solutions": (_table(title, ("Demes", "size", "threads", *_gap_names()), rows, notes),)}


def simulate_here(
    store: Store,
    instance: str,
    sizes: Sequence[int],
    rounds: int,
    on_done: OnDone | None,
    costs: Mapping[str, float],
) -> tuple[Product, ...]:
    """As Figs. 5 to 9, for more demes than this machine can run: simulated, by times of iterations measured here, and
    of messages if their costs are given."""
    problem = open_instance(instance).problem
    islands = Islands(SteadyState(size=DEME), 4)
    job = Job(instance, "ssga-stretches", 1, {"size": DEME, "stretches": STRETCHES}, digest=digest_of(problem))
    key = job.key(EXPERIMENT)
    if not store.has(key):
        store.add(key, _measure(problem, islands))
    machine = Machine(**{**store.result(key)["machine"], **costs})
    rows = simulate_scaling(
        sizes, rounds, machine=machine, on_progress=lambda part: on_done and on_done(int(100 * part), 100, job)
    )
    measured = {"iteration_seconds", "spread", "stall_chance", "stall_seconds", "message_bytes", *costs}
    note = f"Iterations are of {instance} with a deme of {DEME}, alone on one core, {STRETCHES} stretches of 25."
    caption = (
        "Simulated iteration rate, communication and ratio of times (as Figures 5, 7 and 9); no deme of it exists."
    )
    return costs_table(machine, measured, (note,)), *scaling_tables(rows), Sketch(caption, lambda: plot_scaling(rows))


def _measure(problem: Problem, islands: Islands) -> Facts:
    """What iterations take on this machine."""
    deme = make_demes(problem, islands)[0]
    time_stretches(deme, STRETCHES // 10)  # the first ones are slower: caches, and solutions far from good
    seconds = time_stretches(deme, STRETCHES)
    size = message_size(islands.rate, deme.session.row(0))
    machine = measure_machine(seconds, islands.import_every, message_bytes=size)
    return {
        "objective": float(deme.session.best().score[0][0]),
        "feasible": True,
        "evaluations": deme.step,
        "iterations": deme.step,
        "seconds": sum(seconds),
        "machine": asdict(machine),
    }


def _census(problem: Problem, setting: Setting, job: Job) -> Facts:
    census = take_census(problem, setting.islands, Stop(seconds=job.stop.seconds), setting.threads, job.seed)
    return {
        "objective": float(census.objectives[0]) if len(census.objectives) else None,
        "feasible": len(census.objectives) > 0,
        "evaluations": census.iterations,
        "iterations": census.iterations,
        "seconds": census.seconds,
        "counts": {f"{gap:g}": census.count(_limit(problem, gap)) for gap in GAPS},
    }


def _doubled(most: int) -> list[int]:
    """1, 2, 4, ... and the most."""
    return [*(1 << k for k in range(most.bit_length()) if 1 << k < most), most]


def _bound(problem: Problem) -> int:
    assert isinstance(problem, GeneralizedAssignment)
    return problem.bound()


def _limit(problem: Problem, gap: float) -> float:
    return _bound(problem) * (1 + gap / 100)


def _limits(problem: Problem) -> dict[float, float]:
    return {gap: _limit(problem, gap) for gap in GAPS}


def _times(
    title: str,
    problem: Problem,
    layouts: Sequence[Layout],
    outcomes: Outcomes,
    note: str,
    improvement: bool = False,
) -> Table:
    rows = []
    for layout in layouts:
        texts = [*map(str, layout)]
        for gap in GAPS:
            ours, theirs = (mean_seconds_to(outcomes[Setting(*layout, mode)], _limit(problem, gap)) for mode in MODES)
            text = f"{_show(ours)} ({_show(theirs)})"
            if improvement and ours is not None and theirs:
                text += f" {100 * (theirs - ours) / theirs:+.0f} %"
            texts.append(text)
        rows.append(texts)
    notes = (note, f"{_MISSING} was not reached, in one run or more.")
    return _table(title, ("Demes", "size", "threads", *_gap_names()), rows, notes)


def _speedups(title: str, problem: Problem, layouts: Sequence[Layout], outcomes: Outcomes) -> Table:
    """Seconds of the first layout by those of each, mode by mode, and the ratio of Eq. 3."""
    rows = []
    for layout in layouts:
        texts = [*map(str, layout)]
        for gap in GAPS:
            limit, parts, times = _limit(problem, gap), [], []
            for mode in MODES:
                base = outcomes[Setting(*layouts[0], mode)]
                first, last = (mean_seconds_to(some, limit) for some in (base, outcomes[Setting(*layout, mode)]))
                times.append(last)
                whole = fmean(result["seconds"] for result in base)
                parts.append(
                    f"{'' if first is not None else '≥ '}{(whole if first is None else first) / last:.2f}"
                    if last
                    else _MISSING
                )
            ratio = f", {times[1] / times[0]:.2f}" if times[0] and times[1] else ""
            texts.append(f"{parts[0]} ({parts[1]}){ratio}")
        rows.append(texts)
    notes = (
        "Seconds of the first row by those of each, each mode by itself, with the whole run where the first row did "
        "not reach the gap (≥); then the ratio of speed-ups, synchronous by asynchronous seconds (Eq. 3). One run is "
        "little evidence: --runs makes more, and means are shown then.",
        "Published, 512 to 16,384 cores on E801600: speed-ups up to linear and beyond, ratios above 1 everywhere and "
        "1.90 to 2.47 on 16,384.",
    )
    return _table(title, ("Demes", "size", "threads", *_gap_names()), rows, notes)


def _work(title: str, layouts: Sequence[Layout], outcomes: Outcomes) -> Table:
    rows = []
    for layout in layouts:
        both = [outcomes[Setting(*layout, mode)] for mode in MODES]
        rates, shares = [rates_of(some) for some in both], [100 * shares_of(some) for some in both]
        best = [fmean(result["objective"] for result in some) for some in both]
        rows.append(
            [
                *map(str, layout),
                *(f"{rate.mean():,.0f} ± {rate.std():,.0f}" for rate in rates),
                *(f"{share.mean():.2f}, {share.min():.2f} to {share.max():.2f}" for share in shares),
                *(f"{value:,.0f}" for value in best),
                f"{100 * (best[1] - best[0]) / best[1]:+.2f}",
            ]
        )
    header = (
        *("Demes", "size", "threads", "iterations/s", "(sync)", "communication %", "(sync)"),
        *("best", "(sync)", "gain %"),
    )
    notes = (
        "Iterations a second of a deme, mean ± standard deviation over demes; demes that share a thread share its time "
        "(as Fig. 9). Communication: the part of a deme's own time that goes into migration and waiting, mean, least "
        "and most over demes (Figs. 7 and 8). Gain: by how much the best objective is below that with barriers "
        "(Fig. 10).",
        "Published, 1,024 to 16,384 cores on E801600: 441.84 to 471.84 iterations/s without barriers, communication "
        "15.5 % on average without and 54 % with them, and a gain of up to 1.08 %.",
    )
    return _table(title, header, rows, notes)


def _gap_names() -> tuple[str, ...]:
    return tuple(f"gap {gap:g} %" for gap in GAPS)


def _show(seconds: float | None) -> str:
    return _MISSING if seconds is None else f"{seconds:.3g}"


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: tuple[str, ...]) -> Table:
    return Table(title, tuple(header), tuple(tuple(Cell(text) for text in row) for row in rows), notes)
