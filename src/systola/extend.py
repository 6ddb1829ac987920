"""All that problems, operators, engines and searches of your own need, beside `systola` itself.

docs/own-problem.md, docs/own-operator.md and docs/own-engine.md show how it is used.
"""

from systola.engine_contract import check_engine
from systola.engines.catalog import register_engine
from systola.engines.engine import Design, check_number
from systola.engines.own import engine_record
from systola.engines.systolic_plan import crossover_plan, mutation_plan
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Capability
from systola.model.contracts import check_problem
from systola.model.drawing import Drawing, Line, Point, Rect, Text
from systola.model.encodings import Bits, Digits, Order, sample
from systola.model.incremental import (
    fill_swap_table,
    flip,
    init_state,
    insert,
    measures_from_state,
    reassign,
    reverse,
    state_of,
    swap,
)
from systola.model.moves import FlipMoves, InsertionMoves, ReassignmentMoves, ReversalMoves, SwapMoves
from systola.model.objective import better, fitness, prefers, violation
from systola.model.population import evaluate_plain, ranks_above, replace_row, update_best
from systola.model.rng import CHANCE, CROSS, MUTATE, SEARCH, SELECT, START, STEP, below, draw, exponential, numbers
from systola.operators.decisions import copy, get, put
from systola.operators.evaluation import choose_delta_evaluation, evaluate_delta, evaluate_full
from systola.run.loop import Run, run_search
from systola.run.search import Found, Search
from systola.simd.bits import bit, toggle
from systola.simd.rows import padded
from systola.solve import open_search

__all__ = [
    "CHANCE",
    "CROSS",
    "MUTATE",
    "SEARCH",
    "SELECT",
    "START",
    "STEP",
    "Bits",
    "Capability",
    "Design",
    "Digits",
    "Drawing",
    "FlipMoves",
    "Found",
    "InsertionMoves",
    "Line",
    "Order",
    "Point",
    "ReassignmentMoves",
    "Rect",
    "ReversalMoves",
    "Run",
    "Search",
    "SwapMoves",
    "Text",
    "below",
    "better",
    "bit",
    "check_engine",
    "check_number",
    "check_problem",
    "choose_delta_evaluation",
    "copy",
    "crossover_plan",
    "draw",
    "engine_record",
    "evaluate_delta",
    "evaluate_full",
    "evaluate_plain",
    "exponential",
    "fill_swap_table",
    "fitness",
    "flip",
    "get",
    "init_state",
    "insert",
    "measures_from_state",
    "must_leave",
    "mutation_plan",
    "numbers",
    "open_search",
    "padded",
    "prefers",
    "put",
    "ranks_above",
    "reassign",
    "register_engine",
    "replace_row",
    "reverse",
    "run_search",
    "sample",
    "state_of",
    "swap",
    "toggle",
    "update_best",
    "violation",
]
