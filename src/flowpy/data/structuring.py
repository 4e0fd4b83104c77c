"""From plain JSON values to annotated types: cattrs, made strict.

Imported only when a type needs it, because importing cattrs takes longer than the rest of this package.
Only the annotation decides what is built; nothing that a payload says is ever looked up or imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cattrs
from cattrs import transform_error
from cattrs.errors import BaseValidationError, StructureHandlerNotFoundError

from flowpy.data.scalars import SCALARS, type_name
from flowpy.data.shapes import Hook, configure
from flowpy.words import an

__all__ = ["Structurer"]


class Structurer:
    """Builds values of annotated types, strictly: text is no int, a bool is no int, an int may be a float."""

    def __init__(self, registered: dict[type, Callable[[Any], Any]]) -> None:
        self._converter = cattrs.Converter(detailed_validation=True)
        configure(self._converter)
        for type_, structure in SCALARS.items():
            self._converter.register_structure_hook(type_, structure)
        for type_, decode in registered.items():
            self._converter.register_structure_hook(type_, _by_function(decode))

    def hook(self, type_: Any) -> Callable[[Any], Any]:
        """Give the function that builds values of a type.

        Args:
            type_: Any annotation.

        Returns:
            A function of a plain JSON value. It raises all sorts of errors; ``explain`` puts them in words.
        """
        structure = self._converter.get_structure_hook(type_)
        return lambda plain: structure(plain, type_)

    def explain(self, error: BaseException) -> tuple[str, str]:
        """Say where and why a plain value did not fit.

        Args:
            error: What the hook raised.

        Returns:
            The place inside the value, such as ``[2].name``, and what is wrong there.
        """
        if not isinstance(error, BaseValidationError):
            return "", _in_words(error)
        lines = transform_error(error, path="", format_exception=lambda found, _: _in_words(found))
        message, _, place = lines[0].rpartition(" @ ")
        return place, message


def _by_function(decode: Callable[[Any], Any]) -> Hook:
    return lambda plain, _: decode(plain)


def _in_words(error: BaseException) -> str:
    if isinstance(error, KeyError) and error.args:
        return f"the field {error.args[0]!r} is missing"
    if isinstance(error, StructureHandlerNotFoundError):
        return (
            f"there is no way to build {an(type_name(error.type_))} from JSON; use a dataclass, an attrs class or "
            "plain data, or register the type with Converter.register(type, encode=…, decode=…)"
        )
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return str(error) or type(error).__name__
