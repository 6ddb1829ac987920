"""Several algorithms, many runs of each on several instances: what came out, and whether they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from systola.engines.catalog import make_engine
from systola.errors import InputError
from systola.formats.instance import Instance
from systola.formats.source import Source
from systola.lab.blocks import Table
from systola.lab.experiment import Job, do_jobs, plan
from systola.lab.outcomes import Outcomes, gather
from systola.lab.statistics import SMALLEST_SAMPLE, Comparison, compare
from systola.lab.store import Store
from systola.lab.tables import mean_table, significance_table
from systola.lab.writers.html import write_table
from systola.model.problem import senses_of
from systola.run.budget import Stop
from systola.run.live_line import open_line

if TYPE_CHECKING:
    from systola.lab.report import Report

EXPERIMENT = "compare"

Curve = tuple[list[int], list[float]]  # evaluations, and the best feasible objective after each


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Runs of several algorithms on several instances, and the tests of their differences.

    Attributes
    ----------
    algorithms
        In the order of all tables and pictures.
    instances
        By the name that tables use.
    jobs
        The runs that were asked for.
    rows
        Those that were made, as a store has them.
    tests
        By instance; none if runs are missing.
    results
        The whole results of the runs, as plain data, which pictures need; none if they were not asked for.
    """

    algorithms: tuple[str, ...]
    instances: Mapping[str, Instance]
    jobs: Sequence[Job]
    rows: Sequence[Mapping[str, Any]]
    tests: Mapping[str, Comparison] = field(default_factory=dict)
    results: Sequence[tuple[Job, Mapping[str, Any]]] = ()

    def __repr__(self) -> str:
        return f"<Study: {', '.join(self.algorithms)} on {', '.join(self.instances)}, {self.runs} runs of each>"

    @property
    def runs(self) -> int:
        """Of each algorithm on each instance, if none is missing."""
        return len(self.jobs) // max(len(self.instances) * len(self.algorithms), 1)

    @property
    def missing(self) -> int:
        """How many runs were not made."""
        return len(self.jobs) - len(self.rows)

    @property
    def infeasible(self) -> int:
        """How many runs ended with an infeasible solution."""
        return sum(not row["feasible"] for row in self.rows)

    @cached_property
    def outcomes(self) -> Outcomes:
        """Objectives and violations by instance and algorithm."""
        return gather(self.rows, list(self.instances), self.algorithms)

    def minimises(self, instance: str) -> bool:
        """Whether lower objectives are better there."""
        return senses_of(self.instances[instance].problem)[0] < 0

    def curves(self, instance: str) -> dict[str, list[Curve]]:
        """For each algorithm the runs that had a feasible solution: its objective over the evaluations."""
        found: dict[str, list[Curve]] = {name: [] for name in self.algorithms}
        for job, result in self.results:
            trace = result["trace"]
            feasible = [k for k, amount in enumerate(trace["violation"]) if amount == 0]
            if job.instance == instance and feasible:
                found[job.algorithm].append(
                    ([trace["evaluations"][k] for k in feasible], [trace["objective"][k] for k in feasible])
                )
        return found

    def tables(self) -> list[Table]:
        """Means and standard deviations, those of instances that are minimised apart; then who is better than whom."""
        outcomes = self.outcomes
        made = []
        for minimise in sorted({self.minimises(name) for name in self.instances}):
            part = {name: outcomes.feasible[name] for name in self.instances if self.minimises(name) == minimise}
            what = f"Objective ({'smaller' if minimise else 'larger'} is better), mean ± std of {self.runs} runs"
            made.append(mean_table(part, what, minimise=minimise, runs=outcomes.runs))
        if self.tests:
            verdicts = {name: test.verdicts for name, test in self.tests.items()}
            made.append(significance_table(self.algorithms, verdicts, "Differences"))
        return made

    def report(self, command: str = "") -> Report:
        """All of it to hand on: statistics in words, tables, pictures, parameters and provenance.

        Parameters
        ----------
        command
            What to type to make it again, if it came from a command line.
        """
        from systola.lab.study_report import report_study

        return report_study(self, command)

    def _repr_html_(self) -> str:
        return "".join(map(write_table, self.tables()))


def compare_algorithms(
    instances: Sequence[str] | Mapping[str, Source],
    algorithms: Sequence[str],
    runs: int = 30,
    *,
    stop: Stop | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 1,
    workers: int | None = None,
    store: str = ":memory:",
) -> Study:
    """Run algorithms many times on instances, in parallel processes, and test whether they differ.

    Parameters
    ----------
    instances
        Names as for `open_instance`, or names for tables with the sources that they stand for.
    algorithms
        Two names or more, as on the command line.
    runs
        Of each algorithm on each instance, three or more.
    stop
        The budget of a run; that of the algorithm by default.
    settings
        Parameters of all algorithms.
    seed
        Of the first run; the next has the next.
    workers
        Processes; as many as there are cores by default.
    store
        A file that keeps finished runs, so that an interrupted comparison goes on where it was; nothing is kept by
        default.

    Returns
    -------
    Study
        See its `tables` and `report`.

    Raises
    ------
    InputError
        If there are fewer than two algorithms or three runs, a name is unknown, or an instance has several objectives.
    Incomplete
        If it was interrupted, or a process died.
    """
    names = check_names(algorithms, runs)
    sources = instances if isinstance(instances, Mapping) else {name: Source(name) for name in instances}
    if not sources:
        raise InputError("a comparison needs one instance or more, but got none; name some")
    found = {name: source.open() for name, source in sources.items()}
    for instance in found.values():
        check_instance(instance)
        for algorithm in names:
            make_engine(algorithm, instance.problem, settings).prepare(instance.problem)
    jobs = plan(sources, names, runs, seed, dict(settings or {}), stop)
    line = open_line()

    def tell(done: int, of: int, job: Job) -> None:
        if line:
            line.show(f"{done:,} of {of:,} runs are made", done / of)

    with Store(store) as kept:
        return collect(found, names, jobs, kept, do_jobs(jobs, kept, EXPERIMENT, workers, tell), whole=True)


def collect(
    instances: Mapping[str, Instance],
    algorithms: Sequence[str],
    jobs: Sequence[Job],
    store: Store,
    rows: Sequence[Mapping[str, Any]],
    *,
    whole: bool = False,
) -> Study:
    """What the runs in a store say, if none is missing; with `whole` their traces, too."""
    results = [(job, store.result(job.key(EXPERIMENT))) for job in jobs] if whole else []
    study = Study(tuple(algorithms), instances, jobs, rows, {}, results)
    outcomes = study.outcomes
    tests = {
        name: compare(outcomes.objectives[name], minimise=study.minimises(name), violations=outcomes.violations[name])
        for name in instances
    }
    return Study(tuple(algorithms), instances, jobs, rows, tests, results)


def check_names(algorithms: Sequence[str], runs: int) -> list[str]:
    """The algorithms of a comparison; InputError if they or the runs are too few."""
    names = list(algorithms)
    if isinstance(algorithms, str) or len(names) < 2 or len(set(names)) < len(names):
        told = algorithms if isinstance(algorithms, str) else ",".join(names)
        raise InputError(f"a comparison needs two or more different algorithms, but got {told!r}")
    if runs < SMALLEST_SAMPLE:
        raise InputError(f"`runs` must be at least {SMALLEST_SAMPLE} for the tests, but got {runs}")
    return names


def check_instance(instance: Instance) -> None:
    """InputError if an instance has several objectives."""
    if len(senses_of(instance.problem)) > 1:
        raise InputError(f"{instance.name} has several objectives; compare needs one (see systola reproduce sgs)")
