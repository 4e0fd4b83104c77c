"""From a decision task to its answer: the pure heart of a decision worker."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final

from attrs import define, field, frozen

from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError, UnknownWorkflowType
from flowpy.history.events import Event
from flowpy.replay.divergence import Difference
from flowpy.replay.explaining import exchanged, refused_differences
from flowpy.runtime.run import Run

REMEMBERED: Final = 10_000
"""Differences that a decider remembers to have warned of."""

_log: Final = logging.getLogger("flowpy.decider")


@frozen
class DecisionTask:
    """A decision task, all pages of its history read.

    Attributes:
        workflow_id: workflowId of the execution.
        run_id: Its runId.
        workflow_type: (name, version) of its type.
        events: Its history from event 1 to the DecisionTaskStarted, as boto3 gives it.
        started_event_id: Id of the DecisionTaskStarted.
        previous_started_event_id: That of the decision task decided before, 0 if none was.
        task_token: Token to answer with.
        domain: The domain.
    """

    workflow_id: str
    run_id: str
    workflow_type: tuple[str, str]
    events: list[Event] = field(repr=False)
    started_event_id: int = 0
    previous_started_event_id: int = 0
    task_token: str = field(default="", repr=False)
    domain: str = ""


@frozen
class Answer:
    """What to send with RespondDecisionTaskCompleted.

    Attributes:
        decisions: Decisions as boto3 takes them.
        execution_context: The executionContext, or None to send none.
    """

    decisions: list[dict[str, Any]]
    execution_context: str | None = None


class Workflows:
    """Workflows by name and version.

    Raises:
        DeclarationError: Two have the same name and version, or something is no workflow.
    """

    def __init__(self, workflows: Iterable[Workflow[..., Any]]) -> None:
        self._known: dict[tuple[str, str], Workflow[..., Any]] = {}
        for one in workflows:
            if not isinstance(one, Workflow):
                raise DeclarationError(f"{one!r} is no workflow", remedy="decorate it with @flowpy.workflow")
            key = (one.name, one.version)
            if self._known.setdefault(key, one).fn is not one.fn:
                raise DeclarationError(
                    f"two workflows are called {one.name} {one.version}", remedy="give one another version"
                )

    def __iter__(self) -> Iterator[Workflow[..., Any]]:
        return iter(self._known.values())

    def find(self, name: str, version: str) -> Workflow[..., Any]:
        """The workflow of a type.

        Raises:
            UnknownWorkflowType: There is none here.
        """
        found = self._known.get((name, version))
        if found is None:
            known = ", ".join(f"{n} {v}" for n, v in sorted(self._known)) or "none"
            raise UnknownWorkflowType(
                f"no workflow {name} {version} here (known: {known}): the run is held until a worker that has it comes"
            )
        return found


def _workflows(given: Workflows | Iterable[Workflow[..., Any]]) -> Workflows:
    return given if isinstance(given, Workflows) else Workflows(given)


@define
class Decider:
    """Decides decision tasks of the workflows it knows.

    Attributes:
        workflows: The workflows.
        converter: Reads and writes payloads.
        strict: Whether harmless differences with the history (input, seconds, options) are errors.
    """

    workflows: Workflows = field(converter=_workflows)
    converter: Converter = DEFAULT
    strict: bool = False
    _said: dict[tuple[str, int, str], None] = field(factory=dict, init=False, repr=False)

    def decide(self, task: DecisionTask) -> Answer:
        """Run a task's workflow through its history and return the decisions of the open episode.

        Raises:
            RunHeld: The code here cannot decide this run (NonDeterminismError, UnknownWorkflowType, WorkflowBlocked).
            HistoryError: The history contradicts itself.
            PayloadError: The answer cannot be sent, such as a result that is too large, or a payload cannot be had.
        """
        run = self.load(task)
        try:
            return self.answer(run, task.events)
        finally:
            run.evict()

    def load(self, task: DecisionTask) -> Run:
        """The run of a task, which has seen nothing yet.

        Raises:
            UnknownWorkflowType: Its workflow is not known here.
        """
        return Run(
            self.workflows.find(*task.workflow_type),
            task.workflow_id,
            task.run_id,
            domain=task.domain,
            converter=self.converter,
        )

    def answer(self, run: Run, events: list[Event]) -> Answer:
        """Run the code of a run in memory through further events and return the decisions of the open episode.

        Args:
            run: The run, as ``load`` gave it or as an earlier call left it.
            events: Events up to the DecisionTaskStarted, following those that it has seen.

        Raises:
            FlowpyError: As ``decide``; the run is to be evicted.
        """
        run.feed(events)
        decisions, context = run.answer()
        answer = Answer(decisions, context)
        if run.execution.warnings:
            self._differences(run, events)
        return answer

    def _differences(self, run: Run, events: list[Event]) -> None:
        if self.strict:
            raise refused_differences(run.execution, events)
        told: list[Difference] = []
        for difference in run.execution.warnings:
            # Every later decision of the run replays past the same place: once is enough.
            key = (run.info.run_id, difference.event_id, difference.what)
            if key in self._said:
                continue
            self._said[key] = None
            if len(self._said) > REMEMBERED:
                self._said.pop(next(iter(self._said)), None)
            # Put into words here: a handler may do so later, where values are not hidden.
            _log.warning("%s (%s): %s", run.info.workflow_id, run.info.workflow_type, str(difference))
            told.append(difference)
        for likely in exchanged(told):
            _log.error("%s (%s): %s", run.info.workflow_id, run.info.workflow_type, likely)
        run.execution.warnings.clear()
