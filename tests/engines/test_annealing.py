"""Simulated annealing: what its naive twin does, on every encoding; good where only the objective is known."""

import numpy as np
import pytest

import systola as sy
from engines.naive_annealing import Annealing
from model.declared_problems import PlainCover
from own_problems import Colouring, RoundTrip
from systola.extend import open_search


def tour(n):
    """Cities on a circle, numbered at random: the best tour is known."""
    angles = 2 * np.pi * np.random.default_rng(5).permutation(n) / n
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return RoundTrip(np.rint(1000 * np.linalg.norm(places[:, None] - places[None], axis=2)).astype(np.int64))


def cover(rows, columns):
    draws = np.random.default_rng(6)
    ones = draws.random((rows, columns)) < 0.3
    ones[np.arange(rows), draws.integers(0, columns, rows)] = True
    return PlainCover(draws.integers(1, 30, columns) / 7.0, ones.astype(np.int64))


def colouring(n):
    """Five colours, and edges only between nodes of different ones."""
    draws = np.random.default_rng(7)
    colours = draws.integers(0, 5, n)
    edges = [(i, j) for i in range(n) for j in range(i) if colours[i] != colours[j] and draws.random() < 0.2]
    return Colouring(n, 4, np.array(edges))


PROBLEMS = {"tour": tour(9), "cover": cover(6, 12), "colouring": colouring(10)}


@pytest.mark.parametrize("constraints", ["mixed", "strict", "penalty"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_it_does_what_the_naive_twin_does(name, constraints):
    if name != "cover" and constraints != "mixed":
        pytest.skip("without constraints the chains are alike")
    problem, steps = PROBLEMS[name], 14
    engine = sy.SimulatedAnnealing(chains=3, epoch=20, constraints=constraints)
    penalised = [constraints == "penalty" or (constraints == "mixed" and chain % 2 == 0) for chain in range(3)]
    twin = Annealing(problem, 3, 20, penalised, 4)
    for step in range(1, steps + 1):
        twin.step(step)
    search = open_search(problem, engine, seed=4, backend="python")
    search.start()
    assert search.advance(steps) == steps
    population = search.population()
    assert [twin.plain(row) for row in population.x[:3]] == [chain.x for chain in twin.chains]
    assert [twin.plain(row) for row in population.x[6:9]] == [chain.best[0] for chain in twin.chains]
    best = search.best().measures
    assert tuple(best) == pytest.approx((-twin.best[1], *twin.best[:1])[: len(best)], abs=0)
    assert any(chain.epoch > 20 for chain in twin.chains)  # some have been reheated


def run_long(problem, seed=1):
    return sy.solve(problem, sy.SimulatedAnnealing(), stop=sy.Evaluations(600_000), seed=seed)


@pytest.mark.long
def test_an_objective_alone_gives_the_best_tour():
    problem = tour(60)
    nearest = problem.distances[0].min(initial=10**9, where=problem.distances[0] > 0)
    assert run_long(problem).objective == 60 * nearest


@pytest.mark.long
def test_an_objective_with_constraints_gives_a_good_answer():
    """As good as that of another seed."""
    problem = cover(30, 200)
    found = run_long(problem)
    assert found.feasible
    assert found.objective <= 1.05 * run_long(problem, seed=2).objective


@pytest.mark.long
def test_an_objective_alone_gives_a_colouring_without_clashes():
    assert run_long(colouring(60)).objective == 0
