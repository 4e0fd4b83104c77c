"""Tags of domains, which are resources of AWS (swf-semantics §1.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.state import Domain
from flowpy.local.engine.world import World

__all__ = ["OPERATIONS", "as_dict"]

Request = dict[str, Any]
_MOST: Final = 50


def as_dict(tags: list[dict[str, str]]) -> dict[str, str]:
    """A list of ``{"key", "value"}`` by key.

    Raises:
        ServiceError: TooManyTagsFault.
    """
    found = {tag["key"]: tag.get("value", "") for tag in tags}
    if len(found) > _MOST:
        raise faults.too_many_tags(_MOST)
    return found


def _domain(world: World, request: Request) -> Domain:
    arn: str = request["resourceArn"]
    name = arn.rpartition(":/domain/")[2]
    if name == arn or name not in world.domains:
        raise faults.unknown_domain(name)
    return world.domains[name]


def _list(world: World, request: Request) -> dict[str, Any]:
    return {"tags": [{"key": key, "value": value} for key, value in _domain(world, request).tags.items()]}


def _tag(world: World, request: Request) -> dict[str, Any]:
    domain = _domain(world, request)
    tags = domain.tags | as_dict(request["tags"])
    if len(tags) > _MOST:
        raise faults.too_many_tags(_MOST)
    domain.tags = tags
    world.changes.domains[domain.name] = domain
    return {}


def _untag(world: World, request: Request) -> dict[str, Any]:
    domain = _domain(world, request)
    domain.tags = {key: value for key, value in domain.tags.items() if key not in request["tagKeys"]}
    world.changes.domains[domain.name] = domain
    return {}


OPERATIONS: Final[dict[str, Callable[[World, Request], dict[str, Any]]]] = {
    "ListTagsForResource": _list,
    "TagResource": _tag,
    "UntagResource": _untag,
}
