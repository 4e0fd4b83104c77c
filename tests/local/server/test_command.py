"""``python -m flowpy.local``."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.local.shop import DECIDERS

from flowpy.local import check_history

SOURCE = Path(__file__).parents[3] / "src"
Command = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def command() -> Iterator[Command]:
    """Starts the command; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, before: Sequence[str] = ()) -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONPATH": str(SOURCE)}
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "flowpy.local", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"Amazon SWF is at (\S+) \((.+)\); use it with: export AWS_ENDPOINT_URL_SWF=\1\n", line)
    assert found, line + (process.stderr.read() if process.stderr else "")
    return found[1]


def test_one_line_says_where_it_is_and_how_to_use_it(command: Command, new_wire: Any) -> None:
    url = url_of(command("--port", "0"))

    assert url.startswith("http://127.0.0.1:")
    assert new_wire(url).call("ListDomains", registrationStatus="REGISTERED") == {"domainInfos": []}


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_a_database_outlives_the_process_and_time_goes_on_meanwhile(
    command: Command, new_wire: Any, tmp_path: Path, ending: signal.Signals
) -> None:
    """In two regions, each of which has a file of its own."""
    kept = ["--port", "0", "--db", str(tmp_path / "swf.sqlite")]
    first = command(*kept)
    url = url_of(first)
    here, there = new_wire(url), new_wire(url, region="eu-west-1")
    runs = []
    for wire in (here, there):
        wire.register()
        runs.append(wire.start())
        task = wire.call("PollForDecisionTask", **DECIDERS)
        timer = {"timerId": "t", "startToFireTimeout": "1"}
        decision = {"decisionType": "StartTimer", "startTimerDecisionAttributes": timer}
        wire.call("RespondDecisionTaskCompleted", taskToken=task["taskToken"], decisions=[decision])
    first.send_signal(ending)
    first.wait(20)

    url = url_of(command(*kept))
    for wire, run_id in zip((new_wire(url), new_wire(url, region="eu-west-1")), runs, strict=True):
        task = wire.call("PollForDecisionTask", **DECIDERS)
        assert task["workflowExecution"]["runId"] == run_id
        assert "TimerFired" in [event["eventType"] for event in task["events"]]
        check_history(task["events"])
    assert sorted(file.name for file in tmp_path.glob("*.sqlite")) == ["swf.eu-west-1.sqlite", "swf.sqlite"]


# A script's shell starts what it puts behind an & with SIGINT ignored, and nohup and others do so with other signals.
BEHIND_AN_AMPERSAND = ("sh", "-c", """trap '' INT TERM; exec "$0" "$@" """)


@pytest.mark.parametrize("before", [(), BEHIND_AN_AMPERSAND], ids=["", "ignoring"])
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_polls_that_wait_are_answered_when_it_is_told_to_stop(
    command: Command, new_wire: Any, read: Any, ending: signal.Signals, before: Sequence[str]
) -> None:
    process = command("--port", "0", "--hold", "60", before=before)
    wire = new_wire(url_of(process))
    wire.register()
    poll = wire.open_poll()
    # On the same event loop, after the poll.
    wire.call("ListDomains", registrationStatus="REGISTERED")

    process.send_signal(ending)

    assert read(poll).json == {"previousStartedEventId": 0, "startedEventId": 0}
    assert process.wait(20) == {signal.SIGTERM: 0, signal.SIGINT: 130}[ending]


def test_hold_is_how_long_a_poll_waits(command: Command, new_wire: Any) -> None:
    wire = new_wire(url_of(command("--port", "0", "--hold", "0")))
    wire.register()

    assert wire.call("PollForActivityTask", **DECIDERS) == {"startedEventId": 0}


def test_region_is_that_of_unsigned_requests(command: Command, new_wire: Any) -> None:
    wire = new_wire(url_of(command("--port", "0", "--region", "ap-south-1")), region="ap-south-1")
    wire.register()

    answer = wire.send(b'{"name":"shop"}', x_amz_target="SimpleWorkflowService.DescribeDomain")

    assert ":ap-south-1:" in answer.json["domainInfo"]["arn"]


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["--port", "{taken}"], 1, "127.0.0.1:{taken}: Address already in use; is another one running"),
        (["--db", "{folder}/nowhere/swf.sqlite"], 1, "nowhere"),
        (["--hold", "-1"], 2, "--hold"),
        (["--hold", "nan"], 2, "--hold"),
        (["--port", "many"], 2, "--port"),
    ],
)
def test_what_cannot_be_is_one_line_on_stderr(
    command: Command, tmp_path: Path, arguments: list[str], status: int, complaint: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        names = {"taken": taken.getsockname()[1], "folder": tmp_path}
        process = command(*(argument.format(**names) for argument in arguments))
        _, said = process.communicate(timeout=20)

    assert process.returncode == status
    assert complaint.format(**names) in said.splitlines()[-1]
    assert "Traceback" not in said


def test_two_servers_do_not_share_a_database(command: Command, tmp_path: Path) -> None:
    kept = ["--port", "0", "--db", str(tmp_path / "swf.sqlite")]
    url_of(command(*kept))

    _, said = (second := command(*kept)).communicate(timeout=30)

    assert second.returncode == 1
    assert "another engine has it open" in said
