"""Simulated demes: equal to a naive twin, nothing lost, and the shapes of the paper's Figures 5 to 9."""

import dataclasses
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.naive_simulation import simulate_naively
from systola.errors import InputError
from systola.lab.machine import Machine, measure_machine
from systola.lab.scaling import plot_scaling, scaling_tables, simulate_scaling
from systola.lab.simulation import MODES, THRESHOLDS, Migration, Search, place_demes, simulate
from systola.lab.style import save

ROUGH = Machine(spread=0.4, stall_chance=0.05, stall_seconds=0.02, latency=1e-4)
TIGHT = Migration(6, 10, rate=3, export_probability=0.5, send_slots=15, pool=7, overflowing=True)
LIVELY = Search(improvements=0.05, hardness=0.5, stride=0.6)


def check_twin(height, width, rounds, mode, machine, migration, search, seed):
    run = simulate(height * width, rounds, mode, machine=machine, migration=migration, search=search, seed=seed)
    twin = simulate_naively(height, width, rounds, mode, machine, migration, search, THRESHOLDS, seed)
    for name, expected in twin.items():
        found = getattr(run, name)
        assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected, name
    return run


def check_conservation(run, migration):
    assert run.sent == run.received + run.under_way
    assert migration.rate * run.received == run.injected + run.overwritten + run.pooled
    assert run.pooled <= run.demes * migration.pool
    assert run.under_way <= run.demes * migration.messages
    assert run.shares.min() >= -1e-12
    assert run.shares.max() <= 1 + 1e-12


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("height", "width"), [(2, 2), (3, 3), (4, 4)])
@pytest.mark.parametrize("kind", ["default", "rough"])
def test_equals_the_naive_twin(mode, height, width, kind):
    parts = (Machine(), Migration(), Search()) if kind == "default" else (ROUGH, TIGHT, LIVELY)
    run = check_twin(height, width, 30, mode, *parts, seed=7)
    assert run.sent > 0
    if kind == "rough":
        assert min(run.held, run.overwritten) > 0
        assert run.reached[0.2]
        assert run.skipped or mode == "synchronous"


@settings(deadline=None, max_examples=100)
@given(
    shape=st.sampled_from([(2, 2), (2, 3), (3, 3), (3, 4), (4, 4)]),
    rounds=st.integers(1, 8),
    mode=st.sampled_from(MODES),
    machine=st.builds(
        Machine,
        iteration_seconds=st.floats(1e-6, 1.0),
        spread=st.sampled_from([0.0, 0.1, 1.0]),
        stall_chance=st.sampled_from([0.0, 0.1, 1.0]),
        stall_seconds=st.floats(0, 1),
        latency=st.sampled_from([0.0, 1e-5, 0.1]),
        byte_seconds=st.sampled_from([0.0, 1e-9]),
        export_seconds=st.sampled_from([0.0, 1e-5, 0.1]),
        import_seconds=st.sampled_from([0.0, 1e-5, 0.1]),
        barrier_seconds=st.sampled_from([0.0, 1e-5, 0.1]),
    ),
    migration=st.builds(
        Migration,
        export_every=st.integers(1, 12),
        import_every=st.integers(1, 12),
        rate=st.integers(1, 4),
        export_probability=st.sampled_from([0.0, 0.3, 1.0]),
        send_slots=st.integers(4, 24),
        pool=st.integers(1, 9),
        overflowing=st.just(True),
    ),
    search=st.builds(
        Search, improvements=st.floats(0, 0.5), hardness=st.floats(0, 4), stride=st.sampled_from([0.0, 0.3, 0.9])
    ),
    seed=st.integers(0, 2**64 - 1),
)
def test_nothing_is_lost(shape, rounds, mode, machine, migration, search, seed):
    run = check_twin(*shape, rounds, mode, machine, migration, search, seed)
    check_conservation(run, migration)
    assert run.seconds > 0


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_lost_on_a_larger_torus(mode):
    for migration in (Migration(), TIGHT):
        check_conservation(simulate(240, 40, mode, machine=ROUGH, migration=migration), migration)


def test_a_seed_is_a_run():
    def story(seed):
        return simulate(64, 20, machine=ROUGH, seed=seed).to_json()

    assert story(3) == story(3)
    assert story(3) != story(4)


