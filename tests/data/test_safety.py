"""What a payload can never do: choose a class, import, run code, exhaust the stack or the clock."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from flowpy.data import Converter, decode_arguments, decode_context, decode_failure, encode_failure, parse, same
from flowpy.declare.signature import Signature
from flowpy.errors import PayloadError, PayloadNotDecodable

NAMING = [
    '{"__obj": ["subprocess:Popen", {"args": ["true"]}]}',
    '{"py/object": "os.system", "py/reduce": [{"py/function": "os.system"}, ["true"]]}',
    '["java.lang.Runtime", {"a": 1}]',
    '{"type": "zipapp.Never", "module": "zipapp", "message": "x", "__import__": "zipapp"}',
    '{"@class": "zipapp", "$type": "zipapp", "__class__": "zipapp", "__reduce__": "zipapp"}',
]


def one(value: Any) -> None: ...


@dataclasses.dataclass
class Node:
    next: Node | None = None


@pytest.fixture
def nothing_imported() -> Iterator[None]:
    Converter().decode("{}", Node)  # what reading itself needs
    before = set(sys.modules)
    yield
    assert set(sys.modules) - before == set()


@pytest.mark.usefixtures("nothing_imported")
@pytest.mark.parametrize("text", NAMING)
def test_y01_y03_payload_that_names_a_class_stays_plain_without_any_setting(text: str) -> None:
    converter = Converter()
    plain = parse(text)
    assert converter.decode(text) == plain
    assert converter.decoder(Any)(text) == plain
    assert decode_arguments(f"[{text}]", Signature.of(one)).args == (plain,)
    decode_failure("x", text)
    decode_context(text)
    with pytest.raises(PayloadNotDecodable):
        converter.decode(text, list[Node])


DEEP = [
    "[" * 30_000,
    "[" * 15_000 + "]" * 15_000,
    '{"a":' * 6_000,
    '[{"next":' * 3_000 + "1" + "}]" * 3_000,
    '"[' * 10_000,
]


@pytest.mark.parametrize("text", DEEP, ids=lambda text: text[:12])
@pytest.mark.parametrize("type_", [Any, int, list[Any], Node, dict[str, Any]], ids=str)
def test_nesting_is_bounded(text: str, type_: Any) -> None:
    with pytest.raises(PayloadNotDecodable):
        Converter().decoder(type_)(text)
    assert decode_failure("x", text).traceback in (text, "")
    assert not same(text, text + " ")


def test_brackets_in_text_are_no_nesting() -> None:
    text = '["' + "[" * 1_000 + '\\"[{' * 300 + '"]'
    assert Converter().decode(text) == parse(text)
    assert parse('[{"a": "' + "{[" * 400 + '"}]')


def test_bound_is_the_same_however_deep_the_caller_stands() -> None:
    text = "[" * 150 + "]" * 150

    def at(depth: int) -> Any:
        return at(depth - 1) if depth else Converter().decode(text)

    assert at(0) == at(300)
    with pytest.raises(PayloadNotDecodable, match="150 levels"):
        Converter().decode("[" + text + "]")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Converter().decode('"' + '\\"' * 16_000, Any),
        lambda: Converter().decode("[" * 160 + '"' * 30_000, Any),
        lambda: Converter().decode('{"next": ' * 149 + "1" + "}" * 149, Node),
        lambda: decode_failure("x", '{"type": "' + '\\"' * 16_000),
        lambda: decode_failure("x", '{"type": "' * 3_000),
        lambda: decode_failure("a." * 16_000 + ":", None),
        lambda: encode_failure(ValueError("File \n" * 30_000)),
    ],
)
def test_no_payload_takes_more_than_a_moment(make: Callable[[], Any]) -> None:
    started = time.process_time()
    with contextlib.suppress(PayloadError):
        make()
    assert time.process_time() - started < 2


def test_cattrs_is_imported_only_when_a_type_needs_it() -> None:
    code = (
        "import sys; from flowpy.data import DEFAULT as c; c.decoder(int)('5'); c.encode({'a': [1]}); "
        "assert 'cattrs' not in sys.modules; c.decode('[1]', list[int]); assert 'cattrs' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
