"""`systola solve`: one instance, one run."""

from __future__ import annotations

import difflib
import json
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from systola.cli.answer import deliver, describe, note, show, write_file
from systola.cli.options import budget_options, read_config, read_settings, write_config
from systola.cli.run_page import RunPage
from systola.cli.screen import Screen, show_number
from systola.cli.settings import Settings, refuse_hidden_code
from systola.cli.start import read_start
from systola.engines.renamed import RENAMED
from systola.errors import CacheWarning, Incomplete, InfeasibleWarning, InputError, SlowObjectiveWarning
from systola.jit.cache import UNKEPT
from systola.model.source import is_code
from systola.reading import Json
from systola.run.result import Result
from systola.run.signals import INTERRUPTED, held_signals
from systola.run.table import Table

if TYPE_CHECKING:
    from systola.engines.engine import Engine
    from systola.formats.instance import Instance
    from systola.lab.sweep import Sweep
    from systola.model.problem import Problem
    from systola.run.budget import Stop

_SINGLE_KEYS = (
    *("instance", "problem", "data", "algorithm", "seed", "backend", "threads"),
    *("workers", "evaluation_seconds", "seeds", "pool"),
)
_CONFIG_KEYS = (*_SINGLE_KEYS, "stop", "fields", "parameters", "islands", "deme")
_DEME_KEYS = ("algorithm", "parameters")
_TYPES: tuple[tuple[str, Any, str, str], ...] = (
    *((key, str, f"`{key}`", "a text") for key in ("instance", "problem", "data", "algorithm", "backend")),
    *((key, dict, f"[{key}]", "a table of keys and values") for key in ("fields", "parameters", "islands")),
    *((key, int, f"`{key}`", "a whole number") for key in ("seed", "threads", "workers", "seeds", "pool")),
    ("evaluation_seconds", (int, float), "`evaluation_seconds`", "a number"),
)
_STOP_OPTIONS = ("iterations", "evaluations", "seconds", "target", "stall")
_STOP_KEYS = (*_STOP_OPTIONS, "cap")


