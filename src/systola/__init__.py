"""systola: parallel metaheuristics for hard combinatorial problems, repeatable bit for bit."""

from systola.jit import environment  # noqa: F401, it must come before Numba

# isort: split
from systola.black_box.ask_and_tell import AskAndTell
from systola.engines.annealing import SimulatedAnnealing
from systola.engines.cellular import Cellular
from systola.engines.exact import Exact
from systola.engines.hill_climbing import HillClimbing
from systola.engines.iterated_greedy import IteratedGreedy
from systola.engines.iterated_local_search import IteratedLocalSearch
from systola.engines.iterated_tabu import IteratedTabu
from systola.engines.neighbourhood import SNS
from systola.engines.panmictic import EGA, GA, SGA
from systola.engines.pareto import PLS
from systola.engines.proof import Proof
from systola.engines.race import Race
from systola.engines.random_search import RS
from systola.engines.steady_state import SteadyState
from systola.engines.systolic import SGS
from systola.engines.tabu import Tabu
from systola.engines.tour_search import TourSearch
from systola.errors import (
    CacheWarning,
    CheckFailed,
    InfeasibleWarning,
    InputError,
    MissingExtra,
    ObjectiveError,
    SlowObjectiveWarning,
    SystolaError,
)
from systola.islands.islands import Islands
from systola.lab.warming import Warmed, warm
from systola.model.capabilities import (
    BestInsertion,
    Bound,
    Buffer,
    Construction,
    EvaluationState,
    Flips,
    Formulation,
    InsertionBlocks,
    Insertions,
    LocalSearch,
    Opening,
    Reassignments,
    Repair,
    Reversals,
    Seeding,
    Segments,
    Swaps,
    SwapTable,
    TieBreak,
)
from systola.model.encodings import Binary, Integers, Permutation
from systola.model.names import Names
from systola.model.problem import MAXIMISE, MINIMISE, Problem
from systola.model.structure import Chain, Groups, Linear, Passage, Quadratic, Terms
from systola.problems import (
    MMDP,
    CustomerRelease,
    Flowshop,
    GeneralizedAssignment,
    Knapsack,
    MultiKnapsack,
    NextRelease,
    QuadraticAssignment,
)
from systola.run.budget import Evaluations, Iterations, Seconds, Stall, Stop, Target
from systola.run.execution import Progress
from systola.run.result import Result
from systola.simd.bits import bit
from systola.solve import ask_and_tell, solve
from systola.version import __version__
from systola.view.watching import watch

__all__ = [
    "EGA",
    "GA",
    "MAXIMISE",
    "MINIMISE",
    "MMDP",
    "PLS",
    "RS",
    "SGA",
    "SGS",
    "SNS",
    "AskAndTell",
    "BestInsertion",
    "Binary",
    "Bound",
    "Buffer",
    "CacheWarning",
    "Cellular",
    "Chain",
    "CheckFailed",
    "Construction",
    "CustomerRelease",
    "EvaluationState",
    "Evaluations",
    "Exact",
    "Flips",
    "Flowshop",
    "Formulation",
    "GeneralizedAssignment",
    "Groups",
    "HillClimbing",
    "InfeasibleWarning",
    "InputError",
    "InsertionBlocks",
    "Insertions",
    "Integers",
    "Islands",
    "IteratedGreedy",
    "IteratedLocalSearch",
    "IteratedTabu",
    "Iterations",
    "Knapsack",
    "Linear",
    "LocalSearch",
    "MissingExtra",
    "MultiKnapsack",
    "Names",
    "NextRelease",
    "ObjectiveError",
    "Opening",
    "Passage",
    "Permutation",
    "Problem",
    "Progress",
    "Proof",
    "Quadratic",
    "QuadraticAssignment",
    "Race",
    "Reassignments",
    "Repair",
    "Result",
    "Reversals",
    "Seconds",
    "Seeding",
    "Segments",
    "SimulatedAnnealing",
    "SlowObjectiveWarning",
    "Stall",
    "SteadyState",
    "Stop",
    "SwapTable",
    "Swaps",
    "SystolaError",
    "Tabu",
    "Target",
    "Terms",
    "TieBreak",
    "TourSearch",
    "Warmed",
    "__version__",
    "ask_and_tell",
    "bit",
    "solve",
    "warm",
    "watch",
]
