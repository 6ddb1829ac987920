"""Readers and generators of the public instance libraries."""

from systola.formats.catalog import describe, look_up, open_instance
from systola.formats.instance import Instance
from systola.formats.known import list_formats, list_generators
from systola.formats.library import Library

__all__ = ["Instance", "Library", "describe", "list_formats", "list_generators", "look_up", "open_instance"]
