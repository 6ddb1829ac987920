"""Plots: what is drawn, read back from the figures; and what cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from conftest import imports, needs
from systola.engines.catalog import _ENGINES, engine_names
from systola.errors import InputError, MissingExtra
from systola.lab import plots
from systola.lab.runtime_plot import plot_runtimes
from systola.lab.style import _PLACES, WIDTHS, Look, looks

CURVES = {"sgs-b": [([10, 20, 40], [9.0, 5.0, 1.0]), ([10, 30], [7.0, 3.0]), ([20, 25], [8.0, 2.0])]}


def test_missing_matplotlib(without_package: Callable[[str], None]) -> None:
    without_package("matplotlib")
    for draw in (
        lambda: plots.convergence(CURVES),
        lambda: plots.boxplots({"a": [1.0]}),
        lambda: plots.grid_heatmap([[[1.0]]], [0]),
        lambda: plots.grid_surface([[1.0, 2.0], [3.0, 4.0]], [0, 1]),
    ):
        with pytest.raises(MissingExtra, match=r'pip install "systola\[plots\]"'):
            draw()


def test_matplotlib_is_imported_when_used() -> None:
    assert not imports("systola.lab.plots", "matplotlib")


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        ({}, "one algorithm or more"),
        ({"a": []}, "'a' has none"),
        ({"a": [([1, 2], [1.0])]}, "2 counts from 1 to 2 and 1 values"),
        ({"a": [([2, 1], [1.0, 0.0])]}, "increasing"),
        ({"a": [([-1, 1], [1.0, 0.0])]}, "0 or more"),
        ({"a": [([], [])]}, "evaluations of a run of 'a'"),
        ({"a": [([1, 2], [1.0, float("nan")])]}, "values of a run of 'a'"),
    ],
)
def test_bad_curves(curves: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        plots.convergence(curves)


@pytest.mark.parametrize("samples", [{}, {"a": []}, {"a": [float("inf")]}, {"a": [[1.0]]}])
def test_bad_samples(samples: Any) -> None:
    with pytest.raises(InputError):
        plots.boxplots(samples)


@pytest.mark.parametrize(
    ("frames", "steps"),
    [
        ([], []),
        ([np.ones((2, 3))], [1, 2]),
        ([np.ones((2, 3)), np.ones((3, 2))], [1, 2]),
        ([np.ones(3)], [1]),
        ([np.ones((0, 3))], [1]),
        ([np.full((2, 3), np.nan)], [1]),
    ],
)
def test_bad_frames(frames: Any, steps: list[int]) -> None:
    with pytest.raises(InputError, match="frame"):
        plots.grid_heatmap(frames, steps)


@pytest.mark.parametrize(
    ("rows", "shares", "words"),
    [
        ([[1.0, 2.0]], [0], "two moments"),
        ([[1.0], [2.0]], [0, 1], "two rows"),
        ([1.0, 2.0], [0, 1], "two rows"),
        ([[1.0, 2.0], [3.0, 4.0]], [0, 0.5, 1], "3 shares"),
        ([[1.0, 2.0], [3.0, np.inf]], [0, 1], "finite"),
        ([[1.0, 2.0], [3.0, 4.0]], [1, 0], "from 1 to 0"),
        ([[1.0, 2.0], [3.0, 4.0]], [0, 100], "from 0 to 100"),
    ],
)
def test_bad_surfaces(rows: Any, shares: list[float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plots.grid_surface(rows, shares)


@needs("matplotlib", "plots")
class TestDrawn:
    def test_convergence_is_the_median_of_steps(self) -> None:
        figure = plots.convergence(CURVES, label="Error", title="Demo")
        (axes,) = figure.axes
        (line,) = axes.get_lines()
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert x[0] == 20  # where the last run starts
        assert x[-1] == 40
        for evaluations, median in [(20, 7.0), (24, 7.0), (26, 5.0), (29, 5.0), (31, 3.0), (40, 2.0)]:
            assert y[np.searchsorted(x, evaluations, side="right") - 1] == median
        assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == (
            "Evaluations",
            "Error",
            "Demo",
        )
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["sgs-b"]

    def test_convergence_band_holds_the_quartiles(self) -> None:
        (axes,) = plots.convergence(CURVES).axes
        (band,) = axes.collections
        corners = band.get_paths()[0].vertices
        at_start = corners[corners[:, 0] == 20][:, 1]
        assert at_start.min() == np.quantile([5.0, 7.0, 8.0], 0.25)
        assert at_start.max() == np.quantile([5.0, 7.0, 8.0], 0.75)

    @pytest.mark.parametrize(
        ("values", "scale"),
        [
            ([5.0, 4.0], "linear"),
            ([500.0, 1.0], "log"),
            ([500.0, 1.0, 0.0], "symlog"),
            ([-500.0, -1.0], "linear"),
        ],
    )
    def test_scale_follows_the_values(self, values: list[float], scale: str) -> None:
        runs = {"a": [(np.arange(1, len(values) + 1), values)]}
        assert plots.convergence(runs).axes[0].get_yscale() == scale
        assert plots.boxplots({"a": values}).axes[0].get_xscale() == scale

    def test_zero_is_at_the_bottom(self) -> None:
        low, _ = plots.convergence({"a": [([1, 2, 3], [5000.0, 10.0, 0.0])]}).axes[0].get_ylim()
        assert -10 < low < 0

    def test_run_with_a_single_point(self) -> None:
        (line,) = plots.convergence({"a": [([5], [1.0])]}).axes[0].get_lines()
        assert list(line.get_ydata()) == [1.0]

    def test_evaluations_may_start_at_zero(self) -> None:
        (line,) = plots.convergence({"a": [([0, 5, 9000], [9.0, 5.0, 1.0])]}).axes[0].get_lines()
        assert (line.get_xdata()[0], line.get_ydata()[0]) == (0, 9.0)

    def test_more_algorithms_than_colours(self) -> None:
        figure = plots.convergence({str(i): [([1, 2], [1.0 * i, 0.5 * i])] for i in range(12)})
        lines = figure.axes[0].get_lines()
        looks = {(line.get_color(), repr(line._unscaled_dash_pattern)) for line in lines}
        assert len(looks) == 12

    def test_infeasible_runs_are_marked(self) -> None:
        figure = plots.convergence({**CURVES, "sga": []}, infeasible={"sgs-b": 1, "sga": 2})
        shown = [text.get_text() for text in figure.legends[0].get_texts()]
        assert shown == ["sgs-b (1 of 4 infeasible)", "sga (2 of 2 infeasible)"]
        with pytest.raises(InputError, match="one feasible run"):
            plots.convergence({"sga": []}, infeasible={"sga": 2})
        (axes,) = plots.boxplots({"a": [1.0, 2.0], "b": []}, infeasible={"a": [9.0], "b": [7.0, 8.0]}).axes
        assert "infeasible" in axes.get_xlabel()
        points = [values.get_offsets()[:, 0].tolist() for values in axes.collections if len(values.get_offsets())]
        assert [some for some in points if some != [0.0]] == [[1.0, 2.0], [9.0], [7.0, 8.0]]

    def test_boxplots_show_every_run(self) -> None:
        (axes,) = plots.boxplots({"a": [1.0, 2.0, 3.0], "b": [4.0] * 5}, label="Error").axes
        dots = [len(c.get_offsets()) for c in axes.collections if len(c.get_offsets()) > 1]
        assert dots == [3, 5]
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b"]
        assert axes.get_yticks()[0] > axes.get_yticks()[1]  # the first on top
        box = axes.patches[0]
        assert (box.get_x(), box.get_width()) == (1.5, 1.0)

    @pytest.mark.parametrize(("shape", "columns"), [((10, 1000), 1), ((20, 20), 4)])
    def test_heatmap_layout(self, shape: tuple[int, int], columns: int) -> None:
        frames = [np.full(shape, float(k)) for k in range(6)]
        figure = plots.grid_heatmap(frames, [0, 1, 10, 100, 1000, 10000], label="Profit", title="Grid")
        drawn = [axes for axes in figure.axes if axes.get_visible() and axes.images]
        assert [axes.get_title(loc="left") for axes in drawn] == [
            "Step 0", "Step 1", "Step 10", "Step 100", "Step 1,000", "Step 10,000",
        ]  # fmt: skip
        assert {axes.images[0].get_clim() for axes in drawn} == {(0.0, 5.0)}
        assert drawn[0].get_subplotspec().get_gridspec().ncols == columns
        assert figure.axes[-1].get_ylabel() == "Profit"

    def test_heatmap_of_equal_cells(self, tmp_path: Path) -> None:
        plots.save(plots.grid_heatmap([np.ones((1, 8))], [3]), tmp_path / "grid.png")

    def test_surface(self, tmp_path: Path) -> None:
        rows = np.arange(12.0).reshape(4, 3)
        figure = plots.grid_surface(rows, [0, 0.2, 0.5, 1], label="Mean", title="Mesh")
        (axes,) = figure.axes
        assert (axes.get_xlabel(), axes.get_zlabel(), figure.get_suptitle()) == ("Row", "Mean", "Mesh")
        ends = [axis.get_data_interval().tolist() for axis in (axes.xaxis, axes.yaxis, axes.zaxis)]
        assert ends == [[1, 3], [0, 100], [0, 11]]
        plots.save(figure, tmp_path / "surface.png")
        assert (tmp_path / "surface.png").stat().st_size > 5000

    @pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
    def test_save(self, tmp_path: Path, suffix: str, start: bytes) -> None:
        first, second = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
        for path in (first, second):
            plots.save(plots.convergence(CURVES, title="Demo"), path)
        assert first.read_bytes().startswith(start)
        assert first.read_bytes() == second.read_bytes()

    def test_save_elsewhere(self, tmp_path: Path) -> None:
        figure = plots.boxplots({"a": [1.0, 2.0]})
        with pytest.raises(InputError, match=r"\.png, \.pdf, \.svg"):
            plots.save(figure, tmp_path / "plot.doc")
        with pytest.raises(InputError, match="folder"):
            plots.save(figure, tmp_path / "nowhere" / "plot.png")


@needs("matplotlib", "plots")
class TestStyle:
    CURVES = {name: [([1, 9, 90], [k + 1.0, k, k / 2])] for k, name in enumerate(("rs", "x" * 90, "_a$b$_c", "sgs-b"))}

    def test_an_algorithm_looks_the_same_everywhere(self) -> None:
        mine = looks(["sgs-b", "own.py:Mine", "rs"])
        assert (
            looks(["rs", "ega", "sgs-b"])["sgs-b"] == mine["sgs-b"] == looks(["sgs-b (published)"])["sgs-b (published)"]
        )
        assert looks(["own.py:Mine"])["own.py:Mine"] == looks(["tabu", "own.py:Mine", "a"])["own.py:Mine"]
        assert looks(["sgs-b"])["sgs-b"] == Look("#0072B2", "-", "o")  # for ever: papers have been printed with it

    def test_algorithms_look_different(self) -> None:
        own = [name for name, (kind, _) in _ENGINES.items() if not kind.__module__.startswith("systola.")]
        ours = [name for name in engine_names() if name not in own]  # other tests may have registered some
        assert {name for name in ours if name not in _PLACES} == set()
        assert len({(look.colour, look.dashes) for look in looks(map(str, range(28))).values()}) == 28
        assert len(set(looks(ours).values())) == len(ours)
        papers = looks(["rs", "sga", "ega", "sgs-t", "sgs-e", "sgs-v", "sgs-b"])
        assert len({look.colour for look in papers.values()}) == 7

    @pytest.mark.parametrize("columns", [1, 2])
    def test_nothing_is_clipped(self, columns: Literal[1, 2]) -> None:
        samples = {name: list(runs[0][1]) for name, runs in self.CURVES.items()}
        for figure in (
            plots.convergence(self.CURVES, optimum=-2.0, title="t" * 99, columns=columns),
            plots.boxplots(samples, optimum=1e9, title="t" * 99, columns=columns),
            plot_runtimes(self.CURVES, 0.0, minimise=True, title="t" * 99, columns=columns),
        ):
            assert figure.get_size_inches()[0] == WIDTHS[columns]
            figure.draw_without_rendering()
            drawn, page = figure.get_tightbbox(), figure.bbox_inches
            assert drawn.x0 >= page.x0
            assert drawn.x1 <= page.x1
            assert drawn.y0 >= page.y0
            assert drawn.y1 <= page.y1

    def test_the_optimum_is_a_line(self) -> None:
        (axes,) = plots.convergence(self.CURVES, optimum=-2.0).axes
        assert list(axes.get_lines()[-1].get_ydata()) == [-2.0, -2.0]
        assert axes.get_ylim()[0] < -2.0
        (axes,) = plots.boxplots({"a": [1.0, 2.0]}, optimum=9.0).axes
        assert axes.get_xlim()[1] > 9.0

    def test_the_order_is_that_of_the_tables(self) -> None:
        figure = plots.convergence({"b": [([1], [1.0])], "sgs-b": [([1], [2.0])], "a": [([1], [3.0])]})
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["b", "sgs-b", "a"]
        (axes,) = plots.boxplots({"b": [1.0], "sgs-b": [2.0], "a": [3.0]}).axes
        ticks = dict(zip(axes.get_yticks(), [text.get_text() for text in axes.get_yticklabels()], strict=True))
        assert [ticks[place] for place in sorted(ticks, reverse=True)] == ["b", "sgs-b", "a"]

    def test_run_times_count_runs_without_a_feasible_solution(self) -> None:
        curves = {"a": [([10, 20, 40], [120.0, 102.0, 100.0])], "b": []}
        (axes,) = plot_runtimes(curves, 100.0, minimise=True, runs={"a": 2, "b": 1}).axes
        line, none = axes.get_lines()
        # 3 of 8 targets at 20 (10, 5 and 2 %), all at 40, of two runs
        assert dict(zip(line.get_xdata(), line.get_ydata(), strict=True)) == {10: 0.0, 20: 100 * 3 / 16, 40: 50.0}
        assert set(none.get_ydata()) == {0.0}
        with pytest.raises(InputError, match="one feasible run"):
            plot_runtimes({"a": []}, 1.0, minimise=True, runs={"a": 1})

    def test_wrong_columns(self) -> None:
        with pytest.raises(InputError, match="1 or 2 columns"):
            plots.boxplots({"a": [1.0]}, columns=3)  # type: ignore[arg-type]
