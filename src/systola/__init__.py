"""systola: parallel metaheuristics for hard combinatorial problems, repeatable bit for bit."""

from systola import environment  # noqa: F401, it must come before Numba

# isort: split
from systola.bits import bit
from systola.encodings import Binary, Integers, Permutation
from systola.engines.cellular import Cellular
from systola.engines.hill import Hill
from systola.engines.iterated_greedy import IteratedGreedy
from systola.engines.neighbourhood import SNS
from systola.engines.panmictic import EGA, GA, SGA
from systola.engines.pareto import PLS
from systola.engines.random_search import RS
from systola.engines.steady_state import SteadyState
from systola.engines.systolic import SGS
from systola.engines.tabu import Tabu
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
from systola.increments import Marks, Tables, Tallies
from systola.islands.islands import Islands
from systola.problem import MAXIMISE, MINIMISE, Problem
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
from systola.result import Result
from systola.run.budget import Evaluations, Iterations, Seconds, Stall, Stop, Target
from systola.run.execution import Progress
from systola.solve import solve
from systola.version import __version__

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
    "Binary",
    "CacheWarning",
    "Cellular",
    "CheckFailed",
    "CustomerRelease",
    "Evaluations",
    "Flowshop",
    "GeneralizedAssignment",
    "Hill",
    "InfeasibleWarning",
    "InputError",
    "Integers",
    "Islands",
    "IteratedGreedy",
    "Iterations",
    "Knapsack",
    "Marks",
    "MissingExtra",
    "MultiKnapsack",
    "NextRelease",
    "ObjectiveError",
    "Permutation",
    "Problem",
    "Progress",
    "QuadraticAssignment",
    "Result",
    "Seconds",
    "SlowObjectiveWarning",
    "Stall",
    "SteadyState",
    "Stop",
    "SystolaError",
    "Tables",
    "Tabu",
    "Tallies",
    "Target",
    "__version__",
    "bit",
    "solve",
]