@click.command()
@click.argument("instance", required=False)
@click.option("--problem", help="Name the problem instead of recognising it from the file.")
@click.option("--data", type=str, metavar="FILE", help="Data of a problem of your own: JSON, CSV or .npz.")
@click.option("--algorithm", help="An algorithm, or auto (default), the recommended one.")
@click.option("--seed", type=int, help="Same seed, same result. Default 1.")
@budget_options
@click.option("--threads", type=int, help="Default: all cores.")
@click.option("--seeds", type=int, metavar="N", help="Make N runs, with the seeds from --seed on; tell the best one.")
@click.option("--pool", type=int, metavar="K", help="Keep the K best different solutions in the result.")
@click.option("--workers", type=int, metavar="N", help="Evaluate in N processes; for objectives that take long.")
@click.option("--evaluation-seconds", type=float, metavar="S", help="Workers: how long one evaluation may take.")
@click.option("--backend", type=click.Choice(["cpu", "cuda", "python"]), help="Default cpu.")
@click.option("--config", type=str, help="TOML file that describes the run; options override it.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A field left open, or a parameter.")
@click.option("--islands", type=int, metavar="N", help="N demes of the algorithm that send each other solutions.")
@click.option("--migration", multiple=True, metavar="KEY=VALUE", help="A parameter of islands: rate, export_every, ...")
@click.option("--record", type=str, metavar="FILE", help="Islands: write what arrived where and when.")
@click.option("--replay", type=str, metavar="FILE", help="Islands: make a recorded run again, bit for bit.")
@click.option("--print-config", is_flag=True, help="Print the TOML that repeats this run, and stop.")
@click.option("--checkpoint", type=str, help="Save the state here from time to time.")
@click.option("--checkpoint-every", type=click.FloatRange(min=0), default=60.0, show_default=True, help="Seconds.")
@click.option("--resume", type=str, help="Go on from a checkpoint.")
@click.option("--start", type=str, metavar="FILE", help="Solutions to start from: JSON, or one a line.")
@click.option("--sweep", type=int, metavar="N", help="Several objectives: solve for N weights, print the front.")
@click.option("--film", type=str, metavar="FILE", help="The grid over time (SGS, SNS): GIF, MP4, HTML; PNG, PDF, SVG.")
@click.option("--log", type=str, metavar="FILE", help="Write what the run looks like while it goes on.")
@click.option("--watch", is_flag=True, help="Show the run in the browser while it goes on.")
@click.option("--no-browser", is_flag=True, help="Watch: only print the address of the page.")
@click.option("--output", type=str, help="Write the whole result as JSON, or, to FILE.csv, the solution as a table.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
def solve(**options: Any) -> None:
    """Find the best solution of INSTANCE you can.

    INSTANCE is a file (knapPI_1_100_1000_1, items.csv), a generated instance (knapsack:1000-1000, mmdp:300,
    nrp:100-20@7), either with options (nrp1.txt?ratio=0.5), or a problem of your own (my.py:TSP). Exit codes: 0 done,
    2 bad input, 3 interrupted (best so far printed), 4 internal check failed, 5 nothing feasible found (the least
    infeasible printed).
    """
    from systola.backends.platform import Platform
    from systola.engines.catalog import settings_of
    from systola.engines.engine import parameters_of
    from systola.exact.opening import with_proof
    from systola.formats.source import Source
    from systola.islands import mpi
    from systola.run.arguments import default_algorithm, limit
    from systola.run.budget import Stop, guard
    from systola.run.log import as_log
    from systola.solve import solve as run

    plan = _merge(options)
    if options["film"]:
        from systola.lab.film_files import check_film

        check_film(options["film"])
    if not plan.get("instance"):
        raise InputError("an instance is needed: a file, or a generated one such as knapsack:1000-1000")
    settings: Settings = plan["settings"]
    # Code is allowed here: `_merge` has refused what the command line does not name.
    found = Source(plan["instance"], plan.get("problem"), plan.get("data"), settings.given, code=True).open()
    settings.check_fields([found])
    named, black_box = "algorithm" in plan, plan.get("workers") is not None
    stop = Stop(**plan.get("stop", {}))
    algorithm = plan["algorithm"] if named else default_algorithm(found.problem, black_box, stop)
    engine = settings.make_engine(algorithm, found, settings.parameters_for([found]))
    islands = _found_islands(plan, engine, found.problem)
    others = (islands, black_box, plan.get("pool"), options["sweep"] is not None, options["film"])
    if algorithm == "auto" and not any(others) and not settings.parameters_for([found]):
        platform = Platform(plan.get("backend", "cpu"), plan.get("threads"))
        engine = with_proof(found.problem, engine, stop, platform)
    if not islands and mpi.job_size() > 1:
        raise InputError(
            f"this job has {mpi.job_size()} processes, and each of them would make the same run; add --islands N, of "
            "which they share the demes, or start a single process"
        )
    if not islands and not named:
        stop = limit(stop, [engine.prepare(found.problem)], few=True) if black_box else guard(stop)
    if options["print_config"]:
        own = {k: v for k, v in parameters_of(engine).items() if k in settings_of(engine) and not _is_engine(engine, k)}
        table = {"fields": dict(found.fields), "parameters": own}
        if islands:
            table["islands"] = {k: v for k, v in parameters_of(islands).items() if k != "engine"}
            table["deme"] = plan.get("deme", [])
        show(_config_of(plan, engine.name, stop, table))
        return
    if options["checkpoint_every"] != options["checkpoint_every"]:
        raise InputError("--checkpoint-every must be a number of seconds, but got nan")
    quiet = options["quiet"] or options["as_json"] or mpi.job_rank() > 0
    # Until all is written: a signal ends the run, and what it has found is not lost.
    interruption = click.get_current_context().with_resource(held_signals())
    if options["sweep"] is not None:
        for name in ("start", "checkpoint", "resume", "film", "log", "watch", "workers", "seeds", "pool"):
            if options[name] or plan.get(name):
                raise InputError(f"--{name} is for a single run, not for a sweep; leave one of them out")
        _sweep(found, engine, stop, plan, options, quiet)
        sys.exit(INTERRUPTED if interruption.asked else 0)
    if options["watch"] and plan.get("seeds"):
        raise InputError("--seeds makes several runs, and --watch shows one; leave one of them out")
    page = click.get_current_context().with_resource(
        RunPage(options["watch"], options["log"], found.name, not options["no_browser"])
    )
    with Screen(f"{found.name} {engine.name}", quiet) as screen, warnings.catch_warnings():
        warnings.simplefilter("always", SlowObjectiveWarning)
        warnings.simplefilter("ignore", InfeasibleWarning)  # a note of the result says it
        warnings.filterwarnings("ignore", UNKEPT, CacheWarning)  # likewise
        result = run(
            found.problem,
            islands or engine,
            stop=stop,
            seed=plan.get("seed", 1),
            backend=plan.get("backend", "cpu"),
            threads=plan.get("threads"),
            start=read_start(options["start"]) if options["start"] else None,
            callback=screen.update,
            record=options["record"],
            replay=options["replay"],
            checkpoint=options["checkpoint"],
            checkpoint_every=options["checkpoint_every"],
            resume=options["resume"],
            seeds=plan.get("seeds"),
            pool=plan.get("pool", 0),
            workers=plan.get("workers"),
            evaluation_seconds=plan.get("evaluation_seconds"),
            instance=found.name,
            log=as_log(page.log, found.best_known),
        )
    if islands and mpi.job_rank() > 0:
        mpi.leave(0)
        return
    told = json.dumps(result.to_json()) if options["as_json"] else describe(result, found.best_known)
    writes: list[Callable[[], None]] = []
    if options["output"]:
        writes.append(lambda: result.save(options["output"]))
    if options["film"]:
        writes.append(lambda: _film(found, engine, result, options["film"]))
    deliver(told, *writes)
    for text in result.notes:
        note(text)
    code = _exit_code(result)
    is_interrupted = interruption.asked or result.stop == "interrupted"
    if not is_interrupted:
        page.stay(lambda: interruption.asked)
    mpi.leave(code)
    if is_interrupted:
        sys.exit(INTERRUPTED)
    if code:
        sys.exit(code)


def _exit_code(result: Result) -> int:
    """2 if something went wrong beside the search, 5 if nothing feasible was found."""
    if result.faults:
        return 2
    return 0 if result.feasible else 5


def _is_engine(engine: Engine, parameter: str) -> bool:
    """Whether a parameter is an engine, or several: these follow from the name."""
    value = getattr(engine, parameter)
    return hasattr(value, "prepare") or (isinstance(value, tuple) and any(hasattr(v, "prepare") for v in value))


def _found_islands(plan: dict[str, Any], engine: Engine, problem: Problem) -> Any:
    """Islands of this engine, or of those that the configuration lists, if there are to be any."""
    from systola.engines.catalog import make_engine
    from systola.islands.islands import Islands

    table, listed = plan.get("islands"), plan.get("deme", [])
    if table is None and not listed:
        return None
    _refuse_unknown(table or {}, tuple(k for k in Islands().described()), "[islands]")
    engines = [make_engine(deme.get("algorithm", "ssga"), problem, deme.get("parameters")) for deme in listed]
    return Islands(engines or engine, **(table or {}))


def _film(found: Instance, engine: Engine, result: Result, path: str) -> None:
    from systola.lab.film import film_grid
    from systola.lab.film_files import moments_of, save_film

    moments = moments_of(path, result.iterations)
    try:
        frames = film_grid(found.problem, engine, moments, result.seed)
    except KeyboardInterrupt:
        raise Incomplete(f"interrupted: the film {path} is not made") from None
    save_film(frames, moments, path, title=f"{found.name}, {engine.name}")


def _sweep(
    found: Instance, engine: Engine, stop: Stop, plan: dict[str, Any], options: dict[str, Any], quiet: bool
) -> None:
    """One run for each weight; the front of what they found."""
    from systola.lab.sweep import spell_weight, sweep_weights

    with Screen(f"{found.name} {engine.name} sweep", quiet) as screen:
        swept = sweep_weights(
            found.problem,
            engine,
            options["sweep"],
            stop=stop,
            seed=plan.get("seed", 1),
            backend=plan.get("backend", "cpu"),
            threads=plan.get("threads"),
            callback=screen.update,
            instance=found.name,
        )
    results = [{"weight": w, **r.to_json()} for w, r in zip(swept.weights, swept.results, strict=True)]
    whole = json.dumps({"instance": found.name, "front": swept.front, "results": results})
    lines = [f"{'weight':>8}  objectives"]
    for weight, result in zip(swept.weights, swept.results, strict=True):
        mark = "" if tuple(result.objective) in swept.front else "  dominated"
        if not result.feasible:
            mark = f"  infeasible by {show_number(result.violation)}"
        lines.append(f"{spell_weight(weight):>8}  {show_number(result.objective)}{mark}")
    output = options["output"]
    text = _swept_table(swept).to_csv() if output and output.lower().endswith(".csv") else f"{whole}\n"
    writes = [lambda: write_file(output, text, "results")] if output else []
    deliver(whole if options["as_json"] else "\n".join(lines), *writes)


def _swept_table(swept: Sweep) -> Table:
    """A row for each weight: the objectives, and what they break."""
    shares = [w if isinstance(w, tuple) else (w,) for w in swept.weights]
    rows = tuple((*w, *r.objective, r.violation) for w, r in zip(shares, swept.results, strict=True))
    objectives = (f"objective {k + 1}" for k in range(len(swept.results[0].objective)))
    weights = [f"weight {k + 1}" for k in range(len(shares[0]))] if len(shares[0]) > 1 else ["weight"]
    return Table((*weights, *objectives, "violation"), rows)


def _merge(options: dict[str, Any]) -> dict[str, Any]:
    """The configuration file, overridden by options."""
    plan = read_config(options["config"]) if options["config"] else {}
    _refuse_unknown(plan, _CONFIG_KEYS, "the configuration")
    _refuse_unknown(plan.get("stop", {}), _STOP_KEYS, "[stop]")
    _refuse_wrong_types(plan, "")
    if not isinstance(plan.get("deme", []), list):
        raise InputError("each deme needs a table of its own, which begins with [[deme]]")
    for deme in plan.get("deme", []):
        _refuse_unknown(deme, _DEME_KEYS, "[[deme]]")
        _refuse_wrong_types(deme, " of a [[deme]]")
    for key in _SINGLE_KEYS:
        if options[key] is not None:
            plan[key] = options[key]
    told = [plan.get("instance"), plan.get("algorithm"), *(deme.get("algorithm") for deme in plan.get("deme", []))]
    refuse_hidden_code(told, (options["instance"], options["algorithm"]), options["config"])
    limits = {k: options[k] for k in _STOP_OPTIONS if options[k] is not None}
    plan["stop"] = {**plan.get("stop", {}), **limits}
    plan["settings"] = Settings.read(options["pairs"], plan.get("fields"), plan.get("parameters"))
    migration = read_settings(options["migration"], "--migration")
    if options["islands"] is not None:
        migration["demes"] = options["islands"]
    if migration:
        plan["islands"] = {**plan.get("islands", {}), **migration}
    return plan


def _config_of(plan: dict[str, Any], algorithm: str, stop: Stop, tables: dict[str, Any]) -> str:
    """The TOML that repeats a run."""
    shown = {k: plan[k] for k in _SINGLE_KEYS if k != "algorithm" and plan.get(k) is not None}
    if is_code(plan.get("algorithm", "")):
        algorithm = plan["algorithm"]
    limits = {k: v for k, v in stop.__dict__.items() if v is not None}
    text = write_config({"seed": 1, "algorithm": algorithm, **shown, "stop": limits, **tables})
    if is_code(plan["instance"]) or is_code(algorithm):
        code = plan["instance"] if is_code(plan["instance"]) else f"--algorithm {algorithm}"
        text = f"# Code must be named on the command line, too: systola solve {code} --config FILE\n{text}"
    return text


def _refuse_wrong_types(table: dict[str, Any], where: str) -> None:
    for key, kind, name, what in _TYPES:
        if key in table and (not isinstance(table[key], kind) or isinstance(table[key], bool)):
            raise InputError(f"{name}{where} must be {what}, but the configuration says {table[key]!r}")


def _refuse_unknown(table: Json, known: tuple[str, ...], where: str) -> None:
    if not isinstance(table, dict):
        raise InputError(f"{where} must be a table of keys and values, but got {table!r}")
    for key in table:
        if where == "[islands]" and key in RENAMED["Islands"]:
            raise InputError(f"{key!r} in {where} is called {RENAMED['Islands'][key]!r} now; write that")
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ";"
            raise InputError(f"{where} has an unknown key {key!r}{hint} There are: {', '.join(known)}")
