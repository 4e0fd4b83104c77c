from __future__ import annotations

from datetime import timedelta

import pytest

from flowpy.declare.durations import NONE
from flowpy.declare.options import ActivityOptions, WorkflowOptions
from flowpy.declare.retry import Retry
from flowpy.errors import DeclarationError, DurationError


def test_only_what_is_set_reaches_swf_in_its_own_names():
    options = ActivityOptions(task_list="eu", task_priority=5, start_to_close_timeout="5m", heartbeat_timeout=NONE)
    assert options.attributes() == {
        "taskList": {"name": "eu"},
        "taskPriority": "5",
        "startToCloseTimeout": "300",
        "heartbeatTimeout": "NONE",
    }
    assert ActivityOptions().attributes() == {}


def test_what_flowpy_does_itself_is_no_attribute():
    options = ActivityOptions(retry=Retry(attempts=2), on_cancel="wait", activity_id="a")
    assert options.attributes() == {}
    assert WorkflowOptions(workflow_id="w", on_cancel="abandon").attributes() == {}


def test_every_option_of_a_workflow_has_its_attribute():
    options = WorkflowOptions(
        task_list="eu",
        task_priority=-1,
        execution_start_to_close_timeout=timedelta(days=1),
        task_start_to_close_timeout=NONE,
        child_policy="ABANDON",
        lambda_role="arn:aws:iam::1:role/r",
        tag_list=["a", "b"],
    )
    assert options.attributes() == {
        "taskList": {"name": "eu"},
        "taskPriority": "-1",
        "executionStartToCloseTimeout": "86400",
        "taskStartToCloseTimeout": "NONE",
        "childPolicy": "ABANDON",
        "lambdaRole": "arn:aws:iam::1:role/r",
        "tagList": ["a", "b"],
    }


def test_attributes_are_computed_once():
    options = ActivityOptions(task_list="eu")
    assert options.attributes() is options.attributes()


def test_a_registration_has_defaults_and_the_workers_task_list():
    options = ActivityOptions(
        task_priority=1,
        schedule_to_start_timeout=1,
        schedule_to_close_timeout=2,
        start_to_close_timeout=3,
        heartbeat_timeout=4,
        activity_id="a",
    )
    assert options.defaults("shop") == {
        "defaultTaskList": {"name": "shop"},
        "defaultTaskPriority": "1",
        "defaultTaskScheduleToStartTimeout": "1",
        "defaultTaskScheduleToCloseTimeout": "2",
        "defaultTaskStartToCloseTimeout": "3",
        "defaultTaskHeartbeatTimeout": "4",
    }
    assert ActivityOptions(task_list="eu").defaults("shop") == {"defaultTaskList": {"name": "eu"}}
    assert ActivityOptions().defaults() == {}


def test_a_workflow_registration_has_no_tags_because_swf_has_no_default_for_them():
    options = WorkflowOptions(
        execution_start_to_close_timeout=1,
        task_start_to_close_timeout=2,
        child_policy="REQUEST_CANCEL",
        lambda_role="r",
        tag_list=["a"],
    )
    assert options.defaults("shop") == {
        "defaultTaskList": {"name": "shop"},
        "defaultExecutionStartToCloseTimeout": "1",
        "defaultTaskStartToCloseTimeout": "2",
        "defaultChildPolicy": "REQUEST_CANCEL",
        "defaultLambdaRole": "r",
    }


def test_overriding_replaces_what_is_named_and_keeps_the_rest():
    options = ActivityOptions(task_list="eu", start_to_close_timeout=5)
    changed = options.override(start_to_close_timeout="1m", task_list=None)
    assert changed == ActivityOptions(task_list="eu", start_to_close_timeout=60)
    assert options.start_to_close_timeout == "5"


def test_options_are_values():
    assert ActivityOptions(task_list="eu") == ActivityOptions(task_list="eu")
    options = ActivityOptions(task_list="eu")
    options.attributes()
    assert options == ActivityOptions(task_list="eu")
    assert "_attributes" not in repr(options)
    with pytest.raises(AttributeError):
        options.task_list = "us"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"startToCloseTimeout": 90}, "'startToCloseTimeout'; did you mean 'start_to_close_timeout'?"),
        ({"defaultTaskList": "eu"}, "did you mean 'task_list'?"),
        ({"start_to_close": 90}, "did you mean 'start_to_close_timeout'?"),
        ({"hartbeat_timeout": 90}, "did you mean 'heartbeat_timeout'?"),
        ({"taskList": "eu"}, "did you mean 'task_list'?"),
        ({"zzz": 1}, "unknown option 'zzz'; The options are task_list, "),
    ],
)
def test_an_unknown_option_names_the_nearest(options, says):
    for make in (ActivityOptions, ActivityOptions().override):
        with pytest.raises(DeclarationError) as caught:
            make(**options)
        assert says in str(caught.value)
        assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"task_list": "a:b"}, "task_list: 'a:b' has ':'"),
        ({"task_list": {"name": "eu"}}, "give text"),
        ({"task_priority": "5"}, "task_priority: '5' is not a priority"),
        ({"task_priority": True}, "task_priority: True"),
        ({"task_priority": 2**31}, "2,147,483,647"),
        ({"start_to_close_timeout": "400d"}, "start_to_close_timeout: '400d' is over a year"),
        ({"retry": 3}, "retry: 3 is not a policy; give flowpy.Retry"),
        ({"on_cancel": "kill"}, "on_cancel: 'kill' is none of 'try', 'wait', 'abandon'"),
        ({"activity_id": "flowpy.x"}, "activity_id: 'flowpy.x'"),
    ],
)
def test_a_bad_value_is_named_by_its_option(options, says):
    with pytest.raises(DeclarationError) as caught:
        ActivityOptions(**options)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"execution_start_to_close_timeout": NONE}, 'NONE is refused; give "365d"'),
        ({"execution_start_to_close_timeout": "366d"}, "over a year"),
        ({"child_policy": "terminate"}, "child_policy: 'terminate' is none of 'TERMINATE'"),
        ({"child_policy": []}, "child_policy: [] is none of"),
        ({"lambda_role": ""}, "lambda_role: it is empty"),
        ({"lambda_role": "r" * 1601}, "at most 1600"),
        ({"tag_list": list("abcdef")}, "tag_list: 6 tags"),
        ({"workflow_id": "a/b"}, "workflow_id: 'a/b' has '/'"),
        ({"heartbeat_timeout": 5}, "unknown option 'heartbeat_timeout'"),
    ],
)
def test_a_bad_value_of_a_workflow_is_named_too(options, says):
    with pytest.raises(DeclarationError) as caught:
        WorkflowOptions(**options)
    assert says in str(caught.value)


def test_a_bad_duration_is_a_duration_error():
    with pytest.raises(DurationError):
        ActivityOptions(heartbeat_timeout=-1)
