"""Whatever stands where a payload is expected: it is read or refused, and nothing else happens."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import hashlib
import json
import tempfile
import uuid
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpy.data import (
    Compression,
    Converter,
    DirectoryStore,
    Encryption,
    MemoryStore,
    Payloads,
    decode_arguments,
    decode_context,
    decode_failure,
)
from flowpy.declare.signature import Signature
from flowpy.errors import PayloadCorrupt, PayloadError, PayloadStoreUnavailable

from .texts import BOMB, LONG, SEALED, codec, pointer, texts
from .watching import peak, seconds, watched

MIB = 2**20


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Line:
    item: str
    count: int = 1
    inner: Line | None = None


TYPES: list[Any] = [
    Any,
    str,
    int,
    float,
    bool,
    None,
    bytes,
    list[int],
    dict[str, Any],
    set[str],
    tuple[int, ...],
    Line,
    Colour,
    dt.datetime,
    dt.date,
    dt.time,
    dt.timedelta,
    decimal.Decimal,
    uuid.UUID,
    PurePosixPath,
    int | str | None,
    Line | list[Line],
]


HARMLESS = [
    '{"type": "E"}',
    '{"item": "a", "count": 2}',
    '[{"item": "a"}]',
    '["a", [{"item": "a"}], 5]',
    '"red"',
    '"2026-01-01T00:00:00Z"',
    '"90"',
    "90",
    "{",
]


def ship(order: str, lines: list[Line], by: dt.timedelta = dt.timedelta(0)) -> None:
    """What arguments are read for."""


SHIP = Signature.of(ship)


@pytest.fixture(scope="module")
def directory() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as path:
        yield path


@pytest.fixture(scope="module")
def converters(directory: str) -> list[Converter]:
    opening = Payloads(
        [Compression(), Encryption({"k": bytes(32)}, current="k")], [DirectoryStore(directory)], largest=MIB
    )
    made = [Converter(), Converter(payloads=opening)]
    for converter in made:  # what is imported or made once, and late, is so before anybody watches
        for text in (*HARMLESS, codec("xaes-256-gcm", b"\1\1k" + bytes(60))):
            read_all(text, converter)
    return made


def read_all(text: str, converter: Converter, types: Iterable[Any] = TYPES) -> None:
    """Read a text in every way there is."""
    for type_ in types:
        with suppress(PayloadError):
            converter.decoder(type_)(text)
    with suppress(PayloadError):
        decode_arguments(text, SHIP, converter)
    with suppress(PayloadError):
        converter.payloads.open(text)
    with suppress(PayloadError):
        text = converter.payloads.open(text)
    for reason in ("E: m", text[:256], None):
        str(decode_failure(reason, text))
    decode_context(text)
    decode_context(f'{{"flowpy": 1, "python": "3.12", "state": {text}}}')


@given(text=texts)
def test_no_text_imports_executes_or_opens_anything(text: str, converters: list[Converter], directory: str) -> None:
    for converter in converters:
        with watched(directory):
            read_all(text, converter)


@pytest.mark.parametrize("name", LONG)
def test_none_takes_long(name: str, converters: list[Converter]) -> None:
    """Measured in processor time, which others on the machine do not add to; each takes a few milliseconds."""
    assert seconds(lambda: [read_all(LONG[name], converter) for converter in converters]) < 20


def test_none_takes_much_memory(converters: list[Converter]) -> None:
    """The largest payload is a mebibyte here; Python's objects take more than the text they are read from."""
    assert peak(lambda: [read_all(text, converters[1], (Any,)) for text in (*SEALED, *LONG.values())]) < 12 * MIB


# --- what is compressed, and what is kept -------------------------------------------------------


def opening(store: MemoryStore | DirectoryStore) -> Payloads:
    return Payloads([Compression()], [store], largest=MIB)


def kept(content: bytes, payloads_store: MemoryStore) -> str:
    """A pointer to something that an attacker put into the store under its right name."""
    sha256 = hashlib.sha256(content).hexdigest()
    key = f"{sha256[:2]}/{sha256}"
    payloads_store.put(key, content)
    return pointer(f"{payloads_store.root}{key}", sha256, len(content))


def test_a_bomb_is_never_blown_up() -> None:
    payloads = opening(MemoryStore())

    def blow() -> None:
        with pytest.raises(PayloadCorrupt, match="more than 1,048,576 bytes"):
            payloads.open(codec("zlib", BOMB))

    assert peak(blow) < 4 * MIB


def test_nor_is_one_that_is_kept_in_the_store() -> None:
    store = MemoryStore()
    text = kept(codec("zlib", zlib.compress(b"0" * 2**25, 9)).encode(), store)

    def blow() -> None:
        with pytest.raises(PayloadCorrupt, match="more than 1,048,576 bytes"):
            opening(store).open(text)

    assert peak(blow) < 8 * MIB


@given(depth=st.integers(2, 6))
def test_what_is_sealed_inside_what_is_sealed_is_not_opened(depth: int) -> None:
    """A chain without end would be a loop without end."""
    text = '"x"'
    for _ in range(depth):
        text = codec("zlib", zlib.compress(text.encode()))
    with pytest.raises(PayloadError):
        Converter(payloads=Payloads([Compression()])).decode(text)


@given(content=st.binary(max_size=300), size=st.integers(-1, 400) | st.integers(), lie=st.booleans())
def test_nothing_is_used_whose_checksum_lies(content: bytes, size: int, lie: bool) -> None:
    store = MemoryStore()
    honest = hashlib.sha256(content).hexdigest()
    sha256 = hashlib.sha256(content + b"!").hexdigest() if lie else honest
    key = f"{sha256[:2]}/{sha256}"
    store.put(key, content)
    text = pointer(f"{store.root}{key}", sha256, size)

    try:
        opened = Payloads(stores=[store]).open(text)
    except PayloadError:
        return
    assert opened == text or (opened.encode() == content and not lie and size == len(content))


@given(
    way=st.lists(st.sampled_from(["..", ".", "", "/", "a", "%2e%2e", "\\..\\", "\0", "etc/passwd", "~"]), max_size=8),
    sha256=st.sampled_from(["0" * 64, "../" * 21 + "x", "", "A" * 64, "0" * 63 + "\n"]) | st.text(max_size=64),
)
def test_no_reference_leads_out_of_the_directory(
    way: list[str], sha256: str, directory: str, converters: list[Converter]
) -> None:
    root = DirectoryStore(directory).root
    for uri in (f"{root}{'/'.join(way)}", f"file://{'/'.join(way)}", f"{root}{sha256[:2]}/{'/'.join(way)}/{sha256}"):
        with watched(directory), suppress(PayloadError):
            converters[1].payloads.open(pointer(uri, sha256, 10))


def test_a_store_in_another_place_is_never_asked(directory: str) -> None:
    """Who may write to a history cannot make a worker read, or call, what was not set up there."""
    payloads = Payloads(stores=[DirectoryStore(directory)])
    sha256 = "0" * 64
    for root in ("s3://other/", "http://127.0.0.1:1/", f"file://{directory}-other/", "memory://payloads/"):
        with watched(), pytest.raises(PayloadStoreUnavailable, match="this process has the stores"):
            payloads.open(pointer(f"{root}{sha256[:2]}/{sha256}", sha256, 1))


def test_json_of_any_shape_gives_back_what_it_is(converters: list[Converter]) -> None:
    """The watch would be worth nothing if all were refused."""
    assert converters[1].decode(json.dumps({"item": "a", "count": 2}), Line) == Line("a", 2)
    with pytest.raises(AssertionError), watched():
        Path("/dev/null").open().close()
