"""The table of measured solutions, beside a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from systola.jit.stop_flag import ASKED, NOW
from systola.model.value_table import Values, look_up

N = 5
look_up_compiled = njit(lambda table, x: look_up(table, x))


def new_values(most: int = 10**6, dtype: type = np.float64) -> Values:
    return Values(np.zeros(N, np.int32), 2, dtype, most, np.zeros(2, np.int64))


def solution(number: int) -> np.ndarray:
    """Few solutions, so that they come again; negative decisions, too."""
    return np.array([number % 7 - 3, number // 7, 0, number % 3, -number], np.int32)


@pytest.mark.parametrize("find", [look_up, look_up_compiled], ids=["interpreted", "compiled"])
@given(st.lists(st.tuples(st.integers(0, 400), st.booleans()), max_size=600))
@settings(deadline=None, max_examples=25)
def test_it_is_a_dictionary(find, visits):
    values, known, order = new_values(), {}, []
    for number, is_told in visits:
        x = solution(number)
        values.table.stop[:] = 0
        row = find(values.table, x)
        if number in known:
            assert tuple(values.table.values[row]) == known[number]
            assert values.table.stop[ASKED] == 0
        else:
            assert row == values.room  # the row that stands for all that is unknown
            assert values.table.stop[ASKED] == NOW
            if number not in order:
                order.append(number)
            if values.is_short_of_room:
                values.grow()
                find(values.table, x)
            if is_told:
                known[number] = (float(number), 0.5)
                values.tell(values.find(x), known[number])
    assert len(values) == len(order)
    assert [order.index(number) for number in order if number not in known] == values.unknown().tolist()
    for number in range(401):
        entry = values.find(solution(number))
        assert (entry == -1) == (number not in order)
        assert entry == -1 or values.told(entry) == known.get(number)


def test_what_is_whole_stays_so():
    values = new_values()
    values.tell(values.enter(solution(1)), (3, 4))
    values.tell(values.enter(solution(2)), (3, 4.0))
    told = [values.told(values.find(solution(number))) for number in (1, 2)]
    assert [[type(value) for value in row] for row in told] == [[int, int], [float, float]]


def test_saved_and_restored():
    values, other = new_values(), new_values()
    for number in range(700):
        entry = values.enter(solution(number))
        if number % 3:
            values.tell(entry, (number, -number))
    saved = values.save()
    other.restore(saved["solutions"], saved["values"], saved["known"])
    for number in range(700):
        entry = other.find(solution(number))
        assert (other.told(entry) if entry >= 0 else None) == ((number, -number) if number % 3 else None)


def test_much_is_forgotten_but_for_one():
    values = new_values(most=10)
    for number in range(11):
        values.tell(values.enter(solution(number)), (number, 0))
    values.tidy(solution(4))
    assert len(values) == 1
    assert values.told(values.find(solution(4))) == (4, 0)
    values.tidy(solution(4))
    assert len(values) == 1


def test_the_unknown_are_worth_what_the_first_is():
    """Whoever is told of first: else what kernels do until they leave would depend on that."""
    rows = []
    for order in ((0, 1, 2), (2, 1, 0)):
        values = new_values()
        for number in range(3):
            look_up(values.table, solution(number))
        for number in order:
            values.tell(values.find(solution(number)), (number + 10, 0))
        rows.append(values.table.values[look_up(values.table, solution(99))].tolist())
    assert rows[0] == rows[1] == [10, 0]
