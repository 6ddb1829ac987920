"""Engines by the names that the command line and result files use."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import product
from typing import Any

from systola.engines.cellular import Cellular
from systola.engines.engine import Engine
from systola.engines.neighbourhood import SNS
from systola.engines.panmictic import EGA, GA, SGA
from systola.engines.presets import recommend
from systola.engines.random_search import RS
from systola.engines.systolic import SGS
from systola.errors import InputError
from systola.problem import Problem

_ENGINES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "sgs-t": (SGS, {"flavour": "T"}),
    "sgs-e": (SGS, {"flavour": "E"}),
    "sgs-v": (SGS, {"flavour": "V"}),
    "sgs-b": (SGS, {"flavour": "B"}),
    "rs": (RS, {}),
    "sga": (SGA, {}),
    "ega": (EGA, {}),
    "ga": (GA, {}),
    "cellular": (Cellular, {}),
    **{
        SNS(*options).name: (SNS, dict(zip(("exponential", "random", "moving"), options, strict=True)))
        for options in product((False, True), repeat=3)
    },
}


def engine_names() -> list[str]:
    """All names, `auto` first."""
    return ["auto", *_ENGINES]


def make_engine(name: str, problem: Problem, settings: Mapping[str, Any] | None = None) -> Engine:
    """The engine called `name` with these parameters; unknown names and parameters are errors."""
    settings = dict(settings or {})
    if name == "auto":
        name = recommend(problem).name
    elif name not in _ENGINES:
        raise InputError(f"there is no algorithm {name!r}{_hint(name, engine_names())}")
    factory, fixed = _ENGINES[name]
    known = [f.name for f in fields(factory) if f.name not in fixed]  # type: ignore[arg-type]
    for key in settings:
        if key not in known:
            raise InputError(f"{name} has no parameter {key!r}{_hint(key, known)}")
    try:
        engine: Engine = factory(**fixed, **settings)
    except TypeError as error:
        raise InputError(f"the parameters of {name} do not fit: {error}") from None
    return engine


def _hint(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ";"
    return f"{meant} There are: {', '.join(known)}"
