"""Engines by name: presets keep what they set, names fix what they say, and settings make an engine again."""

from dataclasses import fields, replace

import numpy as np
import pytest

import systola as sy
from model.declared_problems import Tardiness
from systola.engines.catalog import engine_names, make_engine, settings_of
from systola.engines.presets import memetic, pugace, recommend
from systola.engines.race import race
from systola.engines.renamed import RENAMED
from systola.formats import open_instance

SPECS = ["knapsack:20-100", "mkp:20x3", "mmdp:12", "qap:grid-3x3", "flowshop:6x3", "gap:c-3x20"]


class Colours(sy.Problem):
    encoding = sy.Integers("n", 0, 3)
    n: int

    def evaluate(self, x):
        return 1 * (x[0] != x[1])


class Visit(sy.Problem):
    encoding = sy.Permutation("n")
    n: int

    def evaluate(self, x):
        return 1 * (x[0] == 1)


class Bounded(Visit):
    """With a constraint."""

    def violation(self, measures):
        return 1 - measures[0]


@pytest.mark.parametrize("spec", SPECS)
def test_auto_is_the_recommended_engine_whole(spec):
    """Not only its name: repair and a seeded start, or tabu search, are what it is recommended for."""
    problem = open_instance(spec).problem
    assert make_engine("auto", problem) == recommend(problem)


def test_presets():
    assignment = open_instance("qap:grid-3x3").problem
    assert make_engine("memetic", assignment) == memetic(assignment) == recommend(assignment)
    assert make_engine("pugace", assignment) == pugace(assignment) == sy.Cellular(block=64, local_search="best-swap")
    assert memetic(assignment).local_search == "tabu"
    assert memetic(Visit(5)).local_search == "descent"
    assert recommend(Colours(5)) == recommend(Visit(5)) == race(Visit(5))
    assert recommend(Bounded(5)) == sy.SimulatedAnnealing()
    assert recommend(Tardiness(*np.ones((3, 5), np.int64))) == sy.Race(
        (sy.SimulatedAnnealing(), sy.IteratedLocalSearch())
    )
    assert recommend(open_instance("flowshop:6x3").problem) == sy.IteratedGreedy()
    assert recommend(open_instance("flowshop:6x3?objectives=makespan,tardiness").problem) == sy.PLS()
    with pytest.raises(sy.InputError, match="for permutations, but Colours is encoded as Digits; choose auto"):
        make_engine("memetic", Colours(5))


def test_memetic_compares_long_children_after_their_search():
    """From 60 decisions on, where a crossed child is hardly ever better before it; below, all is as it was."""
    short, long = (memetic(open_instance(f"qap:uniform-{n}").problem) for n in (59, 60))
    assert (short.size, short.replacement, short.local_search_steps) == (100, "better", 29)
    assert (long.size, long.replacement, long.local_search_steps) == (16, "searched", 240)
    assert memetic(open_instance("qap:uniform-100").problem).local_search_steps == 400
    assert replace(long, size=100, replacement="better", local_search_steps=29) == short
    assert memetic(Visit(60)).replacement == "better"  # without a table of swaps, a search is a descent
    assert recommend(open_instance("qap:uniform-60").problem) == long


@pytest.mark.parametrize("name", engine_names())
def test_name_and_settings_make_an_engine_again(name):
    problem = open_instance("qap:grid-3x3" if name in ("memetic", "pugace") else "mkp:20x3").problem
    engine = make_engine(name, problem)
    assert make_engine(engine.name, problem, settings_of(engine)) == engine


def test_settings_override_a_preset():
    problem = open_instance("qap:grid-3x3").problem
    assert make_engine("memetic", problem, {"local_search_steps": 7}).local_search_steps == 7
    with pytest.raises(
        sy.InputError, match="memetic has no parameter 'local_search_stepps'; did you mean 'local_search_steps'"
    ):
        make_engine("memetic", problem, {"local_search_stepps": 7})
    assert make_engine("tabu", problem, {"tenure": 3}) == sy.Tabu(tenure=3)
    assert make_engine("hill", problem, {"on_local_optimum": "restart"}) == sy.HillClimbing(on_local_optimum="restart")
    with pytest.raises(sy.InputError, match="ig has no parameter 'temprature'; did you mean 'temperature'"):
        make_engine("ig", problem, {"temprature": 1})
    with pytest.raises(sy.InputError, match="sns-r has no parameter 'random'"):
        make_engine("sns-r", open_instance("mkp:20x3").problem, {"random": False})


OLD_NAMES = [(name, old, new) for name, table in RENAMED.items() for old, new in table.items()]
ON = {"SGA": "sga", "EGA": "ega", "GA": "ga", "HillClimbing": "hill", "Tabu": "tabu", "IteratedGreedy": "ig"}
ON |= {"PLS": "pls", "Cellular": "cellular", "SteadyState": "ssga", "SGS": "sgs-b"}


@pytest.mark.parametrize(("engine", "old", "new"), [case for case in OLD_NAMES if case[0] != "Islands"])
def test_an_old_name_is_refused_by_a_sentence_with_the_new_one(engine, old, new):
    problem, (key, _, value) = open_instance("flowshop:6x3").problem, old.partition("=")
    what = f"the {key} '{value}' of {ON[engine]}" if value else f"the parameter '{key}' of {ON[engine]}"
    with pytest.raises(sy.InputError, match=f"^{what} is called '{new}' now; write that$"):
        make_engine(ON[engine], problem, {key: value or 1})


@pytest.mark.parametrize(("engine", "old", "new"), OLD_NAMES)
def test_new_names_are_names_and_old_ones_are_not(engine, old, new):
    known = {f.name for f in fields(getattr(sy, engine))}
    if "=" not in old:
        assert new in known
    assert old not in known
