"""Every complaint about a file says the rule, what came, and where."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import sentence_of
from systola import InputError
from systola.formats import text
from systola.formats.text import Tokens, located, read_text, whole_number


def test_numbers_come_in_order_over_lines() -> None:
    tokens = Tokens("3 \n\n 1 -2\t+3\n", "a.txt")
    assert tokens.count("numbers") == 3
    assert tokens.integers(3, "number").tolist() == [1, -2, 3]
    assert tokens.at_end()
    tokens.end("the numbers")


def read_values(content: str) -> list[int]:
    """A number n, then n values."""
    tokens = Tokens(content, "a.txt")
    values = tokens.integers(tokens.count("n"), "v", 0)
    tokens.end("the values")
    return values.tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`n` must come first, but the file is empty (a.txt)"),
        (" \n\n", "`n` must come first, but the file is empty (a.txt)"),
        ("2\n5\n", "`v` must follow, but the file ends (a.txt, line 2)"),
        ("2\n5\n-3", "`v >= 0` must hold, but got -3 (a.txt, line 3)"),
        ("2\n5 x3\n", "`v` must be a whole number, but got 'x3' (a.txt, line 2)"),
        ("2\n5 3.5\n", "`v` must be a whole number, but got '3.5' (a.txt, line 2)"),
        ("2\n5 1_0\n", "`v` must be a whole number, but got '1_0' (a.txt, line 2)"),
        ("2\n5 ٣\n", "`v` must be a whole number, but got '٣' (a.txt, line 2)"),
        ("2\n5 6\n\n7", "the file must end after the values, but goes on with '7' (a.txt, line 4)"),
        ("0", "`n >= 1` must hold, but got 0 (a.txt, line 1)"),
        (
            "\n1000000000000 1 2",
            "`n` must be what the rest of the file can hold, but got 1000000000000 (a.txt, line 2)",
        ),
        ("2\n5 9223372036854775808", "`v` must fit into 64 bits, but got '9223372036854775808' (a.txt, line 2)"),
        ("2\n5 1" + "0" * 10_000, "`v` must fit into 64 bits, but got '1" + "0" * 39 + "...' (a.txt, line 2)"),
    ],
)
def test_messages(content: str, message: str) -> None:
    assert sentence_of(read_values, content) == message


def test_a_range_is_named_from_both_sides() -> None:
    with pytest.raises(InputError, match="`0 <= v <= 1` must hold, but got 2"):
        whole_number("2", "v", 0, 1)
    with pytest.raises(InputError, match="`v <= 1` must hold, but got 2"):
        whole_number("2", "v", high=1)


@given(st.integers(-(2**63), 2**63 - 1))
def test_all_integers_of_64_bits_are_read(number: int) -> None:
    assert whole_number(str(number), "v") == number
    assert Tokens(f"{number}", "a").integers(1, "v").tolist() == [number]


@given(st.integers(min_value=2**63) | st.integers(max_value=-(2**63) - 1))
def test_no_larger_ones_are(number: int) -> None:
    with pytest.raises(InputError, match="64 bits"):
        whole_number(str(number), "v")


def test_long_runs_of_numbers_are_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_BATCH", 4)
    content = "\n".join(map(str, range(11)))
    tokens = Tokens(content, "a.txt")
    assert tokens.integers(10, "v", 0).tolist() == list(range(10))
    assert tokens.integer("v") == 10
    for old, message in (("9", "`v <= 8` must hold, but got 9 (a.txt, line 10)"), ("6", "'x' (a.txt, line 7)")):
        with pytest.raises(InputError) as caught:
            Tokens(content.replace(old, old if old == "9" else "x"), "a.txt").integers(11, "v", high=8)
        assert str(caught.value).endswith(message)


@given(st.lists(st.decimals(0, 10**6, places=4), min_size=1, max_size=20), st.integers(0, 4))
def test_decimals_are_made_whole_exactly(numbers: list[Decimal], most: int) -> None:
    numbers = [round(number, most) for number in numbers]
    values, places = Tokens(" ".join(f"{number:f}" for number in numbers), "a.txt").decimals(len(numbers), "v")
    assert [Decimal(value) / 10**places for value in values.tolist()] == numbers
    assert places == 0 or any(value % 10 for value in values.tolist())


@given(st.text() | st.text("0123456789 -+.\n"))
def test_arbitrary_text_gives_decimals_or_a_message(content: str) -> None:
    with suppress(InputError):
        values, places = Tokens(content, "a.txt").decimals(2, "v")
        for value, word in zip(values.tolist(), content.split(), strict=False):
            assert Decimal(value) == Decimal(word) * 10**places


@given(st.text() | st.text("0123456789 -\n"))
def test_arbitrary_text_gives_numbers_or_a_message(content: str) -> None:
    with suppress(InputError):
        assert len(read_values(content)) == int(content.split()[0])


def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf1\r\n2\r3\n")
    assert read_text(path) == "1\n2\n3\n"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"1 2\n\xff\xfe", "must be text in UTF-8, but byte 5 of a.txt"),
        (b"1 2\n\0", "must be text, but a.txt has a zero byte at 5"),
    ],
)
def test_binary_files_are_refused(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read_text(path)


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is none at"):
        read_text(tmp_path / "missing.txt")
    with pytest.raises(InputError, match="is a directory"):
        read_text(tmp_path)
    with pytest.raises(InputError, match="is not: "):
        read_text(tmp_path / ("x" * 5000))
    with pytest.raises(InputError, match="the system knows"):
        read_text(tmp_path / "a\0b")
    (tmp_path / "file").write_text("1")
    with pytest.raises(InputError):
        read_text(tmp_path / "file" / "below")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="regular file"):
        read_text(tmp_path / "pipe")


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    path = tmp_path / "closed.txt"
    path.write_text("1")
    monkeypatch.setattr(Path, "open", refuse)  # an administrator may read everything, so modes would not do
    with pytest.raises(InputError, match=r"must be readable, but .*closed\.txt' is not: Permission denied"):
        read_text(path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MOST_BYTES", 2**20)
    path = tmp_path / "large.txt"
    path.write_bytes(b" " * 2**20)
    read_text(path)
    path.write_bytes(b" " * (2**20 + 1))
    with pytest.raises(InputError, match=r"at most 1 MB, but large.txt has more"):
        read_text(path)


def test_located_adds_a_place() -> None:
    with pytest.raises(InputError, match=r"^wrong \(here\)$"), located("here"):
        raise InputError("wrong")
