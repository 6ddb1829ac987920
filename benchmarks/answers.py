"""How good the answers of the default engine are in a given time, beside best known values, family by family.

Runs are appended to a file as they end, and a second call makes only those that are missing. The table has a line for
each group, with the mean over its instances of the mean over seeds, and a line for each instance.

What was measured is in benchmarks/results: `--results benchmarks/results/answers.jsonl --show` shows it.

python benchmarks/answers.py qap gap --seeds 5
python benchmarks/answers.py --instances ../shared/instances/qap/nug30.dat --seconds 60 --seeds 10
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import numpy as np

import systola as sy
from listed import listed
from own_cases import SHARED
from systola.formats.catalog import open_instance
from systola.model.problem import senses_of
from systola.version import __version__


@dataclass(frozen=True)
class Group:
    """Instances with one budget; goals are in per cent worse than the best known values."""

    instances: list[str]
    seconds: float
    mean: float  # of all
    worst: float | None = None  # of each

    @property
    def goal(self) -> str:
        return f"<= {self.mean:g}" + ("" if self.worst is None else f", worst {self.worst:g}")


def _files(folder: str, names: str) -> list[str]:
    return [str(SHARED / folder / name) for name in names.split()]


def _flowshops(first: int, jobs: int, machines: int, mean: float) -> Group:
    """A class of Taillard's, with n/2 m 90 ms, as published for iterated greedy."""
    return Group([f"flowshop:ta{k:03d}" for k in range(first, first + 10)], 90e-3 * jobs / 2 * machines, mean)


GROUPS = {
    "flowshop 50x5": _flowshops(31, 50, 5, 0.0),
    "flowshop 50x10": _flowshops(41, 50, 10, 0.28),
    "flowshop 50x20": _flowshops(51, 50, 20, 0.35),
    "flowshop 100x20": _flowshops(81, 100, 20, 0.9),
    "flowshop 200x20": _flowshops(101, 200, 20, 0.6),
    "flowshop 500x20": _flowshops(111, 500, 20, 0.24),
    "qap tai": Group(
        _files(
            "qap",
            "tai12a.dat tai20a.dat tai30a.dat tai50a.dat tai60a.dat tai80a.dat tai100a.dat "
            "tai20b.dat tai50b.dat tai60b.dat",
        ),
        60.0,
        0.25,
        0.7,
    ),
    "qap sko": Group(_files("qap", "sko72.dat sko100a.dat"), 60.0, 0.035, 0.05),
    "gap": Group(
        _files(
            "gap",
            "c05100 c20200 d05100 d10100 d20200 d20400 d40400 d801600 "
            "e05100 e10100 e10400 e20100 e20400 e40400 e801600",
        ),
        60.0,
        0.01,
        0.08,
    ),
    "mkp": Group(
        [
            f"{file}#{k}"
            for file in _files("mkp", "mknapcb5.txt mknapcb6.txt mknapcb8.txt mknapcb9.txt")
            for k in (1, 2, 3)
        ],
        60.0,
        0.02,
    ),
    "mkp gk": Group(_files("mkp", "gk08.dat gk09.dat gk10.dat gk11.dat"), 60.0, 0.04, 0.04),
}


@dataclass(frozen=True)
class Run:
    """One run; `value` is None where nothing feasible was found."""

    instance: str
    seed: int
    budget: float
    threads: int
    version: str
    engine: str
    value: int | None
    best_known: int
    excess: float  # per cent worse than the best known value; negative if better
    seconds: float
    waited: float  # with compiling
    date: str = ""

    @property
    def key(self) -> tuple[str, int, float, int]:
        return self.instance, self.seed, self.budget, self.threads


def name_of(spec: str) -> str:
    return spec if ":" in spec else Path(spec).name


