"""Exceptions as reason and details: whatever was raised arrives, valid and short enough."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import botocore.exceptions
import pytest

from flowpy.data import Converter, Failure, decode_failure, encode_failure, failure_of, failure_text
from flowpy.errors import ActivityFailed, ApplicationError, ChildFailed


def caught(raise_: Callable[[], Any]) -> BaseException:
    try:
        raise_()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def read(error: BaseException) -> tuple[str, Failure]:
    """Write, check the promises every failure keeps, and read."""
    reason, details = encode_failure(error)
    assert 0 < len(reason) <= 256
    assert len(details) <= 32_768
    reason.encode()
    details.encode()
    record = json.loads(details)
    while record is not None:
        assert list(record)[:6] == ["type", "module", "message", "traceback", "cause", "data"]
        record = record["cause"]
    return reason, decode_failure(reason, details)


class PaymentRefused(Exception):
    pass


def refuse() -> None:
    raise PaymentRefused("card refused")


def test_failure_says_type_module_message_and_where() -> None:
    reason, failure = read(caught(refuse))
    assert reason == "PaymentRefused: card refused"
    assert (failure.type, failure.module, failure.message) == ("PaymentRefused", __name__, "card refused")
    assert failure.traceback.startswith("Traceback (most recent call last):\n")
    assert "in refuse\n" in failure.traceback
    assert failure.traceback.endswith("PaymentRefused: card refused\n")
    assert (failure.cause, failure.data) == (None, None)
    assert str(failure) == reason


def test_causes_are_kept_outermost_first() -> None:
    def outer() -> None:
        try:
            refuse()
        except PaymentRefused as error:
            raise RuntimeError("order failed") from error

    assert [f.type for f in read(caught(outer))[1].chain()] == ["RuntimeError", "PaymentRefused"]


def test_context_is_a_cause_unless_suppressed() -> None:
    def outer(suppress: bool) -> None:
        try:
            refuse()
        except PaymentRefused:
            if suppress:
                raise RuntimeError("x") from None
            raise RuntimeError("x")  # noqa: B904 - that is what is shown

    assert read(caught(lambda: outer(False)))[1].cause is not None
    assert read(caught(lambda: outer(True)))[1].cause is None


def test_application_error_brings_its_type_and_data() -> None:
    error = ApplicationError("declined", type="Declined", data={"code": 51, "tags": {"b", "a"}})
    reason, failure = read(error)
    assert reason == "Declined: declined"
    assert (failure.type, failure.module) == ("Declined", "flowpy")
    assert failure.data == {"code": 51, "tags": ["a", "b"]}


def test_subclass_of_application_error_goes_by_its_own_name() -> None:
    class Declined(ApplicationError):
        pass

    assert read(Declined("no"))[1].type == "Declined"


RECORDED = Failure(
    "PaymentRefused", "shop", "card refused", "tb\n", Failure("GatewayError", "shop", "no answer"), {"code": 51}
)


def test_recorded_failure_goes_on_as_the_cause_of_the_error_that_carries_it() -> None:
    child = ChildFailed("pay o-21: PaymentRefused: card refused", failure=RECORDED, id="pay-1")

    def rejected() -> None:
        raise ValueError("order o-21 refused") from child

    _, failure = read(caught(rejected))
    assert [f.type for f in failure.chain()] == ["ValueError", "ChildFailed", "PaymentRefused", "GatewayError"]
    assert failure.cause is not None
    assert failure.cause.module == "flowpy"
    assert failure.cause.cause == RECORDED


def test_recorded_failure_wins_over_the_exception_python_knows() -> None:
    error = ActivityFailed("x", failure=RECORDED)
    error.__cause__ = KeyError("not this")
    assert [f.type for f in failure_of(error).chain()] == ["ActivityFailed", "PaymentRefused", "GatewayError"]


def test_z01_exceptions_that_hold_themselves_locks_and_sockets_arrive() -> None:
    error = RuntimeError("busy", threading.Lock())
    error.args = (*error.args, error)
    error.me = error  # type: ignore[attr-defined]
    with socket.socket() as held:
        error.held = held  # type: ignore[attr-defined]
        reason, failure = read(error)
    assert reason.startswith("RuntimeError: ('busy', ")
    assert failure.type == "RuntimeError"


def test_z01_causes_that_go_in_a_circle_end() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert [f.message for f in read(first)[1].chain()] == ["a", "b"]


def test_endless_causes_are_cut_at_the_inner_end() -> None:
    error: BaseException = ValueError("0")
    for number in range(1, 200):
        outer = ValueError(str(number))
        outer.__cause__ = error
        error = outer
    chain = list(read(error)[1].chain())
    assert 10 < len(chain) < 50
    assert chain[0].message == "199"


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Meddling(Exception):
    @property
    def failure(self) -> None:
        raise RuntimeError("no")

    @property
    def response(self) -> None:
        raise RuntimeError("no")


class BadData(ApplicationError):
    @property
    def data(self) -> Any:
        raise RuntimeError("no")

    @data.setter
    def data(self, value: Any) -> None:
        pass


@pytest.mark.parametrize("error", [Unspeakable(), Meddling("x"), BadData("x"), KeyboardInterrupt(), SystemExit(3)])
def test_exceptions_that_misbehave_arrive_all_the_same(error: BaseException) -> None:
    assert read(error)[1].type == type(error).__name__


def test_z03_botocore_errors_arrive_with_code_and_message() -> None:
    response: Any = {"Error": {"Code": "NoSuchKey", "Message": "gone"}, "ResponseMetadata": {"HTTPStatusCode": 404}}
    made_at_run_time = type("NoSuchKey", (botocore.exceptions.ClientError,), {})
    for kind, name in ((botocore.exceptions.ClientError, "ClientError"), (made_at_run_time, "NoSuchKey")):
        reason, failure = read(kind(response, "GetObject"))
        assert reason.startswith(f"{name}: An error occurred (NoSuchKey)")
        assert failure.data == {"code": "NoSuchKey", "message": "gone"}


@pytest.mark.parametrize("data", [threading.Lock(), {"a": float("nan")}, "\ud800"], ids=["lock", "nan", "surrogate"])
def test_z04_data_that_cannot_be_written_becomes_a_note(data: Any) -> None:
    reason, failure = read(ApplicationError("declined", data=data))
    assert reason == "ApplicationError: declined"
    assert failure.data is None
    assert "data left out: cannot write the data of the error" in failure.traceback


def test_notes_and_members_of_groups_are_told() -> None:
    error = BaseExceptionGroup("two", [caught(refuse), ExceptionGroup("inner", [KeyError("k")])])
    error.add_note("while closing")
    reason, failure = read(error)
    assert reason.startswith("ExceptionGroup: two (2 sub-exceptions): PaymentRefused: card refused; ")
    for part in ("while closing", "member 1 of 2", "in refuse", "PaymentRefused: card refused", "KeyError: 'k'"):
        assert part in failure.traceback


def test_groups_nested_without_end_arrive() -> None:
    group: BaseException = ValueError("x")
    for _ in range(400):
        group = BaseExceptionGroup("g", [group] * 2)
    read(group)


def deep(levels: int, error: BaseException) -> None:
    if levels == 0:
        raise error
    deeper(levels - 1, error)


def deeper(levels: int, error: BaseException) -> None:
    deep(levels, error)


def test_z09_frames_from_the_middle_go_first() -> None:
    _, failure = read(caught(lambda: deep(300, ApplicationError("x", data="d" * 5_000))))
    assert failure.traceback.startswith("Traceback (most recent call last):\n")
    assert "frames left out" in failure.traceback
    assert failure.traceback.rstrip().endswith("ApplicationError: x")
    assert "raise error" in failure.traceback
    assert failure.traceback.count("\n  File ") >= 40
    assert len(failure.data) == 5_000


def chain_of(*records: Failure) -> Failure:
    made = records[-1]
    for record in reversed(records[:-1]):
        made = Failure(record.type, record.module, record.message, record.traceback, made, record.data)
    return made


def test_z09_then_data_then_inner_causes() -> None:
    big = "x" * 20_000
    frames = "".join(f'  File "a.py", line {n}, in f\n    code()\n' for n in range(500))
    _, details = failure_text(
        chain_of(Failure("A", message="a", data=big), Failure("B", message="b", traceback=frames, data=big))
    )
    first = json.loads(details)
    assert len(details) <= 32_768
    assert first["data"] == big
    assert first["cause"]["data"] is None
    assert '"a.py", line 499' in first["cause"]["traceback"]

    _, details = failure_text(chain_of(*(Failure(f"T{n}", message="m" * 9_000) for n in range(6))))
    assert [f.type for f in decode_failure("", details).chain()] == ["T0", "T1", "T2"]


@pytest.mark.parametrize("message", ["x" * 100_000, "\N{GRINNING FACE}" * 100_000, "\x00" * 100_000, '"\\' * 50_000])
def test_z09_message_alone_is_cut_last(message: str) -> None:
    reason, failure = read(caught(lambda: deep(100, ValueError(message))))
    assert failure.message.endswith("characters left out)")
    assert message.startswith(failure.message.partition("…")[0])
    assert "in deep" in failure.traceback
    assert reason == f"ValueError: {message}"[:256]


@pytest.mark.parametrize("field", ["type", "module", "message", "traceback"])
def test_z09_any_field_may_be_enormous(field: str) -> None:
    fields: dict[str, Any] = {"type": "T", field: "\x01" * 200_000}
    _, details = failure_text(Failure(**fields))
    assert len(details) <= 32_768
    json.loads(details)


def test_z10_reason_is_cut_on_characters() -> None:
    reason, failure = read(ValueError("\N{GRINNING FACE}" * 1_000))
    assert reason == "ValueError: " + "\N{GRINNING FACE}" * 244
    assert failure.message == "\N{GRINNING FACE}" * 1_000
    assert read(ValueError("a\ud800b"))[0] == "ValueError: a\\ud800b"


def test_converter_given_writes_the_data() -> None:
    class Money:
        pass

    converter = Converter()
    converter.register(Money, encode=lambda _: "money", decode=lambda _: Money())
    _, details = encode_failure(ApplicationError("x", data=[Money()]), converter)
    assert json.loads(details)["data"] == ["money"]
