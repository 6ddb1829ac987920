"""`--set KEY=VALUE`: a value that an instance leaves open, or else a parameter of the algorithm.

A name that is both must say which is meant: `problem.KEY` or `algorithm.KEY`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from systola.cli.options import read_settings
from systola.engines.catalog import make_engine, parameter_names
from systola.engines.engine import Engine
from systola.errors import InputError
from systola.formats.instance import Instance
from systola.formats.text import shown
from systola.model.source import file_of, is_code

_FIELD, _PARAMETER = "problem.", "algorithm."


@dataclass(frozen=True)
class Settings:
    """What was set, by whose it is.

    Attributes
    ----------
    either
        What does not say it.
    fields, parameters
        Of the problem, and of the algorithm; also those of a configuration.
    """

    either: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        pairs: tuple[str, ...],
        fields: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Settings:
        """Of the options of a command line, which override those of a configuration."""
        told = read_settings(pairs)
        mine = {key.removeprefix(_FIELD): value for key, value in told.items() if key.startswith(_FIELD)}
        its = {key.removeprefix(_PARAMETER): value for key, value in told.items() if key.startswith(_PARAMETER)}
        either = {key: value for key, value in told.items() if not key.startswith((_FIELD, _PARAMETER))}
        kept, held = ({k: v for k, v in (table or {}).items() if k not in either} for table in (fields, parameters))
        return cls(either, {**kept, **mine}, {**held, **its})

    @property
    def given(self) -> dict[str, Any]:
        """All that an instance may take."""
        return {**self.either, **self.fields}

    def check_fields(self, instances: Collection[Instance]) -> None:
        """An InputError if something was set that no instance leaves open."""
        for key in self.fields:
            if not any(key in found.fields for found in instances):
                names = ", ".join(found.name for found in instances)
                raise InputError(f"{names} leaves no field {shown(key)} open; leave it out")

    def parameters_for(self, instances: Iterable[Instance]) -> dict[str, Any]:
        """All that no instance has taken is of the algorithm."""
        taken = {key for found in instances for key in found.fields}
        return {**{key: value for key, value in self.either.items() if key not in taken}, **self.parameters}

    def make_engine(self, name: str, found: Instance, parameters: Mapping[str, Any]) -> Engine:
        """The engine with these parameters; an InputError if something may mean the problem as well, or neither."""
        kind, known = type(found.problem).__name__, parameter_names(make_engine(name, found.problem))
        own = {entry.name for entry in fields(found.problem) if entry.init}  # type: ignore[arg-type]
        for key in self.either:
            if key in found.fields and key in known:
                raise InputError(
                    f"{key!r} is a field of {kind} and a parameter of {name}; write --set {_FIELD}{key}=... or "
                    f"--set {_PARAMETER}{key}=..."
                )
            if key in parameters and key not in known and key in own:
                raise InputError(
                    f"{name} has no parameter {key!r}, and the field {key!r} of {kind} has a value in {found.source}; "
                    "change it there"
                )
        return make_engine(name, found.problem, parameters)


def read_fields(pairs: tuple[str, ...]) -> dict[str, Any]:
    """What was set where there is no algorithm: fields only."""
    return {key.removeprefix(_FIELD): value for key, value in read_settings(pairs).items()}


def refuse_unused(given: Mapping[str, Any], instances: Collection[Any]) -> None:
    """An InputError if something was set that no instance leaves open."""
    Settings(fields=given).check_fields([found for found in instances if isinstance(found, Instance)])


def refuse_hidden_code(names: Iterable[str], named: Iterable[str | None], config: str) -> None:
    """An InputError if a configuration names Python code in a file that the command line does not name.

    Parameters
    ----------
    names
        What the configuration says that may be code: instance and algorithms.
    named
        What the command line says of these.
    config
        The file of the configuration.
    """
    files: set[Path] = {file_of(name) for name in named if name is not None and is_code(name)}
    for name in names:
        if isinstance(name, str) and is_code(name) and file_of(name) not in files:
            raise InputError(
                f"{config} names Python code, {name}, which is executed only if the command line names its file, too; "
                f"add {name}, as the instance or by --algorithm"
            )
