"""Checks that a problem's capabilities agree with its `evaluate`; for users' own problems, too."""

from systola.model.contracts.problem import check_problem

__all__ = ["check_problem"]
