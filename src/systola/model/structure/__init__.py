"""Declared structure: an objective as parts, from which `evaluate` and what moves do to it are derived."""

from systola.model.structure.chain import Chain
from systola.model.structure.groups import Groups
from systola.model.structure.linear import Linear
from systola.model.structure.part import Part
from systola.model.structure.passage import Passage
from systola.model.structure.quadratic import Quadratic
from systola.model.structure.terms import Terms

__all__ = ["Chain", "Groups", "Linear", "Part", "Passage", "Quadratic", "Terms"]
