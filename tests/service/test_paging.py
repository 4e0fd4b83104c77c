from __future__ import annotations

import pytest

from flowpy import errors
from flowpy.service.faults import fault
from flowpy.service.paging import PagesLost, decision_task, history, newest, pages

NEVER_GIVE_UP = lambda seconds: False  # noqa: E731


def events(first, last):
    return [{"eventId": n, "eventType": "MarkerRecorded"} for n in range(first, last + 1)]


def task(first, last, **members):
    return {
        "taskToken": "token",
        "startedEventId": 6,
        "previousStartedEventId": 3,
        "workflowExecution": {"workflowId": "order-7", "runId": "run-1"},
        "workflowType": {"name": "order", "version": "1.0"},
        "events": events(first, last),
        **members,
    }


class Scripted:
    """Gives prepared replies, in order, and remembers what it was asked."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    def call(self, operation, request):
        self.asked.append((operation, request))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def poll(service, **options):
    return decision_task(service, "shop", "main", "me", pause=options.pop("pause", NEVER_GIVE_UP), **options)


@pytest.mark.parametrize(
    "reply", [{}, {"taskToken": None}, {"taskToken": ""}, {"startedEventId": 0, "previousStartedEventId": 0}]
)
def test_no_task_token_is_an_empty_poll(reply):
    assert poll(Scripted(reply)) is None


def test_all_pages_are_read_from_the_poll_itself_with_unchanged_arguments():
    service = Scripted(task(1, 2, nextPageToken="p2"), task(3, 4, nextPageToken="p3"), task(5, 6))
    polled = poll(service, page_size=2)
    assert [event["eventId"] for event in polled.events] == [1, 2, 3, 4, 5, 6]
    assert (polled.workflow_id, polled.run_id, polled.workflow_type) == ("order-7", "run-1", ("order", "1.0"))
    assert (polled.started_event_id, polled.previous_started_event_id, polled.task_token) == (6, 3, "token")
    first = {"domain": "shop", "taskList": {"name": "main"}, "identity": "me", "maximumPageSize": 2}
    assert service.asked == [
        ("PollForDecisionTask", first),
        ("PollForDecisionTask", {**first, "nextPageToken": "p2"}),
        ("PollForDecisionTask", {**first, "nextPageToken": "p3"}),
    ]


TOO_OLD = fault("ValidationException", "Specified token has exceeded its maximum lifetime", "PollForDecisionTask")


def test_after_an_expired_page_token_the_history_is_read_from_its_start():
    service = Scripted(
        task(1, 3, nextPageToken="p2"),
        TOO_OLD,
        {"events": events(1, 4), "nextPageToken": "h2"},
        # What came after the decision task was started is not of this task.
        {"events": events(5, 8)},
    )
    polled = poll(service)
    assert [event["eventId"] for event in polled.events] == [1, 2, 3, 4, 5, 6]
    assert polled.is_whole
    assert [operation for operation, _ in service.asked[2:]] == ["GetWorkflowExecutionHistory"] * 2


def test_a_history_whose_pages_expire_is_begun_again_some_times():
    half = {"events": events(1, 3), "nextPageToken": "h2"}
    assert poll(Scripted(task(1, 3, nextPageToken="p2"), TOO_OLD, half, TOO_OLD, {"events": events(1, 6)})).is_whole
    with pytest.raises(PagesLost, match=r"order-7.*maximum lifetime"):
        poll(Scripted(task(1, 3, nextPageToken="p2"), TOO_OLD, *[half, TOO_OLD] * 3))


def test_the_first_page_is_enough_for_a_run_that_is_not_decided():
    service = Scripted(task(1, 3, nextPageToken="p2"))
    polled = poll(service, first_page_only=lambda run_id: run_id == "run-1")
    assert len(polled.events) == 3
    assert not polled.is_whole


def test_the_newest_events_are_read_from_the_end():
    polled = poll(Scripted(task(1, 3)), first_page_only=lambda _: True)
    service = Scripted({"events": events(4, 9)[::-1], "nextPageToken": "h2"})
    newer = newest(service, polled, 4, pause=NEVER_GIVE_UP)
    assert [event["eventId"] for event in newer] == [5, 6]
    assert newest(Scripted({"events": events(6, 6), "nextPageToken": "h2"}), polled, 4, pause=NEVER_GIVE_UP) is None


def test_a_page_is_asked_for_again_after_throttling_and_lost_connections():
    service = Scripted(
        task(1, 3, nextPageToken="p2"),
        fault("ThrottlingException", "Rate exceeded", "PollForDecisionTask"),
        fault("EndpointConnectionError", "", "PollForDecisionTask", status=503),
        task(4, 6),
    )
    assert len(poll(service).events) == 6


def test_a_worker_that_gives_up_loses_the_task():
    throttled = fault("ThrottlingException", "Rate exceeded", "PollForDecisionTask")
    with pytest.raises(PagesLost):
        poll(Scripted(task(1, 3, nextPageToken="p2"), throttled), pause=lambda _: True)


def test_an_empty_page_is_not_taken_for_the_end():
    assert poll(Scripted(task(1, 3, nextPageToken="p2"), {}, {"events": events(1, 6)})).is_whole


def test_a_history_with_a_hole_is_not_decided():
    with pytest.raises(PagesLost, match="has 4 events, not 6"):
        poll(Scripted(task(1, 4)))


def test_a_refused_poll_is_not_a_lost_page():
    with pytest.raises(errors.AccessDenied):
        poll(Scripted(fault("AccessDeniedException", "no", "PollForDecisionTask")))


def test_a_history_is_read_to_its_end():
    service = Scripted({"events": events(1, 2), "nextPageToken": "p2"}, {"events": events(3, 3)})
    assert [event["eventId"] for event in history(service, "shop", "order-7", "run-1")] == [1, 2, 3]
    assert service.asked[1][1]["nextPageToken"] == "p2"


def test_listings_are_read_to_their_end_also_with_empty_pages():
    service = Scripted({"nextPageToken": "p2"}, {"typeInfos": [1], "nextPageToken": "p3"}, {"typeInfos": []})
    assert list(pages(service, "ListActivityTypes", {"domain": "d"}, "typeInfos")) == [1]
