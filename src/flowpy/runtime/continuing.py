"""``flowpy.continue_as_new``: the run ends and a new one goes on with a fresh history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from attrs import define, field

from flowpy.data.arguments import check_arguments, encode_arguments, input_with_signals
from flowpy.declare.names import check_version
from flowpy.declare.options import WorkflowOptions
from flowpy.errors import CallError, ContinueAsNew
from flowpy.runtime.running import current_run
from flowpy.runtime.values import settled

if TYPE_CHECKING:
    from flowpy.runtime.run import Run

_KEPT = (
    "executionStartToCloseTimeout",
    "taskStartToCloseTimeout",
    "childPolicy",
    "taskList",
    "taskPriority",
    "tagList",
    "lambdaRole",
)
"""What SWF would take from the type's defaults, and what is sent again instead."""


@define
class Continuation:
    """What the new run is started with; encoded when the decision is built."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    overrides: dict[str, Any] = field(factory=dict)
    version: str | None = None

    async def settle(self, run: Run) -> None:
        """Wait for the promises among the arguments."""
        self.args, self.kwargs = await settled(run.loop, (self.args, self.kwargs))

    def attributes(self, run: Run) -> dict[str, Any]:
        """The attributes of ContinueAsNewWorkflowExecution, signals nobody received carried along."""
        text = encode_arguments(run.workflow.signature, self.args, self.kwargs, run.converter)
        carried = [{"name": r.name, "input": r.raw} for r in run.signals.unreceived()]
        made = {key: run.started[key] for key in _KEPT if run.started.get(key) is not None}
        made.update(self.overrides)
        if self.version is not None:
            made["workflowTypeVersion"] = self.version
        full = input_with_signals(text, carried, run.converter) or ""
        what = f"input of the continued run with {len(carried)} signals carried"
        made["input"] = check_arguments(full, run.workflow.signature, run.converter, what)
        return made


class ContinueAsNewCall:
    """The type of ``flowpy.continue_as_new``."""

    def __init__(self, overrides: dict[str, Any] | None = None, version: str | None = None) -> None:
        self._overrides = overrides or {}
        self._version = version

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """End this run and go on in a new one of the same workflowId and type.

        It raises, and is a way out of the function like a return: what was spawned is waited for, and signals that
        nobody received go with it. Call it in the main task only. Options that the run was started with are kept
        (decision ContinueAsNewWorkflowExecution); ``continue_as_new.options(...)(...)`` gives others.

        Args:
            *args: Arguments of the workflow function for the new run; promises among them are waited for.
            **kwargs: The same, by name.

        Raises:
            OutsideWorkflow: No workflow code is executing here.
            CallError: It was called in a spawned task or a handler.
            TypeError: The arguments do not fit the workflow function.
        """
        run = current_run("flowpy.continue_as_new", "start the workflow again instead")
        if run.task_here("flowpy.continue_as_new") is not run.main:
            raise CallError(
                "flowpy.continue_as_new was called in a spawned task or a handler: only the workflow function itself "
                "can end the run; set a flag or an asyncio.Event and let it call this"
            )
        run.workflow.signature.bind(args, kwargs)
        raise ContinueAsNew(Continuation(args, kwargs, self._overrides, self._version))

    def options(self, *, version: str | None = None, **options: Any) -> ContinueAsNewCall:
        """The same with other options than this run was started with.

        Args:
            version: Version of the workflow type of the new run; default that of this run's type.
            **options: Fields of WorkflowOptions, such as ``task_list`` and ``execution_start_to_close_timeout``.

        Raises:
            DeclarationError: An option is unknown or refused.
        """
        checked = WorkflowOptions().override(**options)
        if version is not None:
            check_version(version)
        return ContinueAsNewCall({**self._overrides, **checked.attributes()}, version or self._version)


continue_as_new = ContinueAsNewCall()
"""Ends this run and goes on in a new one; see ``ContinueAsNewCall.__call__``."""
