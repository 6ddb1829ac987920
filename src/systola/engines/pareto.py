"""Pareto local search: PLS-1 of Paquete, Chiarandini, Stützle 2004, as Luong, Melab, Talbi 2011 run it.

A step explores the whole neighbourhood of a solution of the archive that has not been explored yet. Neighbours that no
member dominates or equals come into the archive (all of them, or only those that dominate the explored solution), and
members that they dominate leave it. When all have been explored, what was found is put aside, and the search begins
anew from a random solution.

A solution that breaks the constraints less dominates one that breaks them more (see `constrained_dominance`). So all
members of an archive break them equally: not at all, once a feasible solution was met.

The explored solution is row 0. Then follow two sections: the archive of this search, and the front of all before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from systola.engines.archiving import (
    FLAGS,
    FRONT,
    MEMBERS,
    RESTARTS,
    filter_candidates,
    has_room,
    merge_into_front,
    remove_dominated,
)
from systola.engines.constrained_dominance import (
    compare_objectives,
    compare_violations,
    find_weak_dominator,
    is_weakly_dominated,
    weakly_dominates,
)
from systola.engines.engine import Design, check_number, implement
from systola.engines.picture import Archive
from systola.engines.walk import CURRENT, design_walk, explore
from systola.errors import InputError
from systola.jit.compile import called
from systola.jit.dispatch import Implementation, dispatched_call, register
from systola.jit.records import record_type
from systola.jit.stop_flag import must_leave
from systola.model.encodings import Array, sample
from systola.model.population import NEVER, Population, copy_row, ranks_above, update_best
from systola.model.problem import Problem, senses_of
from systola.model.rng import START, STEP, below, draw
from systola.operators.evaluation import evaluate_full
from systola.operators.neighbourhoods import FIELDS, plan_neighbourhood
from systola.operators.neighbours import apply_move, evaluate_current, move_of

_FIRST_ROOM = 256
_DOMINATORS = 8  # members that a lane tries first


def _keep_non_dominated(self: Any, s: Any, at: Any, count: Any) -> Any:
    """The implementation of `prefilter`: neighbours that are weakly dominated neither by the explored solution nor by
    the members that last dominated others, as most are. Or those that weakly dominate the explored solution, if no
    others count."""
    problem, population, lanes = s.problem, s.population, s.lanes
    scores, trial, rooms = population.scores, lanes.trial, lanes.step.shape[0]
    less, more = compare_violations(problem, scores, CURRENT, trial, at, count)
    wanted = compare_objectives(self, scores, CURRENT, trial, rooms, at, count, self.dominating) & ~more
    if not self.dominating:
        lane = at // (trial.shape[0] // rooms)
        k = 0
        while wanted != 0 and k < _DOMINATORS:
            dominator = np.int64(lanes.scratch[lane, k])
            if dominator == CURRENT:
                break
            if dominator <= population.memory[MEMBERS]:
                wanted &= compare_objectives(self, scores, dominator, trial, rooms, at, count, False)
            k += 1
    return wanted | less


def _keep_candidate(self: Any, s: Any, lane: Any, trial: Any, number: Any, i: Any, j: Any) -> Any:
    """The implementation of `examine`: keep a candidate for the archive; lanes.move says how many there are."""
    problem, population, lanes = s.problem, s.population, s.lanes
    scores, measures = population.scores, lanes.trial
    newest = np.int64(lanes.scratch[lane, 0])
    if newest <= population.memory[MEMBERS] and weakly_dominates(self, problem, scores, newest, measures, trial):
        return False
    dominator = find_weak_dominator(self, problem, scores, 1, 1 + population.memory[MEMBERS], measures, trial)
    if dominator != NEVER:
        for k in range(_DOMINATORS - 1, 0, -1):
            lanes.scratch[lane, k] = lanes.scratch[lane, k - 1]
        lanes.scratch[lane, 0] = dominator
        return False
    count = lanes.move[lane] + 1
    lanes.move[lane] = count
    at = self.size * lane // lanes.step.shape[0] + count
    population.candidate_moves[at] = number
    for k in range(measures.shape[1]):
        population.candidates[at, k] = measures[trial, k]
    return False


@dispatched_call
def report_member(engine: Any, s: Any, row: Any) -> Any:
    """What is done with a member as soon as it comes, before it may be explored."""


def _report_when_explored(self: Any, s: Any, row: Any) -> None:
    """Without constraints: the best solution is the best member that was explored."""


def _report_now(self: Any, s: Any, row: Any) -> None:
    """With constraints: remember a member if it is the best solution so far, or dominates that.

    The best solution must break constraints no more than the members do, of which some may never be explored.
    """
    problem, population, lanes, step = s.problem, s.population, s.lanes, s.step
    scores, best = population.scores, lanes.score
    dominating = weakly_dominates(self, problem, scores, row, best, 0) and not weakly_dominates(
        self, problem, best, 0, scores, row
    )
    if dominating or ranks_above(problem, scores[row], best[0]):
        # A neighbour may have been measured only as far as measures are objectives.
        evaluate_full(s, population.x, row, 0, lanes.state[0], scores[row])
        lanes.step[0] = NEVER
        update_best(s, 0, population.x, row, scores[row], step, 0)


@called
def _insert_candidate(self: Any, s: Any, target: Any, at: Any) -> None:
    """A candidate takes a row."""
    space, population = s.space, s.population
    x, scores = population.x, population.scores
    for w in range(x.shape[1]):
        x[target, w] = x[CURRENT, w]
    i, j = move_of(self, population.candidate_moves[at])
    apply_move(self, space, x, target, i, j)
    for w in range(scores.shape[1]):
        scores[target, w] = population.candidates[at, w]
    population.memory[FLAGS + target - 1] = 0
    report_member(self, s, target)


@called
def _update_archive(self: Any, s: Any) -> None:
    """Candidates come into the archive, and members that they dominate leave it."""
    problem, population, lanes = s.problem, s.population, s.lanes
    scores, memory = population.scores, population.memory
    before = memory[MEMBERS]
    count = before
    for lane in range(lanes.step.shape[0]):
        first = self.size * lane // lanes.step.shape[0]
        for at in range(first, first + lanes.move[lane] + 1):
            if must_leave(lanes.stop):
                break
            if self.archive_size == 0:
                # Neither a member nor a candidate weakly dominates it: see `_keep_candidate` and `filter_candidates`.
                _insert_candidate(self, s, 1 + count, at)
                count += 1
            elif not is_weakly_dominated(self, problem, scores, 1, 1 + count, population.candidates, at) and has_room(
                self, problem, population, 1, count, population.candidates, at
            ):
                _insert_candidate(self, s, 1 + count, at)
                count = remove_dominated(self, s, 1, count + 1, count, True)  # at once: that makes room
    memory[MEMBERS] = count if self.archive_size else remove_dominated(self, s, 1, count, before, True)


@called
def _choose_unexplored(self: Any, s: Any) -> Any:
    """A member that has not been explored yet, drawn at random; NEVER if there is none."""
    population, seed, step = s.population, s.seed, s.step
    memory = population.memory
    left = np.int64(0)
    for k in range(memory[MEMBERS]):
        left += 1 - memory[FLAGS + k]
    if left == 0:
        return np.int64(NEVER)
    r0, _, _, _ = draw(seed, STEP, step, 0, 0)
    wanted = below(r0, left)
    for k in range(memory[MEMBERS]):
        if memory[FLAGS + k] == 0:
            if wanted == 0:
                return np.int64(k)
            wanted -= 1
    return np.int64(NEVER)


@called
def _start_search(self: Any, s: Any) -> None:
    """The solution in row 0 is the only member, and the one to be explored."""
    population, step = s.population, s.step
    evaluate_current(self, s)
    update_best(s, 0, population.x, CURRENT, population.scores[CURRENT], step, 0)
    report_member(self, s, CURRENT)
    copy_row(population, CURRENT, 1)
    population.memory[MEMBERS] = 1
    population.memory[FLAGS] = 1


@called
def _explore_next(self: Any, s: Any, member: Any) -> None:
    """This member is the one to be explored."""
    population, step = s.population, s.step
    copy_row(population, 1 + member, CURRENT)
    evaluate_current(self, s)
    copy_row(population, CURRENT, 1 + member)  # with measures that are no objectives, too
    update_best(s, 0, population.x, CURRENT, population.scores[CURRENT], step, 0)


def _end_step(self: Any, s: Any) -> Any:
    space, population, lanes, seed, step = s.space, s.population, s.lanes, s.seed, s.step
    memory = population.memory
    if step == 0:
        _start_search(self, s)
        return True
    if self.archive_size == 0:
        filter_candidates(self, s)
    if must_leave(lanes.stop):
        return True
    wanted = memory[MEMBERS] + memory[FRONT]
    for lane in range(lanes.step.shape[0]):
        wanted += lanes.move[lane] + 1
    if self.archive_size > 0:
        wanted = min(wanted, self.archive_size + 1)  # one more than stay, until those that it dominates leave
    if wanted > memory.shape[0] - FLAGS:
        return False
    _update_archive(self, s)
    chosen = _choose_unexplored(self, s)
    if chosen != NEVER:
        memory[FLAGS + chosen] = 1
        _explore_next(self, s, chosen)
        return True
    merge_into_front(self, s)
    if must_leave(lanes.stop):  # what is not yet in the front is still in the archive
        return True
    memory[RESTARTS] += 1
    sample(space, population.x, CURRENT, seed, START, step, 0)
    _start_search(self, s)
    return True


# Parts of a step, to measure how long they take.


def _keep_none(self: Any, s: Any, at: Any, count: Any) -> Any:
    return np.int64(0)


def _ignore(self: Any, s: Any, lane: Any, trial: Any, number: Any, i: Any, j: Any) -> Any:
    return False


def _explore_again(self: Any, s: Any) -> Any:
    """Choose and look, again and again: a member that was chosen is not crossed off."""
    _explore_next(self, s, max(0, _choose_unexplored(self, s)))
    return True


def _find_members(memory: Array) -> Array | None:
    """The rows of the archive and of the front that was put aside; None if there cannot be as many as is remembered."""
    room, members, front = len(memory) - FLAGS, int(memory[MEMBERS]), int(memory[FRONT])
    if not 0 <= members <= room or not 0 <= front <= room or not np.isin(memory[FLAGS:], (0, 1)).all():
        return None
    rows: Array = np.r_[1 : 1 + members, 1 + room : 1 + room + front]
    return rows


@dataclass(frozen=True)
class PLS:
    """Pareto local search, with restarts.

    Parameters
    ----------
    accept : {"non-dominated", "dominating"}
        Which neighbours come into the archive: all that no member dominates, or only those that dominate the solution
        whose neighbours they are.
    neighbourhood : str, optional
        "flip" or "flip-two" for bits, "reassign" for integers, "swap", "insertion" or "reversal" for permutations;
        by default the one that the problem can measure incrementally, else the first of these.
    archive_size : int, optional
        How many members an archive may have; by default there is no limit. A full archive takes only solutions that
        dominate a member.
    """

    accept: Literal["non-dominated", "dominating"] = "non-dominated"
    neighbourhood: str | None = None
    archive_size: int | None = None
    name = "pls"

    def prepare(self, problem: Problem) -> Design:
        return self._design(
            problem, "Pareto", end_step=_end_step, prefilter=_keep_non_dominated, examine=_keep_candidate
        )

    def prepare_part(self, problem: Problem, part: Literal["evaluation", "search"]) -> Design:
        """A design like that of `prepare`, which makes only parts of each step, so that their time can be measured.

        For the evaluation all neighbours are measured, and nothing is done with them. The search adds the end of a
        step, where a member is chosen and looked at; over no lanes it is that alone. The archive never changes.
        """
        end: dict[str, Implementation] = {"end_step": _explore_again} if part == "search" else {}
        return self._design(problem, f"Pareto_{part}", prefilter=_keep_none, examine=_ignore, **end)

    def _design(
        self,
        problem: Problem,
        label: str,
        *,
        prefilter: Implementation,
        examine: Implementation,
        **functions: Implementation,
    ) -> Design:
        around = plan_neighbourhood(self.neighbourhood, problem)
        if self.accept not in ("non-dominated", "dominating"):
            raise InputError(f"`accept` must be non-dominated or dominating, but got {self.accept!r}")
        if self.archive_size is not None:
            check_number("archive_size", self.archive_size, 1, 2**31)
        fields = (*FIELDS, "size", "count", "signs", "dominating", "archive_size")
        constrained = hasattr(problem, "violation")
        record = record_type(f"{label}{'_constrained' * constrained}_{around.label}", fields)
        around.implement(record)
        implement(record, step_cells=explore, **functions)
        register("prefilter", record, prefilter)
        register("examine", record, examine)
        register("report_member", record, _report_now if constrained else _report_when_explored)
        senses = senses_of(problem)
        dominating, most = self.accept == "dominating", self.archive_size or 0
        values = (around.size, len(senses), np.array(senses, np.int64), dominating, most)
        walk = design_walk(problem, around, record(*around.values, *values), 10_000)
        return replace(
            walk,
            rows=1 + 2 * _FIRST_ROOM,
            order="F",  # members are compared objective by objective
            memory_size=FLAGS + _FIRST_ROOM,
            sections=2,
            candidates=around.size,
            scratch=_DOMINATORS,
            rows_in_use=_find_members,
            layout=Archive(),
        )

    @staticmethod
    def members(population: Population) -> tuple[Array, Array]:
        """Measures and solutions, as they are stored, of the archive and of the front that was put aside."""
        rows = _find_members(population.memory)
        assert rows is not None
        return population.scores[rows], population.x[rows]
