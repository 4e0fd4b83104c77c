"""Other people's clients, unchanged: boto3, the AWS CLI and the JavaScript SDK bring an order from start to history."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.local.shop import CHARGE, DECIDERS, ORDER, WORKERS, register

from flowpy.local import client
from flowpy.local.engine import Engine

HISTORY = [
    "WorkflowExecutionStarted",
    "DecisionTaskScheduled",
    "DecisionTaskStarted",
    "DecisionTaskCompleted",
    "ActivityTaskScheduled",
    "ActivityTaskStarted",
    "ActivityTaskCompleted",
    "DecisionTaskScheduled",
    "WorkflowExecutionSignaled",
    "DecisionTaskStarted",
    "DecisionTaskCompleted",
    "WorkflowExecutionCompleted",
]
"""What every client has done at the end."""

SCHEDULE = {
    "decisionType": "ScheduleActivityTask",
    "scheduleActivityTaskDecisionAttributes": {"activityId": "a", "activityType": CHARGE, "input": "42"},
}
COMPLETE = {
    "decisionType": "CompleteWorkflowExecution",
    "completeWorkflowExecutionDecisionAttributes": {"result": "done"},
}
NPM_PACKAGE = "@aws-sdk/client-swf@3"

ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHONPATH", "COVERAGE"))
} | {
    "AWS_ACCESS_KEY_ID": "AKID",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_PAGER": "",
}


# --- boto3 ----------------------------------------------------------------------------------


@pytest.fixture(params=["over HTTP", "in process"])
def swf(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A boto3 client."""
    if request.param == "in process":
        yield client(Engine())
        return
    made = boto3.session.Session().client(
        "swf",
        endpoint_url=request.getfixturevalue("server").url,
        region_name="eu-west-1",
        aws_access_key_id="AKID",
        aws_secret_access_key="secret",
    )
    yield made
    made.close()


def test_boto3(swf: Any) -> None:
    register(swf)
    run_id = swf.start_workflow_execution(domain="shop", workflowId="o-7", workflowType=ORDER, input="42")["runId"]
    first = swf.poll_for_decision_task(**DECIDERS)
    swf.respond_decision_task_completed(taskToken=first["taskToken"], decisions=[SCHEDULE])
    task = swf.poll_for_activity_task(**WORKERS)
    swf.respond_activity_task_completed(taskToken=task["taskToken"], result="r-1")
    swf.signal_workflow_execution(domain="shop", workflowId="o-7", signalName="go")
    second = swf.poll_for_decision_task(**DECIDERS)
    swf.respond_decision_task_completed(taskToken=second["taskToken"], decisions=[COMPLETE])

    started = first["events"][0]["eventTimestamp"]
    closed = swf.list_closed_workflow_executions(
        domain="shop", startTimeFilter={"oldestDate": started.timestamp() - 60}
    )
    pages = swf.get_paginator("get_workflow_execution_history").paginate(
        domain="shop",
        execution={"workflowId": "o-7", "runId": run_id},
        PaginationConfig={"PageSize": 5},
    )
    assert started.utcoffset() is not None
    assert [info["execution"]["runId"] for info in closed["executionInfos"]] == [run_id]
    assert [event["eventType"] for page in pages for event in page["events"]] == HISTORY


def test_boto3_knows_the_faults_by_their_classes(swf: Any) -> None:
    register(swf)

    with pytest.raises(swf.exceptions.UnknownResourceFault, match="Unknown domain: nowhere"):
        swf.describe_domain(name="nowhere")
    with pytest.raises(swf.exceptions.DomainAlreadyExistsFault) as caught:
        swf.register_domain(name="shop", workflowExecutionRetentionPeriodInDays="7")
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert caught.value.response["ResponseMetadata"]["RequestId"]


# --- the AWS CLI ----------------------------------------------------------------------------


COMMAND_LINES = """
import contextlib, io, json, sys
from awscli.clidriver import create_clidriver

for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = create_clidriver().main(json.loads(line))
    print(json.dumps([status, out.getvalue(), err.getvalue()]), flush=True)
"""
"""Runs one command line after the other in one process: the CLI takes a second to start, and there are many."""


