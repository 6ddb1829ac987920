"""The CUDA backend: the population lives on the device, one thread a cell, kernels from the same source as the CPU's.

Nothing but one record of the best solution comes back to the host in an interval. Solutions are updated in place:
in a step each row belongs to exactly one cell, so the second buffer of the paper's GPU code is not needed.
A `Device` launches; the real one is Numba's, tests put in one that executes the compiled PTX on a CPU.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np

from systola.backends.kernels import KERNELS
from systola.backends.session import Setup, allocate, find_fault, grow, memory_size_of, restore, saved, total_size
from systola.backends.step import Step, before_steps
from systola.errors import InputError, MissingExtra
from systola.jit.compile import Call
from systola.jit.records import Record, change_arrays
from systola.model.encodings import Array
from systola.model.population import OUT_OF_ROOM, Best, Lanes, Population, Standing
from systola.model.problem import record_of, space_of

R = TypeVar("R", bound=Record)

THREADS_PER_BLOCK = 128
_PARTIAL_LANES = 256


class Device(Protocol):
    """What the backend needs of a GPU."""

    name: str

    def upload(self, array: Array) -> Array:
        """A copy on the device, of the same memory order; for nothing but kernels and `download`."""

    def download(self, array: Array) -> Array:
        """A copy on the host."""

    def launch(self, kernel: str, threads: int, block: int, args: tuple[Any, ...]) -> None:
        """Run one of KERNELS with at least this many threads; returns when it is queued."""


class NumbaDevice:
    """The first GPU of this machine."""

    def __init__(self) -> None:
        from systola.backends.nvidia import check_gpu, exact_arithmetic, jit

        self.name = check_gpu()
        self._exact = exact_arithmetic
        self._jit = jit
        self._made: dict[str, Any] = {}

    def upload(self, array: Array) -> Array:
        from numba import cuda

        sent: Array = cuda.to_device(array)
        return sent

    def download(self, array: Array) -> Array:
        host: Array = array.copy_to_host()  # type: ignore[attr-defined]  # it is what `upload` returned
        return host

    def launch(self, kernel: str, threads: int, block: int, args: tuple[Any, ...]) -> None:
        if kernel not in self._made:
            self._made[kernel] = self._jit(KERNELS[kernel])
        with self._exact():
            self._made[kernel][(threads + block - 1) // block, block](*args)


class CudaSession:
    """A run on a GPU. A lane is a cell."""

    backend = "cuda"
    threads = 1
    accepts_immigrants = False
    reserved = 0  # it needs none

    def __init__(self, setup: Setup, device: Device | None = None) -> None:
        self._device: Device = device or open_device()
        self._setup = setup
        self.lanes = min(setup.design.cells, setup.design.max_lanes)
        self._host = allocate(setup, self.lanes, 1)
        self.memory = total_size(*self._host[:2])
        self._given = 0
        self._asked = False
        self._space = self._lift(space_of(setup.problem))
        self._problem = self._lift(record_of(setup.problem), keep_order=True)
        self._engine = self._lift(setup.design.record)
        self._population: Population
        self._lanes: Lanes
        self._send()
        self._best = self._lift(self._host[2])
        self._partial = self._device.upload(np.zeros(min(_PARTIAL_LANES, self.lanes), np.int64))

    def kernels(self) -> dict[str, Call]:
        return {}

    def compile(self) -> None:
        """Nothing ahead of time: a kernel is compiled when it is first launched."""

    def give(self, rows: Array) -> None:
        self._host[0].x[: len(rows)] = rows
        self._given = len(rows)
        self._send()

    def start(self, low: int, high: int) -> None:
        given, rows = np.int64(self._given), np.int64(self._setup.design.started)
        self._launch("start", high - low, (self._engine, self._base, given, rows, np.int64(low), np.int64(high)))

    def compile_immigration(self) -> None:
        """There is none."""

    def accept_immigrant(self, step: int, row: Array) -> None:
        raise NotImplementedError  # as `accepts_immigrants` says

    def ask_to_stop(self, at_once: bool) -> None:
        self._asked = True

    def is_left(self) -> bool:
        return False

    def sweep(self, step: int, steps: int, low: int, high: int) -> int:
        cells = np.int64(self._setup.design.cells)
        for t in range(step, step + steps):
            if self._asked and low == 0:  # between launches only: the host cannot reach into one
                return t - step
            if t == 1 and low == 0:
                self._end_step(0)
            args = (self._engine, self._base, cells, np.int64(t), np.int64(low), np.int64(high))
            self._launch("sweep", high - low, args)
            if high == self.lanes:
                self._end_step(t)
        return steps

    def _end_step(self, step: int) -> None:
        """What is done once in a step, if the engine does anything."""
        if self._setup.design.memory_size == 0:
            return
        stride = np.int64(min(_PARTIAL_LANES, self.lanes))
        self._launch("reduce_lanes", int(stride), (self._engine, self._base, stride))
        while True:
            self._launch("end_step", 1, (self._engine, self._base, np.int64(step)))
            if not self._setup.design.sections or not self._device.download(self._population.memory)[OUT_OF_ROOM]:
                return
            self._grow(self.population())

    def _grow(self, population: Population) -> None:
        self._setup, grown = grow(self._setup, population)
        self._population = self._lift(grown)
        self._host = (grown, *self._host[1:])
        self.memory = total_size(*self._host[:2])

    def best(self) -> Best:
        partial = min(_PARTIAL_LANES, self.lanes)
        self._launch("reduce_best_partial", partial, (self._problem, self._lanes, self._partial))
        self._launch("reduce_best", 1, (self._problem, self._lanes, self._partial, self._best))
        return Best(*(np.ascontiguousarray(self._device.download(a)) for a in self._best))

    def faults(self) -> tuple[int, Array | None]:
        if self._setup.dtype == np.int64:
            return 0, None  # integers are always numbers
        host = self._host[1]
        host.faults[...] = self._device.download(self._lanes.faults)
        if host.faults.any():
            host.faulty[...] = self._device.download(self._lanes.faulty)
        return find_fault(host)

    def population(self) -> Population:
        return Population(*(np.ascontiguousarray(self._device.download(a)) for a in self._population))

    def standing(self) -> Standing:
        there = self._population.scores, self._population.slots, self._population.memory
        return Standing(*(np.ascontiguousarray(self._device.download(a)) for a in there))

    def save(self) -> dict[str, Array]:
        return saved(self.population(), self.best())

    def restore(self, arrays: dict[str, Array]) -> None:
        while self._setup.design.sections and memory_size_of(arrays) > self._setup.design.memory_size:
            self._grow(self._host[0])
        restore(arrays, self._setup, *self._host[:2])
        self._send()

    def arguments(self) -> dict[str, tuple[Any, ...]]:
        """The arguments of each kernel that is launched, for compiling without launching."""
        one = np.int64(1)
        args = (self._engine, self._base)
        known: dict[str, tuple[Any, ...]] = {
            "start": (*args, one, one, one, one),
            "sweep": (*args, one, one, one, one),
            "reduce_best_partial": (self._problem, self._lanes, self._partial),
            "reduce_best": (self._problem, self._lanes, self._partial, self._best),
        }
        if self._setup.design.memory_size > 0:
            known |= {"reduce_lanes": (*args, one), "end_step": (*args, one)}
        return known

    @property
    def _base(self) -> Step:
        """The record that kernels get; anew each time, since the population may have grown."""
        return before_steps(self._problem, self._space, self._population, self._lanes, self._setup.seed)

    def _send(self) -> None:
        self._population = self._lift(self._host[0])
        self._lanes = self._lift(self._host[1])

    def _lift(self, record: R, keep_order: bool = False) -> R:
        """A record with its arrays on the device; neighbouring threads read neighbouring rows, so rows run fastest."""
        order = np.asarray if keep_order else np.asfortranarray
        lifted: R = change_arrays(record, lambda array: self._device.upload(order(array)))
        return lifted

    def _launch(self, kernel: str, threads: int, args: tuple[Any, ...]) -> None:
        if threads > 0:
            self._device.launch(kernel, threads, THREADS_PER_BLOCK, args)


def open_device() -> Device:
    """The real GPU, or a sentence that says what is missing."""
    try:
        return NumbaDevice()
    except ImportError:
        raise MissingExtra("the CUDA backend", "cu13") from None
    except OSError as error:
        raise InputError(f"no GPU can be used here: {error}") from None
