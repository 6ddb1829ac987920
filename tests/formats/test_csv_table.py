"""Tables in CSV files: headers, cells, lines in messages, and what is no table."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from conftest import sentence_of
from systola import InputError
from systola.formats.csv_table import CsvTable, read_csv


def table(tmp_path: Path, text: str) -> CsvTable:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return read_csv(path)


def refusal(tmp_path: Path, text: str) -> str:
    return sentence_of(table, tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "name,a,b\nx,1,2\ny,3,4\n",
        "name;a;b\r\nx;1;2\r\ny;3;4",
        "name\ta\tb\nx\t1\t2\ny\t3\t4\n",
        "\ufeffname, a ,b\n\n  x , 1,2\n,,\ny,3,4,,\n",
        '"name","a",b\n"x",1,"2"\ny,3,4\n\n\n',
        "name,a,b,,\nx,1,2,,\ny,3,4,,\n",
    ],
)
def test_cells(tmp_path: Path, text: str) -> None:
    found = table(tmp_path, text)
    assert found.header == ("name", "a", "b")
    assert found.rows == [["x", "1", "2"], ["y", "3", "4"]]
    assert found.names(0) == ["x", "y"]
    assert found.whole_numbers(1).tolist() == [1, 3]
    assert found.numbers(2).tolist() == [2, 4]


def test_quotes_and_lines(tmp_path: Path) -> None:
    found = table(tmp_path, '\nname,a\n"x, ""1""\nnew",1\ny,2\n')
    assert found.rows[0] == ['x, "1"\nnew', "1"]
    assert found.lines == [4, 5]
    assert found.head == "t.csv, line 2"


def test_numbers(tmp_path: Path) -> None:
    found = table(tmp_path, "a,b\n1,-2\n2.5,+3\n1e3,.5\n")
    assert found.numbers(0).tolist() == [1.0, 2.5, 1000.0]
    assert found.numbers(1).tolist() == [-2, 3, 0.5]
    assert found.are_numbers(0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "begin with a header of its columns, but the file is empty (t.csv)"),
        ("\n,,\n", "the file is empty"),
        ("a,b\n", "a row after its header, but has none (t.csv, line 1)"),
        ("1,2\n3,4\n", "begins with numbers; add one (t.csv, line 1)"),
        ("a,b\n1,2\n3\n", "each row must have 2 cells as the header has, but one has 1 (t.csv, line 3)"),
        ("a,b\n1,2,3\n", "but one has 3 (t.csv, line 2)"),
        ("a,A\n1,2\n", "its own heading, but 'A' comes again (t.csv, line 1)"),
        (",\n1,2\n3,4\n", "begins with numbers; add one (t.csv, line 2)"),
        ('a,b\n1,"2\n', "must be CSV, but it is not: unexpected end of data (t.csv, line 2)"),
        ('a,b\n1,"2"3\n', "must be CSV, but it is not: ',' expected after '\"' (t.csv, line 2)"),
        ("a,b\n1," + "x" * 200_000 + "\n", "field larger than field limit"),
        ("a\0,b\n1,2\n", "zero byte"),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("x", "`a` must be a whole number, but got 'x' (t.csv, line 3)"),
        ("", "`a` must be a whole number, but got '' (t.csv, line 3)"),
        ("1.5", "each `a` must be a whole number, but got '1.5'; use smaller units (t.csv, line 3)"),
        ("9" * 30, "`a` must fit into 64 bits"),
        ("9" * 100_000, "`a` must fit into 64 bits"),
    ],
)
def test_cells_that_are_no_whole_numbers(tmp_path: Path, cell: str, said: str) -> None:
    assert said in sentence_of(table(tmp_path, f"a,b\n1,2\n{cell},2\n").whole_numbers, 0)


@pytest.mark.parametrize("cell", ["x", "", "nan", "inf", "1e999", "1_0", "0x1", "1,5", "9" * 100])
def test_cells_that_are_no_numbers(tmp_path: Path, cell: str) -> None:
    found = table(tmp_path, f"a;b\n1.5;2\n{cell};2\n")
    with pytest.raises(InputError, match=r"each `a` must be a number.*\(t.csv, line 3\)"):
        found.numbers(0)


def test_names_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"one has none \(t.csv, line 3\)"):
        table(tmp_path, "name,a\nx,1\n,2\n").names(0)
    with pytest.raises(InputError, match=r"'x' of line 2 comes again \(t.csv, line 4\)"):
        table(tmp_path, "name,a\nx,1\ny,2\nx,3\n").names(0)
    with pytest.raises(InputError, match=r"one column 'profit', but has 'Profit' and 'profits' \(t.csv, line 1\)"):
        table(tmp_path, "Profit,profits\n1,2\n").find("profit", "profits")


def test_time_grows_with_the_size_only(tmp_path: Path) -> None:
    def seconds(rows: int) -> float:
        path = tmp_path / f"{rows}.csv"
        path.write_text("name,profit,weight\n" + "".join(f"item {k},{k},{k}\n" for k in range(rows)))
        began = time.process_time()
        found = read_csv(path)
        found.names(0), found.whole_numbers(1)
        return time.process_time() - began

    seconds(1000)
    small, large = min(seconds(5_000) for _ in range(3)), min(seconds(50_000) for _ in range(2))
    assert large < 40 * max(small, 1e-3)
