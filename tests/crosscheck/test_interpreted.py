"""A sample of what the long tests do: every problem with every engine, interpreted; two pairs compiled."""

import pytest
import subjects
from check import cross_check

SIZES = {**dict.fromkeys(subjects.BINARY, (8, 1)), **dict.fromkeys(subjects.ORDERS, (4, 1, 2, 3))}
PAIRS = [
    (name, engine)
    for name, engine in subjects.pairs_of({**subjects.BINARY, **subjects.ORDERS, **subjects.INTEGERS})
    if engine not in ("auto", "memetic") or name in subjects.BINARY  # local searches take long when interpreted
]


@pytest.mark.parametrize(("name", "engine"), PAIRS)
def test_interpreted(name, engine):
    for n in SIZES.get(name, (4, 1, 2, 3)):
        cross_check(name, n, subjects.ENGINES[engine], 2, 1, "python")


@pytest.mark.parametrize(("name", "engine"), [("knapsack", "sgs-b"), ("assignment", "ssga")])
def test_compiled(name, engine):
    for n in subjects.SIZES[name]:
        for seed in range(1, 6):
            cross_check(name, n, subjects.ENGINES[engine], 60, seed, "cpu")
