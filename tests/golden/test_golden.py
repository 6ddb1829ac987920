"""Every engine on every problem finds what it found when digests.txt was written, on every backend."""

import pytest

import systola as sy
from golden.cases import check, digest_of, engines, pairs, problems, read_digests, run

DIGESTS = read_digests()
# Interpreted, these take seconds each; or they are compiled anyway.
SLOW_ENGINES = {"memetic", "islands", "islands-mixed"}
SLOW_PAIRS = {(problem, "auto") for problem in ("qap", "gap", "own-terms", "own-levels")} | {
    (problem, f"sns{kind}") for problem in ("knapsack", "mkp", "own-terms") for kind in ("", "-mr", "-r", "-r-mr")
}
# Kernels that other tests compile, too.
COMPILED = [
    *(("knapsack", engine) for engine in ("sgs-t", "sgs-b", "sga", "rs")),
    *(("gap", engine) for engine in ("ssga", "islands")),
    *(("makespan", "ig"), ("flowshop", "pls"), ("mkp", "sns-repair")),
]


def test_the_list_names_all_pairs():
    assert set(DIGESTS) == set(pairs())


@pytest.mark.parity("I")
@pytest.mark.parametrize(
    ("problem", "engine"), [pair for pair in DIGESTS if pair[1] not in SLOW_ENGINES and pair not in SLOW_PAIRS]
)
def test_interpreted(problem, engine):
    check(problem, engine, "python")


@pytest.mark.parametrize(("problem", "engine"), COMPILED)
@pytest.mark.parametrize(
    "threads", [pytest.param(1, marks=pytest.mark.parity("1")), pytest.param(2, marks=pytest.mark.parity("N"))]
)
def test_compiled(problem, engine, threads):
    check(problem, engine, "cpu", threads=threads)


@pytest.mark.long
@pytest.mark.parity("1N")
@pytest.mark.parametrize(("problem", "engine"), [pair for pair in DIGESTS if pair not in COMPILED])
def test_all_compiled(problem, engine):
    for threads in (1, 2):
        check(problem, engine, "cpu", threads=threads)


def test_a_digest_sees_every_number():
    problem, engine = problems()["knapsack"], engines()["sga"]
    one = run(problem, engine, "sga", "python")
    assert digest_of(one) == digest_of(run(problem, engine, "sga", "python"))
    other = sy.solve(problem, engine, stop=sy.Iterations(5), seed=12, backend="python")
    assert digest_of(one) != digest_of(other)
