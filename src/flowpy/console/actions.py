"""What the buttons of an execution do."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from flowpy.console.requests import Refused
from flowpy.console.service import Service

__all__ = ["ACTIONS", "DONE", "act"]

ACTIONS: Final = {
    "/signal": "SignalWorkflowExecution",
    "/cancel": "RequestCancelWorkflowExecution",
    "/terminate": "TerminateWorkflowExecution",
}
"""The operation by the address of its form."""

DONE: Final = {
    "signal": "The signal has been sent.",
    "cancel": "The execution has been asked to cancel.",
    "terminate": "The execution has been terminated.",
}
"""What the page then says."""


def act(service: Service, path: str, form: Mapping[str, str]) -> None:
    """Does what a form asks for.

    Args:
        service: Who does it.
        path: One of `ACTIONS`.
        form: The fields of the form.

    Raises:
        ServiceError: SWF's fault.
        Refused: A field is missing.
    """
    request: dict[str, Any] = {
        "domain": _field(form, "domain"),
        "workflowId": _field(form, "workflow_id"),
        "runId": _field(form, "run_id"),
    }
    if path == "/signal":
        request["signalName"] = _field(form, "name")
        request |= {"input": form["input"]} if form.get("input") else {}
    elif path == "/terminate":
        if form.get("confirmed") != "yes":
            raise Refused(HTTPStatus.BAD_REQUEST, "Terminating was not confirmed, so nothing was done.")
        request |= {
            member: form[field]
            for field, member in (("reason", "reason"), ("details", "details"), ("child_policy", "childPolicy"))
            if form.get(field)
        }
    service.call(ACTIONS[path], request)


def _field(form: Mapping[str, str], name: str) -> str:
    if not form.get(name):
        raise Refused(HTTPStatus.BAD_REQUEST, f"The form lacks {name}.")
    return form[name]
