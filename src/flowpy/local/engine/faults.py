"""The faults SWF answers with, in its own words (swf-semantics §1.8)."""

from __future__ import annotations

from flowpy.errors import (
    AlreadyExists,
    DefaultUndefined,
    InvalidRequest,
    ServiceError,
    Throttled,
    TypeDeprecated,
    UnknownResource,
)
from flowpy.words import an

__all__ = [
    "already_started",
    "default_undefined",
    "domain_deprecated",
    "domain_exists",
    "invalid",
    "invalid_token",
    "limit_exceeded",
    "not_serializable",
    "throttled",
    "too_many_tags",
    "type_deprecated",
    "type_exists",
    "type_not_deprecated",
    "unknown_domain",
    "unknown_execution",
    "unknown_operation",
    "unknown_task",
    "unknown_type",
]


def unknown_domain(name: str) -> ServiceError:
    """No domain has this name."""
    return UnknownResource(f"Unknown domain: {name}", fault="UnknownResourceFault")


def unknown_type(label: str) -> ServiceError:
    """No such type; `label` is as `Registration.label` gives it."""
    return UnknownResource(f"Unknown type: {label}", fault="UnknownResourceFault")


def unknown_execution(workflow_id: str, run_id: str = "") -> ServiceError:
    """No such execution, or none that is open."""
    if run_id:
        message = f"Unknown execution: WorkflowExecution=[workflowId={workflow_id}, runId={run_id}]"
    else:
        message = f"Unknown execution, workflowId = {workflow_id}"
    return UnknownResource(message, fault="UnknownResourceFault")


def unknown_task(kind: str, scheduled_event_id: int) -> ServiceError:
    """The task is closed; `kind` is "activity" or "decision task"."""
    return UnknownResource(f"Unknown {kind}, scheduledEventId = {scheduled_event_id}", fault="UnknownResourceFault")


def domain_exists(name: str) -> ServiceError:
    """The name is taken, or the domain is not deprecated."""
    return AlreadyExists(name, fault="DomainAlreadyExistsFault")


def domain_deprecated(name: str) -> ServiceError:
    """The domain is deprecated."""
    return TypeDeprecated(name, fault="DomainDeprecatedFault")


def type_exists(label: str) -> ServiceError:
    """The type is registered already, or is not deprecated."""
    return AlreadyExists(label, fault="TypeAlreadyExistsFault")


def type_deprecated(label: str) -> ServiceError:
    """The type is deprecated."""
    return TypeDeprecated(label, fault="TypeDeprecatedFault")


def type_not_deprecated() -> ServiceError:
    """Only a deprecated type can be deleted."""
    message = "The type is currently registered and cannot be deleted in its current state"
    return ServiceError(message, fault="TypeNotDeprecatedFault")


def already_started() -> ServiceError:
    """An execution with this workflowId is open."""
    return AlreadyExists("Already Started", fault="WorkflowExecutionAlreadyStartedFault")


def default_undefined(name: str) -> ServiceError:
    """Neither the call nor the type gives the value `name`."""
    return DefaultUndefined(name, fault="DefaultUndefinedFault")


def limit_exceeded(what: str) -> ServiceError:
    """A quota is used up."""
    return Throttled(f"Limit exceeded: {what}", fault="LimitExceededFault")


def throttled() -> ServiceError:
    """A bucket is empty."""
    return Throttled("Rate exceeded", fault="ThrottlingException")


def invalid(message: str) -> ServiceError:
    """The request is wrong."""
    return InvalidRequest(message, fault="ValidationException")


def invalid_token() -> ServiceError:
    """A task or page token that this engine did not give out for this operation."""
    return invalid("Invalid token")


def too_many_tags(most: int) -> ServiceError:
    """A domain would have more tags than it may."""
    return ServiceError(f"A resource may have at most {most} tags", fault="TooManyTagsFault")


def not_serializable(path: str, kind: str) -> ServiceError:
    """A member has the wrong JSON type."""
    return InvalidRequest(f"Value at '{path}' is not {an(kind)}", fault="SerializationException")


def unknown_operation(name: str) -> ServiceError:
    """SWF has no operation of this name."""
    return InvalidRequest(f"Unknown operation: {name}", fault="UnknownOperationException")