@pytest.fixture
def cli() -> Iterator[subprocess.Popen[str]]:
    if importlib.util.find_spec("awscli") is None:
        pytest.skip("the AWS CLI is not installed: pip install awscli")
    command = [sys.executable, "-c", COMMAND_LINES]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def test_the_aws_cli(server: Any, cli: subprocess.Popen[str]) -> None:
    def aws(operation: str, *arguments: str, domain: str | None = "shop") -> Any:
        where = ["--domain", domain] if domain else []
        line = ["--endpoint-url", server.url, "--output", "json", "swf", operation, *where, *arguments]
        assert cli.stdin is not None
        assert cli.stdout is not None
        cli.stdin.write(json.dumps(line) + "\n")
        cli.stdin.flush()
        status, out, err = json.loads(cli.stdout.readline())
        assert status == 0, err
        return json.loads(out) if out.strip() else {}

    order, deciders, workers = "name=order,version=1", ["--task-list", "name=deciders"], ["--task-list", "name=workers"]
    defaults = {"default-task-list": "name=deciders", "default-child-policy": "TERMINATE"} | {
        "default-task-start-to-close-timeout": "30",
        "default-execution-start-to-close-timeout": "3600",
    }
    aws("register-domain", "--name", "shop", "--workflow-execution-retention-period-in-days", "7", domain=None)
    options = [word for name, value in defaults.items() for word in (f"--{name}", value)]
    aws("register-workflow-type", "--name", "order", "--workflow-version", "1", *options)
    timeouts = ("heartbeat", "schedule-to-start", "schedule-to-close", "start-to-close")
    options = [word for name in timeouts for word in (f"--default-task-{name}-timeout", "NONE")]
    options += ["--default-task-list", "name=workers"]
    aws("register-activity-type", "--name", "charge", "--activity-version", "1", *options)
    run_id = aws("start-workflow-execution", "--workflow-id", "o-7", "--workflow-type", order, "--input", "42")["runId"]
    first = aws("poll-for-decision-task", *deciders)
    token = ["--task-token", first["taskToken"], "--decisions", json.dumps([SCHEDULE])]
    aws("respond-decision-task-completed", *token, domain=None)
    task = aws("poll-for-activity-task", *workers)
    aws("respond-activity-task-completed", "--task-token", task["taskToken"], "--result", "r-1", domain=None)
    aws("signal-workflow-execution", "--workflow-id", "o-7", "--signal-name", "go")
    second = aws("poll-for-decision-task", *deciders)
    token = ["--task-token", second["taskToken"], "--decisions", json.dumps([COMPLETE])]
    aws("respond-decision-task-completed", *token, domain=None)

    closed = aws("list-closed-workflow-executions", "--start-time-filter", "oldestDate=1500000000")
    history = aws("get-workflow-execution-history", "--execution", f"workflowId=o-7,runId={run_id}")
    assert [info["closeStatus"] for info in closed["executionInfos"]] == ["COMPLETED"]
    assert [event["eventType"] for event in history["events"]] == HISTORY


# --- the JavaScript SDK ---------------------------------------------------------------------


@pytest.fixture(scope="session")
def javascript(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript SDK, kept from one run of the tests to the next if pytest keeps anything."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    # With -p no:cacheprovider there is not even the attribute.
    cache = getattr(request.config, "cache", None)
    folder = tmp_path_factory.mktemp("javascript-sdk") if cache is None else cache.mkdir("javascript-sdk")
    if not (folder / "installed").exists():
        (folder / "package.json").write_text('{"private": true}')
        command = [str(shutil.which("npm")), "install", "--silent", "--no-audit", "--no-fund", NPM_PACKAGE]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0:
            pytest.skip(f"npm cannot install {NPM_PACKAGE}: {done.stderr.strip()[-300:]}")
        (folder / "installed").touch()
    shutil.copy(Path(__file__).with_name("scenario.mjs"), folder)
    return folder


def test_the_javascript_sdk(server: Any, javascript: Path) -> None:
    done = subprocess.run(
        [str(shutil.which("node")), "scenario.mjs", server.url],
        cwd=javascript,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == HISTORY
