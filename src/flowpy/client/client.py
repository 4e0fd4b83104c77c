"""The client: starts workflows and gives handles on their runs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Self, TypeVar, overload

from flowpy.client.description import Description
from flowpy.client.run import Run
from flowpy.client.task import ActivityTask
from flowpy.data.arguments import encode_arguments
from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.limits import DATA, check_length
from flowpy.declare.names import check_id
from flowpy.declare.options import WorkflowOptions
from flowpy.declare.workflow import Workflow
from flowpy.errors import AlreadyExists, DeclarationError
from flowpy.service.boto import BotoService
from flowpy.service.paging import pages
from flowpy.service.protocol import WRAP, Service
from flowpy.service.retrying import Backoff, retry_unsent

__all__ = ["Client"]

R = TypeVar("R")

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
    ) -> None:
        if service is not None and (region_name or endpoint_url):
            raise DeclarationError("Client: region_name and endpoint_url are for boto3; leave them out with service=…")
        if service is not None and not isinstance(service, Service):
            raise DeclarationError(f"Client: service={service!r} has no method call(operation, request); {WRAP}")
        self.domain = domain
        self.service: Service = (
            BotoService(region_name=region_name, endpoint_url=endpoint_url) if service is None else service
        )
        self.converter = converter
        self.sleep = sleep
        self.clock = clock

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
            text, attributes = self._encode_untyped(args, kwargs or {}), called.attributes()
        else:
            if not isinstance(workflow, Workflow):
                raise DeclarationError(
                    f"start: {workflow!r} is no workflow: give what @workflow made of the function, or a type's name"
                )
            if version is not None:
                raise DeclarationError("start: version= is for types given by name; a declared workflow has its own")
            _refuse_arguments(workflow, options)
            declared, type_ = workflow.options(**options), (workflow.name, workflow.version)
            called, attributes = declared.settings, declared.overrides
            text = encode_arguments(workflow.signature, args, kwargs or {}, self.converter)
        check_length(text, DATA, f"arguments of workflow {type_[0]!r}")
        chosen = check_id(workflow_id or called.workflow_id or str(uuid.uuid4()), "workflow_id")
        request = {
            "domain": self.domain,
            "workflowId": chosen,
            "workflowType": {"name": type_[0], "version": type_[1]},
            "input": text,
            **attributes,
        }
        try:
            run_id = self.call_unsent("StartWorkflowExecution", request)["runId"]
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

    def activity_task(self, task_token: str) -> ActivityTask:
        """Give a handle on an open task of a manual activity; the service is not asked.

        Args:
            task_token: What ``current_activity().task_token`` gave where the activity ran.
        """
        return ActivityTask(self, task_token)

    def list_open(
        self,
        *,
        workflow_id: str | None = None,
        workflow: Workflow[..., Any] | str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
    ) -> Iterator[Description]:
        """List open runs, newest first (ListOpenWorkflowExecutions); give at most one filter.

        Args:
            workflow_id: Only those of this workflowId.
            workflow: Only those of this type, or of all versions of this name.
            tag: Only those with this tag.
            since: Only those started since then; default all.

        Raises:
            DeclarationError: More than one filter was given.
            UnknownResource: There is no such domain.
        """
        yield from self._list("ListOpenWorkflowExecutions", _filter(workflow_id, workflow, tag), since)

    def list_closed(
        self,
        *,
        workflow_id: str | None = None,
        workflow: Workflow[..., Any] | str | None = None,
        tag: str | None = None,
        status: str | None = None,
        since: datetime | None = None,
    ) -> Iterator[Description]:
        """List closed runs that the domain still retains, last started first; give at most one filter.

        Args:
            workflow_id: Only those of this workflowId.
            workflow: Only those of this type, or of all versions of this name.
            tag: Only those with this tag.
            status: Only those with this close status, such as ``FAILED``.
            since: Only those started since then; default all.

        Raises:
            DeclarationError: More than one filter was given.
            UnknownResource: There is no such domain.
        """
        chosen = _filter(workflow_id, workflow, tag)
        if status is not None:
            chosen["closeStatusFilter"] = {"status": status}
        yield from self._list("ListClosedWorkflowExecutions", chosen, since)

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

    def call_unsent(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Call; again, with growing waits, only while the service certainly did not act."""

        def pause(delay: float) -> bool:
            self.sleep(delay)
            return False

        return retry_unsent(self.service, operation, request, pause=pause, backoff=Backoff())

    def encode(self, value: Any, what: str) -> str:
        """A value as JSON that SWF takes, or PayloadError."""
        return check_length(self.converter.encode(value, what), DATA, what)

    def decode(self, text: str | None, workflow: Workflow[..., Any] | None) -> Any:
        """A result as the workflow's return type, or as plain JSON data."""
        return self.converter.decoder(Any if workflow is None else workflow.signature.return_type)(text)

    def _encode_untyped(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        return self.converter.encode({"args": list(args), "kwargs": kwargs} if kwargs else list(args), "arguments")

    def _list(self, operation: str, chosen: dict[str, Any], since: datetime | None) -> Iterator[Description]:
        if len(chosen) > 1:
            raise DeclarationError(f"SWF takes one filter at a time, not {', '.join(chosen)}")
        oldest = since or _EVER
        request = {"domain": self.domain, "startTimeFilter": {"oldestDate": oldest}, **chosen}
        for info in pages(self.service, operation, request, "executionInfos"):
            yield Description.of(info)


def _refuse_arguments(workflow: Workflow[..., Any], options: dict[str, Any]) -> None:
    signature = workflow.signature
    arguments = {*(parameter.name for parameter in signature.positional), *signature.keyword_only}
    named = [name for name in options if name in arguments and name not in WorkflowOptions.CHECKS]
    if named:
        raise DeclarationError(
            f"start: {', '.join(named)}: keywords are options here; give arguments of workflow {workflow.name!r} "
            "by position, or in kwargs={…}"
        )


def _filter(workflow_id: str | None, workflow: Workflow[..., Any] | str | None, tag: str | None) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if workflow_id is not None:
        chosen["executionFilter"] = {"workflowId": workflow_id}
    if isinstance(workflow, str):
        chosen["typeFilter"] = {"name": workflow}
    elif workflow is not None:
        chosen["typeFilter"] = {"name": workflow.name, "version": workflow.version}
    if tag is not None:
        chosen["tagFilter"] = {"tag": tag}
    return chosen
