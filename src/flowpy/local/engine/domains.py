"""Domains: register, deprecate, describe, list (swf-semantics §1.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.state import Domain
from flowpy.local.engine.tags import as_dict
from flowpy.local.engine.tokens import listed
from flowpy.local.engine.world import World

__all__ = ["OPERATIONS"]

Request = dict[str, Any]
_ACCOUNT: Final = "123456789012"


def _register_domain(world: World, request: Request) -> dict[str, Any]:
    name = request["name"]
    if name in world.domains:
        raise faults.domain_exists(name)
    if len(world.domains) >= world.quotas.domains:
        raise faults.limit_exceeded("domains")
    world.domains[name] = domain = Domain(
        name,
        request["workflowExecutionRetentionPeriodInDays"],
        request.get("description"),
        tags=as_dict(request.get("tags", [])),
    )
    world.changes.domains[name] = domain
    return {}


def _deprecate_domain(world: World, request: Request) -> dict[str, Any]:
    domain = world.domain(request["name"])
    if domain.deprecated:
        raise faults.domain_deprecated(domain.name)
    domain.deprecated = True
    world.changes.domains[domain.name] = domain
    for registration in domain.types.values():
        if registration.deprecated is None:
            registration.deprecated = world.now
            world.changes.touch_type(domain, registration)
    return {}


def _undeprecate_domain(world: World, request: Request) -> dict[str, Any]:
    domain = world.domain(request["name"])
    if not domain.deprecated:
        raise faults.domain_exists(domain.name)
    domain.deprecated = False
    world.changes.domains[domain.name] = domain
    return {}


def _domain_info(world: World, domain: Domain) -> dict[str, Any]:
    info = {
        "name": domain.name,
        "status": "DEPRECATED" if domain.deprecated else "REGISTERED",
        "arn": f"arn:aws:swf:{world.region}:{_ACCOUNT}:/domain/{domain.name}",
    }
    if domain.description is not None:
        info["description"] = domain.description
    return info


def _describe_domain(world: World, request: Request) -> dict[str, Any]:
    domain = world.domain(request["name"])
    configuration = {"workflowExecutionRetentionPeriodInDays": domain.retention}
    return {"domainInfo": _domain_info(world, domain), "configuration": configuration}


def _list_domains(world: World, request: Request) -> dict[str, Any]:
    deprecated = request["registrationStatus"] == "DEPRECATED"
    chosen = [domain for name, domain in sorted(world.domains.items()) if domain.deprecated == deprecated]
    infos = [_domain_info(world, domain) for domain in chosen]
    return listed(world, ["domains"], "domainInfos", infos, request)


OPERATIONS: Final[dict[str, Callable[[World, Request], dict[str, Any]]]] = {
    "RegisterDomain": _register_domain,
    "DeprecateDomain": _deprecate_domain,
    "UndeprecateDomain": _undeprecate_domain,
    "DescribeDomain": _describe_domain,
    "ListDomains": _list_domains,
}
