"""Jobs that pass machines one after the other, sixteen schedules side by side.

A *front* is when each machine gets free: of machine k in schedule l it is front[VECTOR_WIDTH * k + l]. Three more rows
hold what has been counted of the jobs so far: tardiness, tardy jobs, flow time. Compiled for a CPU a row is a vector;
anywhere else these are the plain loops below, over as many schedules as there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from systola.jit.emit import Context, loop, variable_of
from systola.jit.private import CALLED
from systola.simd.rows import VECTOR_WIDTH, narrow, part

COUNTS = 3  # rows of a front beside those of machines
_TOGETHER = 4  # jobs that pass a machine before its row is stored again


def pass_job(front: Any, high: Any, times: Any, due: Any, ready: Any) -> None:
    """A job passes all machines in the schedules l < high; it is due at `due` and there from `ready` on.

    times[k] is how long machine k takes.
    """
    machines = times.shape[0]
    for lane in range(high):
        now = ready
        for k in range(machines):
            place = VECTOR_WIDTH * k + lane
            now = max(now, front[place]) + times[k]
            front[place] = narrow(now, front)
        place = VECTOR_WIDTH * machines + lane
        front[place] = narrow(front[place] + max(0, now - due), front)
        front[place + VECTOR_WIDTH] = narrow(front[place + VECTOR_WIDTH] + (1 if now > due else 0), front)
        front[place + 2 * VECTOR_WIDTH] = narrow(front[place + 2 * VECTOR_WIDTH] + now - ready, front)


def pass_run(front: Any, high: Any, jobs: Any, times: Any, due: Any, ready: Any) -> None:
    """Jobs pass all machines, one after the other, in the schedules l < high.

    times[job * machines + k] is how long machine k takes for a job, due[job] and ready[job] when it is due and there.
    """
    machines = front.shape[0] // VECTOR_WIDTH - COUNTS
    for t in range(jobs.shape[0]):
        job = jobs[t]
        pass_job(front, high, part(times, job * machines, machines), due[job], ready[job])


def meet(front: Any, high: Any, lines: Any, width: Any) -> None:
    """The makespan of each schedule l < high, in the row of the last machine.

    lines[width * k + l] is how long machine k takes from there to the end; the last row is a
    lower bound on the completion of the jobs to come, from their release dates.
    """
    machines = front.shape[0] // VECTOR_WIDTH - COUNTS
    for lane in range(high):
        most = np.int64(lines[width * machines + lane])
        for k in range(machines):
            most = max(most, np.int64(front[VECTOR_WIDTH * k + lane]) + lines[width * k + lane])
        front[VECTOR_WIDTH * (machines - 1) + lane] = narrow(most, front)


def breadth(front: Any) -> int:
    """How many schedules to take side by side: as many as a vector has, or one where rows are not vectors."""
    return VECTOR_WIDTH


def _is_line(array: types.Type) -> bool:
    return isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"


@overload(breadth, strict=False, jit_options=CALLED)  # type: ignore[untyped-decorator]
def _breadth(front: Any) -> Any:
    return (lambda front: VECTOR_WIDTH) if _is_line(front) else (lambda front: 1)


class _Rows:
    """The rows of a front, for building code: loaded, stored, computed with."""

    def __init__(self, context: Context, builder: ir.IRBuilder, kind: types.Array, front: ir.Value) -> None:
        self.builder = builder
        self.kind = kind
        self.number = ir.IntType(kind.dtype.bitwidth)
        self.line = ir.VectorType(self.number, VECTOR_WIDTH)
        self._size = kind.dtype.bitwidth // 8
        array = context.make_array(kind)(context, builder, front)
        self._data = array.data
        rows = builder.sdiv(array.nitems, ir.Constant(array.nitems.type, VECTOR_WIDTH), flags=["exact"])
        self.machines = builder.sub(rows, ir.Constant(rows.type, COUNTS))

    def _place(self, k: ir.Value) -> Any:
        place = self.builder.mul(k, ir.Constant(k.type, VECTOR_WIDTH))
        return self.builder.bitcast(self.builder.gep(self._data, [place]), self.line.as_pointer())

    def load(self, k: ir.Value) -> Any:
        return self.builder.load(self._place(k), align=self._size)

    def store(self, k: ir.Value, line: ir.Value) -> None:
        self.builder.store(line, self._place(k), align=self._size)

    def spread(self, number: ir.Value) -> Any:
        one = self.builder.insert_element(ir.Constant(self.line, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR_WIDTH), [0] * VECTOR_WIDTH)
        return self.builder.shuffle_vector(one, one, places)

    def later(self, one: ir.Value, two: ir.Value) -> Any:
        return self.builder.select(self.builder.icmp_signed(">", one, two), one, two)

    def count(self, k: ir.Value, now: ir.Value, due: ir.Value, ready: ir.Value, chosen: ir.Value | None = None) -> None:
        """Add a job that is finished `now` to the rows k, k + 1 and k + 2 of the schedules chosen."""
        builder = self.builder
        zero = ir.Constant(self.line, [0] * VECTOR_WIDTH)
        one = ir.Constant(self.line, [1] * VECTOR_WIDTH)
        tardy = builder.icmp_signed(">", now, due)
        added = [builder.select(tardy, builder.sub(now, due), zero), builder.select(tardy, one, zero)]
        added.append(builder.sub(now, ready))
        for step, value in enumerate(added):
            if chosen is not None:
                value = builder.select(chosen, value, zero)
            place = builder.add(k, ir.Constant(k.type, step))
            self.store(place, builder.add(self.load(place), value))


def _element(
    context: Context, builder: ir.IRBuilder, kind: types.Array, array: ir.Value, place: ir.Value, number: ir.IntType
) -> Any:
    """The number in a place of an array, as wide as asked for."""
    data = context.make_array(kind)(context, builder, array).data
    value = builder.load(builder.gep(data, [place]))
    if value.type.width == number.width:
        return value
    return builder.sext(value, number) if value.type.width < number.width else builder.trunc(value, number)


@intrinsic  # type: ignore[untyped-decorator]
def _pass_vector(typing: Any, front: Any, high: Any, times: Any, due: Any, ready: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        front, high, times, due, ready = args
        rows = _Rows(context, builder, signature.args[0], front)
        machines = context.make_array(signature.args[2])(context, builder, times).nitems
        lanes = ir.Constant(rows.line, list(range(VECTOR_WIDTH)))
        chosen = builder.icmp_signed("<", lanes, rows.spread(_fit(builder, high, rows.number)))
        start = rows.spread(ready)
        now = variable_of(builder, start)
        with loop(builder, 0, machines) as machine:
            time = _element(context, builder, signature.args[2], times, machine, rows.number)
            before = rows.load(machine)
            after = builder.add(rows.later(builder.load(now), before), rows.spread(time))
            builder.store(after, now)
            rows.store(machine, builder.select(chosen, after, before))
        rows.count(machines, builder.load(now), rows.spread(due), start, chosen)
        return context.get_dummy_value()

    return types.void(front, types.int64, times, front.dtype, front.dtype), generate


def _fit(builder: ir.IRBuilder, value: ir.Value, number: ir.IntType) -> Any:
    return builder.trunc(value, number) if number.width < value.type.width else value


@intrinsic  # type: ignore[untyped-decorator]
def _pass_vectors(typing: Any, front: Any, jobs: Any, times: Any, due: Any, ready: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        front, jobs, times, due, ready = args
        rows = _Rows(context, builder, signature.args[0], front)
        last = context.make_array(signature.args[1])(context, builder, jobs).nitems
        place = ir.IntType(64)

        def pass_some(t: Any, number: int) -> None:
            """So many jobs from t on: a row is loaded, all of them pass its machine, it is stored."""
            wanted = [
                _element(context, builder, signature.args[1], jobs, builder.add(t, ir.Constant(place, q)), place)
                for q in range(number)
            ]
            begins = [builder.mul(job, rows.machines) for job in wanted]
            starts, dues = (
                [
                    rows.spread(_element(context, builder, signature.args[which], array, job, rows.number))
                    for job in wanted
                ]
                for which, array in ((4, ready), (3, due))
            )
            now = [variable_of(builder, start) for start in starts]
            with loop(builder, 0, rows.machines) as machine:
                line = rows.load(machine)
                for q in range(number):
                    at_time = builder.add(begins[q], machine)
                    time = _element(context, builder, signature.args[2], times, at_time, rows.number)
                    line = builder.add(rows.later(builder.load(now[q]), line), rows.spread(time))
                    builder.store(line, now[q])
                rows.store(machine, line)
            for q in range(number):
                rows.count(rows.machines, builder.load(now[q]), dues[q], starts[q])

        together = ir.Constant(place, _TOGETHER)
        middle = builder.mul(builder.sdiv(last, together), together)
        with loop(builder, 0, middle, _TOGETHER) as t:
            pass_some(t, _TOGETHER)
        with loop(builder, middle, last) as t:
            pass_some(t, 1)
        return context.get_dummy_value()

    return types.void(front, jobs, times, due, ready), generate


@intrinsic  # type: ignore[untyped-decorator]
def _meet_vectors(typing: Any, front: Any, lines: Any, width: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        front, lines, width = args
        rows = _Rows(context, builder, signature.args[0], front)
        data = context.make_array(signature.args[1])(context, builder, lines).data

        def read(k: Any) -> Any:
            place = builder.gep(data, [builder.mul(width, k)])
            return builder.load(builder.bitcast(place, rows.line.as_pointer()), align=rows.number.width // 8)

        most = variable_of(builder, read(rows.machines))
        with loop(builder, 0, rows.machines) as machine:
            end = builder.add(rows.load(machine), read(machine))
            builder.store(rows.later(builder.load(most), end), most)
        rows.store(builder.sub(rows.machines, ir.Constant(rows.machines.type, 1)), builder.load(most))
        return context.get_dummy_value()

    return types.void(front, lines, types.int64), generate


@overload(meet, strict=False, jit_options=CALLED)  # type: ignore[untyped-decorator]
def _compile_meet(front: Any, high: Any, lines: Any, width: Any) -> Any:
    if _is_line(front) and _is_line(lines) and front.dtype == lines.dtype:
        return lambda front, high, lines, width: _meet_vectors(front, lines, width)
    return meet


@overload(pass_job, strict=False, jit_options=CALLED)  # type: ignore[untyped-decorator]
def _compile_pass_job(front: Any, high: Any, times: Any, due: Any, ready: Any) -> Any:
    if _is_line(front) and _is_line(times):
        return lambda front, high, times, due, ready: _pass_vector(
            front, high, times, narrow(due, front), narrow(ready, front)
        )
    return pass_job


@overload(pass_run, strict=False, jit_options=CALLED)  # type: ignore[untyped-decorator]
def _compile_pass_run(front: Any, high: Any, jobs: Any, times: Any, due: Any, ready: Any) -> Any:
    if all(_is_line(a) for a in (front, jobs, times, due, ready)):
        return lambda front, high, jobs, times, due, ready: _pass_vectors(front, jobs, times, due, ready)
    return pass_run
