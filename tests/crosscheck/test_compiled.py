"""Every problem with every engine, compiled, five seeds: what results say is what plain Python says."""

import pytest
import subjects
from check import cross_check

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("name", "engine"), subjects.pairs_of({**subjects.BINARY, **subjects.INTEGERS, **subjects.ORDERS})
)
def test_compiled(name, engine):
    for n in subjects.SIZES[name]:
        for seed in range(1, 6):
            cross_check(name, n, subjects.ENGINES[engine], 60, seed, "cpu")
