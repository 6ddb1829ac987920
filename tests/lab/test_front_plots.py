"""Plots of fronts, attainment surfaces and schedules: what is drawn, read back; and what cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from conftest import needs
from systola.errors import InputError, MissingExtra
from systola.lab import front_plots
from systola.model.problem import MAXIMISE, MINIMISE

FRONTS = {"a": [[1, 4], [3, 1], [2, 2], [3, 3]], "b": [[2, 5], [4, 4]]}
LABELS = ["Makespan", "Tardiness"]
RUNS = {"a": [[[1, 4], [2, 2]], [[1, 3], [3, 1]], [[0, 5], [4, 4]]], "b": [[[5, 6]]]}
TIMES = [[3, 2], [1, 4], [2, 2]]
ORDER = [1, 0, 2]
COMPLETIONS = [[1, 5], [4, 7], [6, 9]]


def test_missing_matplotlib(without_package: Callable[[str], None]) -> None:
    without_package("matplotlib")
    for draw in (
        lambda: front_plots.plot_front(FRONTS, LABELS),
        lambda: front_plots.plot_attainment(RUNS, LABELS),
        lambda: front_plots.plot_gantt(COMPLETIONS, TIMES, ORDER),
    ):
        with pytest.raises(MissingExtra, match=r'pip install "systola\[plots\]"'):
            draw()


@pytest.mark.parametrize(
    ("fronts", "labels", "words"),
    [
        ({}, LABELS, "got none"),
        ({"a": [[1, 2]], "b": [[1, 2, 3]]}, LABELS, "'b'"),
        ({"a": [[1, np.inf]]}, LABELS, "row 0 of that of 'a'"),
        ({"a": [[1, 2]]}, ["one"], "got 2 and 1 labels"),
        ({"a": [[1]]}, ["one"], "two or three"),
        ({"a": [[1, 2, 3, 4]]}, ["one"] * 4, "two or three"),
    ],
)
def test_bad_fronts(fronts: Any, labels: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        front_plots.plot_front(fronts, labels)


@pytest.mark.parametrize(
    ("runs", "labels", "words"),
    [
        ({}, LABELS, "one algorithm or more"),
        ({"a": []}, LABELS, "'a' has none"),
        ({"a": [[[1, 2]]], "b": [[[1, 2]], []]}, LABELS, "'b, run 2'"),
        ({"a": [[[1, 2, 3]]]}, [*LABELS, "Flow time"], "two objectives"),
        ({"a": [[[1, 2]]]}, ["one"], "got 2 and 1 labels"),
    ],
)
def test_bad_runs(runs: Any, labels: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        front_plots.plot_attainment(runs, labels)


@pytest.mark.parametrize(
    ("completions", "times", "jobs", "words"),
    [
        ([1, 2], TIMES, ORDER, "a row of completions"),
        (np.zeros((0, 2)), TIMES, [], "a row of completions"),
        (COMPLETIONS, TIMES, [1, 0], "got 2 jobs"),
        (COMPLETIONS, [[1], [2], [3]], ORDER, "but 1 and 2"),
        (COMPLETIONS, TIMES, [1, 0, 3], "jobs 0 to 2"),
        (COMPLETIONS, TIMES, [1, 0, -1], "jobs 0 to 2"),
        (COMPLETIONS, TIMES, [1, 0, 0], "none twice"),
        (COMPLETIONS, TIMES, [1.0, 0.0, 2.0], "jobs 0 to 2"),
        ([[1, 5], [4, 7], [6, np.nan]], TIMES, ORDER, "finite"),
        (COMPLETIONS, [[3, 2], [1, 4], [-2, 2]], ORDER, "below zero"),
        ([[1, 5], [3, 7], [6, 9]], TIMES, ORDER, "on machine 1 job 0 starts at 0, before job 1 is done at 1"),
        ([[1, 4], [4, 7], [6, 9]], TIMES, ORDER, "job 1 starts on machine 2 at 0"),
        ([[0, 5], [4, 7], [6, 9]], TIMES, ORDER, "job 1 starts on machine 1 at -1"),
    ],
)
def test_bad_schedules(completions: Any, times: Any, jobs: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        front_plots.plot_gantt(completions, times, jobs)


def overlap(figure: Any, texts: list[Any]) -> bool:
    """Whether two of these texts touch in the finished picture."""
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
    return any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@needs("matplotlib", "plots")
class TestDrawn:
    def test_front_is_steps_and_points(self) -> None:
        figure = front_plots.plot_front(FRONTS, LABELS, title="Demo")
        (axes,) = figure.axes
        steps, dominated, others, none = axes.get_lines()
        assert (steps.get_drawstyle(), steps.get_xydata().tolist()) == ("steps-post", [[1, 4], [2, 2], [3, 1]])
        assert (dominated.get_linestyle(), dominated.get_xydata().tolist()) == ("None", [[3, 3]])
        assert (others.get_xydata().tolist(), none.get_xydata().tolist()) == ([[2, 5], [4, 4]], [])
        assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == (*LABELS, "Demo")
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]

    @pytest.mark.parametrize(
        ("senses", "wanted"),
        [
            ([MINIMISE, MAXIMISE], [[1, 4]]),
            ([MAXIMISE, MINIMISE], [[3, 1]]),
            ([MAXIMISE, MAXIMISE], [[3, 3], [1, 4]]),
        ],
    )
    def test_steps_follow_the_senses(self, senses: list[int], wanted: list[list[int]]) -> None:
        """From the best first objective on, the border keeps the height of the last point."""
        (axes,) = front_plots.plot_front({"a": FRONTS["a"]}, LABELS, senses=senses).axes
        assert axes.get_lines()[0].get_xydata().tolist() == wanted

    def test_front_of_three(self, tmp_path: Path) -> None:
        draws = np.random.default_rng(0)
        fronts = {"PLS": 1000 * draws.random((20, 3)), "NSGA-II": 1000 * draws.random((9, 3))}
        figure = front_plots.plot_front(fronts, [*LABELS, "Flow time"], title="Space")
        (axes,) = figure.axes
        assert [len(c.get_offsets()) for c in axes.collections] == [20, 9]
        assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_zlabel()) == (*LABELS, "Flow time")
        assert figure.get_suptitle() == "Space"
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["PLS", "NSGA-II"]
        assert not overlap(figure, [axes.xaxis.label, axes.yaxis.label, axes.zaxis.label, *legend.get_texts()])
        front_plots.save(figure, tmp_path / "front.png")
        assert (tmp_path / "front.png").stat().st_size > 5000

    def test_more_fronts_than_colours(self) -> None:
        (axes,) = front_plots.plot_front({str(i): [[i, -i]] for i in range(12)}, LABELS).axes
        assert len({(line.get_color(), line.get_marker()) for line in axes.get_lines()}) == 12

    def test_attainment(self, tmp_path: Path) -> None:
        pytest.importorskip("moocore", reason="attainment needs the extra systola[moo]")
        figure = front_plots.plot_attainment(RUNS, LABELS, title="Runs")
        (axes,) = figure.axes
        far = (5.3, 6.3)
        assert (axes.get_xlim()[1], axes.get_ylim()[1]) == pytest.approx(far)
        lines = [line.get_xydata() for line in axes.get_lines()]
        assert len(lines) == 6
        best, worst, median = lines[:3]
        assert best[1:-1].tolist() == [[0, 5], [1, 3], [2, 2], [3, 1]]
        assert worst[1:-1].tolist() == [[1, 5], [4, 4]]
        assert median[1:-1].tolist() == [[1, 4], [2, 3], [3, 2]]
        assert median[0] == pytest.approx([1, far[1]])
        assert median[-1] == pytest.approx([far[0], 2])
        assert len(axes.collections) == 2
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a (3)", "b (1)"]
        assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == (*LABELS, "Runs")
        front_plots.save(figure, tmp_path / "attainment.pdf")
        assert (tmp_path / "attainment.pdf").read_bytes().startswith(b"%PDF")

    @pytest.mark.parametrize("senses", [[1, -1], [-1, 1], [1, 1]])
    def test_attainment_is_mirrored(self, senses: list[int]) -> None:
        pytest.importorskip("moocore", reason="attainment needs the extra systola[moo]")
        sign = -np.array(senses)
        mirrored = {name: [sign * np.array(front) for front in fronts] for name, fronts in RUNS.items()}
        (plain,), (other,) = (
            front_plots.plot_attainment(RUNS, LABELS).axes,
            front_plots.plot_attainment(mirrored, LABELS, senses=senses).axes,
        )
        for one, two in zip(plain.get_lines(), other.get_lines(), strict=True):
            assert (sign * two.get_xydata()).tolist() == one.get_xydata().tolist()
        for one, two in zip(plain.collections, other.collections, strict=True):
            corners = one.get_paths()[0].vertices.tolist(), (sign * two.get_paths()[0].vertices).tolist()
            assert sorted(corners[0]) == sorted(corners[1])
        assert other.get_xlim()[0] < other.get_xlim()[1]

    def test_gantt(self, tmp_path: Path) -> None:
        figure = front_plots.plot_gantt(COMPLETIONS, TIMES, ORDER, title="Schedule")
        (axes,) = figure.axes
        bars = [(bar.get_x(), bar.get_width(), round(bar.get_y() + bar.get_height() / 2)) for bar in axes.patches]
        assert bars == [(0, 1, 1), (1, 3, 1), (4, 2, 1), (1, 4, 2), (5, 2, 2), (7, 2, 2)]
        assert [text.get_text() for text in axes.texts] == ["1", "0", "2"] * 2
        assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first machine on top
        assert axes.get_yticks().tolist() == [1, 2]
        assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == ("Time", "Machine", "Schedule")
        colours = [bar.get_facecolor() for bar in axes.patches]
        assert colours[:3] == colours[3:]
        assert len(set(colours)) == 3
        front_plots.save(figure, tmp_path / "gantt.svg")
        assert (tmp_path / "gantt.svg").read_bytes().startswith(b"<?xml")

    def test_gantt_numbers_fit(self) -> None:
        """Of many jobs, only those with room for it bear their number."""
        draws = np.random.default_rng(0)
        times = draws.integers(0, 100, (150, 3))
        order = draws.permutation(150)
        ends = np.zeros((150, 3), int)
        for p, job in enumerate(order):
            for k in range(3):
                ready = max(ends[p - 1, k] if p else 0, ends[p, k - 1] if k else 0)
                ends[p, k] = ready + times[job, k]
        figure = front_plots.plot_gantt(ends, times, order)
        (axes,) = figure.axes
        assert len(axes.patches) == 450
        assert len(axes.texts) < 200
        assert not overlap(figure, axes.texts)

    def test_gantt_of_many_machines(self) -> None:
        ends = np.arange(1, 61)[None, :]
        (axes,) = front_plots.plot_gantt(ends, np.ones((1, 60)), [0]).axes
        assert len(axes.get_yticks()) == 30

    @pytest.mark.parametrize("columns", [1, 2])
    def test_nothing_is_clipped(self, columns: Literal[1, 2]) -> None:
        many = {"x" * 50: [[1, 4e6], [2, 2e6]], "b": [[2, 5], [4e6, 4]]}
        space = {"a": [[1, 2, 3], [3, 2, 1]]}
        for figure in (
            front_plots.plot_front(many, LABELS, title="t" * 99, columns=columns),
            front_plots.plot_front(space, [*LABELS, "Flow time"], title="t" * 99, columns=columns),
            front_plots.plot_gantt(COMPLETIONS, TIMES, ORDER, title="t" * 99, columns=columns),
        ):
            figure.draw_without_rendering()
            drawn, page = figure.get_tightbbox(), figure.bbox_inches
            assert figure.get_size_inches()[0] == {1: 3.5, 2: 7.16}[columns]
            assert (drawn.x0 >= page.x0, drawn.x1 <= page.x1) == (True, True)
            assert (drawn.y0 >= page.y0, drawn.y1 <= page.y1) == (True, True)
