"""Generated flowshops: the 120 instances of Taillard 1993, others by the same rules, and the due dates of Liefooghe.

Numbers come from the generator of Lehmer with the multiplier 16807 and the modulus 2**31 - 1. Due dates are drawn from
where the times have ended, as in the files of Liefooghe et al. 2007, which come out exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from systola.errors import InputError
from systola.formats.instance import check_sizes
from systola.model.encodings import Array
from systola.model.rng import check_seed
from systola.problems.flowshop.problem import NEED_DUE, Flowshop, split_objectives

MOST_OPERATIONS = 1_000_000  # jobs times machines

_FACTOR, _MODULUS = 16807, 2**31 - 1
_LONGEST = 99  # processing time

# Jobs, machines, and the seeds of ten instances: ta001 to ta010, ta011 to ta020 and so on to ta120.
_TABLE = """
20 5 873654221 379008056 1866992158 216771124 495070989 402959317 1369363414 2021925980 573109518 88325120
20 10 587595453 1401007982 873136276 268827376 1634173168 691823909 73807235 1273398721 2065119309 1672900551
20 20 479340445 268827376 1958948863 918272953 555010963 2010851491 1519833303 1748670931 1923497586 1829909967
50 5 1328042058 200382020 496319842 1203030903 1730708564 450926852 1303135678 1273398721 587288402 248421594
50 10 1958948863 575633267 655816003 1977864101 93805469 1803345551 49612559 1899802599 2013025619 578962478
50 20 1539989115 691823909 655816003 1315102446 1949668355 1923497586 1805594913 1861070898 715643788 464843328
100 5 896678084 1179439976 1122278347 416756875 267829958 1835213917 1328833962 1418570761 161033112 304212574
100 10 1539989115 655816003 960914243 1915696806 2013025619 1168140026 1923497586 167698528 1528387973 993794175
100 20 450926852 1462772409 1021685265 83696007 508154254 1861070898 26482542 444956424 2115448041 118254244
200 10 471503978 1215892992 135346136 1602504050 160037322 551454346 519485142 383947510 1968171878 540872513
200 20 2013025619 475051709 914834335 810642687 1019331795 2056065863 1342855162 1325809384 1988803007 765656702
500 20 1368624604 450181436 1927888393 1759567256 606425239 19268348 1298201670 2041736264 379756761 28837162
"""
_ROWS = [tuple(map(int, line.split())) for line in _TABLE.split("\n") if line]
SEEDS = tuple((jobs, machines, seed) for jobs, machines, *seeds in _ROWS for seed in seeds)


def taillard(number: int, objectives: str = "makespan", weights: Sequence[int] | Array = ()) -> Flowshop:
    """Generate one of the instances ta001 to ta120 of Taillard 1993.

    Parameters
    ----------
    number
        1 to 120.
    objectives, weights
        As in `Flowshop`. With tardiness or tardy among them, due dates are drawn as in `uniform`.
    """
    if not 1 <= number <= len(SEEDS):
        raise InputError(f"an instance of Taillard must be one of ta001 to ta{len(SEEDS)}, but got number {number}")
    return uniform(*SEEDS[number - 1], objectives, weights)


def uniform(
    jobs: int, machines: int, seed: int = 1, objectives: str = "makespan", weights: Sequence[int] | Array = ()
) -> Flowshop:
    """Generate an instance by the rules of Taillard 1993: times uniform in 1..99, drawn machine by machine.

    If tardiness or tardy is among the objectives, due dates follow, by the rule of Liefooghe et al. 2007: with p the
    mean processing time, n jobs and m machines, uniform from p*m to p*(n + m - 1), as in their files.

    Parameters
    ----------
    jobs, machines
        n and m.
    seed
        Equal seeds give equal instances, everywhere. Taillard's are from 1 to 2**31 - 2; others are counted on in
        circles, so that 2**31 - 1 is 1 again, and 0 is 2**31 - 2.
    objectives, weights
        As in `Flowshop`.
    """
    check_sizes(MOST_OPERATIONS, jobs=jobs, machines=machines)
    dated = any(name in NEED_DUE for name in split_objectives(objectives))
    start = (check_seed(seed) - 1) % (_MODULUS - 1) + 1
    numbers = _numbers(start, jobs * machines + (jobs if dated else 0))
    times = (1 + numbers[: jobs * machines] * _LONGEST // _MODULUS).reshape(machines, jobs).T
    due = _due_dates(times, numbers[jobs * machines :].tolist()) if dated else []
    return Flowshop(times, np.array(due, np.int64), objectives=objectives, weights=np.asarray(weights))


def _numbers(seed: int, count: int) -> Array:
    """The numbers that follow a seed; those known so far, moved on by as many, are the next."""
    numbers = np.array([_FACTOR * seed % _MODULUS])
    factor = _FACTOR
    while len(numbers) < count:
        numbers = np.append(numbers, numbers * factor % _MODULUS)
        factor = factor * factor % _MODULUS
    return numbers[:count]


def _due_dates(times: Array, numbers: list[int]) -> list[int]:
    """low + u * (high - low + 1) rounded down, with low = p*m, high = p*(n + m - 1) and u = number / modulus; exact."""
    jobs, machines = times.shape
    total = int(times.sum())
    width = total * (jobs - 1) + jobs * machines  # high - low + 1, times jobs * machines
    whole = jobs * machines * _MODULUS
    return [(total * machines * _MODULUS + number * width) // whole for number in numbers]
