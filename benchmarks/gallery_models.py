"""Models for CP-SAT of pages of the gallery: each gives a solution as systola encodes it, or none if none was found."""

from __future__ import annotations

from typing import Any

from own_references import NoReference


def _model() -> Any:
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise NoReference("ortools is not installed, of which CP-SAT is a part: pip install ortools") from error
    return cp_model.CpModel()


def _solved(model: Any, seconds: float) -> Any:
    """The solver after so many seconds on two threads; None if it found nothing."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 2
    solver.parameters.random_seed = 1
    return solver if solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None


def time_windows(problem: Any, seconds: float) -> list[int]:
    """A circuit; an arc that is taken sets the clock of its head."""
    model = _model()
    n, travel = len(problem.due), problem.travel.tolist()
    clock = [model.new_int_var(int(r), int(d), "") for r, d in zip(problem.ready, problem.due, strict=True)]
    arcs = {(a, b): model.new_bool_var("") for a in range(n + 1) for b in range(n + 1) if a != b}
    model.add_circuit([(a, b, taken) for (a, b), taken in arcs.items()])
    for (a, b), taken in arcs.items():
        if b < n:
            model.add(clock[b] >= (clock[a] if a < n else 0) + travel[a][b]).only_enforce_if(taken)
    model.minimize(sum(travel[a][b] * taken for (a, b), taken in arcs.items()))
    solver = _solved(model, seconds)
    if solver is None:
        return []
    after = {a: b for (a, b), taken in arcs.items() if solver.value(taken)}
    order = [after[n]]
    while after[order[-1]] != n:
        order.append(after[order[-1]])
    return order


def max_sat(problem: Any, seconds: float) -> list[int]:
    model = _model()
    bits = [model.new_bool_var("") for _ in range(problem.n)]
    total = []
    for clause, weight in zip(problem.clauses.tolist(), problem.weights.tolist(), strict=True):
        broken = model.new_bool_var("")
        model.add_bool_or([*(bits[v - 1] if v > 0 else ~bits[-v - 1] for v in clause), broken])
        total.append(weight * broken)
    model.minimize(sum(total))
    solver = _solved(model, seconds)
    return [] if solver is None else [solver.value(bit) for bit in bits]


def graph_colouring(problem: Any, seconds: float) -> list[int]:
    """Without a clash, or nothing."""
    model = _model()
    colours = range(problem.last + 1)
    has = [[model.new_bool_var("") for _ in colours] for _ in range(problem.n)]
    for row in has:
        model.add_exactly_one(row)
    for a, b in problem.edges.tolist():
        for c in colours:
            model.add_at_most_one([has[a][c], has[b][c]])
    solver = _solved(model, seconds)
    return [] if solver is None else [next(c for c in colours if solver.value(row[c])) for row in has]


def bin_packing(problem: Any, seconds: float) -> list[int]:
    model = _model()
    sizes, bins = problem.sizes.tolist(), range(problem.last + 1)
    used = [model.new_bool_var("") for _ in bins]
    into = [[model.new_bool_var("") for _ in bins] for _ in sizes]
    for row in into:
        model.add_exactly_one(row)
    for b in bins:
        model.add(sum(size * row[b] for size, row in zip(sizes, into, strict=True)) <= int(problem.capacity) * used[b])
        if b:
            model.add_implication(used[b], used[b - 1])
    model.minimize(sum(used))
    solver = _solved(model, seconds)
    return [] if solver is None else [next(b for b in bins if solver.value(row[b])) for row in into]


def weighted_tardiness(problem: Any, seconds: float) -> list[int]:
    model = _model()
    horizon, spans, ends, total = int(problem.times.sum()), [], [], []
    for time, weight, due in zip(*(a.tolist() for a in (problem.times, problem.weights, problem.due)), strict=True):
        end, late = model.new_int_var(time, horizon, ""), model.new_int_var(0, horizon, "")
        spans.append(model.new_interval_var(end - time, time, end, ""))
        model.add(late >= end - due)
        ends.append(end)
        total.append(weight * late)
    model.add_no_overlap(spans)
    model.minimize(sum(total))
    solver = _solved(model, seconds)
    return [] if solver is None else sorted(range(len(ends)), key=lambda job: solver.value(ends[job]))


def job_shop(problem: Any, seconds: float) -> list[int]:
    model = _model()
    times, horizon = problem.times.tolist(), int(problem.times.sum())
    starts = [model.new_int_var(0, horizon, "") for _ in times]
    spans = [model.new_interval_var(start, time, start + time, "") for start, time in zip(starts, times, strict=True)]
    last = model.new_int_var(0, horizon, "")
    for k, start in enumerate(starts):
        ends_job = (k + 1) % problem.machines == 0
        model.add(start + times[k] <= (last if ends_job else starts[k + 1]))
    for machine in range(problem.machines):
        model.add_no_overlap([spans[k] for k, where in enumerate(problem.machine.tolist()) if where == machine])
    model.minimize(last)
    solver = _solved(model, seconds)
    return [] if solver is None else sorted(range(len(times)), key=lambda k: (solver.value(starts[k]), k))


def timetabling(problem: Any, seconds: float) -> list[int]:
    """A room at an hour for each event that has a seat for all; pairs count where they are in hours in a row."""
    model = _model()
    values, hour = range(problem.last + 1), problem.hour.tolist()
    hours = sorted(set(hour))
    takes = [
        {v: model.new_bool_var("") for v in values if problem.seats[v] >= students} for students in problem.students
    ]
    at: list[dict[int, Any]] = []
    for row in takes:
        model.add_exactly_one(row.values())
        at.append({h: model.new_bool_var("") for h in hours})
        for h in hours:
            model.add(sum(taken for v, taken in row.items() if hour[v] == h) == at[-1][h])
    for v in values:
        model.add_at_most_one([row[v] for row in takes if v in row])
    total = []
    for (a, b), common in zip(problem.pairs.tolist(), problem.common.tolist(), strict=True):
        in_a_row = model.new_bool_var("")
        total.append(common * in_a_row)
        for h in hours:
            model.add_at_most_one([at[a][h], at[b][h]])
            for later in (h - 1, h + 1):
                if later in at[b]:
                    model.add_bool_or([~at[a][h], ~at[b][later], in_a_row])
    model.minimize(sum(total))
    solver = _solved(model, seconds)
    return [] if solver is None else [next(v for v, taken in row.items() if solver.value(taken)) for row in takes]
