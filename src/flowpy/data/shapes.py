"""Strict reading of arrays, objects, literals, enums and records, as hooks for a cattrs converter.

cattrs itself takes anything it can iterate for a list; here an array is an array and an object an object.
"""

from __future__ import annotations

import collections
import enum
from collections import abc
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, ForwardRef, Literal, TypeVar, get_args, get_origin, get_type_hints

import cattrs
from cattrs.errors import IterableValidationError, IterableValidationNote
from cattrs.gen.typeddicts import make_dict_structure_fn as typed_dict_hook

from flowpy.data import unions
from flowpy.data.records import is_named_tuple, is_record, is_typed_dict
from flowpy.data.scalars import EXACT, Misfit, misfit, read_enum, read_none

__all__ = ["Hook", "configure"]

Hook = Callable[[Any, Any], Any]
_Read = Callable[[Any], Any]

_ARRAYS: Final[dict[Any, _Read]] = {
    list: list,
    abc.Sequence: list,
    abc.MutableSequence: list,
    abc.Iterable: list,
    abc.Collection: list,
    set: set,
    abc.MutableSet: set,
    abc.Set: frozenset,
    frozenset: frozenset,
    collections.deque: collections.deque,
}

_OBJECTS: Final[dict[Any, _Read]] = {
    dict: dict,
    abc.Mapping: dict,
    abc.MutableMapping: dict,
    collections.OrderedDict: collections.OrderedDict,
    collections.Counter: collections.Counter,
    collections.defaultdict: lambda pairs: collections.defaultdict(None, pairs),
}


def configure(converter: cattrs.Converter) -> None:
    """Make a converter read everything that is not a scalar strictly; the last registered is asked first."""
    for matches, factory in (
        (is_record, _record),
        (is_typed_dict, _typed_dict),
        (is_named_tuple, _named_tuple),
        (_is(_ARRAYS), _array),
        (_is(_OBJECTS), _object),
        (_is({tuple}), _tuple),
        (_is({Literal}), _literal),
        (unions.is_union, _union),
        (lambda type_: isinstance(type_, type) and issubclass(type_, enum.Enum), _enum),
        (lambda type_: isinstance(type_, TypeVar), _type_variable),
        (lambda type_: type_ is None or type_ is type(None), _null),
        (lambda type_: type_ is Any or type_ is object or isinstance(type_, (str, ForwardRef)), _anything),
    ):
        converter.register_structure_hook_factory(matches, factory)


def _is(origins: Iterable[Any]) -> Callable[[Any], bool]:
    known = frozenset(origins)
    return lambda type_: (get_origin(type_) or type_) in known


def _reader(converter: cattrs.Converter, type_: Any) -> _Read:
    """Give the function that reads a type; made at its first use, because types may contain themselves."""
    if type_ is Any or type_ is object:
        return _same
    if type_ in EXACT:
        return EXACT[type_]
    structure: Hook | None = None

    def read(plain: Any) -> Any:
        nonlocal structure
        if structure is None:
            structure = converter.get_structure_hook(type_)
        return structure(plain, type_)

    return read


def _same(plain: Any) -> Any:
    return plain


def _anything(_type: Any, _converter: cattrs.Converter) -> Hook:
    return lambda plain, _: plain


def _null(_type: Any, _converter: cattrs.Converter) -> Hook:
    return lambda plain, _: read_none(plain)


def _enum(_type: Any, _converter: cattrs.Converter) -> Hook:
    return read_enum


def _type_variable(type_: Any, converter: cattrs.Converter) -> Hook:
    read = _reader(converter, type_.__bound__ if type_.__bound__ is not None else Any)
    return lambda plain, _: read(plain)


def _placed(error: Exception, place: int | str, type_: Any) -> IterableValidationError:
    """Pass an error on with the place it happened in."""
    error.add_note(IterableValidationNote(f"at {place!r}", place, type_))
    return IterableValidationError("an item does not fit", [error], type_)


def _each(places: Iterable[int | str], items: Iterable[Any], reads: Iterable[_Read], type_: Any) -> Iterator[Any]:
    for place, item, read in zip(places, items, reads, strict=False):
        try:
            yield read(item)
        except Exception as error:
            raise _placed(error, place, type_) from None


