"""A small run as SWF returns it over the wire, for every test of this package to bend."""

from __future__ import annotations

import json
from typing import Any

import pytest

_WIRE = """
[{"eventId": 1, "eventTimestamp": 1796026084.332, "eventType": "WorkflowExecutionStarted",
  "workflowExecutionStartedEventAttributes": {
    "childPolicy": "TERMINATE", "executionStartToCloseTimeout": "3600", "parentInitiatedEventId": 0,
    "input": "[\\"o-7\\"]", "taskList": {"name": "shop"}, "taskStartToCloseTimeout": "30",
    "workflowType": {"name": "order", "version": "1.0"}}},
 {"eventId": 2, "eventTimestamp": 1796026084.332, "eventType": "DecisionTaskScheduled",
  "decisionTaskScheduledEventAttributes": {"startToCloseTimeout": "30", "taskList": {"name": "shop"}}},
 {"eventId": 3, "eventTimestamp": 1796026084.5, "eventType": "DecisionTaskStarted",
  "decisionTaskStartedEventAttributes": {"scheduledEventId": 2}},
 {"eventId": 4, "eventTimestamp": 1796026085, "eventType": "DecisionTaskCompleted",
  "decisionTaskCompletedEventAttributes": {"scheduledEventId": 2, "startedEventId": 3}},
 {"eventId": 5, "eventTimestamp": 1796026085, "eventType": "TimerStarted",
  "timerStartedEventAttributes": {
    "decisionTaskCompletedEventId": 4, "startToFireTimeout": "60", "timerId": "timer-1"}},
 {"eventId": 6, "eventTimestamp": 1796026145.001, "eventType": "TimerFired",
  "timerFiredEventAttributes": {"startedEventId": 5, "timerId": "timer-1"}},
 {"eventId": 7, "eventTimestamp": 1796026145.001, "eventType": "DecisionTaskScheduled",
  "decisionTaskScheduledEventAttributes": {"startToCloseTimeout": "30", "taskList": {"name": "shop"}}}]
"""


@pytest.fixture
def wire() -> list[dict[str, Any]]:
    """Seven events with float timestamps, fresh for each test."""
    events: list[dict[str, Any]] = json.loads(_WIRE)
    return events
