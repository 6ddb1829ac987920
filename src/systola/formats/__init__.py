"""Readers and generators of the public instance libraries."""

from systola.formats.catalog import describe, list_formats, list_generators, open_instance
from systola.formats.instance import Instance

__all__ = ["Instance", "describe", "list_formats", "list_generators", "open_instance"]
