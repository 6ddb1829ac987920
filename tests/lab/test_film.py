"""The grid of a run at several moments, for engines with one solution a cell and with two."""

import base64
import shutil
import warnings

import numpy as np
import pytest

import systola as sy
from lab.page import Page
from systola.engines.catalog import make_engine
from systola.formats import open_instance
from systola.lab.film import choose_moments, film_grid
from systola.lab.film_files import check_film, moments_of, save_film
from systola.model.objective import fitness
from systola.model.problem import record_of


@pytest.mark.parametrize(
    ("spec", "name", "settings", "shape"),
    [
        ("knapsack:20-100", "sgs-b", {"length": 8, "width": 3}, (3, 8)),
        ("mkp:12x2", "sns", {}, (12, 12)),
        ("mkp:12x2", "sns-exp-r-mr", {}, (4, 12)),
    ],
)
def test_frames_hold_the_best_solution(spec, name, settings, shape):
    problem = open_instance(spec).problem
    engine = make_engine(name, problem, settings)
    frames = film_grid(problem, engine, [0, 5, 30], seed=3)
    assert [frame.shape for frame in frames] == [shape] * 3
    # Solutions are only ever replaced by better ones, so the best of all is still in its cell.
    result = sy.solve(problem, engine, seed=3, stop=sy.Iterations(30))
    best = fitness(record_of(problem), np.array(problem.evaluate(result.solution), dtype=np.int64).reshape(-1))
    assert frames[-1].max() == best
    assert frames[0].mean() < frames[1].mean() <= frames[2].mean()
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.InfeasibleWarning)
        sy.solve(problem, engine, seed=3, stop=sy.Iterations(0), callback=told.append)
    first = [fitness(record_of(problem), row) for row in told[-1].snapshot().scores]
    rows = engine.rows_of_cells(engine.prepare(problem), told[-1].snapshot().slots, 0)
    assert (frames[0] == np.array(first)[np.stack(rows)].max(axis=0)).all()  # all of the first population


def test_solutions_of_a_mesh_move_one_column_a_step():
    """The last row flips all decisions at once, which improves few solutions: what is seen is the flow."""
    problem = open_instance("mkp:12x2").problem
    start, later = film_grid(problem, make_engine("sns", problem), [0, 7])
    assert (np.roll(start[-1], 7) <= later[-1]).all()
    assert (np.roll(start[-1], 7) == later[-1]).mean() > 0.5


def test_others_have_no_grid():
    problem = open_instance("mkp:12x2").problem
    with pytest.raises(sy.InputError, match="only SGS and SNS have a grid to film, but got ga"):
        film_grid(problem, make_engine("ga", problem), [0])


def test_moments_do_not_go_back():
    problem = open_instance("mkp:12x2").problem
    with pytest.raises(sy.InputError, match="ascending order"):
        film_grid(problem, make_engine("sns", problem), [3, 2])


def test_moments_grow_apart():
    assert choose_moments(1000) == [0, 5, 18, 70, 265, 1000]
    assert choose_moments(1) == [0, 1]
    assert moments_of("film.png", 1000) == choose_moments(1000)
    assert 40 < len(moments_of("film.GIF", 1000)) <= 60


FRAMES, STEPS = [np.arange(12.0).reshape(3, 4) + k for k in range(5)], [0, 1, 2, 5, 1000]
NAME = "</script>$x_1$ <b>\x1b"


def test_an_animated_gif(tmp_path):
    images = pytest.importorskip("PIL.Image", reason='needs the extra "plots"')
    save_film(FRAMES, STEPS, tmp_path / "film.gif", title=NAME)
    with images.open(tmp_path / "film.gif") as film:
        assert (film.n_frames, film.info["loop"]) == (5, 0)
        shown = []
        for k in range(5):
            film.seek(k)
            shown.append(np.asarray(film.convert("RGB")).copy())
            assert film.info["duration"] == (2500 if k == 4 else 100)
    top, left = 31, 11  # in the first cell
    grid = [frame[top, left].tolist() for frame in shown]
    assert grid[0] == [0, 34, 78]  # the darkest
    assert len({tuple(colour) for colour in grid}) == 5
    assert shown[-1][top:-34, left:-10].reshape(-1, 3).sum(axis=1).max() == 254 + 232 + 56  # the lightest
    save_film(FRAMES, STEPS, tmp_path / "again.gif", title=NAME)
    assert (tmp_path / "again.gif").read_bytes() == (tmp_path / "film.gif").read_bytes()


def test_a_page_with_a_slider(tmp_path):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    save_film(FRAMES, STEPS, tmp_path / "film.html", title=NAME)
    page = Page((tmp_path / "film.html").read_text())
    assert page.fetched() == []
    assert len(page.of("script")) == 1
    (canvas,) = page.of("canvas")
    assert (canvas["width"], canvas["height"], canvas["data-steps"]) == ("4", "3", "0,1,2,5,1000")
    values = np.frombuffer(base64.b64decode(canvas["data-frames"]), np.uint8).reshape(5, 3, 4)
    assert (values[0, 0, 0], values[-1, -1, -1]) == (0, 255)
    (slider,) = page.of("input")
    assert (slider["type"], slider["max"]) == ("range", "4")
    assert "</script>$x_1$ <b>" in page.text


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_an_mp4(tmp_path):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    save_film(FRAMES, STEPS, tmp_path / "film.mp4")
    assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


def test_films_that_cannot_be_made(tmp_path, monkeypatch):
    with pytest.raises(sy.InputError, match=r"ends in .gif, .mp4, .html, .png, .pdf, .svg, but got 'film.avi'"):
        check_film("film.avi")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sy.InputError, match=r"ffmpeg, which is not installed; install it, or write a .gif"):
        check_film("film.mp4")
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    for frames, steps in (([], []), (FRAMES, [1]), ([np.ones((2, 2)), np.ones((3, 2))], [0, 1])):
        with pytest.raises(sy.InputError, match=r"frame"):
            save_film(frames, steps, tmp_path / "film.gif")
    with pytest.raises(sy.InputError, match="can be written"):
        save_film(FRAMES, STEPS, tmp_path / "none" / "film.gif")
