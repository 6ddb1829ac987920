"""For the API reference: the fields of a problem are its parameters, as `Problem` makes a dataclass of each subclass.

The reference is made from the sources without importing them, so that what happens when a class is made is not seen.
"""

from __future__ import annotations

from typing import Any

from griffe import Attribute, Class, Extension, Function, Parameter, ParameterKind, Parameters

_KIND = ParameterKind.positional_or_keyword


def _default(field: Attribute) -> Any:
    """How a signature shows it: what a function makes is dots."""
    return "..." if "default_factory" in str(field.value) else field.value


class Fields(Extension):
    """Give subclasses of `Problem` the signature that they have when they are called."""

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Called by griffe when it has read a class."""
        if "Problem" not in map(str, cls.bases) or "__init__" in cls.members:
            return
        given = [
            Parameter(field.name, annotation=field.annotation, kind=_KIND, default=_default(field))
            for field in cls.attributes.values()
            if "instance-attribute" in field.labels and field.annotation and "init=False" not in str(field.value)
        ]
        itself = Parameter("self", kind=_KIND)
        cls.set_member("__init__", Function("__init__", parameters=Parameters(itself, *given), parent=cls))
