"""The matrix in the file is the one that the tests have, and no pair is left out."""

import pytest

import systola as sy
from golden.cases import engines, problems, read_digests
from parity.cells import Cell, collect
from parity.matrix import COMMAND, FILE, reasons, summary, text_of


@pytest.fixture(scope="module")
def cells():
    return collect()


def test_the_file_is_up_to_date(cells):
    refused = reasons()
    assert not set(refused) & set(cells)
    assert FILE.read_text() == text_of(cells, refused), f"tests have changed: run `{COMMAND}`"


def test_every_pair_is_compared(cells, capsys):
    with capsys.disabled():
        print(f"\n{summary(cells)}", end="")
    assert set(cells) == set(read_digests())
    assert all(cell.has("1") and cell.has("N") for cell in cells.values())


def test_every_pair_that_a_gpu_takes_is_executed_as_ptx(cells):
    made, built = problems(), engines()
    missing = [pair for pair, cell in cells.items() if not cell.has("P")]
    assert len(missing) < len(cells)
    for problem, engine in missing:
        with pytest.raises(sy.InputError, match="run on the CPU"):
            sy.solve(made[problem], built[engine], stop=sy.Iterations(1), backend="cuda")


@pytest.mark.parametrize(
    ("usual", "late", "text"), [("1I", "", "I1"), ("I", "PN1", "I/1NP"), ("", "P", "/P"), ("P", "P1", "P/1")]
)
def test_a_cell_tells_usual_tests_from_long_ones(usual, late, text):
    assert str(Cell(set(usual), set(late))) == text
