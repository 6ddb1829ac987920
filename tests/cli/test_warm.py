"""`systola warm`: kernels ahead of a run."""

import json

import pytest

from conftest import refused
from systola.jit import cache
from systola.jit.cache import size_on_disk

OWN = """
import systola as sy

class Mine(sy.Problem):
    encoding = sy.Binary("n")
    n: int = 8

    def evaluate(self, x):
        total = {number}
        for i in range(self.n):
            total += x[i]
        return total
"""


@pytest.fixture
def call(run_command, tmp_path, monkeypatch):
    """Run a command here, in a folder of its own; gives exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cache, "_bases", lambda: [tmp_path / "kernels"])
    (tmp_path / "mine.py").write_text(OWN.format(number=abs(hash(tmp_path))))  # nobody has compiled it
    return run_command


def test_twice_compiles_nothing_and_neither_does_a_run(call):
    code, out, err = call("warm", "mine.py:Mine", "--algorithm", "rs", "--json", "--threads", "1")
    assert code == 0, err
    told = json.loads(out)
    # Two of the objective, one of its data; those of the engine, too, unless they are here for another problem.
    assert 3 <= told["kernels"] <= 6
    assert told["size"] > 10_000
    assert [row["algorithm"] for row in told["problems"]] == ["rs"]
    before = size_on_disk()
    code, out, _ = call("warm", "mine.py:Mine", "--algorithm", "rs", "--quiet")
    assert code == 0
    assert out.splitlines()[-1].startswith("in all")
    assert " 0 kernels" in out.splitlines()[0]
    assert call("solve", "mine.py:Mine", "--algorithm", "rs", "--iterations", "3", "--quiet")[0] == 0
    assert size_on_disk() == before


def test_what_is_no_problem_is_refused(call):
    assert "nothing.txt" in refused(call("warm", "nothing.txt"))
    assert "rss" in refused(call("warm", "mine.py:Mine", "--algorithm", "rss"))
    assert "1 <= threads" in refused(call("warm", "mine.py:Mine", "--threads", "0"))
