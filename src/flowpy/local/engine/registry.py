"""Types: register, deprecate, describe, list; and the defaults they give (swf-semantics §1.2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.state import Domain, Registration, type_label
from flowpy.local.engine.tokens import listed
from flowpy.local.engine.world import World, timestamp

__all__ = ["ACTIVITY_DEFAULTS", "OPERATIONS", "WORKFLOW_DEFAULTS", "find_type", "resolve"]

Request = dict[str, Any]
Operation = Callable[[World, Request], dict[str, Any]]

WORKFLOW_DEFAULTS: Final = {
    "executionStartToCloseTimeout": "defaultExecutionStartToCloseTimeout",
    "taskList": "defaultTaskList",
    "taskStartToCloseTimeout": "defaultTaskStartToCloseTimeout",
    "childPolicy": "defaultChildPolicy",
    "taskPriority": "defaultTaskPriority",
    "lambdaRole": "defaultLambdaRole",
}
"""What an execution may take from its type, in the order SWF looks for it."""

ACTIVITY_DEFAULTS: Final = {
    "taskList": "defaultTaskList",
    "scheduleToStartTimeout": "defaultTaskScheduleToStartTimeout",
    "scheduleToCloseTimeout": "defaultTaskScheduleToCloseTimeout",
    "startToCloseTimeout": "defaultTaskStartToCloseTimeout",
    "heartbeatTimeout": "defaultTaskHeartbeatTimeout",
    "taskPriority": "defaultTaskPriority",
}
"""What an activity task may take from its type, in the order SWF looks for it."""

_DEFAULTS: Final = {"WorkflowType": WORKFLOW_DEFAULTS, "ActivityType": ACTIVITY_DEFAULTS}
_OPTIONAL: Final = ("taskPriority", "lambdaRole")


def resolve(request: Request, registration: Registration, names: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The values a call or decision runs with: its own, else the type's.

    Returns:
        The values, without those that are set nowhere, and the names of the required ones among the latter.
    """
    values = {}
    for name, default in names.items():
        value = request.get(name)
        if value in (None, ""):
            value = registration.defaults.get(default)
        if value not in (None, ""):
            values[name] = value
    return values, [name for name in names if name not in values and name not in _OPTIONAL]


def _register_type(kind: str, world: World, request: Request) -> dict[str, Any]:
    domain = world.domain(request["domain"])
    if domain.deprecated:
        raise faults.domain_deprecated(domain.name)
    defaults = {name: request[name] for name in _DEFAULTS[kind].values() if request.get(name) not in (None, "")}
    key = (kind, request["name"], request["version"])
    registration = Registration(*key, world.now, defaults, request.get("description"))
    if key in domain.types:
        raise faults.type_exists(registration.label)
    if sum(known[0] == kind for known in domain.types) >= world.quotas.types:
        raise faults.limit_exceeded(f"{kind}s")
    domain.types[key] = registration
    world.changes.touch_type(domain, registration)
    return {}


def find_type(kind: str, domain: Domain, wanted: dict[str, str]) -> Registration:
    """A registered type, deprecated or not.

    Raises:
        UnknownResource: There is none of this name and version.
    """
    registration = domain.types.get((kind, wanted["name"], wanted["version"]))
    if registration is None:
        raise faults.unknown_type(type_label(kind, wanted["name"], wanted["version"]))
    return registration


def _find(kind: str, world: World, request: Request) -> tuple[Domain, Registration]:
    domain = world.domain(request["domain"])
    return domain, find_type(kind, domain, request[kind[0].lower() + kind[1:]])


def _deprecate_type(kind: str, world: World, request: Request) -> dict[str, Any]:
    domain, registration = _find(kind, world, request)
    if registration.deprecated is not None:
        raise faults.type_deprecated(registration.label)
    registration.deprecated = world.now
    world.changes.touch_type(domain, registration)
    return {}


def _undeprecate_type(kind: str, world: World, request: Request) -> dict[str, Any]:
    domain, registration = _find(kind, world, request)
    if registration.deprecated is None:
        raise faults.type_exists(registration.label)
    registration.deprecated = None
    world.changes.touch_type(domain, registration)
    return {}


def _delete_type(kind: str, world: World, request: Request) -> dict[str, Any]:
    domain, registration = _find(kind, world, request)
    if registration.deprecated is None:
        raise faults.type_not_deprecated()
    del domain.types[kind, registration.name, registration.version]
    world.changes.touch_type(domain, registration)
    return {}


def _type_info(registration: Registration) -> dict[str, Any]:
    kind = registration.kind
    info = {
        kind[0].lower() + kind[1:]: {"name": registration.name, "version": registration.version},
        "status": "REGISTERED" if registration.deprecated is None else "DEPRECATED",
        "creationDate": timestamp(registration.created),
    }
    if registration.description is not None:
        info["description"] = registration.description
    if registration.deprecated is not None:
        info["deprecationDate"] = timestamp(registration.deprecated)
    return info


def _describe_type(kind: str, world: World, request: Request) -> dict[str, Any]:
    _, registration = _find(kind, world, request)
    return {"typeInfo": _type_info(registration), "configuration": registration.defaults}


def _list_types(kind: str, world: World, request: Request) -> dict[str, Any]:
    domain = world.domain(request["domain"])
    deprecated = request["registrationStatus"] == "DEPRECATED"
    infos = [
        _type_info(registration)
        for key, registration in sorted(domain.types.items(), key=lambda item: item[0])
        if key[0] == kind
        and (registration.deprecated is not None) == deprecated
        and request.get("name") in (None, registration.name)
    ]
    return listed(world, ["types", kind, domain.name], "typeInfos", infos, request)


_OF_TYPES: Final = {
    "Register": _register_type,
    "Deprecate": _deprecate_type,
    "Undeprecate": _undeprecate_type,
    "Delete": _delete_type,
    "Describe": _describe_type,
    "List": _list_types,
}

OPERATIONS: Final[dict[str, Operation]] = {
    f"{verb}{kind}{'s' if verb == 'List' else ''}": partial(operation, kind)
    for verb, operation in _OF_TYPES.items()
    for kind in _DEFAULTS
}
