"""Generalized assignment, its relaxation, its quick improvement and its local search."""

from systola.problems.generalized_assignment.problem import GeneralizedAssignment

__all__ = ["GeneralizedAssignment"]
