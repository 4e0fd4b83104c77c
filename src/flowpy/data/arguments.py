"""The input of workflows and activities: arguments bound to a signature, as JSON and back."""

from __future__ import annotations

from inspect import Parameter
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.jsontext import clip, dump, parse
from flowpy.data.limits import DATA
from flowpy.data.traced import untraced
from flowpy.errors import PayloadNotDecodable, PayloadNotEncodable, PayloadTooLarge

if TYPE_CHECKING:
    from flowpy.declare.signature import Signature

__all__ = ["Arguments", "check_arguments", "decode_arguments", "encode_arguments", "input_with_signals"]

_KEYS = frozenset({"args", "kwargs", "signals"})
_JAVA_ARRAY = "[Ljava.lang.Object;"


@frozen
class Arguments:
    """An input as read: call the function with ``*args, **kwargs``.

    Attributes:
        args: Positional arguments.
        kwargs: Arguments by name.
        signals: Signals carried over by continue-as-new, oldest first: ``{"name": …, "input": …}``, the input as
            the raw text received, absent if there was none.
    """

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(factory=dict)
    signals: list[dict[str, Any]] = field(factory=list)


def encode_arguments(
    signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], converter: Converter = DEFAULT
) -> str:
    """Write the arguments of a call as an input.

    Args:
        signature: Signature of the function called.
        args: Positional arguments of the call.
        kwargs: Arguments by name.
        converter: Writes the values.

    Returns:
        A JSON array of the positional arguments up to the last one given; with keyword-only ones, or a gap,
        ``{"args": […], "kwargs": {…}}``. Its length is not checked here.

    Raises:
        TypeError: The arguments do not fit the signature.
        PayloadNotEncodable: An argument has no JSON form; the message names it.
    """
    positional, named = (args, kwargs) if not kwargs and len(args) in signature.fits else signature.bind(args, kwargs)
    text = converter.text
    try:
        if not named:
            return f"[{text(positional[0])}]" if len(positional) == 1 else f"[{', '.join(map(text, positional))}]"
        array = ", ".join(map(text, positional))
        by_name = ", ".join([f"{dump(name)}: {text(value)}" for name, value in named.items()])
    except PayloadNotEncodable:
        # Naming the arguments beforehand would cost every call more than writing them.
        _blame(signature, positional, named, converter)
        raise
    return f'{{"args": [{array}], "kwargs": {{{by_name}}}}}'


def check_arguments(text: str, signature: Signature, converter: Converter, what: str) -> str:
    """Give an input back if it can be sent.

    Args:
        text: The input, as ``encode_arguments`` wrote it.
        signature: Signature of the function called.
        converter: Knows what is done to payloads.
        what: What the input is, for the message: ``input of activity charge-1``.

    Raises:
        PayloadTooLarge: It does not fit; the message names the largest argument.
    """
    try:
        return converter.payloads.check(text, DATA, what)
    except PayloadTooLarge as error:
        positional, named, _ = _read(text, converter)
        names = [parameter.name for parameter in signature.positional]
        sizes = {name: len(dump(plain)) for name, plain in (*zip(names, positional, strict=False), *named.items())}
        if not sizes:
            raise
        largest = max(sizes, key=lambda name: sizes[name])
        size = f"{sizes[largest]:,} characters"
        message = f"{error.what}. The largest is {_argument(largest, signature)}: {size}"
        raise PayloadTooLarge(message, remedy=error.remedy) from None


def _blame(signature: Signature, positional: tuple[Any, ...], named: dict[str, Any], converter: Converter) -> None:
    names = [parameter.name for parameter in signature.positional]
    for name, value in (*zip(names, positional, strict=False), *named.items()):
        converter.text(value, _argument(name, signature))


def _argument(name: str, signature: Signature) -> str:
    return f"argument {name!r} of {signature.function}()"


def decode_arguments(text: str | None, signature: Signature, converter: Converter = DEFAULT) -> Arguments:
    """Read an input, leniently, for a function.

    Absent or empty is no arguments; an object is the form with names only if its keys are among ``args``,
    ``kwargs`` and ``signals`` and ``args`` is a list; any other JSON value is the one argument; text that is not
    JSON is the one argument, as str.

    Args:
        text: The input recorded, or None.
        signature: Signature of the function; its annotations direct the reading.
        converter: Builds the values.

    Returns:
        The arguments, each of its annotated type.

    Raises:
        PayloadNotDecodable: Too many arguments, one missing, unknown, or not of its type; the message names it.
    """
    positional, named, signals = _read(text, converter)
    try:
        args, kwargs = _fitted(positional, named, signature, converter)
    except PayloadNotDecodable as error:
        if positional[:1] != [_JAVA_ARRAY]:
            raise
        raise PayloadNotDecodable(f"{error}. {_named_by_java(signature)}") from error.__cause__
    return Arguments(args, kwargs, signals)


