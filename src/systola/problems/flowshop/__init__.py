"""Permutation flowshop, and how neighbours of a schedule are measured side by side."""

from systola.problems.flowshop.problem import MEASURES, NEED_DUE, Flowshop, split_objectives

__all__ = ["MEASURES", "NEED_DUE", "Flowshop", "split_objectives"]
