"""docs/operating.md: the policy allows what a worker does and no more; what is named exists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from attrs import field, frozen
from click.testing import CliRunner

import flowpy
from flowpy import Client, Retry, Signal, Worker
from flowpy.cli.commands import flowpy as command
from flowpy.history.events import DECISION_EVENTS
from flowpy.local import Engine, LocalService, VirtualClock
from flowpy.worker import WorkerSettings
from flowpy.worker.supervising import ABANDONED

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
(POLICY,) = map(json.loads, re.findall(r"^```json\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
BY_STATEMENT = {each["Sid"]: {name.removeprefix("swf:") for name in each["Action"]} for each in POLICY["Statement"]}
WORKER = set().union(*BY_STATEMENT.values())
ROLES = {
    role.strip(): set(re.findall(r"`swf:(\w+)`", rest))
    for role, rest in re.findall(r"^\| ([a-z][^|]*|`flowpy verify`[^|]*) \| (.*?) \|$", TEXT, re.MULTILINE)
}


@frozen
class Recording:
    """Notes which operations are called."""

    service: LocalService
    called: set[str] = field(factory=set)

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.called.add(operation)
        return self.service.call(operation, request)


approval = Signal("approval", bool)


@flowpy.activity(retry=Retry(attempts=2, initial="1s"))
def charge(order_id: str) -> str:
    if flowpy.current_activity().attempt == 1:
        raise OSError("busy")
    flowpy.current_activity().heartbeat("half")
    return order_id


@flowpy.workflow
async def order(order_id: str) -> str:
    receipt = await charge(order_id)
    await approval.receive(timeout="3d")
    return receipt


def test_each_role_may_do_what_it_does() -> None:
    swf = LocalService(Engine(VirtualClock()), hold=0.05)
    worker, client, verifying = Recording(swf), Recording(swf), Recording(swf)
    swf.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "7"})
    of_worker, of_client = (Client("shop", each, sleep=swf.sleep, clock=swf.now) for each in (worker, client))
    settings = WorkerSettings(threads=1, activity_pollers=1)

    with Worker(of_worker, workflows=[order], activities=[charge], settings=settings), swf.attending():
        run = of_client.start(order, "o-7")
        reading = Client("shop", verifying, sleep=swf.sleep, clock=swf.now)
        verified = CliRunner().invoke(command, ["verify", __name__, "--domain", "shop"], obj=lambda _: reading)
        run.signal(approval, True)
        swf.wait_until(lambda: run.describe().status == "CLOSED")
        assert run.result() == "o-7"

    assert {"RespondDecisionTaskCompleted", "RespondActivityTaskFailed"} <= worker.called
    assert worker.called <= WORKER
    assert client.called <= ROLES["client, which starts and asks"]
    assert verified.exit_code == 0, verified.output
    assert verifying.called <= ROLES["`flowpy verify` in a pipeline"]


def test_every_decision_that_has_a_permission_is_in_the_policy() -> None:
    decisions = BY_STATEMENT["Decide"] - {"RespondDecisionTaskCompleted", "GetWorkflowExecutionHistory"}

    assert decisions == {*DECISION_EVENTS.values()} - {"ScheduleLambdaFunction"}


def test_the_exit_code_that_alarms_is_that_of_work_left_behind() -> None:
    assert f"\n| exit code {ABANDONED} of a worker | work was left behind" in TEXT


def test_what_it_counts_is_counted() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/flowpy/worker").rglob("*.py"))
    named = set(re.findall(r"`(\w+_\w+)`", TEXT.split("## Alarms")[1].split("Of SWF,")[0])) - {"polls_per_second"}

    assert named
    assert {name for name in named if not re.search(rf'"{name}"', source)} == set()
