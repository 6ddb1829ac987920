"""Engines by the names that the command line and result files use."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import product
from typing import Any

from systola.engines.annealing import SimulatedAnnealing
from systola.engines.cellular import Cellular
from systola.engines.engine import Engine
from systola.engines.exact import Exact
from systola.engines.hill_climbing import HillClimbing
from systola.engines.iterated_greedy import IteratedGreedy
from systola.engines.iterated_local_search import IteratedLocalSearch
from systola.engines.iterated_tabu import IteratedTabu
from systola.engines.neighbourhood import SNS
from systola.engines.own import load_engine
from systola.engines.panmictic import EGA, GA, SGA
from systola.engines.pareto import PLS
from systola.engines.presets import memetic, pugace, recommend, thrifty
from systola.engines.proof import proof
from systola.engines.race import race
from systola.engines.random_search import RS
from systola.engines.renamed import RENAMED
from systola.engines.steady_state import SteadyState
from systola.engines.systolic import SGS
from systola.engines.tabu import Tabu
from systola.engines.tour_search import TourSearch
from systola.errors import InputError
from systola.model.problem import Problem
from systola.model.source import is_code

# What a name says of an engine is fixed; all other parameters can be set.
_ENGINES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "sgs-t": (SGS, {"flavour": "T"}),
    "sgs-e": (SGS, {"flavour": "E"}),
    "sgs-v": (SGS, {"flavour": "V"}),
    "sgs-b": (SGS, {"flavour": "B"}),
    "rs": (RS, {}),
    "sga": (SGA, {}),
    "ega": (EGA, {}),
    "ga": (GA, {}),
    **{kind.name: (kind, {}) for kind in (Cellular, SteadyState, HillClimbing, Tabu, IteratedGreedy)},
    **{kind.name: (kind, {}) for kind in (SimulatedAnnealing, IteratedLocalSearch, IteratedTabu, TourSearch, PLS)},
    Exact.name: (Exact, {}),
    **{
        SNS(exponential, random, moving).name: (SNS, {"exponential": exponential, "random": random, "moving": moving})
        for exponential, random, moving in product((False, True), repeat=3)
    },
}
# These are engines of the names above, with parameters that suit the problem.
_PRESETS: dict[str, Callable[[Problem], Engine]] = {
    "auto": recommend,
    "race": race,
    "proof": proof,
    "black-box": thrifty,
    "memetic": memetic,
    "pugace": pugace,
}


def engine_names() -> list[str]:
    """All names, `auto` first."""
    return [*_PRESETS, *_ENGINES]


def make_engine(name: str, problem: Problem, settings: Mapping[str, Any] | None = None) -> Engine:
    """The engine called `name` with these parameters; unknown names and parameters are errors."""
    settings = dict(settings or {})
    if not isinstance(name, str):
        raise InputError(f"an algorithm must be a name, but got {name!r}")
    engine = _make(name, problem)
    known, renamed = parameter_names(engine), RENAMED.get(type(engine).__name__, {})
    for key, value in settings.items():
        if key not in known and key in renamed:
            raise InputError(f"the parameter {key!r} of {name} is called {renamed[key]!r} now; write that")
        if key not in known:
            raise InputError(f"{name} has no parameter {key!r}{_hint(key, known)}")
        if f"{key}={value}" in renamed:
            raise InputError(f"the {key} {value!r} of {name} is called {renamed[f'{key}={value}']!r} now; write that")
    try:
        return replace(engine, **settings)  # type: ignore[type-var]
    except TypeError as error:
        raise InputError(f"the parameters of {name} do not fit: {error}") from None


def renamed_parameters(name: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Of parameters that the engine called `name` once had: those under an old name, and the new one."""
    if name not in _ENGINES:
        return {}
    kind = _ENGINES[name][0]
    known, renamed = {f.name for f in fields(kind)}, RENAMED.get(kind.__name__, {})  # type: ignore[arg-type]
    if not all(key in known or key in renamed for key in parameters):
        return {}  # those of another engine
    return {key: renamed[key] for key in parameters if key not in known}


def _make(name: str, problem: Problem) -> Engine:
    """With the parameters that it has by default."""
    if name in _PRESETS:
        return _PRESETS[name](problem)
    if is_code(name):
        _check_engine(engine := load_engine(name))
        made: Engine = engine()
        return made
    if name not in _ENGINES:
        raise InputError(f"there is no algorithm {name!r}{_hint(name, engine_names())}")
    engine, fixed = _ENGINES[name]
    found: Engine = engine(**fixed)
    return found


def register_engine(engine: type[Any], name: str | None = None) -> type[Any]:
    """Let an engine class of your own be called by a name, as those of systola are; may be used as a decorator.

    Parameters
    ----------
    engine : class
        A frozen dataclass whose fields are the parameters, with `name` and `prepare(problem)`.
    name : str, optional
        By default the engine's own `name`.
    """
    _check_engine(engine)
    called = engine.name if name is None else name
    if not isinstance(called, str) or not called or called in _PRESETS:
        raise InputError(f"an engine cannot be called {called!r}")
    if called in _ENGINES and _ENGINES[called][0].__module__.partition(".")[0] == "systola":
        raise InputError(f"{called!r} is an engine of systola's own; give yours another name")
    _ENGINES[called] = (engine, {})
    return engine


def _check_engine(engine: type[Engine]) -> None:
    if not isinstance(engine, type) or not is_dataclass(engine) or not callable(getattr(engine, "prepare", None)):
        raise InputError(f"an engine must be a dataclass with a method `prepare`, but got {engine!r}")
    if not isinstance(getattr(engine, "name", None), (str, property)):
        raise InputError(f"the engine {engine.__name__} must have a `name`")


def settings_of(engine: Engine) -> dict[str, Any]:
    """The parameters that, with its name, make this engine again."""
    values = {key: getattr(engine, key) for key in parameter_names(engine)}
    return {key: value for key, value in values.items() if value is not None}


def parameter_names(engine: Engine) -> list[str]:
    """The parameters that the engine's name leaves open."""
    fixed = _ENGINES[engine.name][1] if engine.name in _ENGINES else {}
    return [f.name for f in fields(engine) if f.name not in fixed]  # type: ignore[arg-type]


def _hint(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ";"
    return f"{meant} There are: {', '.join(known)}"
