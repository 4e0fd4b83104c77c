"""What activities and workflows have in common: a type that is registered with SWF, and options for its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Self, TypeVar

from flowpy.declare.declared import Declared
from flowpy.declare.functions import locating
from flowpy.declare.names import check_name, check_version
from flowpy.declare.options import Options
from flowpy.declare.signature import Signature

__all__ = ["RegisteredType"]

P = ParamSpec("P")
C = TypeVar("C")
O = TypeVar("O", bound=Options)  # noqa: E741


class RegisteredType(Declared[P, C], Generic[P, C, O]):
    """A function (or class) under the name and version SWF knows it by.

    Attributes:
        name: Name of the type.
        version: Version of the type.
        type: Both as SWF writes them; do not change it.
        fn: The plain function or class.
        signature: Signature of what runs.
        is_async: Whether what runs is an ``async def``.
        registered: The options the type is registered with, flowpy's defaults filled in.
        settings: The same with those of ``.options(...)`` put over them.
        overrides: SWF's attributes a call carries beyond the registered ones; do not change it.
        on_cancel: What cancelling does: ``"try"``, ``"wait"`` or ``"abandon"``.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        name: str,
        version: str,
        signature: Signature,
        is_async: bool,
        registered: O,
        called: O,
    ) -> None:
        self._wrap(fn, name)
        with locating(f"{self.decorator} {name}"):
            self.name = check_name(name, "name")
            self.version = check_version(version)
        self.type = {"name": self.name, "version": self.version}
        self.signature = signature
        self.is_async = is_async
        self.registered: O = registered
        self._apply(called)

    def _apply(self, called: O) -> None:
        """Takes over the options of a call."""
        self._called: O = called
        self.settings: O = self.registered.override(**called.given())
        self.overrides: dict[str, Any] = called.attributes()
        self.on_cancel = self.settings.on_cancel or "try"

    def _with(self, options: dict[str, Any]) -> Self:
        """A copy whose calls carry these options too."""
        with locating(f"{self.name}.options"):
            called = self._called.override(**options)
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._apply(called)
        return copy

    def __repr__(self) -> str:
        return f"<{self.decorator.lstrip('@')} {self.name} {self.version}>"
