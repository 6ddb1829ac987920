"""Drawings of solutions: marks that are checked, as plain data and as SVG; and how problems draw themselves."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import systola as sy
from golden import cases
from model.declared_problems import Tour as DeclaredTour
from own_problems import FirstBit
from systola.errors import InputError
from systola.extend import Drawing, Line, Point, Rect, Text
from systola.model.drawing import draw_solution
from systola.model.problem import space_of

NAN = float("nan")
MARKS = [
    Rect(0, 1, 2.5, 3, colour=4, label='a <b> & "c"'),
    Line([(0, 0), (1, 2), (3, 4)], colour=0),
    Point(1, 1),
    Text(0, 9, "<script>alert(1)</script>"),
]


def tags(svg):
    return [node.tag.rpartition("}")[2] for node in ET.fromstring(svg).iter()]


def rows(problem):
    return problem.encoding.store(space_of(problem), [problem.encoding.example(space_of(problem))])


def test_plain_data_and_back():
    drawing = Drawing(10, 20, MARKS, "two & two")
    data = json.loads(json.dumps(drawing.to_json(), allow_nan=False))
    again = Drawing.from_json(data)
    assert again == drawing
    assert data["marks"][0] == {"mark": "rect", "x": 0, "y": 1, "w": 2.5, "h": 3, "colour": 4, "label": 'a <b> & "c"'}
    assert data["marks"][1] == {"mark": "line", "points": [0, 0, 1, 2, 3, 4], "colour": 0}
    assert data["marks"][2] == {"mark": "point", "x": 1, "y": 1}


def test_numbers_of_numpy_become_plain():
    drawing = Drawing(np.int64(3), np.float32(1), [Rect(*np.arange(4), colour=np.int8(2)), Line(np.eye(2))])
    assert drawing.marks[0] == Rect(0.0, 1.0, 2.0, 3.0, 2)
    assert drawing.marks[1].points == ((1.0, 0.0), (0.0, 1.0))
    assert hash(drawing) == hash(Drawing(3, 1, drawing.marks))


def test_svg_is_escaped_and_has_all_marks():
    svg = Drawing(10, 20, MARKS, "<i>").to_svg()
    assert tags(svg) == ["svg", "text", "rect", "title", "polyline", "circle", "text"]
    assert "<script" not in svg
    assert "<i>" not in svg
    assert ET.fromstring(svg).find("{*}rect/{*}title").text == 'a <b> & "c"'
    assert "currentColor" in svg
    assert "<svg" in Drawing(1, 1)._repr_html_()
    assert repr(Drawing(10, 20, MARKS, "x")) == "<Drawing: 10 x 20, 4 marks, x>"


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: Drawing(0, 1), "width of a drawing must be greater than 0"),
        (lambda: Drawing(1, -1), "height of a drawing must be greater than 0"),
        (lambda: Drawing(NAN, 1), "width of a drawing must be a finite number, but is nan"),
        (lambda: Drawing("1", 1), "finite number, but is '1'"),
        (lambda: Drawing(True, 1), "finite number, but is True"),
        (lambda: Drawing(1, 1, caption=3), "caption of a drawing must be a text"),
        (lambda: Drawing(1, 1, 7), "must be a list, but got 7"),
        (lambda: Drawing(1, 1, "rect"), "must be a list, but got 'rect'"),
        (lambda: Drawing(1, 1, [(0, 0, 1, 1)]), "must be a Rect, Line, Point or Text"),
        (lambda: Drawing(1, 1, [Point(0, 0)] * 2001), "at most 2,000 marks, but got 2,001"),
        (lambda: Drawing(1, 1, [Line([(0, 0)] * 10_001)]), "at most 10,000 points, but got 10,001"),
        (lambda: Drawing(1, 1, [Rect(0, 0, -1, 1)]), "must not be negative"),
        (lambda: Drawing(1, 1, [Rect(0, float("inf"), 1, 1)]), "the y of a rect must be a finite number"),
        (lambda: Drawing(1, 1, [Point(0, 0, colour=10)]), "whole number from 0 to 9, but is 10"),
        (lambda: Drawing(1, 1, [Point(0, 0, colour="red")]), "whole number from 0 to 9, but is 'red'"),
        (lambda: Drawing(1, 1, [Text(0, 0, None)]), "text of a text must be a text, but is None"),
        (lambda: Drawing(1, 1, [Line([1, 2])]), "pairs of numbers"),
        (lambda: Drawing(1, 1, [Line([(1, 2, 3)])]), "pairs of numbers"),
        (lambda: Drawing(1, 1, [Line([(1, NAN)])]), "the y of a point must be a finite number"),
        (lambda: Drawing.from_json([]), "must have a width"),
        (lambda: Drawing.from_json({"width": 1, "height": 1, "marks": [3]}), "must be one of rect, line, point, text"),
        (lambda: Drawing.from_json({"width": 1, "height": 1, "marks": [{"mark": "rect"}]}), "must have 'x'"),
    ],
)
def test_rules(make, rule):
    with pytest.raises(InputError, match=rule):
        make()


def test_long_words_are_cut():
    assert len(Drawing(1, 1, [Text(0, 0, "x" * 1000)]).marks[0].text) == 200


@pytest.mark.parametrize("name", cases.problems())
def test_every_problem_is_drawn(name):
    problem = cases.problems()[name]
    (x,) = problem.encoding.load(space_of(problem), rows(problem))
    before = x.copy()
    drawing = draw_solution(problem, x)
    assert (x == before).all()
    assert drawing.marks
    assert ET.fromstring(drawing.to_svg()) is not None
    for mark in drawing.marks:
        if isinstance(mark, Rect):
            assert -1e-6 <= mark.x <= mark.x + mark.width <= drawing.width + 1e-6
            assert -1e-6 <= mark.y <= mark.y + mark.height <= drawing.height + 1e-6


def test_a_gantt_chart_has_what_the_schedule_says():
    problem = cases.problems()["makespan"]
    x = np.arange(len(problem.times))[::-1]
    boxes = [mark for mark in problem.draw(x).marks if isinstance(mark, Rect)]
    done = problem.schedule(x)
    assert len(boxes) == done.size
    assert f"to {done[-1, -1]}" in boxes[-1].label
    widths = np.array([box.width for box in boxes]).reshape(done.shape)
    assert np.allclose(widths / widths[0, 0], problem.times[x] / problem.times[x[0], 0])
    assert problem.draw(x).caption == f"makespan {done[-1, -1]:,}"


def test_many_jobs_are_drawn_in_blocks():
    problem = sy.Flowshop(cases.spread(3, 1, 99, 500, 20))
    drawing = problem.draw(np.arange(500))
    assert 1000 < len(drawing.marks) <= 2000
    assert any("6 jobs from" in getattr(mark, "label", "") for mark in drawing.marks)


def test_bars_show_what_is_chosen_and_where_the_limit_is():
    problem = sy.Knapsack([3, 4, 5, 6], [2, 3, 4, 5], 10)
    drawing = problem.draw(np.array([1, 0, 1, 0]))
    boxes = [mark for mark in drawing.marks if isinstance(mark, Rect)]
    (limit,) = [mark for mark in drawing.marks if isinstance(mark, Line)]
    assert [box.label for box in boxes] == ["0: 2", "2: 4"]
    assert boxes[0].width / boxes[1].width == pytest.approx(2 / 4)
    assert (boxes[1].x + boxes[1].width - boxes[0].x) / (limit.points[0][0] - boxes[0].x) == pytest.approx(6 / 10)
    assert limit.label == "6 of 10"
    assert drawing.caption == "profit 8"
    over = problem.draw(np.ones(4, int))
    assert [mark.text for mark in over.marks if isinstance(mark, Text)] == ["weight: over"]
    many = sy.MultiKnapsack(np.ones(3000, int), np.ones((5, 3000), int), np.full(5, 100))
    assert len(many.draw(np.ones(3000, int)).marks) == 15  # in one piece each


class Map(sy.Problem):
    encoding = sy.Permutation("places")
    sense = sy.MINIMISE
    places: np.ndarray

    def link(self, a, b):
        return abs(self.places[a, 0] - self.places[b, 0]) + abs(self.places[a, 1] - self.places[b, 1])

    structure = sy.Chain(link, symmetric=True, coordinates="places")


def test_a_chain_with_coordinates_is_a_tour():
    drawing = Map([[0, 0], [10, 0], [10, 5], [0, 5]]).draw(np.array([0, 2, 1, 3]))
    line, *dots = drawing.marks
    assert len(line.points) == 5
    assert line.points[0] == line.points[-1]
    (x0, y0), (x2, y2) = line.points[:2]
    assert x2 > x0
    assert y2 < y0  # a map: north is above
    assert len(dots) == 4
    assert drawing.caption == "a tour of 4 items"


def test_coordinates_that_are_none():
    class Wrong(Map):
        structure = sy.Chain(Map.link, coordinates="elsewhere")

    with pytest.raises(InputError, match="`coordinates` of a Chain must name a field of Wrong with a row of two"):
        draw_solution(Wrong([[0, 0], [1, 1]]), np.arange(2))
    with pytest.raises(InputError, match="`coordinates` in Chain of Odd must name a field, but got 3"):

        class Odd(Map):
            structure = sy.Chain(Map.link, coordinates=3)


def test_coordinates_change_nothing_else():
    distances = cases.spread(24, 1, 50, 9, 9)
    assert DeclaredTour(distances).draw(np.arange(9)).caption == "positions from left to right, items from above"


def test_long_solutions_are_not_drawn():
    assert FirstBit(2001).draw(np.zeros(2001)) is None
    assert len(FirstBit(2000).draw(np.zeros(2000)).marks) == 2000


def test_draw_gets_a_copy():
    class Careless(Map):
        def draw(self, x):
            x[:] = 0
            return super().draw(x)

    x = np.arange(3)
    assert draw_solution(Careless([[0, 0], [1, 0], [1, 1]]), x).marks
    assert x.tolist() == [0, 1, 2]


def test_draw_is_no_name_for_a_field():
    with pytest.raises(InputError, match="`draw` is no name for a field"):

        class Odd(sy.Problem):
            encoding = sy.Binary("n")
            n: int
            draw: int

            def evaluate(self, x):
                return x[0]
