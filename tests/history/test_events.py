"""The tables of events agree with the service model, and one event can be read by itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.loaders import Loader

from flowpy.history import (
    ATTRIBUTES,
    CLOSE_EVENTS,
    DECISION_EVENTS,
    LINKS,
    OPTIONAL_LINKS,
    attributes,
    check_links,
    seconds,
)


@pytest.fixture(scope="module")
def shapes() -> dict[str, Any]:
    model: dict[str, Any] = Loader().load_service_model("swf", "service-2")["shapes"]
    return model


def test_every_event_type_of_the_service_and_no_other(shapes: dict[str, Any]) -> None:
    assert set(ATTRIBUTES) == set(shapes["EventType"]["enum"])
    assert len(ATTRIBUTES) == 54


def test_the_attributes_members_are_those_of_the_service(shapes: dict[str, Any]) -> None:
    assert set(ATTRIBUTES.values()) <= set(shapes["HistoryEvent"]["members"])


def test_decisions_are_those_of_the_service(shapes: dict[str, Any]) -> None:
    assert set(DECISION_EVENTS.values()) == set(shapes["DecisionType"]["enum"])
    assert set(DECISION_EVENTS) <= set(ATTRIBUTES)


def test_links_are_the_event_ids_of_the_service(shapes: dict[str, Any]) -> None:
    of_other_histories = {"parentInitiatedEventId", "externalInitiatedEventId"}
    for event_type in ATTRIBUTES:
        shape = shapes[f"{event_type}EventAttributes"]
        ids = {name for name, member in shape["members"].items() if member["shape"] == "EventId"} - of_other_histories
        assert set(LINKS.get(event_type, {})) == ids, event_type
        optional = {name for kind, name in OPTIONAL_LINKS if kind == event_type}
        assert ids - optional <= set(shape.get("required", ())), event_type
        assert all(kind in ATTRIBUTES for kinds in LINKS.get(event_type, {}).values() for kind in kinds)


def test_a_run_ends_in_six_ways() -> None:
    assert len(CLOSE_EVENTS) == 6
    assert set(ATTRIBUTES) >= CLOSE_EVENTS


def test_attributes_gives_the_dict_itself(wire: list[dict[str, Any]]) -> None:
    assert attributes(wire[4]) is wire[4]["timerStartedEventAttributes"]
    assert attributes({"eventId": 1, "eventType": "MoonLanded"}) == {}
    assert attributes({"eventType": "MoonLanded", "moonLandedEventAttributes": {"on": "moon"}}) == {"on": "moon"}


@pytest.mark.parametrize(
    "stamp",
    [
        1796026084.332,
        1796026084332,
        "2026-11-30T08:08:04.332+00:00",
        "2026-11-30T13:38:04.332+05:30",
        datetime(2026, 11, 30, 8, 8, 4, 332000, UTC),
        datetime(2026, 11, 30, 8, 8, 4, 332000, UTC).replace(tzinfo=None),
    ],
)
def test_seconds_of_any_form(stamp: Any) -> None:
    assert seconds({"eventTimestamp": stamp}) == 1796026084.332


def test_seconds_of_no_time() -> None:
    with pytest.raises(ValueError, match="a list is no time"):
        seconds({"eventTimestamp": []})


def test_links_of_a_beginning_hold(wire: list[dict[str, Any]]) -> None:
    for length in range(len(wire) + 1):
        check_links(wire[:length])


def test_unstarted_work_has_no_start(wire: list[dict[str, Any]]) -> None:
    wire[2:] = [
        {
            "eventId": 3,
            "eventType": "DecisionTaskTimedOut",
            "decisionTaskTimedOutEventAttributes": {
                "scheduledEventId": 2,
                "startedEventId": 0,
                "timeoutType": "SCHEDULE_TO_START",
            },
        }
    ]

    check_links(wire)
