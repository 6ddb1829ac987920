"""The problems that come with systola, one a file."""

from systola.problems.customer_release import CustomerRelease
from systola.problems.flowshop.problem import Flowshop
from systola.problems.generalized_assignment.problem import GeneralizedAssignment
from systola.problems.knapsack import Knapsack
from systola.problems.mmdp import MMDP
from systola.problems.multi_knapsack import MultiKnapsack
from systola.problems.next_release import NextRelease
from systola.problems.quadratic_assignment import QuadraticAssignment

__all__ = [
    "MMDP",
    "CustomerRelease",
    "Flowshop",
    "GeneralizedAssignment",
    "Knapsack",
    "MultiKnapsack",
    "NextRelease",
    "QuadraticAssignment",
]
