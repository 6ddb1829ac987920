"""What cannot be generated is refused: sizes, seeds and options that a generator does not have."""

from __future__ import annotations

import pytest

from conftest import sentence_of
from systola.formats import open_instance


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mkp:0x5", "`1 <= items <= 100000` must hold, but got 0"),
        ("mkp:100001x5", "`1 <= items <= 100000` must hold, but got 100001"),
        ("mkp:5x0", "`1 <= constraints <= 1000` must hold, but got 0"),
        ("mkp:5x1001", "`1 <= constraints <= 1000` must hold, but got 1001"),
        ("mkp:5", "must look like mkp:ITEMSxCONSTRAINTS[@SEED][?tightness=T], but got 'mkp:5'"),
        ("mkp:5-5", "must look like mkp:ITEMSxCONSTRAINTS[@SEED][?tightness=T], but got 'mkp:5-5'"),
        ("mkp:5x5@x", "a seed must be a whole number after @, but got 'x'"),
        ("mkp:5x5?tightness=0", "`0 < tightness <= 1` must hold, but got '0'"),
        ("mkp:5x5?tightness=1.5", "`0 < tightness <= 1` must hold, but got '1.5'"),
        ("mkp:5x5?tigtness=1", "must be one of tightness, but got 'tigtness'; did you mean 'tightness'?"),
        ("qap:uniform-0", "`1 <= facilities <= 1000` must hold, but got 0"),
        ("qap:uniform-1001", "`1 <= facilities <= 1000` must hold, but got 1001"),
        ("qap:opposed-0", "`1 <= facilities <= 1000` must hold, but got 0"),
        ("qap:opposed-1001", "`1 <= facilities <= 1000` must hold, but got 1001"),
        ("qap:grid-0x5", "`rows >= 1` must hold, but got 0"),
        ("qap:grid-5x0", "`columns >= 1` must hold, but got 0"),
        ("qap:grid-40x26", "`rows * columns <= 1000` must hold, but got 40 * 26"),
        ("qap:uniform-" + "9" * 5000, "`facilities` must fit into 64 bits"),
        (
            "qap:5",
            "must look like qap:uniform-FACILITIES[@SEED] or qap:opposed-FACILITIES[@SEED] or "
            "qap:grid-ROWSxCOLUMNS[@SEED], but got 'qap:5'",
        ),
        ("qap:grid-5@2", "or qap:grid-ROWSxCOLUMNS[@SEED], but got 'qap:grid-5@2'"),
        ("qap:unifrom-5", "but got 'qap:unifrom-5'"),
        ("qap:uniform-5@x", "a seed must be a whole number after @, but got 'x'"),
        ("qap:uniform-5?density=1", "qap: takes no options, but got 'density'"),
    ],
)
def test_generators_refuse_what_they_cannot_make(spec: str, message: str) -> None:
    assert message in sentence_of(open_instance, spec)
