"""All that problems, operators, engines and searches of your own need, beside `systola` itself.

docs/own-problem.md, docs/own-operator.md and docs/own-engine.md show how it is used.
"""

from systola.bits import bit, toggle
from systola.contracts import check_problem
from systola.encodings import Bits, Digits, Order, sample
from systola.engine_contract import check_engine
from systola.engines.catalog import register_engine
from systola.engines.engine import Design, check_number
from systola.engines.own import engine_record
from systola.increments import Guidance, Marks, Outlooks, Tables, Tallies, count, weigh
from systola.operators.appraisal import appraise, choose_appraisal, gauge
from systola.operators.genes import copy
from systola.population import assess, note, ranks_above, replace_row
from systola.problem import better, fitness, violation
from systola.rng import CHANCE, CROSS, MUTATE, SEARCH, SELECT, START, STEP, below, draw, exponential, numbers
from systola.run.loop import Run, run_search
from systola.run.search import Found, Search
from systola.solve import open_search
from systola.stop_flag import must_leave

__all__ = [
    "CHANCE",
    "CROSS",
    "MUTATE",
    "SEARCH",
    "SELECT",
    "START",
    "STEP",
    "Bits",
    "Design",
    "Digits",
    "Found",
    "Guidance",
    "Marks",
    "Order",
    "Outlooks",
    "Run",
    "Search",
    "Tables",
    "Tallies",
    "appraise",
    "assess",
    "below",
    "better",
    "bit",
    "check_engine",
    "check_number",
    "check_problem",
    "choose_appraisal",
    "copy",
    "count",
    "draw",
    "engine_record",
    "exponential",
    "fitness",
    "gauge",
    "must_leave",
    "note",
    "numbers",
    "open_search",
    "ranks_above",
    "register_engine",
    "replace_row",
    "run_search",
    "sample",
    "toggle",
    "violation",
    "weigh",
]
