"""Logs are read while they are written, and what is damaged, huge or of another version is a sentence."""

import json
import os
from pathlib import Path

import pytest

from systola.errors import InputError
from systola.run import log_reading
from systola.run.log_reading import LogReader, read_log

EXAMPLE = Path(__file__).with_name("example.log")


@pytest.fixture
def lines():
    return EXAMPLE.read_bytes().splitlines(keepends=True)


def test_all_kinds_of_entries():
    kinds = [entry["kind"] for entry in read_log(EXAMPLE)]
    assert kinds == ["header", "message", "frame", "frame", "frame", "frame", "header", "frame", "end"]


def test_a_torn_line_is_nothing_until_it_is_whole(tmp_path, lines):
    path = tmp_path / "run.log"
    whole = b"".join(lines)
    reader, entries = LogReader(path), []
    for cut in range(0, len(whole) + 1, 7):
        path.write_bytes(whole[:cut])
        os.utime(path)
        entries += reader.read()
        assert not reader.anew
    path.write_bytes(whole)
    entries += reader.read()
    assert entries == read_log(EXAMPLE)


def test_a_file_that_was_replaced_is_read_anew(tmp_path, lines):
    path, other = tmp_path / "run.log", tmp_path / "other"
    path.write_bytes(b"".join(lines[:4]))
    reader = LogReader(path)
    reader.read()
    other.write_bytes(b"".join([*lines[:2], *lines[3:6]]))
    os.replace(other, path)
    assert len(reader.read()) == 5
    assert reader.anew
    assert reader.read() == []
    assert not reader.anew
    path.write_bytes(lines[0])
    assert len(reader.read()) == 1
    assert reader.anew


def test_a_file_that_was_written_anew_in_its_place_is_read_anew(tmp_path, lines):
    path = tmp_path / "run.log"
    path.write_bytes(b"".join(lines[:4]))
    reader = LogReader(path)
    reader.read()
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    assert len(reader.read()) == 8
    assert reader.anew


def test_what_comes_before_the_damage_is_given_first(tmp_path, lines):
    path = tmp_path / "run.log"
    path.write_bytes(b"".join([*lines[:3], b"nonsense\n", *lines[3:]]))
    reader = LogReader(path)
    assert len(reader.read()) == 3
    for _ in range(2):
        with pytest.raises(InputError, match="is damaged: line 4: "):
            reader.read()


def test_a_little_at_a_time(tmp_path):
    reader, entries = LogReader(EXAMPLE), []
    while more := reader.read(10):
        assert len(more) == 1
        entries += more
    assert entries == read_log(EXAMPLE)


def test_reading_is_resumed_by_another_reader(tmp_path, lines):
    path = tmp_path / "run.log"
    path.write_bytes(b"".join(lines[:4]))
    first = LogReader(path)
    first.read()
    path.write_bytes(b"".join(lines))
    second = LogReader(path)
    assert second.resume(first.position)
    assert [*map(json.dumps, second.read())] == [line.decode().strip() for line in lines[4:]]
    assert not second.anew
    assert not second.read()
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    for position in (first.position, second.position, "", "0", "ff.1.0", "-1.0.0", "fffffffffff.1.0"):
        third = LogReader(path)
        assert not third.resume(position)
        assert len(third.read()) == 8


@pytest.mark.parametrize("line", range(9))
def test_whatever_is_missing_is_noticed(tmp_path, lines, line):
    entry = json.loads(lines[line])
    for key in entry:
        if key in ("run", "resumed", "picture", "drawing"):
            continue
        broken = {k: v for k, v in entry.items() if k != key}
        path = tmp_path / "run.log"
        path.write_bytes(b"".join([*lines[:line], json.dumps(broken).encode() + b"\n", *lines[line + 1 :]]))
        with pytest.raises(InputError, match=r"line \d+|no log of systola|format None"):
            read_log(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame["picture"].update(values="!!"),
        lambda frame: frame["picture"].update(rows=65),
        lambda frame: frame["picture"].update(rows=3),
        lambda frame: frame["picture"].update(type=["field"]),
        lambda frame: frame["drawing"]["marks"][0].update(x="1"),
        lambda frame: frame["drawing"]["marks"][0].update(colour=10),
        lambda frame: frame["drawing"]["marks"][1].update(points=[1]),
        lambda frame: frame["drawing"]["marks"][1].update(mark=["line"]),
        lambda frame: frame["drawing"].update(width=0),
        lambda frame: frame["drawing"].update(marks=frame["drawing"]["marks"] * 600),
        lambda frame: frame.update(best="1"),
        lambda frame: frame.update(seconds=-1),
        lambda frame: frame.update(iterations=True),
        lambda frame: frame.update(kind="picture"),
        lambda frame: frame.update(kind=[]),
    ],
)
def test_damage_names_the_line(tmp_path, lines, change):
    frame = json.loads(lines[3])
    change(frame)
    path = tmp_path / "run.log"
    path.write_bytes(b"".join([*lines[:3], json.dumps(frame).encode() + b"\n"]))
    with pytest.raises(InputError, match="is damaged: line 4: "):
        read_log(path)


@pytest.mark.parametrize(
    "line", [b'{"kind": "message", "seconds": NaN, "text": ""}', b'{"kind": "message", "seconds": 1e999, "text": ""}']
)
def test_numbers_are_finite(tmp_path, lines, line):
    path = tmp_path / "run.log"
    path.write_bytes(lines[0] + line + b"\n")
    with pytest.raises(InputError, match="line 2"):
        read_log(path)


@pytest.mark.parametrize("content", [b"", b"\n", b"[1]\n", b"[" * 100_000 + b"\n", b"1278\n", b"\xff\xfe\n", b"{}\n"])
def test_what_is_no_log(tmp_path, content):
    path = tmp_path / "run.log"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no log of systola"):
        read_log(path)


def test_other_versions(tmp_path, lines):
    header = json.loads(lines[0])
    header["format"] = 2
    path = tmp_path / "run.log"
    path.write_bytes(json.dumps(header).encode() + b"\n")
    with pytest.raises(InputError, match="has format 2 of logs, this version reads 1"):
        read_log(path)


def test_headers_of_two_runs_are_no_log(tmp_path, lines):
    header = json.loads(lines[0])
    header["id"] = "0" * 16
    path = tmp_path / "run.log"
    path.write_bytes(lines[0] + json.dumps(header).encode() + b"\n")
    with pytest.raises(InputError, match="another run"):
        read_log(path)


def test_huge_logs_are_refused_before_they_are_read(tmp_path, lines, monkeypatch):
    path = tmp_path / "run.log"
    with path.open("wb") as file:
        file.truncate(log_reading.MOST_BYTES + 1)
    with pytest.raises(InputError, match="at most 64 MB"):
        read_log(path)
    monkeypatch.setattr(log_reading, "MOST_ENTRIES", 3)
    with pytest.raises(InputError, match="longer than one can be"):
        read_log(EXAMPLE)
    monkeypatch.setattr(log_reading, "MOST_LINE", 100)
    path.write_bytes(b"1" * 101)
    with pytest.raises(InputError, match="a line of it"):
        read_log(path)


def test_no_file_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot read the log"):
        read_log(tmp_path / "none")
    with pytest.raises(InputError, match="cannot read the log"):
        read_log(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="regular file"):
        read_log(tmp_path / "pipe")
