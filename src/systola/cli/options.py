"""Options that several commands share."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from systola.errors import InputError
from systola.formats.text import shown
from systola.reading import Json, read_file

F = TypeVar("F", bound=Callable[..., Any])


def budget_options(command: F) -> F:
    """--iterations, --evaluations, --seconds, --target, --stall."""
    for option in (
        click.option("--stall", type=int, help="Stop after N steps without improvement."),
        click.option("--target", type=float, help="Stop at this objective."),
        click.option("--evaluations", type=int, help="Stop before more than N solutions."),
        click.option("--iterations", type=int, help="Stop after N steps. Default: the algorithm's own budget."),
        click.option("--seconds", type=float, help="Stop after S seconds."),
    ):
        command = option(command)
    return command


def make_folder(path: Path, what: str) -> None:
    """A folder for output; an InputError when it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {path} for the {what} cannot be made: {error.strerror}") from None


def report_options(command: F) -> F:
    """--html, --markdown, --latex: a report to hand on, in one or several formats."""
    for option in (
        click.option("--latex", type=str, metavar="FILE", help="The report as LaTeX, .tex, pictures beside it."),
        click.option("--markdown", type=str, metavar="FILE", help="The report as Markdown, .md, pictures beside it."),
        click.option(
            "--html", type=str, metavar="FILE", help="A report to hand on: one page that needs no other file."
        ),
    ):
        command = option(command)
    return command


def report_files(options: Mapping[str, Any]) -> list[Path]:
    """The files that `report_options` name, in folders that are there; an InputError if one cannot be."""
    files = []
    for name, ending in (("html", ".html"), ("markdown", ".md"), ("latex", ".tex")):
        if options[name] is None:
            continue
        file = Path(options[name])
        if file.suffix.lower() != ending:
            raise InputError(f"the file of `--{name}` ends in {ending}, but got {shown(options[name])}")
        make_folder(file.parent, "report")
        files.append(file)
    return files


def typed_command() -> str:
    """What was typed to call the command that runs, for a shell."""
    return shlex.join(["systola", *click.get_current_context().obj])


def read_settings(pairs: tuple[str, ...], option: str = "--set") -> dict[str, Any]:
    """`--set key=value` pairs; values as in TOML, a bare word is a string."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign or not key:
            raise InputError(f"{option} needs key=value, but got {shown(pair)}")
        try:
            settings[key.strip()] = _toml().loads(f"v = {text}")["v"]
        except ValueError:
            settings[key.strip()] = text
        except RecursionError:
            raise InputError(f"{option} {shown(key)} must have a plain value, but it is nested too deeply") from None
    return settings


def read_config(path: str) -> dict[str, Any]:
    """A TOML file that describes a run; see `systola solve --print-config`."""
    try:
        data: dict[str, Any] = _toml().loads(read_file(path, "the configuration").decode())
    except ValueError as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{path} is not TOML that can be read: it is nested too deeply") from None
    return data


def write_config(tables: Mapping[str, Any]) -> str:
    """TOML of scalars, lists, tables and lists of tables: the inverse of `read_config` for what we write."""
    top = [f"{k} = {_toml_value(v)}" for k, v in tables.items() if not _is_table(v)]
    for name, value in tables.items():
        for table in (value if isinstance(value, list) else [value]) if _is_table(value) else []:
            head = f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
            top += ["", head, *(f"{k} = {_toml_value(v)}" for k, v in table.items())] if table else []
    return "\n".join(top) + "\n"


def _is_table(value: Json) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and all(isinstance(v, Mapping) for v in value))


def _toml_value(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml_value(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k} = {_toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # what both JSON and TOML read
    return repr(value)


def _toml() -> Any:
    if sys.version_info >= (3, 11):
        import tomllib

        return tomllib
    import tomli

    return tomli
