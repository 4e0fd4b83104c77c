"""The client: starts workflows and gives handles on their runs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Self, TypeVar, overload

from flowpy.client.description import Description
from flowpy.client.filters import Filters, Tags, Type
from flowpy.client.run import Run
from flowpy.client.task import ActivityTask
from flowpy.data.arguments import check_arguments, encode_arguments
from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.limits import DATA, IDENTIFIER
from flowpy.data.sealing import seal_fields
from flowpy.declare.activity import Activity
from flowpy.declare.names import check_id, check_text
from flowpy.declare.options import WorkflowOptions
from flowpy.declare.workflow import Workflow
from flowpy.errors import AlreadyExists, DeclarationError, UnknownResource
from flowpy.interceptors import ClientCall, Interceptor, Proceed, chosen, nested
from flowpy.service.boto import BotoService
from flowpy.service.paging import pages
from flowpy.service.protocol import WRAP, Service
from flowpy.service.retrying import Backoff, persist, retry_unsent

__all__ = ["Client"]

R = TypeVar("R")

_LONGEST_TOKEN = 1024
_PATIENCE = 60.0
_EVER = datetime.fromtimestamp(0, UTC)


class Client:
    """Speaks to one SWF domain.

    Making one costs nothing: boto3 is imported, and the service reached, with the first call.

    Args:
        domain: SWF domain.
        service: A ``Service`` to use instead of boto3, such as the embedded one.
        region_name: AWS region; default boto3's own.
        endpoint_url: Address of the service; default boto3's own (``AWS_ENDPOINT_URL_SWF``).
        converter: Encodes and decodes values; default JSON.
        sleep: Waits while a result is waited for; default ``time.sleep``.
        clock: Seconds that ``sleep`` passes; default ``time.monotonic``.
        interceptors: What stands around operations that are called, the outermost first.
    """

    def __init__(
        self,
        domain: str,
        service: Service | None = None,
        *,
        region_name: str | None = None,
        endpoint_url: str | None = None,
        converter: Converter = DEFAULT,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        interceptors: Iterable[Interceptor] = (),
    ) -> None:
        if service is not None and (region_name or endpoint_url):
            raise DeclarationError(
                "Client: region_name and endpoint_url are for boto3", remedy="leave them out with service=…"
            )
        if service is not None and not isinstance(service, Service):
            raise DeclarationError(f"Client: service={service!r} has no method call(operation, request)", remedy=WRAP)
        if not isinstance(converter, Converter):
            raise DeclarationError(f"Client: converter={converter!r} is no Converter")
        self.domain = check_text(domain, "Client: domain", IDENTIFIER)
        self.service: Service = (
            BotoService(region_name=region_name, endpoint_url=endpoint_url) if service is None else service
        )
        self.converter = converter
        self.sleep = sleep
        self.clock = clock
        (self._arounds,) = chosen(interceptors, "Client", "client")

    def __repr__(self) -> str:
        return f"<Client of domain {self.domain!r}>"

    @overload
    def start(
        self,
        workflow: Workflow[..., R],
        /,
        *args: Any,
        workflow_id: str | None = None,
        kwargs: dict[str, Any] | None = None,
        attach: bool = False,
        **options: Any,
    ) -> Run[R]: ...

    @overload
    def start(
        self,
        workflow: str,
        /,
        *args: Any,
        version: str = "1.0",
        workflow_id: str | None = None,
        kwargs: dict[str, Any] | None = None,
        attach: bool = False,
        **options: Any,
    ) -> Run[Any]: ...

    def start(
        self,
        workflow: Workflow[..., Any] | str,
        /,
        *args: Any,
        version: str | None = None,
        workflow_id: str | None = None,
        kwargs: dict[str, Any] | None = None,
        attach: bool = False,
        **options: Any,
    ) -> Run[Any]:
        """Start a workflow execution (StartWorkflowExecution).

        Args:
            workflow: A declared workflow, or the name of a registered type.
            *args: Positional arguments of the workflow; keyword ones go into ``kwargs``.
            version: Version of a type given by name; default "1.0".
            workflow_id: Its workflowId, unique among open runs; default a random UUID.
            kwargs: Keyword arguments of the workflow.
            attach: If a run of that workflowId is open already, give a handle on it instead of the error.
            **options: As in ``workflow.options``: task_list, tag_list, child_policy, lambda_role, task_priority,
                execution_start_to_close_timeout, task_start_to_close_timeout.

        Returns:
            A handle on the run.

        Raises:
            AlreadyExists: A run of that workflowId is open.
            UnknownResource: The domain or the type is not registered: a worker registers its types when it starts.
            DefaultUndefined: Neither the call nor the type gives the option it names.
            PayloadError: The arguments cannot be encoded, or are over 32,768 characters of JSON.
            DeclarationError: What is given is no workflow, or an option is unknown or refused.
            TypeError: The arguments do not fit the workflow function.
        """
        if isinstance(workflow, str):
            declared, type_ = None, (workflow, version or "1.0")
            called = WorkflowOptions().override(**options)
            text, attributes = self._encode_untyped(workflow, args, kwargs or {}), called.attributes()
        else:
            if not isinstance(workflow, Workflow):
                raise DeclarationError(
                    f"start: {workflow!r} is no workflow",
                    remedy="give what @workflow made of the function, or a type's name",
                )
            if version is not None:
                raise DeclarationError("start: version= is for types given by name; a declared workflow has its own")
            refuse_arguments(workflow, options)
            declared, type_ = workflow.options(**options), (workflow.name, workflow.version)
            called, attributes = declared.settings, declared.overrides
            text = encode_arguments(workflow.signature, args, kwargs or {}, self.converter)
            check_arguments(text, workflow.signature, self.converter, f"arguments of workflow {type_[0]!r}")
        chosen = check_id(workflow_id or called.workflow_id or str(uuid.uuid4()), "workflow_id")
        request = {
            "domain": self.domain,
            "workflowId": chosen,
            "workflowType": {"name": type_[0], "version": type_[1]},
            "input": text,
            **attributes,
        }
        try:
            run_id = self.call_unsent("StartWorkflowExecution", request, declared)["runId"]
        except AlreadyExists:
            if not attach:
                raise
            open_run = next(self.list_open(workflow_id=chosen), None)
            if open_run is None:
                raise
            run_id = open_run.run_id
        return Run(self, chosen, run_id, declared)

    def run(self, workflow_id: str, run_id: str | None = None, *, workflow: Workflow[..., R] | None = None) -> Run[R]:
        """Give a handle on a run that exists; the service is not asked.

        Args:
            workflow_id: Its workflowId.
            run_id: Its runId; default the open run of that id, else the one that closed last.
            workflow: The declared workflow: gives the result its type and makes queries possible.
        """
        return Run(self, workflow_id, run_id, workflow)

    @overload
    def activity(self, task_token: str, activity: Activity[..., R]) -> ActivityTask[R]: ...

    @overload
    def activity(self, task_token: str, activity: None = ...) -> ActivityTask[Any]: ...

    def activity(self, task_token: str, activity: Activity[..., Any] | None = None) -> ActivityTask[Any]:
        """Give a handle on an open task of a manual activity, in any process; the service is not asked.

        Args:
            task_token: What ``current_activity().task_token`` gave where the activity ran.
            activity: The declared activity: gives the result its type, and has it checked before it is sent.

        Raises:
            DeclarationError: What is given is no activity, or no token.
        """
        check_text(task_token, "activity: task_token", _LONGEST_TOKEN)
        if activity is not None and not isinstance(activity, Activity):
            raise DeclarationError(
                f"activity: {activity!r} is no activity", remedy="give what @activity made of the function"
            )
        return ActivityTask(self, task_token, activity)

    def list_open(
        self,
        *,
        workflow_id: str | None = None,
        workflow: Type = None,
        tag: Tags = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Iterator[Description]:
        """List open runs, newest first (ListOpenWorkflowExecutions).

        SWF applies the times and one filter, the narrowest (workflowId, tag, type); the others are applied here.

        Args:
            workflow_id: Only those of this workflowId.
            workflow: Only those of this type: a declared workflow, ``(name, version)``, or a name in all its versions.
            tag: Only those with this tag, or with all of these.
            since: Only those started since then; default all.
            until: Only those started until then; default all.

        Raises:
            DeclarationError: ``workflow`` is no type.
            UnknownResource: There is no such domain.
        """
        chosen = Filters(workflow_id=workflow_id, type=workflow, tags=tag)
        yield from self._list("ListOpenWorkflowExecutions", chosen, {"startTimeFilter": _span(since, until)})

    def list_closed(
        self,
        *,
        workflow_id: str | None = None,
        workflow: Type = None,
        tag: Tags = None,
        status: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        closed_since: datetime | None = None,
        closed_until: datetime | None = None,
    ) -> Iterator[Description]:
        """List closed runs that the domain still retains, last started first (ListClosedWorkflowExecutions).

        Those of a span of closing are listed last closed first. SWF applies one filter, the narrowest (workflowId,
        tag, type, status), and the times of the close or else of the start; the others are applied here.

        Args:
            workflow_id: Only those of this workflowId.
            workflow: Only those of this type: a declared workflow, ``(name, version)``, or a name in all its versions.
            tag: Only those with this tag, or with all of these.
            status: Only those with this close status, such as ``FAILED``.
            since: Only those started since then; default all.
            until: Only those started until then; default all.
            closed_since: Only those closed since then; default all.
            closed_until: Only those closed until then; default all.

        Raises:
            DeclarationError: ``workflow`` is no type.
            UnknownResource: There is no such domain.
        """
        by_close = closed_since is not None or closed_until is not None
        here = {"since": since, "until": until} if by_close else {}
        chosen = Filters(workflow_id=workflow_id, type=workflow, tags=tag, status=status, **here)
        span = _span(closed_since, closed_until) if by_close else _span(since, until)
        times = {"closeTimeFilter" if by_close else "startTimeFilter": span}
        yield from self._list("ListClosedWorkflowExecutions", chosen, times)

    def close(self) -> None:
        """Close the connections of a client that made its own."""
        if isinstance(self.service, BotoService):
            self.service.close()

    def __enter__(self) -> Self:
        """The client itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    # --- for handles ---------------------------------------------------------------------------

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Call once."""
        return self._called(ClientCall(operation, request), lambda call: self.service.call(operation, {**call.request}))

    def call_unsent(
        self, operation: str, request: dict[str, Any], workflow: Workflow[..., Any] | None = None
    ) -> dict[str, Any]:
        """Seal the payloads and call; again, with growing waits, only while the service certainly did not act."""
        request = seal_fields(operation, request, self.converter.payloads)

        def pause(delay: float) -> bool:
            self.sleep(delay)
            return False

        def send(call: ClientCall) -> dict[str, Any]:
            return retry_unsent(self.service, operation, {**call.request}, pause=pause, backoff=Backoff())

        return self._called(ClientCall(operation, request, workflow), send)

    def _called(self, call: ClientCall, send: Proceed[ClientCall]) -> dict[str, Any]:
        reply: dict[str, Any] = nested(self._arounds, send)(call)
        if self._arounds and not isinstance(reply, Mapping):
            raise DeclarationError(
                f"an interceptor around {call.operation} gave {type(reply).__name__}",
                remedy="give what proceed(call) gave. If it was called, SWF has acted",
            )
        return reply

    def call_repeatable(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Seal the payloads and call, again for up to a minute, what the service takes once and no second time."""
        request = seal_fields(operation, request, self.converter.payloads)
        deadline, is_repeated = self.clock() + _PATIENCE, False

        def pause(delay: float) -> bool:
            nonlocal is_repeated
            if self.clock() + delay > deadline:
                return True
            is_repeated = True
            self.sleep(delay)
            return False

        def send(call: ClientCall) -> dict[str, Any]:
            return persist(self.service, operation, {**call.request}, pause=pause, backoff=Backoff())

        try:
            return self._called(ClientCall(operation, request), send)
        except UnknownResource as error:
            if not is_repeated:
                raise
            message = f"{error.what}; an attempt just before was not answered, and may be what closed it"
            raise UnknownResource(message, operation=error.operation, fault=error.fault, remedy=error.remedy) from error

    def encode(self, value: Any, what: str) -> str:
        """A value as JSON that SWF takes, or PayloadError."""
        return self.converter.encode_within(value, DATA, what)

    def decode(self, text: str | None, workflow: Workflow[..., Any] | None) -> Any:
        """A result, opened already, as the workflow's return type, or as plain JSON data."""
        return self.converter.decoder(Any if workflow is None else workflow.signature.return_type)(text)

    def _encode_untyped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        given = {"args": list(args), "kwargs": kwargs} if kwargs else list(args)
        return self.encode(given, f"arguments of workflow {name!r}")

    def _list(self, operation: str, chosen: Filters, times: dict[str, Any]) -> Iterator[Description]:
        request = {"domain": self.domain, **times, **chosen.request()}
        yield from filter(chosen.fit, map(Description.of, pages(self, operation, request, "executionInfos")))


def refuse_arguments(workflow: Workflow[..., Any], options: dict[str, Any]) -> None:
    """Refuse arguments of a workflow that are given where its options stand.

    Raises:
        DeclarationError: There are some; says where they go.
    """
    signature = workflow.signature
    arguments = {*(parameter.name for parameter in signature.positional), *signature.keyword_only}
    named = [name for name in options if name in arguments and name not in WorkflowOptions.CHECKS]
    if named:
        raise DeclarationError(
            f"start: {', '.join(named)}: keywords are options here",
            remedy=f"give arguments of workflow {workflow.name!r} by position, or in kwargs={{…}}",
        )


def _span(oldest: datetime | None, latest: datetime | None) -> dict[str, datetime]:
    return {"oldestDate": oldest or _EVER} | ({} if latest is None else {"latestDate": latest})
