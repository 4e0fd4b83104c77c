"""Values given on the command line: JSON if they parse as JSON, else text, and then what the signature wants."""

from __future__ import annotations

import json
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from flowpy.cli.failing import Misuse

if TYPE_CHECKING:
    from flowpy.declare.signature import Signature

__all__ = ["bind", "input_options", "read_value", "shown"]

_EXACT: Final = """it takes [...], such as '["o-7", 2]', or {"args": [...], "kwargs": {...}}"""

F = TypeVar("F", bound=Callable[..., Any])


def input_options(command: F) -> F:
    """Give a command ``ARGUMENTS`` and ``--input`` (``arguments`` and ``exact``), which ``bind`` takes."""
    arguments = click.argument("arguments", nargs=-1, metavar="[ARGUMENTS]...")
    help = "All arguments at once, such as '[\"o-7\", 2]'."
    return arguments(click.option("--input", "exact", metavar="JSON", help=help)(command))


def read_value(text: str) -> Any:
    """A value: JSON if it parses as JSON, else the text itself."""
    from flowpy.data.jsontext import parse
    from flowpy.errors import PayloadNotDecodable

    try:
        return parse(text) if text else ""
    except PayloadNotDecodable:
        return text


def bind(
    texts: tuple[str, ...], signature: Signature | None, exact: str | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call.

    Args:
        texts: Arguments one by one; ``NAME=VALUE`` gives the parameter of that name.
        signature: Signature of the function, None if its code is not here: then all values stay plain.
        exact: All arguments at once, as JSON: ``[...]`` or ``{"args": [...], "kwargs": {...}}``.

    Returns:
        Positional arguments, and those by name.

    Raises:
        click.UsageError: An argument fits neither as JSON nor as text, or there are two lists of arguments.
    """
    if exact is not None:
        if texts:
            raise Misuse("arguments are given twice", "give them one by one, or all with --input, not both")
        return _exact(exact, signature)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and signature is not None and _names_parameter(name, signature):
            kwargs[name] = _fitted(value, name, signature)
        elif signature is not None and len(args) < len(signature.positional):
            args.append(_fitted(text, signature.positional[len(args)].name, signature))
        else:
            args.append(read_value(text))
    _check(signature, args, kwargs)
    return args, kwargs


def shown(value: Any) -> str:
    """A value for people: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _names_parameter(name: str, signature: Signature) -> bool:
    """Whether there is a parameter of that name; one that nearly is one is refused, and not taken for text."""
    names = {*(one.name for one in signature.positional), *signature.keyword_only}
    near = [] if name in names or signature.var_keyword else get_close_matches(name, names, 1, 0.8)
    if near:
        raise Misuse(
            f"{signature.function}() has no parameter {name!r}",
            f"the nearest is {near[0]!r}; text with an equals sign of its own: {near[0]}={name}=...",
        )
    return name in names


def _exact(text: str, signature: Signature | None) -> tuple[list[Any], dict[str, Any]]:
    plain = read_value(text)
    if not isinstance(plain, list | dict):
        raise Misuse(f"--input is no list of arguments: {text}", _EXACT)
    if signature is None:
        return _untyped(plain, text)
    from flowpy.data.arguments import decode_arguments

    read = decode_arguments(text, signature)
    _check(signature, list(read.args), read.kwargs)
    return list(read.args), read.kwargs


def _untyped(plain: list[Any] | dict[str, Any], text: str) -> tuple[list[Any], dict[str, Any]]:
    if isinstance(plain, list):
        return plain, {}
    args, kwargs = plain.get("args", []), plain.get("kwargs", {})
    if not (isinstance(args, list) and isinstance(kwargs, dict) and plain.keys() <= {"args", "kwargs"}):
        raise Misuse(f"--input holds no arguments: {text}", _EXACT)
    return args, kwargs


def _fitted(text: str, name: str, signature: Signature) -> Any:
    """A value of the type of a parameter: ``42`` is a number for an int, and text for a str."""
    from flowpy.data import DEFAULT
    from flowpy.errors import PayloadError

    type_, what = signature.type_of(name), f"argument {name!r} of {signature.function}()"
    plain = read_value(text)
    if type_ is Any:
        return plain
    try:
        return DEFAULT.build(plain, type_, what)
    except PayloadError as error:
        try:
            return DEFAULT.build(text, type_, what)
        except PayloadError:
            raise click.UsageError(error.what) from error


def _check(signature: Signature | None, args: list[Any], kwargs: dict[str, Any]) -> None:
    try:
        if signature is not None:
            signature.bind(tuple(args), kwargs)
    except TypeError as error:
        raise click.UsageError(str(error)) from error