def _fitted(
    positional: list[Any], named: dict[str, Any], signature: Signature, converter: Converter
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if len(positional) > len(signature.positional):
        raise PayloadNotDecodable(_too_many(positional, signature))
    given = signature.positional[: len(positional)]
    if named or len(given) < signature.required or signature.needs > signature.required:
        _check_names({parameter.name for parameter in given}, named, signature)
    args = [_build(plain, at.name, signature, converter) for plain, at in zip(positional, given, strict=True)]
    return tuple(args), {name: _build(plain, name, signature, converter) for name, plain in named.items()}


def _named_by_java(signature: Signature) -> str:
    return (
        "The input names Java classes, as the Flow Framework for Java does by default: give what sends it a "
        "JsonDataConverter(new ObjectMapper()), which writes plain JSON, or declare "
        f"{signature.function}(array: str, arguments: list[object])"
    )


def _build(plain: Any, name: str, signature: Signature, converter: Converter) -> Any:
    type_ = signature.type_of(name)
    return plain if type_ is Any else converter.build(plain, type_, _argument(name, signature))


def input_with_signals(text: str | None, signals: list[dict[str, Any]], converter: Converter = DEFAULT) -> str | None:
    """Add the signals that nobody received to the input of the run that continues.

    Args:
        text: The input, as ``encode_arguments`` wrote it, before any codec or store.
        signals: ``{"name": …, "input": …}`` each, input as received, absent if there was none.
        converter: Takes the wrapping off an input from elsewhere.

    Returns:
        The input with ``"signals"``, after those it carries already; ``text`` itself if there are none to add.

    Raises:
        PayloadNotDecodable: The input is kept in a store or encoded, so nothing can be added.
    """
    if not signals:
        return text
    args, kwargs, carried = _read(text, converter)
    form: dict[str, Any] = {"args": args}
    if kwargs:
        form["kwargs"] = kwargs
    form["signals"] = carried + [_signal(signal) for signal in signals]
    return dump(form)


def _read(text: str | None, converter: Converter) -> tuple[list[Any], dict[str, Any], list[dict[str, Any]]]:
    text, _ = untraced(text)
    if not text:
        return [], {}, []
    text = converter.payloads.open(text, "input")
    try:
        plain = parse(text, "input")
    except PayloadNotDecodable:
        return [text], {}, []
    if type(plain) is list:
        return plain, {}, []
    if type(plain) is dict and isinstance(plain.get("args"), list) and plain.keys() <= _KEYS:
        kwargs, signals = plain.get("kwargs"), plain.get("signals")
        return (
            plain["args"],
            kwargs if isinstance(kwargs, dict) else {},
            [_signal(signal) for signal in signals if _is_signal(signal)] if isinstance(signals, list) else [],
        )
    return [converter.unwrap(plain, "input")], {}, []


def _is_signal(plain: Any) -> bool:
    return isinstance(plain, dict) and isinstance(plain.get("name"), str)


def _signal(signal: dict[str, Any]) -> dict[str, Any]:
    """Keep what the contract has: the name, and the input unless there was none."""
    if signal.get("input") is None:
        return {"name": signal["name"]}
    return {"name": signal["name"], "input": signal["input"]}


def _too_many(positional: list[Any], signature: Signature) -> str:
    known = len(signature.positional)
    names = ", ".join(parameter.name for parameter in signature.positional) or "none"
    return (
        f"argument {known + 1} of {len(positional)} has no parameter to go to: {clip(positional[known])}; "
        f"{signature.function}() takes {known} by position ({names}). Was the input made for another version of it?"
    )


def _check_names(taken: set[str], named: dict[str, Any], signature: Signature) -> None:
    """Refuse names that are unknown or taken by position already, and what leaves a parameter without a value."""
    for name in named:
        if name in taken:
            raise PayloadNotDecodable(f"{_argument(name, signature)} is in the input twice, by position and by name")
        if name not in signature.keyword_only and all(
            name != parameter.name or parameter.kind is Parameter.POSITIONAL_ONLY for parameter in signature.positional
        ):
            known = ", ".join([*(parameter.name for parameter in signature.positional), *signature.keyword_only])
            raise PayloadNotDecodable(f"{_argument(name, signature)} is unknown; it takes {known or 'none'}")
    for parameter in (*signature.positional, *signature.keyword_only.values()):
        if parameter.required and parameter.name not in taken and parameter.name not in named:
            what = _argument(parameter.name, signature)
            raise PayloadNotDecodable(f"{what} is missing from the input and has no default")