def _array(type_: Any, converter: cattrs.Converter) -> Hook:
    build = _ARRAYS[get_origin(type_) or type_]
    read = _reader(converter, (*get_args(type_), Any)[0])

    def structure(plain: Any, _: Any) -> Any:
        if type(plain) is not list:
            misfit(plain, type_, "an array")
        if read is _same:
            return build(plain)
        items: list[Any] = []
        try:
            for item in plain:
                items.append(read(item))  # noqa: PERF401 - how many were read says which one was not
        except Exception as error:
            raise _placed(error, len(items), type_) from None
        return items if build is list else build(items)

    return structure


def _tuple(type_: Any, converter: cattrs.Converter) -> Hook:
    arguments = get_args(type_)
    if not arguments and get_origin(type_) is None:
        arguments = (Any, ...)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        listed = _array(list[arguments[0]], converter)  # type: ignore[valid-type]
        return lambda plain, _: tuple(listed(plain, type_))
    reads = [_reader(converter, argument) for argument in arguments]

    def structure(plain: Any, _: Any) -> Any:
        if type(plain) is not list or len(plain) != len(reads):
            misfit(plain, type_, f"an array of {len(reads)}")
        return tuple(_each(range(len(reads)), plain, reads, type_))

    return structure


def _named_tuple(type_: Any, converter: cattrs.Converter) -> Hook:
    hints = get_type_hints(type_, include_extras=True)
    reads = [_reader(converter, hints.get(name, Any)) for name in type_._fields]
    required = len(reads) - len(type_._field_defaults)

    def structure(plain: Any, _: Any) -> Any:
        if type(plain) is not list or not required <= len(plain) <= len(reads):
            misfit(plain, type_, f"an array of {len(reads)}")
        return type_(*_each(type_._fields, plain, reads, type_))

    return structure


def _object(type_: Any, converter: cattrs.Converter) -> Hook:
    origin = get_origin(type_) or type_
    build = _OBJECTS[origin]
    arguments = get_args(type_)
    if origin is collections.Counter:
        arguments = (arguments[0] if arguments else Any, int)
    key_type, value_type = arguments or (Any, Any)
    read_key, read = _key_reader(converter, key_type), _reader(converter, value_type)

    def structure(plain: Any, _: Any) -> Any:
        if type(plain) is not dict:
            misfit(plain, type_, "an object")
        pairs: dict[Any, Any] = {}
        key: Any = None
        try:
            for key, value in plain.items():
                pairs[read_key(key)] = read(value)
        except Exception as error:
            raise _placed(error, key, type_) from None
        return pairs if build is dict else build(pairs)

    return structure


def _key_reader(converter: cattrs.Converter, type_: Any) -> _Read:
    """Read keys, which JSON has as text only: ``"7"`` is the key 7 where the annotation says int."""
    read = _reader(converter, type_)

    def read_key(key: str) -> Any:
        try:
            return read(key)
        except Exception:
            number = _whole_number(key)
            if number is None:
                raise
        return read(number)

    return read_key


def _whole_number(key: str) -> int | None:
    try:
        number = int(key)
    except ValueError:
        return None
    return number if str(number) == key else None


def _literal(type_: Any, _converter: cattrs.Converter) -> Hook:
    values = get_args(type_)

    def structure(plain: Any, _: Any) -> Any:
        for value in values:
            if isinstance(value, enum.Enum):
                try:
                    if read_enum(plain, type(value)) is value:
                        return value
                except Misfit:
                    continue
            elif type(value) is type(plain) and value == plain:
                return value
        return misfit(plain, type_)

    return structure


def _union(type_: Any, converter: cattrs.Converter) -> Hook:
    return unions.hook(type_, lambda member: _reader(converter, member))


def _record(type_: Any, converter: cattrs.Converter) -> Hook:
    return _guarded(type_, converter.gen_structure_attrs_fromdict(type_))


def _typed_dict(type_: Any, converter: cattrs.Converter) -> Hook:
    return _guarded(type_, typed_dict_hook(type_, converter, _cattrs_detailed_validation=True))


def _guarded(type_: Any, build: Hook) -> Hook:
    def structure(plain: Any, asked: Any) -> Any:
        return build(plain, asked) if type(plain) is dict else misfit(plain, type_, "an object")

    return structure
