"""What an INSTANCE argument means: a file, one problem of a file, or a generated instance."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.formats.instance import Instance, UnfitOptions
from systola.formats.known import FORMATS, GENERATORS, Format, Generator, Option, one_of
from systola.formats.library import Library
from systola.formats.tabular import is_tabular, open_tabular
from systola.formats.text import read_text, shown, whole_number
from systola.formats.values import plain_value
from systola.model.names import labels_of, plural
from systola.model.problem import MAXIMISE, digest_of, senses_of, space_of
from systola.model.rng import check_seed
from systola.model.source import is_code, is_file


def open_instance(spec: str, problem: str | None = None, *, fields: Mapping[str, Any] | None = None) -> Instance:
    """Open the instance that an argument of the command line means.

    Parameters
    ----------
    spec
        A file; ``FILE#PART`` for one problem of a file, by number from 1 or by name; or a generated instance such as
        ``knapsack:1000-1000``, ``mmdp:300`` or ``nrp:100-20@3``. Options follow as in ``nrp1.txt?ratio=0.3``, with
        ``&`` between them.
    problem
        What the file holds, such as ``knapsack``; by default it is recognised from the content.
    fields
        Values that a CSV table, an object of JSON or a NumPy archive leaves open, such as a capacity.

    Returns
    -------
    Instance
        The problem, its name, and what is known of it.

    Raises
    ------
    InputError
        If the argument means nothing, or the file breaks the rules of its format.
    """
    found = look_up_with(spec, problem, fields or {})
    found = found.choose(None) if isinstance(found, Library) else found
    for key in fields or {}:
        if key not in found.fields:
            raise InputError(f"{spec} leaves no field {shown(key)} open")
    return found


def look_up(spec: str, problem: str | None = None) -> Instance | Library:
    """As `open_instance`, but a file of several problems is given whole if the argument names none of them."""
    return look_up_with(spec, problem, {})


def look_up_with(spec: str, problem: str | None, given: Mapping[str, Any]) -> Instance | Library:
    """As `look_up`, with values for what a file leaves open; those that it has no use for are left alone."""
    if problem is not None:
        one_of(problem, _problems(), "problem")
    if is_code(spec):
        raise InputError(
            f"{spec} is Python code, which is executed only where its file is named on the command line, as in systola "
            "solve FILE.py:NAME, or by systola.formats.load_problem"
        )
    if is_file(spec):  # whatever signs its name has
        return _open_file(Path(spec), None, {}, problem, given)
    base, options = _split_options(spec)
    name, colon, arguments = base.partition(":")
    if colon and name in {g.problem for g in GENERATORS}:
        return _generate(name, arguments, options, problem)
    path, mark, part = base.rpartition("#")
    if not mark or is_file(base):
        return _open_file(_found(base), None, options, problem, given)
    if not part:
        raise InputError(f"a number or name must follow #, but got {shown(spec)}")
    return _open_file(_found(path), part, options, problem, given)


def describe(instance: Instance | Library) -> dict[str, Any]:
    """What `systola instances show` shows: plain values only, fit for JSON."""
    if isinstance(instance, Library):
        return instance.describe()
    problem = instance.problem
    data: dict[str, Any] = {}
    for entry in dataclasses.fields(problem):  # type: ignore[arg-type]
        value = getattr(problem, entry.name)
        if not entry.init:
            continue
        if isinstance(value, np.ndarray):
            data[entry.name] = {"shape": list(value.shape)}
            if value.size:
                data[entry.name] |= {k: getattr(value, k)().item() for k in ("min", "max", "sum")}
        else:
            data[entry.name] = value
    labels = labels_of(problem)
    words = ((labels.decision, labels.decisions), (labels.value, labels.values))
    names = {plural(word): list(found) for word, found in words if found is not None}
    return {
        "name": instance.name,
        "problem": instance.kind,
        "summary": str(problem),
        "decisions": space_of(problem).n,
        "senses": ["maximise" if sense == MAXIMISE else "minimise" for sense in senses_of(problem)],
        "best_known": instance.best_known,
        "source": instance.source,
        "notes": list(instance.notes),
        "digest": digest_of(problem),
        "data": data,
        **({"names": names} if names else {}),
    }


def _problems() -> list[str]:
    return list(dict.fromkeys([*(g.problem for g in GENERATORS), *(f.problem for f in FORMATS)]))


def _found(path: str) -> Path:
    """A path to read; the error for one that is none speaks of generators if that is what was meant."""
    name, colon, _ = path.partition(":")
    if colon and len(name) > 1 and name.isidentifier() and not is_file(path):  # a single letter is a drive
        one_of(name, dict.fromkeys(g.problem for g in GENERATORS), "generator")
    if not path:
        raise InputError(
            "an instance must be a file, or a generated one such as knapsack:1000-1000, but got an empty name; systola "
            "instances generate lists what can be generated"
        )
    return Path(path)


def _split_options(spec: str) -> tuple[str, dict[str, str]]:
    base, mark, rest = spec.partition("?")
    options: dict[str, str] = {}
    for item in rest.split("&") if mark else ():
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise InputError(f"an option must look like name=value, but got {shown(item)} in {shown(spec)}")
        if name in options:
            raise InputError(f"an option must come once, but {name!r} comes again in {shown(spec)}")
        options[name] = value
    return base, options


def _convert(options: Mapping[str, str], known: Mapping[str, Option], where: str) -> dict[str, Any]:
    for name in options:
        if not known:
            raise InputError(f"{where} takes no options, but got {shown(name)}")
        one_of(name, known, f"option of {where}")
    return {name: known[name](name, text) for name, text in options.items()}


def _generate(kind: str, arguments: str, options: Mapping[str, str], problem: str | None) -> Instance:
    name = f"{kind}:{arguments}"
    if problem not in (None, kind):
        raise InputError(f"{shown(name)} makes a {kind}, but the problem named is {problem}")
    sizes, mark, seed = arguments.partition("@")
    generator, sized = _fitting(kind, sizes, name)
    keywords = _convert(options, generator.options, generator.problem + ":")
    if mark and not generator.seeded:
        raise InputError(f"{generator.usage} takes no seed, but got {shown('@' + seed)}")
    if generator.seeded:
        if mark and not re.fullmatch("[0-9]{1,20}", seed):
            raise InputError(f"a seed must be a whole number after @, but got {shown(seed)}")
        keywords["seed"] = check_seed(int(seed)) if mark else 1
    for key, text in sized.items():
        keywords[key] = whole_number(text, key) if text.isdigit() else text
    made, best_known = generator.make(**keywords)
    if options:
        name += "?" + "&".join(f"{key}={text}" for key, text in options.items())
    return Instance(name, made, best_known, generator.source, kind=kind)


def _fitting(kind: str, sizes: str, name: str) -> tuple[Generator, dict[str, str]]:
    """The generator of a problem that is meant, and what the argument says for its sizes."""
    known = [g for g in GENERATORS if g.problem == kind]
    for generator in known:
        match = re.fullmatch(generator.pattern, sizes)
        if match is not None:
            return generator, match.groupdict()
    usages = " or ".join(g.usage for g in known)
    raise InputError(f"a generated instance must look like {usages}, but got {shown(name)}")


def _open_file(
    path: Path, part: str | None, options: Mapping[str, str], problem: str | None, given: Mapping[str, Any]
) -> Instance | Library:
    """Read a file by the one format that fits it."""
    if is_tabular(path):
        return _open_tabular(path, part, options, problem, given)
    candidates = [f for f in FORMATS if problem in (None, f.problem)]
    if not candidates:
        raise InputError(f"no file format holds the problem {problem}, so {path.name} cannot be one; generate it")
    fitting: list[tuple[Format, Instance | Library]] = []
    failed: dict[str, InputError] = {}
    for form in candidates:
        known = {name: text for name, text in options.items() if name in form.options}
        keywords = _convert(known, form.options, path.name)
        try:
            fitting.append((form, form.read(path, **keywords)))
        except UnfitOptions:
            raise
        except InputError as error:
            failed[form.name] = error
    if len(fitting) > 1:
        fitting = [(form, found) for form, found in fitting if form.lines] or fitting
    if len(fitting) > 1:
        raise InputError(
            f"a file must have one format, but {path.name} fits {' and '.join(f.name for f, _ in fitting)}; "
            "name the problem"
        )
    if not fitting:
        if len(failed) == 1:
            raise next(iter(failed.values()))
        if not read_text(path).strip():
            raise InputError(f"an instance must have something in it, but the file is empty ({path.name})")
        if problem is None:
            raise InputError(
                f"{path.name} has none of the known formats; add --problem NAME to learn why, or list them all by: "
                "systola instances formats"
            )
        reasons = "".join(f"\n  {name}: {error}" for name, error in failed.items())
        raise InputError(f"{path.name} has none of the formats of the problem {problem}; tried{reasons}")
    ((form, found),) = fitting
    _convert(options, form.options, f"the format {form.name}")
    if isinstance(found, Library):
        return found if part is None and len(found.parts) > 1 else found.choose(part)
    if part is not None:
        raise InputError(f"{path.name} holds a single problem, but got #{part}; leave it out")
    return found


def _open_tabular(
    path: Path, part: str | None, options: Mapping[str, str], problem: str | None, given: Mapping[str, Any]
) -> Instance:
    """Read a file whose values have names; options are values that it leaves open, too."""
    if part is not None:
        raise InputError(f"{path.name} holds a single problem, but got #{part}; leave it out")
    values = {key: plain_value(text) for key, text in options.items()}
    found = open_tabular(path, problem, {**given, **values})
    for key in values:
        if key not in found.fields:
            raise InputError(f"{path.name} leaves no field {shown(key)} open; leave it out")
    return found
