"""What workflow code may know: the run's clock, its random numbers and ids, its logger, and itself."""

from __future__ import annotations

import datetime as dt
import random as random_module
import uuid
from typing import Any, cast

from attrs import frozen

from flowpy.declare.calling import current
from flowpy.runtime.ids import UUID, numbered_uuid, task_random
from flowpy.runtime.running import current_run


@frozen
class RunInfo:
    """What is known of a run.

    Attributes:
        workflow_id: Its workflowId.
        run_id: Its runId.
        workflow_type: Name of its type.
        workflow_version: Version of its type.
        domain: Its domain, "" in a replay without one.
        task_list: The task list it was started on.
        tag_list: Its tags.
        started_at: Time of its WorkflowExecutionStarted event, UTC.
        parent_workflow_id: The parent's workflowId, or None.
        parent_run_id: The parent's runId, or None.
        continued_run_id: The run this one continues, or None.
        execution_start_to_close_timeout: As recorded: seconds as text, or None.
        task_start_to_close_timeout: As recorded: seconds as text, or None.
        cancel_requests: How many times the run was asked to cancel so far.
        undecodable_signals: How many signals a handler was to get and could not, because they were not of its type.
        history_length: Id of the newest event the code has seen.
        continue_as_new_suggested: Whether the history is longer than SWF's advice of 10,000 events.
    """

    workflow_id: str
    run_id: str
    workflow_type: str
    workflow_version: str
    domain: str = ""
    task_list: str = ""
    tag_list: tuple[str, ...] = ()
    started_at: dt.datetime | None = None
    parent_workflow_id: str | None = None
    parent_run_id: str | None = None
    continued_run_id: str | None = None
    execution_start_to_close_timeout: str | None = None
    task_start_to_close_timeout: str | None = None
    cancel_requests: int = 0
    undecodable_signals: int = 0
    history_length: int = 0

    @property
    def continue_as_new_suggested(self) -> bool:
        """Whether it is time to continue as new: beyond 25,000 events SWF terminates the run."""
        return self.history_length > 10_000


def info() -> RunInfo:
    """What is known of the run that is executing, as far as its code has seen the history.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
    """
    return current_run("flowpy.info", "use client.run(workflow_id).describe()").current_info()


def now() -> dt.datetime:
    """The run's clock: the time of the accepted DecisionTaskStarted event, UTC, the same in every replay.

    It stands still while the code runs, and moves on with the next decision task.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
    """
    clock = current_run("flowpy.now", "use datetime.datetime.now(datetime.UTC)").clock
    return dt.datetime.fromtimestamp(clock, dt.UTC)


def random() -> random_module.Random:
    """The random numbers of the task that is running, seeded from the run and the task's path.

    Promised to stay the same: random, randint, randrange, choice, choices, shuffle, sample, uniform, getrandbits.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        NotInTask: No task is running: a callback or a finalizer.
    """
    run = current_run("flowpy.random", "use random.Random()")
    task = run.task_here("flowpy.random")
    generator = run.generators.get(task.path)
    if generator is None:
        generator = run.generators[task.path] = task_random(run.info.run_id, task.path)
    return generator


def uuid4() -> uuid.UUID:
    """A UUID that is the same in every replay: good as an idempotency key for activities.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        NotInTask: No task is running: a callback or a finalizer.
    """
    run = current_run("flowpy.uuid4", "use uuid.uuid4()")
    task = run.task_here("flowpy.uuid4")
    return numbered_uuid(run.info.run_id, task.path, task.take(UUID))


def is_replaying() -> bool:
    """Whether an episode that is decided already is being re-run; False outside workflow code."""
    run = current.get()
    return False if run is None else bool(cast("Any", run).replaying)


def set_state(state: Any) -> None:
    """Publish the state of the run: goes into the executionContext, read by ``describe`` without a worker.

    Args:
        state: A value with a JSON form; at most 32,768 characters with all around it.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        PayloadError: It has no JSON form or is too large.
    """
    current_run("flowpy.set_state", "it is for workflow code").set_state(state)
