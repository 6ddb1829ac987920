"""What an INSTANCE argument means, and that no file breaks more than its own opening."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_files import refusal

from systola import MMDP, InputError, Knapsack, NextRelease
from systola.formats import Instance, catalog, describe, list_formats, list_generators, look_up, open_instance
from systola.formats.knapsack import pisinger
from systola.formats.library import Library, Part
from systola.formats.next_release import generate
from systola.model.problem import digest_of, space_of
from systola.problems.customer_release import CustomerRelease

KNAPSACK = "3 10\n5 4\n6 5\n7 6\n1 1 0\n"
REQUESTS = "2\n2\n5 3\n1\n7\n2\n1 3\n2 3\n2\n10 1 3\n20 2 1 2\n"
TABLE = "2 3 9\n1 5 2\n4 1 2 3\n7 0 1 0\n\nr1·r2\nr1->r2\n"
PUBLIC = Path(__file__).parents[3] / "shared" / "instances"
PLANNED = "A|5|B|\nB|7||A\n"
NUMBERED = "2\n1 1 0\n5\n1\n4\n2 1 8.5\n7.5 1\n1 1\n1\n"
NAMED = "prose\nproblem A.DAT\n++++\n1 2\n5 4\n3\n1 2\n9\n++++\nproblem B.DAT\n++++\n1 1\n5\n3\n1\n5\n"
SINGLE = "2 2 5\n3 4\n1 2\n2 1\n2 2\n"
ASSIGNMENT = "2\n0 3\n1 0\n\n0 5\n5 0\n"
GENERALIZED = "2\n1 2\n5 4\n3 3\n6\n2 1\n3\n4\n1\n2\n2\n2\n"
GENERALIZED_SINGLE = "2 3\n5 4 3\n3 3 9\n1 1 1\n2 2 2\n2\n3\n"
FLOWSHOPS = "number of jobs :\n2 1 7 9 8\nprocessing times :\n3 5\nnumber :\n1 1 7 0 0\nprocessing :\n4\n"
DATED = "2\n1\n7\n0\n9\n3\n1\n8\n5\n"
PAIRED = "2 1\n0 3\n0 5\nReldue\n-1 9 -1 1\n-1 8 -1 2\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, content in (
        ("knap.txt", KNAPSACK),
        ("nrp1.txt", REQUESTS),
        ("table.dat", TABLE),
        ("w_requirements.csv", PLANNED),
        ("w_stakeholders.csv", "1\n2\n"),
        ("w_value.csv", "A|1|2\nB|3|4\n"),
        ("odd#1?.txt", KNAPSACK),
    ):
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_generated_instances() -> None:
    knapsack = open_instance("knapsack:1000-1000")
    assert digest_of(knapsack.problem) == digest_of(pisinger(1000, 1000))
    assert (knapsack.name, knapsack.kind, knapsack.best_known) == ("knapsack:1000-1000", "knapsack", 27_305)
    assert open_instance("knapsack:50-70").best_known is None
    strong = open_instance("knapsack:100-1000?kind=strong")
    assert digest_of(strong.problem) == digest_of(pisinger(100, 1000, "strong"))
    assert strong.best_known is None
    deceptive = open_instance("mmdp:300", "mmdp")
    assert isinstance(deceptive.problem, MMDP)
    assert deceptive.best_known == 50
    release = open_instance("nrp:100-20@3?weight=0.3")
    assert digest_of(release.problem) == digest_of(generate(100, 20, 3, 0.3))
    assert release.name == "nrp:100-20@3?weight=0.3"
    assert digest_of(open_instance("nrp:100-20").problem) == digest_of(open_instance("nrp:100-20@1").problem)


def test_files_are_recognised(folder: Path) -> None:
    kinds = {
        "knap.txt": (Knapsack, "knapsack", "knap", 11),
        "nrp1.txt": (CustomerRelease, "nrp", "nrp1-50", None),
        "table.dat": (NextRelease, "nrp", "table", None),
        "w_requirements.csv": (NextRelease, "nrp", "w", None),
        "odd#1?.txt": (Knapsack, "knapsack", "odd#1?", 11),
    }
    for spec, (kind, name, short, best_known) in kinds.items():
        for problem in (None, name):
            instance = open_instance(spec, problem)
            assert isinstance(instance.problem, kind)
            assert (instance.kind, instance.name, instance.best_known) == (name, short, best_known)
            assert spec in instance.source
    assert open_instance(str(folder / "knap.txt")).best_known == 11


def test_options_of_files(folder: Path) -> None:
    tight = open_instance("nrp1.txt?ratio=0.3")
    assert isinstance(tight.problem, CustomerRelease)
    assert (tight.name, tight.problem.budget) == ("nrp1-30", 5)
    weighted = open_instance("table.dat?weight=.25")
    assert isinstance(weighted.problem, NextRelease)
    assert weighted.problem.weight == 0.25


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "knapsak:10-10",
            "`generator` must be one of flowshop, gap, knapsack, mkp, mmdp, nrp, qap, but got 'knapsak'; "
            "did you mean 'knapsack'?",
        ),
        ("zz:" + "x" * 5000, "`generator` must be one of flowshop, gap, knapsack, mkp, mmdp, nrp, qap, but got 'zz'"),
        ("z:" + "x" * 5000, "File name too long"),
        ("zzz:10", "`generator` must be one of flowshop, gap, knapsack, mkp, mmdp, nrp, qap, but got 'zzz'"),
        ("knapsack:10", "must look like knapsack:ITEMS-SPREAD[?kind=KIND] or knapsack:pisinger-CLASS-"),
        ("knapsack:", "must look like knapsack:ITEMS-SPREAD"),
        ("knapsack:10-10@2", "takes no seed, but got '@2'"),
        ("knapsack:10-10?kind=stong", "paper, uncorrelated, weak, strong, but got 'stong'; did you mean 'strong'?"),
        ("knapsack:0-10", "`1 <= items <= 1000000` must hold, but got 0"),
        ("knapsack:9" + "9" * 5000 + "-10", "`items` must fit into 64 bits"),
        ("mmdp:7", "multiple of 6, but got 7"),
        ("mmdp:6?weight=1", "mmdp: takes no options, but got 'weight'"),
        ("nrp:2-2?wieght=1", "must be one of weight, but got 'wieght'; did you mean 'weight'?"),
        ("nrp:2-2?weight=2", "`0 <= weight <= 1` must hold, but got '2'"),
        ("nrp:2-2?weight=x", "`weight` must be a number such as 0.5, but got 'x'"),
        ("nrp:2-2?weight", "must look like name=value, but got 'weight'"),
        ("nrp:2-2?", "must look like name=value, but got ''"),
        ("nrp:2-2?weight=1&weight=0", "must come once, but 'weight' comes again"),
        ("nrp:2-2@", "a seed must be a whole number after @, but got ''"),
        ("nrp:2-2@-1", "a seed must be a whole number after @, but got '-1'"),
        ("nrp:2-2@99999999999999999999", "0 <= seed < 2**64"),
        ("", "an instance must be a file, or a generated one such as knapsack:1000-1000, but got an empty name"),
        ("#1", "but got an empty name; systola instances generate lists what can be generated"),
        ("missing.txt", "there is none at 'missing.txt'"),
        ("missing.txt#2", "there is none at 'missing.txt'"),
        (".", "is a directory"),
        ("a\0b", "but got 'a\\x00b'"),
        ("knap.txt#", "a number or name must follow #"),
        ("knap.txt#2", "knap.txt holds a single problem, but got #2"),
        ("knap.txt?ratio=0.3", "the format knapPI takes no options, but got 'ratio'"),
        ("nrp1.txt?ration=0.3", "must be one of ratio, but got 'ration'; did you mean 'ratio'?"),
        ("nrp1.txt?ratio=0", "`0 < ratio <= 1` must hold, but got '0'"),
        ("nrp1.txt?weight=0.3", "must be one of ratio, but got 'weight'"),
    ],
)
def test_refusals(folder: Path, spec: str, message: str) -> None:
    assert message in refusal(spec)


def test_a_named_problem_overrides(folder: Path) -> None:
    assert refusal("knap.txt", "knapsak").endswith(
        "must be one of flowshop, gap, knapsack, mkp, mmdp, nrp, qap, but got 'knapsak'; did you mean 'knapsack'?"
    )
    assert "makes a mmdp, but the problem named is nrp" in refusal("mmdp:6", "nrp")
    assert "no file format holds the problem mmdp" in refusal("knap.txt", "mmdp")
    # One format is left, so its own complaint is the message.
    assert refusal("table.dat", "knapsack").startswith("`")
    assert "tried" in refusal("knap.txt", "nrp")


def test_a_file_of_no_format_says_in_a_line_what_to_do(folder: Path) -> None:
    (folder / "prose.txt").write_text("once upon a time")
    message = refusal("prose.txt")
    assert "\n" not in message
    assert "prose.txt has none of the known formats; add --problem NAME" in message
    assert message.endswith("systola instances formats")
    for known in list_formats():
        if known.name not in ("CSV", "JSON or .npz"):
            named = refusal("prose.txt", known.problem)
            assert f"\n  {known.name}: " in named or named.startswith("`")  # a single format: its own complaint


def test_an_ambiguous_file_asks_for_the_problem(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = catalog.Format("twin", "nrp", lambda path: Instance("x", MMDP(6), None, str(path)))
    monkeypatch.setattr(catalog, "FORMATS", (*catalog.FORMATS, twin))
    assert "knap.txt fits knapPI and twin; name the problem" in refusal("knap.txt")
    assert open_instance("knap.txt", "knapsack").best_known == 11


def test_a_format_may_hold_many_problems(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> Library:
        return Library(path, "many", "mmdp", tuple(Part(lambda: MMDP(6), {"bits": 6}, 1, name=n) for n in ("", "A7")))

    monkeypatch.setattr(catalog, "FORMATS", (catalog.Format("many", "mkp", read),))
    assert open_instance("knap.txt#a7").name == "knap#A7"
    assert open_instance("knap.txt#1", "mkp").name == "knap#1"
    whole = look_up("knap.txt")
    assert isinstance(whole, Library)
    assert [facts["bits"] for facts in describe(whole)["problems"]] == [6, 6]
    assert "one problem must be named, but knap.txt holds 2" in refusal("knap.txt")


def test_generators_are_listed_by_usage() -> None:
    assert [g.usage.partition(":")[0] for g in list_generators()] == [g.problem for g in list_generators()]


@pytest.mark.parametrize(
    "spec",
    ["knap.txt", "nrp1.txt", "table.dat", "mmdp:12", "mkp:4x3", "nrp:3-4", "qap:grid-2x3", "flowshop:4x3", "gap:e-2x5"],
)
def test_descriptions_are_plain(folder: Path, spec: str) -> None:
    instance = open_instance(spec)
    shown = describe(instance)
    assert json.loads(json.dumps(shown)) == shown
    assert shown["decisions"] == space_of(instance.problem).n
    assert shown["best_known"] == instance.best_known


def test_a_description_sums_up_the_data(folder: Path) -> None:
    shown = describe(open_instance("knap.txt"))
    assert shown["data"]["profits"] == {"shape": [3], "min": 5, "max": 7, "sum": 18}
    assert shown["data"]["capacity"] == 10
    assert shown["senses"] == ["maximise"]


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")
@pytest.mark.parametrize("other", ["gap", "kp", "mkp", "nrp", "pfsp", "qap"])
def test_files_of_other_problems_are_not_mistaken(other: str) -> None:
    # A flowshop of 20 jobs and 20 machines has as many numbers as a table of 20 requirements and 20 stakeholders.
    own = {"kp": "knapsack", "pfsp": "flowshop"}.get(other, other)
    formats = [known for known in list_formats() if known.problem != own]
    for path in sorted((PUBLIC / other).rglob("*")):
        if path.is_file():
            for known in formats:
                with pytest.raises(InputError):
                    known.read(path)


MANGLED = st.sampled_from(
    [
        *(KNAPSACK, REQUESTS, TABLE, PLANNED, NUMBERED, NAMED, SINGLE, ASSIGNMENT, FLOWSHOPS, DATED, PAIRED),
        *(GENERALIZED, GENERALIZED_SINGLE),
    ]
).flatmap(
    lambda content: st.builds(
        lambda start, length, middle: content.encode()[:start] + middle + content.encode()[start + length :],
        st.integers(0, len(content)),
        st.integers(0, len(content)),
        st.one_of(
            st.binary(max_size=20),
            st.text("0123456789- \n|·>r.eE+", max_size=20).map(str.encode),
            st.integers().map(lambda i: str(i).encode()),
        ),
    )
)


@settings(max_examples=400)
@given(
    MANGLED,
    st.sampled_from([None, "flowshop", "gap", "knapsack", "mkp", "nrp", "qap"]),
    st.sampled_from(["", "#2", "?ratio=0.5", "?weight=0.5", "?objectives=tardy,makespan", "?weights=3", "?sense=max"]),
)
def test_mangled_files_give_an_instance_or_an_input_error(raw: bytes, problem: str | None, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x_requirements.csv"
        path.write_bytes(raw)
        (Path(name) / "x_stakeholders.csv").write_text("1\n2\n")
        (Path(name) / "x_value.csv").write_text("A|1|2\nB|3|4\n")
        with suppress(InputError):
            describe(look_up(f"{path}{suffix}", problem))


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=30),
        st.from_regex(
            r"(flowshop|gap|knapsack|mkp|mmdp|nrp|qap):((uniform|opposed|[a-e])-|ta)?[0-9]{0,3}[-x]?[0-9]{0,3}@?[0-9]*\??[a-z=.,0-9]*",
            fullmatch=True,
        ),
    )
)
def test_arbitrary_arguments_give_an_instance_or_an_input_error(spec: str) -> None:
    with suppress(InputError):
        open_instance(spec)
