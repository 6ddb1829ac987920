"""The soak in short: kills of one cheap run, and that the soak itself sees what it is there to see."""

import json

import pytest
from chain import Chain
from deck import make_deck, solve_case

from soak import Ledger, Soak
from systola.engines.catalog import engine_names

CHEAP = solve_case("knapsack:100-1000", "sgs-b")
ENGINES = set(engine_names())  # before other tests add theirs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("soak")


def test_killed_runs_end_as_if_nothing_had_happened(folder):
    soak = Soak(folder, 1, [CHEAP], span=0.1, length=(5, 5))
    assert soak.run(5, 1) == []
    assert soak.killed() >= 5
    again = Soak(folder, 1, [CHEAP])
    assert again.run(5, 1) == []  # it goes on where it was: nothing is left to do
    assert again.chains() == soak.chains()


def test_a_difference_is_found(folder):
    """A reference that is none: the chain says so, and names a checkpoint from which it can be made again."""
    soak = Soak(folder, 2, [CHEAP], span=0.1, length=(1, 1))
    soak.reference(CHEAP)
    (kept,) = (folder / "references").iterdir()
    expected = json.loads(kept.read_text())
    kept.write_text(json.dumps({**expected, "evaluations": expected["evaluations"] + 1}))
    (found,) = [f for f in soak.one(0)["findings"] if f["what"] == "differs"]
    assert f".evaluations: {expected['evaluations']}" in found["detail"]


def test_a_lost_checkpoint_is_found(tmp_path):
    chain = Chain(CHEAP, 0, tmp_path, None, {"iterations": 3, "wall": 1.0}, None, 60.0)
    chain.state.write_bytes(b"no checkpoint")
    assert chain.link(3, "60", None) is None
    assert [f["what"] for f in chain.findings] == ["lost"]
    assert "--resume" in chain.findings[0]["command"]


def test_the_ledger_forgets_a_torn_line_only(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.add(kind="chain", sources="a", chain=0)
    with ledger.path.open("ab") as file:
        file.write(b'{"kind": "ch')
    ledger = Ledger(ledger.path)
    ledger.add(kind="chain", sources="a", chain=1)
    assert [e["chain"] for e in Ledger(ledger.path).of("a", "chain")] == [0, 1]


def test_the_deck_has_all():
    deck = make_deck()
    assert len({case.name for case in deck}) == len(deck)
    assert {case.kind for case in deck} == {"solve", "islands", "mpi", "compare"}
    named = {case.arguments[case.arguments.index("--algorithm") + 1] for case in deck if case.kind == "solve"}
    assert named == ENGINES
