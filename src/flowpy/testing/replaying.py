"""``flowpy.testing.Replayer`` and ``replay``: recorded histories, in whatever shape, against the code here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import frozen

from flowpy.client.client import Client
from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError, HistoryError, NonDeterminismError, UnknownWorkflowType
from flowpy.runtime.decider import Workflows
from flowpy.runtime.replaying import Replay, replay_history
from flowpy.testing.given import number, of_kind
from flowpy.testing.sources import ExecutionHandle, each_source, named, read_source
from flowpy.testing.verifying import Selection, Verification, Verified, verify, verify_all

__all__ = ["ExecutionHandle", "Replayer", "replay"]


@frozen
class _Ids:
    workflow_id: str | None = None
    run_id: str | None = None


class Replayer:
    """Replays recorded histories against the workflows of this process; no service, no worker, no network.

    Args:
        workflows: The workflows, from which each history's type is chosen; or a single one, which every history is
            replayed with whatever its type says, as for a type that was renamed.
        strict: Whether harmless differences (input, seconds, options set) are errors too.
        converter: Reads and writes payloads; default JSON.

    Raises:
        DeclarationError: Something is no workflow, or two have the same name and version.
    """

    def __init__(
        self,
        workflows: Workflow[..., Any] | Iterable[Workflow[..., Any]],
        *,
        strict: bool = False,
        converter: Converter = DEFAULT,
    ) -> None:
        if isinstance(workflows, str) or not isinstance(workflows, Workflow | Iterable):
            raise DeclarationError(
                f"{workflows!r} is no workflow", remedy="give what @workflow made of the function, or several of them"
            )
        self._only = workflows if isinstance(workflows, Workflow) else None
        self.workflows = Workflows([workflows] if isinstance(workflows, Workflow) else workflows)
        self.strict = strict
        self.converter = of_kind(converter, Converter, "converter", "give flowpy.data.Converter(...)")

    def replay(
        self,
        source: Any,
        *,
        up_to: int | None = None,
        workflow_id: str | None = None,
        run_id: str | None = None,
        warm: bool = False,
        check: bool = True,
    ) -> Replay:
        """Run the code through one history and compare every decision.

        Args:
            source: A run (``client.run(...)``), or a path, text, parsed JSON, poll replies or pages: whatever
                ``read_history`` takes.
            up_to: An event id: the replay ends with the last decision task that was started at or before it, and
                shows the run as the code left it then, its recorded answers compared. A decision task that timed out,
                was held or never answered does not count; one that recorded more markers than go into one answer
                counts with those that record the rest. Before the first one nothing has run. Default: all.
            workflow_id: workflowId of the run: ids of children come from it; default what the source says.
            run_id: Its runId: ids of children, uuid4, random and back-offs come from it; default what the source says.
            warm: Keep one run alive through all decision tasks, as a worker's cache does, instead of replaying all.
            check: Whether a replay that does not come to its end raises; False gives what it showed until then, with
                its ``error`` and ``divergence``.

        Returns:
            What the code decided in each episode, and where it stands at the end: state, queries, pending promises.

        Raises:
            NonDeterminismError: The code does not match the history.
            HistoryError: The source is no history, contradicts itself, or has no event ``up_to``.
            UnknownWorkflowType: None of the workflows is of the history's type.
            DeclarationError: ``up_to`` is no event id.
        """
        _check_up_to(up_to)
        if check:
            return self._replay(source, _Ids(workflow_id, run_id), up_to, warm).check()
        return self._caught(source, _Ids(workflow_id, run_id), up_to, warm)

    def replay_all(self, sources: Any, *, client: Client | None = None, up_to: int | None = None) -> Iterator[Replay]:
        """Run the code through many histories, one after another, as they are asked for.

        Nothing raises but the iterator given: a history that cannot be read or replayed has its ``error``, and the
        next one follows. Only one history is in memory at a time, unless you keep the results.

        Args:
            sources: A folder, whose files ending in ``.json`` are taken, those of its folders too, by name; or an
                iterable of what ``replay`` takes: paths, runs, pages. Executions that ``client.list_open`` and
                ``client.list_closed`` give are taken with ``client``, which reads their histories.
            client: Reads the histories of listed executions.
            up_to: As in ``replay``, for each of them.

        Yields:
            A replay for each, in their order.

        Raises:
            HistoryError: The folder has no such file, or does not exist.
            DeclarationError: The sources are neither, ``client`` is no client, or ``up_to`` no event id.
        """
        _check_up_to(up_to)
        for source in each_source(sources, client):
            yield self._caught(source, _Ids(), up_to, False)

    def verify(
        self,
        client: Client,
        selection: Selection | None = None,
        *,
        calls_per_second: float = 5,
        progress: Callable[[Verified], object] | None = None,
    ) -> Verification:
        """Replay the executions of a client's domain and say which the code here would not go on with, and where.

        Only reads (List…WorkflowExecutions, GetWorkflowExecutionHistory, DescribeWorkflowExecution): any other
        operation is refused before it is sent. A run that continues as new meanwhile is followed, one that ends is
        replayed as it ended, one that vanishes is ``gone``. Histories are read one after another; an execution costs
        one call for each 1,000 of its events.

        Args:
            client: Its service, domain and waiting are used.
            selection: Which executions; default all that are open.
            calls_per_second: At most that many calls a second, so that workers keep their share of SWF's limits.
            progress: Called with each execution when it is done.

        Returns:
            Counts by type, findings, a text table (``str``), ``to_json()``; ``ok`` for an exit code.

        Raises:
            UnknownResource: There is no such domain.
            DeclarationError: The selection is none, or the rate.
            ServiceError: The executions could not be listed to the end.
        """
        chosen = Selection() if selection is None else of_kind(selection, Selection, "selection", "give Selection(...)")
        of_kind(client, Client, "client", "give flowpy.Client(domain, ...)")
        return verify(self, client, chosen, calls_per_second=calls_per_second, progress=progress)

    def verify_all(self, sources: Any, *, progress: Callable[[Verified], object] | None = None) -> Verification:
        """Replay recorded histories and say which the code here would not go on with: ``verify`` without a domain.

        Args:
            sources: As ``replay_all`` takes them.
            progress: Called with each history when it is done.

        Returns:
            What ``verify`` gives, its ``domain`` empty.

        Raises:
            HistoryError: The folder has no history, or does not exist.
        """
        return verify_all(self, sources, progress=progress)

    def _caught(self, source: Any, ids: _Ids, up_to: int | None, warm: bool) -> Replay:
        try:
            return self._replay(source, ids, up_to, warm)
        except Exception as error:
            # Of a corpus, or of a domain in production, the one bad history must not hide the others.
            known = source if isinstance(source, ExecutionHandle) else ids
            return Replay(known.workflow_id or "", known.run_id or "", source=named(source), error=error)

    def _replay(self, source: Any, ids: _Ids, up_to: int | None, warm: bool) -> Replay:
        history = read_source(source, ids.workflow_id, ids.run_id)
        if up_to is not None and not 1 <= up_to <= len(history.events):
            message = f"{named(source)} has no event {up_to}: its events are 1 to {len(history.events)}"
            raise HistoryError(message, event_id=up_to)
        try:
            workflow = self._only or self.workflows.find(*history.workflow_type)
        except UnknownWorkflowType as error:
            closed = None if history.close_event is None else history.close_event["eventType"]
            known_ids = (history.workflow_id or "", history.run_id or "")
            return Replay(*known_ids, history.workflow_type, named(source), closed=closed, error=error)
        known = bool(history.workflow_id and history.run_id)
        replayed = replay_history(
            workflow,
            history.events,
            history.workflow_id or "workflow",
            history.run_id or "run",
            up_to=up_to,
            warm=warm,
            strict=self.strict,
            converter=self.converter,
        )
        replayed.source, replayed.workflow_type = named(source), history.workflow_type
        replayed.workflow_id, replayed.run_id = history.workflow_id or "", history.run_id or ""
        if isinstance(replayed.error, NonDeterminismError) and not known:
            replayed.error.add_note(
                "the source does not say whose history it is, so ids of children, uuid4, random, back-offs were "
                "made up from 'workflow' and 'run'; if one of these differs, give replay(workflow_id=..., run_id=...)"
            )
        return replayed


def _check_up_to(up_to: Any) -> None:
    if up_to is not None:
        number(up_to, "up_to", "event id", least=None)


def replay(
    workflow: Workflow[..., Any] | Iterable[Workflow[..., Any]],
    source: Any,
    *,
    workflow_id: str | None = None,
    run_id: str | None = None,
    warm: bool = False,
    strict: bool = False,
    converter: Converter = DEFAULT,
) -> Replay:
    """Run a workflow's code through a recorded history: ``Replayer(workflow, strict=strict).replay(source)``.

    Args:
        workflow: The workflow, or several from which the history's type is chosen.
        source: A run (``client.run(...)``), or a path, text, parsed JSON, poll replies or pages: whatever
            ``read_history`` takes.
        workflow_id: workflowId of the run: ids of children come from it; default what the source says.
        run_id: Its runId: ids of children, uuid4, random and back-offs come from it; default what the source says.
        strict: Whether harmless differences (input, seconds, options set) are errors too.
        warm: Keep one run alive through all decision tasks instead of replaying the whole.
        converter: Reads and writes payloads; default JSON.

    Returns:
        What the code decided in each episode; ``.decisions`` is what a worker would send now.

    Raises:
        NonDeterminismError: The code does not match the history.
        HistoryError: The source is no history, or contradicts itself.
        UnknownWorkflowType: None of the workflows is of the history's type.
    """
    replayer = Replayer(workflow, strict=strict, converter=converter)
    return replayer.replay(source, workflow_id=workflow_id, run_id=run_id, warm=warm)