def run(spec: str, seed: int, seconds: float, threads: int) -> Run:
    """A run that ends early where it meets the best known value."""
    found = open_instance(spec)
    problem = found.problem
    known = found.best_known if found.best_known is not None else listed(spec)
    if known is None:
        raise SystemExit(f"no best known value of {spec}: it has neither a solution nor a BEST.csv beside it")
    result = sy.solve(problem, stop=sy.Stop(seconds=seconds, target=known), seed=seed, threads=threads)
    if result.stop == "interrupted":
        raise SystemExit(f"{spec}, seed {seed}: interrupted after {result.seconds:.1f} s")
    value = int(np.atleast_1d(problem.evaluate(result.solution))[0])  # the plain objective
    if value != result.objective:
        raise SystemExit(f"{spec}, seed {seed}: {result.objective} was reported, but the solution is worth {value}")
    sign = senses_of(problem)[0]
    return Run(
        name_of(spec),
        seed,
        seconds,
        threads,
        __version__,
        result.algorithm,
        value if result.feasible else None,
        known,
        100 * sign * (known - value) / max(abs(known), 1),
        result.seconds,
        result.seconds + result.compile_seconds,
        date.today().isoformat(),
    )


def table(title: str, group: Group, runs: list[Run], threads: int) -> list[str]:
    """Lines of Markdown: the group, and each of its instances."""
    lines, means = [], []
    for spec in group.instances:
        found = [r for r in runs if (r.instance, r.budget, r.threads) == (name_of(spec), group.seconds, threads)]
        if not found:
            continue
        lost = sum(r.value is None for r in found)
        excesses = [r.excess for r in found if r.value is not None]
        means.append(statistics.fmean(excesses) if excesses else float("inf"))
        met = sum(r.excess <= 0 for r in found if r.value is not None)
        lines.append(
            f"| {name_of(spec)} | {found[0].best_known} | {means[-1]:.3f} % | {max(excesses, default=0):.3f} % | "
            f"{met} of {len(found)} | {statistics.fmean(r.seconds for r in found):.1f} |"
            + (f" {lost} infeasible" if lost else "")
        )
    if not means:
        return []
    mean, worst = statistics.fmean(means), max(means)
    holds = mean <= group.mean and (group.worst is None or worst <= group.worst)
    head = f"**{title}**, {len(means)} of {len(group.instances)}, goal {group.goal} %: {'ok' if holds else 'MISSED'}"
    return [f"| {head} | | {mean:.3f} % | {worst:.3f} % | | {group.seconds:g} s |", *lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"or how it begins: {', '.join(GROUPS)}")
    parser.add_argument("--instances", nargs="+", default=[], help="these of the groups, or others with --seconds")
    parser.add_argument("--seconds", type=float, help="of each run; by default those of the group")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("results/answers.jsonl"))
    parser.add_argument("--show", action="store_true", help="only the table of what was run")
    args = parser.parse_args()
    named = [name for name in GROUPS if not args.groups or any(name.startswith(begin) for begin in args.groups)]
    chosen = {name: GROUPS[name] for name in named}
    if args.instances and args.seconds:
        chosen = {"instances": Group(args.instances, args.seconds, 0.0)}
    args.results.parent.mkdir(parents=True, exist_ok=True)
    lines = args.results.read_text().splitlines() if args.results.exists() else []
    runs = [Run(**json.loads(line)) for line in lines]
    done = {r.key for r in runs}
    compiled = set()
    for group in [] if args.show else chosen.values():
        for spec in group.instances:
            if args.instances and not args.seconds and name_of(spec) not in args.instances:
                continue
            for seed in range(1, args.seeds + 1):
                if (name_of(spec), seed, group.seconds, args.threads) in done:
                    continue
                problem = open_instance(spec).problem
                if type(problem) not in compiled:
                    sy.solve(problem, stop=sy.Seconds(1.0), threads=args.threads)
                    compiled.add(type(problem))
                runs.append(run(spec, seed, group.seconds, args.threads))
                print(
                    f"{runs[-1].instance} {seed}: {runs[-1].value}, {runs[-1].excess:.3f} %, {runs[-1].seconds:.1f} s",
                    flush=True,
                )
                with args.results.open("a") as file:
                    file.write(json.dumps(asdict(runs[-1])) + "\n")
    print("| instance | best known | mean above | worst | met | s |\n|---|---|---|---|---|---|")
    for title, group in chosen.items():
        print(*table(title, group, runs, args.threads), sep="\n")


if __name__ == "__main__":  # processes of solvers import this file
    main()
