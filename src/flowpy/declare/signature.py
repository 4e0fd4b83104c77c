"""Signatures of declared functions: binding arguments fast, and the types to decode them by.

``inspect.Signature.bind`` is far too slow for every call of every replay, and fills in what the contract leaves out:
arguments are recorded as given, defaults stay in the code.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from attrs import frozen

from flowpy.declare.promise import Promise
from flowpy.errors import DeclarationError

__all__ = ["Parameter", "Signature"]

_MISSING: Final = inspect.Parameter.empty
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@frozen
class Parameter:
    """One parameter of a declared function.

    Attributes:
        name: Its name.
        kind: ``inspect``'s kind, such as ``inspect.Parameter.KEYWORD_ONLY``.
        has_default: Whether a call may leave it out.
        annotation: The annotation as written, perhaps text; ``inspect.Parameter.empty`` if there is none.
    """

    name: str
    kind: Any
    has_default: bool
    annotation: Any

    @property
    def required(self) -> bool:
        """Whether every call must give it."""
        return not self.has_default


class Signature:
    """The signature of a declared function, made by ``Signature.of``.

    Attributes:
        function: Name of the function, for messages.
        positional: The parameters that may be given by position.
        keyword_only: Those that may be given by name only.
        required: How many positional ones have no default.
        returns: The return annotation as written, ``inspect.Parameter.empty`` if there is none.
        fits: How many arguments a call by position only may give; such a call needs no binding.
        var_positional: Name of ``*args``, or None.
        var_keyword: Name of ``**kwargs``, or None.
    """

    __slots__ = (
        "_fn",
        "_hints",
        "_names",
        "_return_type",
        "fits",
        "function",
        "keyword_only",
        "positional",
        "required",
        "returns",
        "var_keyword",
        "var_positional",
    )

    def __init__(self, fn: Callable[..., Any], signature: inspect.Signature, *, skip_first: bool) -> None:
        parameters = [
            Parameter(p.name, p.kind, p.default is not _MISSING, p.annotation) for p in signature.parameters.values()
        ]
        positional = [p for p in parameters if p.kind in _POSITIONAL]
        self.function: str = getattr(fn, "__name__", type(fn).__name__)
        self.positional: tuple[Parameter, ...] = tuple(positional[1:] if skip_first else positional)
        self.keyword_only = {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
        self.required = sum(p.required for p in self.positional)
        self.returns = signature.return_annotation
        self.var_positional = _name_of(parameters, inspect.Parameter.VAR_POSITIONAL)
        self.var_keyword = _name_of(parameters, inspect.Parameter.VAR_KEYWORD)
        self._fn = fn
        self._hints: dict[str, Any] | None = None
        self._return_type: Any = _MISSING
        self._names = {p.name: i for i, p in enumerate(self.positional)}
        # A call by position only needs just a look at its length; if a keyword is required, no length will do.
        fitting = range(self.required, len(self.positional) + 1) if self.needs == self.required else ()
        self.fits = frozenset(fitting)

    @classmethod
    def of(cls, fn: Callable[..., Any], *, skip_first: bool = False) -> Signature:
        """Reads the signature of a function.

        Args:
            fn: The function.
            skip_first: Whether to leave out the first parameter, the ``self`` of a method.

        Raises:
            DeclarationError: If it has no signature Python can read, or no first parameter to skip.
        """
        try:
            signature = inspect.signature(fn)
        except (TypeError, ValueError) as error:
            raise DeclarationError(f"{fn!r} has no readable signature ({error})", remedy="wrap it in a def") from error
        made = cls(fn, signature, skip_first=skip_first)
        if skip_first and len(made.positional) == len(cls(fn, signature, skip_first=False).positional):
            raise DeclarationError(f"method {made.function}() has no first parameter", remedy="add self")
        return made

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Checks the arguments of a call and puts them into the recorded form.

        Args:
            args: The arguments given by position.
            kwargs: The arguments given by name.

        Returns:
            The positional values up to the last one given without a gap, and the others by name. Defaults are not
            filled in.

        Raises:
            TypeError: If an argument is missing, given twice or not known; names function and argument.
        """
        if not kwargs and len(args) in self.fits:
            return args, {}
        return self._bind(args, kwargs)

    def type_of(self, name: str) -> Any:
        """Returns the type a parameter is annotated with, ``Any`` if there is none or it cannot be resolved.

        Args:
            name: The parameter's name; an unknown one is ``Any`` too.
        """
        return self._resolved().get(name, Any)

    @property
    def return_type(self) -> Any:
        """The type of the result: of a ``Promise[X]`` it is X, ``Any`` if it cannot be resolved."""
        if self._return_type is _MISSING:
            resolved = self._resolved().get("return", Any)
            origin = typing.get_origin(resolved) or resolved
            if isinstance(origin, type) and issubclass(origin, Promise):
                resolved = next(iter(typing.get_args(resolved)), Any)
            self._return_type = resolved
        return self._return_type

    @property
    def needs(self) -> int:
        """How many arguments every call must give, by position or by name."""
        return self.required + sum(p.required for p in self.keyword_only.values())

    def refuse_variadic(self) -> None:
        """Refuses ``*args`` and ``**kwargs``, which a recorded call could not be checked against.

        Raises:
            DeclarationError: If there are any.
        """
        if self.var_positional:
            raise DeclarationError(
                f"*{self.var_positional} is not possible, because promises and types of the arguments could "
                f"not be told apart",
                remedy=f"take one list instead: {self.var_positional}: list[...]",
            )
        if self.var_keyword:
            raise DeclarationError(
                f"**{self.var_keyword} is not possible, because a call could not be checked before it is recorded",
                remedy=f"take one dict instead: {self.var_keyword}: dict[str, ...]",
            )

    def __repr__(self) -> str:
        return f"<Signature of {self.function}>"

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Binds a call that has keywords, or is wrong."""
        if len(args) > len(self.positional) and not self.var_positional:
            raise TypeError(self._surplus(args))
        rest = dict(kwargs)
        values = list(args)
        for parameter in self.positional[len(args) :]:
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY or parameter.name not in rest:
                break
            values.append(rest.pop(parameter.name))
        self._check_names(rest, len(args))
        self._check_missing(rest, len(values))
        return tuple(values), rest

    def _check_names(self, rest: dict[str, Any], given: int) -> None:
        """Refuses keywords that no parameter takes, or whose parameter has a value by position already."""
        for name in rest:
            index = self._names.get(name)
            if index is None or self.positional[index].kind is inspect.Parameter.POSITIONAL_ONLY:
                if name not in self.keyword_only and not self.var_keyword:
                    takes = ", ".join([*self._names, *self.keyword_only]) or "none"
                    raise TypeError(f"{self.function}() takes no argument {name!r}; its arguments: {takes}")
            elif index < given:
                raise TypeError(f"{self.function}() got argument {name!r} twice: by position and by name")

    def _check_missing(self, rest: dict[str, Any], bound: int) -> None:
        """Refuses a call that leaves out what has no default."""
        candidates = (*self.positional[bound:], *self.keyword_only.values())
        missing = [repr(p.name) for p in candidates if p.required and p.name not in rest]
        if missing:
            raise TypeError(f"{self.function}() is missing {_counted('argument', len(missing))} {', '.join(missing)}")

    def _surplus(self, args: tuple[Any, ...]) -> str:
        """Words the error for too many positional arguments."""
        hint = f"; give {', '.join(map(repr, self.keyword_only))} by name" if self.keyword_only else ""
        takes = _counted("positional argument", len(self.positional))
        return f"{self.function}() takes {len(self.positional)} {takes}, {len(args)} were given{hint}"

    def _resolved(self) -> dict[str, Any]:
        """The annotations as types, resolved at first use: the modules they name may not be imported before."""
        if self._hints is None:
            self._hints = _hints(self._fn)
        return self._hints


def _name_of(parameters: list[Parameter], kind: Any) -> str | None:
    return next((p.name for p in parameters if p.kind is kind), None)


def _counted(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _hints(fn: Callable[..., Any]) -> dict[str, Any]:
    """Resolves each annotation on its own, so that one bad name does not cost the others."""
    plain = inspect.unwrap(fn)
    if not hasattr(plain, "__annotations__") and not inspect.isclass(plain):
        plain = getattr(plain, "func", type(plain).__call__)  # a partial, or a callable object
    try:
        return typing.get_type_hints(plain, include_extras=True)
    except Exception:  # any code may stand in an annotation
        annotations = getattr(plain, "__annotations__", {})
    resolved: dict[str, Any] = {}
    for name, annotation in annotations.items():
        single = types.SimpleNamespace(__annotations__={name: annotation})
        with suppress(Exception):
            resolved |= typing.get_type_hints(single, getattr(plain, "__globals__", {}), include_extras=True)
    return resolved