def test_neighbours_are_mutual():
    for demes in (4, 6, 12, 64):
        places = place_demes(demes)
        for deme in range(demes):
            assert [places[places[deme, side], side ^ 1] for side in range(4)] == [deme] * 4


@pytest.mark.parametrize("mode", MODES)
def test_a_minute_is_enough(mode):
    """For 16,384 demes and 500 rounds; here are 10 of them, in time of this thread."""
    simulate(4, 1, mode)
    began = time.thread_time()
    simulate(16_384, 10, mode)
    assert 50 * (time.thread_time() - began) < 60


@pytest.mark.parametrize("mode", MODES)
def test_progress_is_told(mode):
    told = []
    simulate(400, 600, mode, on_progress=told.append)
    assert told
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1


# What must come out


def test_without_noise_and_costs_all_demes_are_as_quick_as_one():
    free = Machine(1e-3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    for mode in MODES:
        run = simulate(16, 10, mode, machine=free)
        assert run.efficiency == pytest.approx(1)
        assert run.seconds == pytest.approx(0.5)
        assert run.share == pytest.approx(0, abs=1e-12)


def test_stalls_cost_a_lone_deme_as_much_as_an_asynchronous_one():
    run = simulate(64, 400, machine=dataclasses.replace(ROUGH, latency=0, stall_chance=0.02))
    assert run.efficiency == pytest.approx(1, abs=0.03)


def test_a_barrier_waits_for_the_slowest():
    """Without stalls, a synchronous stretch takes the largest of all times of its demes."""
    machine = Machine(1e-3, 0.2, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    run = simulate(256, 300, "synchronous", machine=machine)
    draws = np.random.default_rng(1).normal(size=(4000, 256)).max(axis=1)
    expected = np.exp(0.2 * draws - 0.02).mean()
    assert 1 / run.efficiency == pytest.approx(expected, rel=0.02)


def test_a_full_send_buffer_skips_and_a_full_pool_forgets():
    """Conditions (1) and (2) of the paper: kept, nothing overflows; broken, something does."""
    assert simulate(64, 100).skipped == simulate(64, 100).overwritten == 0
    late = Migration(export_every=10, import_every=100, export_probability=1, overflowing=True)
    assert simulate(64, 50, migration=late).skipped > 0
    flood = Migration(5, 5, export_probability=1, overflowing=True)  # 4 * 2 solutions in 5 iterations
    assert simulate(64, 400, migration=flood).overwritten > 0


def test_shapes_of_the_figures():
    runs = {(demes, mode): simulate(demes, 60, mode) for demes in (64, 1024) for mode in MODES}
    small, large = ({mode: runs[demes, mode] for mode in MODES} for demes in (64, 1024))
    # Fig. 7: communication grows with barriers, and does not without.
    assert large["synchronous"].share > small["synchronous"].share + 0.03
    assert large["asynchronous"].share < small["asynchronous"].share + 0.005
    # Fig. 9: so the iteration rate falls, or does not.
    assert large["synchronous"].rate < 0.97 * small["synchronous"].rate
    assert large["asynchronous"].rate == pytest.approx(small["asynchronous"].rate, rel=0.02)
    assert np.std(small["synchronous"].rates) < 0.1 * np.std(small["asynchronous"].rates)
    # Fig. 6: more demes and no barriers need less time to a gap.
    for gap in THRESHOLDS:
        if large["synchronous"].reached[gap]:
            assert large["asynchronous"].reached[gap][0] < large["synchronous"].reached[gap][0]
        if small["asynchronous"].reached[gap]:
            assert large["asynchronous"].reached[gap][0] < small["asynchronous"].reached[gap][0]


# Scaling


@pytest.fixture(scope="module")
def rows():
    return simulate_scaling((16, 64), 20, seed=5)


def test_rows_are_runs(rows):
    assert [row.demes for row in rows] == [16, 64]
    for row in rows:
        for mode in MODES:
            assert getattr(row, mode).to_json() == simulate(row.demes, 20, mode, seed=5).to_json()
        assert row.ratio == row.asynchronous.rate / row.synchronous.rate > 1


def test_progress_over_all_runs():
    told = []
    simulate_scaling((16, 64), 5, on_progress=told.append)
    assert told == pytest.approx([0.1, 0.2, 0.6, 1.0])


def test_tables(rows):
    tables = scaling_tables(rows)
    assert all(table.title.startswith("Simulation") for table in tables)
    times, messages, seconds, speedups = tables
    assert [row[0].text for row in times.rows] == ["16", "64"]
    assert times.rows[1][-1].text == f"{rows[1].ratio:.2f}"
    assert messages.rows[0][1].text == f"{rows[0].asynchronous.sent:,} ({rows[0].synchronous.sent:,})"
    at, waited = (getattr(rows[1], mode).reached[0.3][0] for mode in MODES)
    assert seconds.rows[1][1].text == f"{at:.3g} ({waited:.3g}) {100 * (1 - at / waited):.0f} %"
    assert speedups.rows[0][1].text == "1.00 (1.00)"
    assert speedups.rows[0][-1].text == "– (–)"
    (last,) = scaling_tables((dataclasses.replace(rows[0], demes=4, asynchronous=simulate(4, 1)), rows[1]))[3:]
    least = simulate(4, 1).seconds / rows[1].asynchronous.reached[0.3][0]  # 4 demes do not get there
    assert last.rows[1][1].text.startswith(f"≥ {least:.2f} (")


def test_picture(rows, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    figure = plot_scaling(rows)
    assert figure.get_suptitle() == "Simulation, 20 rounds"
    assert [axes.get_title("left") for axes in figure.axes] == [
        "Iterations per second",
        "Communication, %",
        "Ratio of times",
    ]
    save(figure, tmp_path / "scaling.svg")
    assert "<svg" in (tmp_path / "scaling.svg").read_text()


# Machines


def test_measured_machines():
    draws = np.random.default_rng(2)
    seconds = 25 * 2e-3 * np.exp(0.1 * draws.normal(size=20_000) - 0.005)
    seconds[::100] += 0.5
    machine = measure_machine(seconds, 25, latency=3e-6)
    assert machine.iteration_seconds == pytest.approx(2e-3, rel=0.01)
    assert machine.spread == pytest.approx(0.1, rel=0.05)
    assert machine.stall_chance == pytest.approx(0.01)
    assert machine.stall_seconds == pytest.approx(0.5, rel=0.01)
    assert (machine.latency, machine.barrier_seconds) == (3e-6, Machine().barrier_seconds)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: simulate(7), "sides of 2 or more, but 7 of them form none"),
        (lambda: simulate(2), "4 <= demes"),
        (lambda: simulate(64, 0), "1 <= rounds"),
        (lambda: simulate(64, mode="later"), "`mode` must be one of asynchronous, synchronous, but got 'later'"),
        (lambda: simulate(64, seed=-1), "0 <= seed < 2**64"),
        (lambda: Search(thresholds=(2,)), "0 <= threshold <= 1"),
        (lambda: Machine(iteration_seconds=0), "1e-09 <= iteration_seconds"),
        (lambda: Machine(latency=math.nan), "`latency` must be a number"),
        (lambda: Machine(spread=4), "0 <= spread <= 3, but got 4"),
        (lambda: Machine(stall_chance=1.5), "0 <= stall_chance <= 1"),
        (lambda: Migration(send_slots=0), "1 <= send_slots"),
        (lambda: Migration(rate=5, send_slots=4), "`send_slots >= rate` must hold"),
        (lambda: Migration(export_every=10, import_every=101), "(Condition 1 of Liu, Wang 2015), but got 101 / 10"),
        (lambda: Migration(export_every=5), "`4 * rate <= export_every` must hold"),
        (lambda: Migration(pool=79), "`pool >= 4 * send_slots` must hold"),
        (lambda: Migration(export_probability=2), "0 <= export_probability <= 1"),
        (lambda: Search(stride=2), "0 <= stride <= 1"),
        (lambda: simulate_scaling((64, 16)), "in increasing order, but got [64, 16]"),
        (lambda: simulate_scaling((16, 17)), "but 17 of them form none"),
        (lambda: scaling_tables(()), "simulate something first"),
        (lambda: plot_scaling(()), "simulate something first"),
        (lambda: measure_machine([1.0], 25), "two stretches or more"),
        (lambda: measure_machine([1.0, -1.0], 25), "positive seconds"),
        (lambda: measure_machine([1.0, 1.0], 25, delay=1), "but got ['delay']"),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)
