"""Readers and generators of instances: those of the public libraries, tables, and problems of one's own."""

from systola.formats.catalog import describe, look_up, open_instance
from systola.formats.instance import Instance
from systola.formats.known import list_formats, list_generators
from systola.formats.library import Library
from systola.formats.own import load_problem

__all__ = [
    "Instance",
    "Library",
    "describe",
    "list_formats",
    "list_generators",
    "load_problem",
    "look_up",
    "open_instance",
]
