"""Permutation flowshop: all jobs pass the machines in the same order, and the solution says in which order they come.

All four measures come from one pass over the schedule, so all of them are told, whichever are to be minimised: the
chosen objectives first.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

import numpy as np

from systola.errors import InputError
from systola.model.capabilities import BestInsertion, Bound, Buffer, EvaluationState, InsertionBlocks, Opening
from systola.model.drawing import Drawing
from systola.model.encodings import Array, Permutation
from systola.model.names import Names, labels_of
from systola.model.problem import MINIMISE, Problem, space_of
from systola.problems.drawings import draw_gantt
from systola.problems.flowshop import beam, schedules
from systola.problems.limits import NARROW, WIDE, refuse_beyond, whole_numbers

MEASURES = ("makespan", "tardiness", "tardy", "flowtime")
NEED_DUE = ("tardiness", "tardy")  # of the jobs


def split_objectives(text: str) -> tuple[str, ...]:
    """The names of objectives in a text such as ``makespan,tardiness``; an error if one is unknown or comes again."""
    if not isinstance(text, str):
        raise InputError(f"`objectives` must be a text such as 'makespan,tardiness', but got {text!r}")
    names = tuple(name.strip() for name in text.split(","))
    for k, name in enumerate(names):
        if name not in MEASURES:
            near = difflib.get_close_matches(name, MEASURES, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"an objective must be one of {', '.join(MEASURES)}, but got {name!r}{hint}")
        if name in names[:k]:
            raise InputError(f"an objective must come once, but {name!r} comes again; leave it out")
    return names


def _not_given() -> Array:
    return np.zeros(0, np.int64)


class Flowshop(Problem):
    """Order jobs so that machines, which all of them pass one after the other, finish them soon or in time.

    A machine works on one job at a time, and a job waits until the machine is free. Measures are the *makespan* (when
    all is done), the total *tardiness* (by how much jobs are completed after their due dates), the number of *tardy*
    jobs, and the total *flowtime* (from a job's release to its completion). Fitness is minus the weighted sum of the
    objectives.

    Parameters
    ----------
    times
        A row for each job: its processing time on each machine, in whole numbers of zero or more.
    due
        When each job should be done; needed for tardiness and tardy. Without it no job is ever tardy.
    release
        Earliest start of each job (release date); zeros by default.
    objectives
        What to minimise: some of ``makespan``, ``tardiness``, ``tardy`` and ``flowtime``, with commas between.
    weights
        A whole number of zero or more for each objective, not all zero; ones by default.
    """

    encoding = Permutation("times")
    sense = "senses"
    names = Names("position", "job", values=("times", "due", "release"))
    times: Array
    due: Array = field(default_factory=_not_given)
    release: Array = field(default_factory=_not_given)
    objectives: str = "makespan"
    weights: Array = field(default_factory=_not_given)
    senses: Array = field(init=False, repr=False)  # one for each of the chosen objectives
    order: Array = field(init=False, repr=False)  # [4] what the measures are: places in MEASURES, objectives first
    factors: Array = field(init=False, repr=False)  # [4] the weights of the measures; zero for what is no objective
    limits: Array = field(init=False, repr=False)  # [jobs] due dates; the end of every schedule where there are none
    lengths: Array = field(init=False, repr=False)  # the times, one job after the other; as narrow as all fit into
    ends: Array = field(init=False, repr=False)  # as `limits`, and as narrow
    ready: Array = field(init=False, repr=False)  # as `release`, and as narrow
    alone: bool = field(init=False, repr=False)  # whether the makespan is the only objective

    def check(self) -> None:
        due, release, weights = (
            _not_given() if values is None or np.size(values) == 0 else values
            for values in (self.due, self.release, self.weights)
        )
        for name, values in (("times", self.times), ("due", due), ("release", release), ("weights", weights)):
            if not isinstance(values, np.ndarray):
                raise InputError(f"Flowshop.{name} must be an array of whole numbers, but got {values!r}")
        if self.times.ndim != 2 or 0 in self.times.shape:
            raise InputError(
                "times must have a row for each job and a column for each machine, one or more of each, but have shape "
                f"{self.times.shape}"
            )
        jobs, machines = self.times.shape
        names = split_objectives(self.objectives)
        for name, values, number, of in (
            ("due date", due, jobs, "jobs"),
            ("release date", release, jobs, "jobs"),
            ("weight", weights, len(names), "objectives"),
        ):
            if values.size and values.shape != (number,):
                got = len(values) if values.ndim == 1 else f"an array of shape {values.shape}"
                raise InputError(f"each of the {number} {of} needs a {name}, but got {got}")
        times, due, release, weights = (
            whole_numbers(name, values)
            for name, values in (
                ("processing time", self.times),
                ("due date", due),
                ("release date", release),
                ("weight", weights),
            )
        )
        wanted = [name for name in names if name in NEED_DUE]
        if wanted and not due.size:
            raise InputError(
                f"the objective {wanted[0]} needs due dates, but there are none; give `due`, or leave out {wanted[0]}"
            )
        weights = weights if weights.size else np.ones(len(names), np.int64)
        if not weights.any():
            raise InputError(f"one of the weights must be above 0, but got {weights.tolist()}")
        # From a release on, the jobs and machines that keep each other waiting are a chain of jobs + machines - 1.
        end = int(release.max(initial=0)) + (jobs + machines - 1) * int(times.max())
        most = {"makespan": end, "tardiness": jobs * end, "tardy": jobs, "flowtime": jobs * end}
        weighted = sum(int(weight) * most[name] for weight, name in zip(weights, names, strict=True))
        largest = max(weighted, int(weights.max()), *most.values())
        refuse_beyond(WIDE, largest, "measures and their weighted sum")
        self.derive(
            times=times,
            due=due,
            release=release if release.size else np.zeros(jobs, np.int64),
            objectives=",".join(names),
            weights=weights,
            senses=np.full(len(names), MINIMISE),
            order=np.array([MEASURES.index(name) for name in dict.fromkeys((*names, *MEASURES))], np.int64),
            factors=np.array([*weights.tolist(), *[0] * (len(MEASURES) - len(names))], np.int64),
            limits=np.minimum(due, end) if due.size else np.full(jobs, end, np.int64),
        )
        kind = np.int32 if largest < NARROW else np.int64
        self.derive(
            lengths=self.times.ravel().astype(kind),
            ends=self.limits.astype(kind),
            ready=self.release.astype(kind),
            alone=names == ("makespan",),
        )

    @property
    def narrow(self) -> bool:
        """Whether all times, measures and their weighted sum fit into 31 bits."""
        return bool(self.lengths.dtype == np.int32)

    def evaluate(self, x):
        machines = self.times.shape[1]
        free = np.zeros(machines, np.int64)  # when each machine is done with the jobs so far
        tardiness = 0
        tardy = 0
        flowtime = 0
        for k in range(len(x)):
            job = x[k]
            now = self.release[job]
            for machine in range(machines):
                now = max(now, free[machine]) + self.times[job, machine]
                free[machine] = now
            if now > self.limits[job]:
                tardiness += now - self.limits[job]
                tardy += 1
            flowtime += now - self.release[job]
        found = (free[machines - 1], tardiness, tardy, flowtime)
        return found[self.order[0]], found[self.order[1]], found[self.order[2]], found[self.order[3]]

    def init_state(self, x, row, state):
        # As `evaluate`, but without memory of its own: the numbers behind the measures say when machines get free.
        machines = self.times.shape[1]
        for k in range(4 + machines):
            state[k] = 0
        for k in range(len(self.times)):
            job = np.int64(x[row, k])
            now = self.release[job]
            for machine in range(4, 4 + machines):
                now = max(now, state[machine]) + self.times[job, machine - 4]
                state[machine] = now
            if now > self.limits[job]:
                state[1] += now - self.limits[job]
                state[2] += 1
            state[3] += now - self.release[job]
        state[0] = state[3 + machines]

    def state_measures(self, state, measures):
        for k in range(4):
            measures[k] = state[self.order[k]]

    def fitness(self, measures):
        return -(
            self.factors[0] * measures[0]
            + self.factors[1] * measures[1]
            + self.factors[2] * measures[2]
            + self.factors[3] * measures[3]
        )

    def draw(self, x: Array) -> Drawing:
        """A Gantt chart."""
        done = self.schedule(x)
        names = labels_of(self).of_values(np.arange(len(x)))
        return draw_gantt(done, self.times, np.asarray(x), names, f"makespan {int(done[-1, -1]):,}")

    def schedule(self, x: Sequence[int] | Array) -> Array:
        """When each job is done on each machine, jobs in the order of the solution; a job's work begins at its
        completion less its time.

        Parameters
        ----------
        x
            A solution: each job once.

        Returns
        -------
        Array
            [jobs, machines] completion times.
        """
        order = self.encoding.store(space_of(self), np.asarray(x)[None])[0]
        done = np.zeros((len(order) + 1, self.times.shape[1]), np.int64)
        for k, job in enumerate(order):
            now = self.release[job]
            for machine, time in enumerate(self.times[job]):
                now = max(now, done[k, machine]) + time
                done[k + 1, machine] = now
        return done[1:]

    def lower_bound(self) -> int:
        """A makespan that no solution can beat, after Taillard 1993.

        Each machine works on all jobs, but not before one of them has come to it, and afterwards one of them has to
        pass the machines that follow; and no job is done before it has passed all machines.
        """
        totals = np.cumsum(self.times, axis=1)
        heads = self.release[:, None] + totals - self.times
        tails = totals[:, -1:] - totals
        by_machine = heads.min(axis=0) + self.times.sum(axis=0) + tails.min(axis=0)
        by_job = self.release + totals[:, -1]
        return int(max(by_machine.max(), by_job.max()))

    def bound(self) -> int | None:
        """`lower_bound`, if the makespan is the only objective."""
        return self.lower_bound() if self.objectives == "makespan" else None

    def has_beams(self) -> bool:
        """Whether beam search is for this instance, and it is so large that its orders are good to start from."""
        return self.alone and not self.release.any() and beam.pays(self.times)

    def beams(self, must_end: Callable[[], bool]) -> Iterator[Array]:
        """Better and better orders by beam search."""
        return beam.orders_by_beams(self.times, must_end)

    capabilities = (
        EvaluationState(lambda p: Buffer(len(MEASURES) + p.times.shape[1], np.int64), init_state, state_measures),
        InsertionBlocks(
            prepared=lambda p: Buffer(schedules.numbers_of_outlook(*p.times.shape), p.lengths.dtype),
            work=lambda p: Buffer(schedules.numbers_of_work(*p.times.shape), p.lengths.dtype),
            single=lambda p: schedules.numbers_of_front(p.times.shape[1]),
            prepare=schedules.prepare_insertions,
            remove=schedules.remove_item,
            evaluate=schedules.evaluate_insertions,
        ),
        BestInsertion(
            work=lambda p: Buffer(schedules.numbers_of_work(*p.times.shape), p.lengths.dtype),
            find=schedules.best_insertion,
            temperature=lambda p: float(p.times.mean()) / 10,  # a tenth of the mean processing time
        ),
        Opening(beams, has_beams, beam.compile_beams),
        Bound(bound),
    )

    def __str__(self) -> str:
        jobs, machines = self.times.shape
        return f"flowshop of {jobs} jobs on {machines} machines, objectives {self.objectives.replace(',', ', ')}"
