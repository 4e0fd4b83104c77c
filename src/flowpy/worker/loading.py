"""From the name of a module to the worker that runs what is declared there."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from flowpy.client import Client
from flowpy.declare.activity import Activity
from flowpy.declare.names import did_you_mean
from flowpy.declare.workflow import Workflow
from flowpy.errors import ConfigurationError
from flowpy.service.boto import BotoService
from flowpy.service.sessions import boto_session
from flowpy.worker.configuration import Configuration
from flowpy.worker.worker import Worker

__all__ = ["load", "worker_of"]

_OF_THE_PROCESS = frozenset({"module", "processes", "log_level"})
"""Settings that count for a ``Worker`` made in Python too."""

_ABSENT = object()

_MORE_CONNECTIONS = 10
"""Beside those of threads that poll or run activities: heartbeats, registration."""


def load(name: str) -> Worker | list[Workflow[..., Any] | Activity[..., Any]]:
    """Import what a worker is to run.

    Modules are looked for in the current folder too, as Python itself does.

    Args:
        name: ``package.module``: what is declared there or in modules of that package, and can be found in it by
            name; activities that others run (``external``) are left out. Or ``module:name``: a ``Worker``, a
            workflow, an activity, or a list of them. Several have commas between.

    Returns:
        The worker, or what was found.

    Raises:
        ConfigurationError: There is no such module or name, or nothing to run.
    """
    if "," in name:
        return _of_several(name)
    module_name, _, attribute = name.partition(":")
    module = _imported(module_name)
    if not attribute:
        return _all_of(module)
    found = getattr(module, attribute, _ABSENT)
    if found is _ABSENT:
        there = [key for key, value in vars(module).items() if isinstance(value, (Worker, Workflow, Activity))]
        known = f"what is declared there is {', '.join(there)}" if there else "nothing is declared there"
        near = did_you_mean(attribute, there)
        raise ConfigurationError(f"{name}: module {module_name} has no {attribute!r}{near}", remedy=known)
    if isinstance(found, Worker):
        return found
    items: list[Any] = list(found) if isinstance(found, (list, tuple)) else [found]
    if not items or not all(isinstance(item, (Workflow, Activity)) for item in items):
        raise ConfigurationError(
            f"{name}: {attribute} is {found!r}", remedy="name a Worker, a workflow, an activity or a list of these"
        )
    return items


def _of_several(names: str) -> list[Workflow[..., Any] | Activity[..., Any]]:
    found: dict[int, Workflow[..., Any] | Activity[..., Any]] = {}
    for name in names.split(","):
        declared = load(name)
        if isinstance(declared, Worker):
            raise ConfigurationError(
                f"{name} is a Worker, which runs what it was made for", remedy="leave out the other modules"
            )
        found |= {id(one): one for one in declared}
    return list(found.values())


def _imported(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    if not all(name.split(".")) or "/" in name:
        # Perhaps it is the path of a file.
        hint = name.removesuffix(".py").replace("/", ".").strip(".")
        advice = f"; do you mean {hint}?" if hint and hint != name else ""
        raise ConfigurationError(f"{name!r} is no module", remedy=f"give package.module or module:name{advice}")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name != missing and not name.startswith(f"{missing}."):
            raise
        hint = name.removesuffix(".py").replace("/", ".")
        advice = f"; do you mean {hint}?" if hint != name else ""
        raise ConfigurationError(
            f"there is no module {missing!r} in {here} or on Python's path",
            remedy=f"give package.module or module:name{advice}",
        ) from error


def _all_of(module: ModuleType) -> Worker | list[Workflow[..., Any] | Activity[..., Any]]:
    workers = {id(value): value for value in vars(module).values() if isinstance(value, Worker)}
    if len(workers) == 1:
        return next(iter(workers.values()))
    if workers:
        raise ConfigurationError(
            f"{module.__name__} has {len(workers)} Workers", remedy=f"name one, as {module.__name__}:name"
        )
    found = list(_declared(module))
    if not found:
        raise ConfigurationError(
            f"nothing to run in {module.__name__}: no @workflow, @activity or Worker is declared there",
            remedy=_advice(module),
        )
    return found


def _advice(module: ModuleType) -> str:
    if getattr(module, "__file__", None) is not None:
        return ""
    return f"it is a folder, no module: name one in it, as in {module.__name__}.orders, or go there with cd"


def _declared(module: ModuleType) -> Iterator[Workflow[..., Any] | Activity[..., Any]]:
    seen = set()
    for value in vars(module).values():
        if isinstance(value, (Workflow, Activity)) and id(value) not in seen:
            seen.add(id(value))
            home = value.fn.__module__
            is_here = home == module.__name__ or home.startswith(f"{module.__name__}.")
            if is_here and not (isinstance(value, Activity) and value.external):
                yield value


def worker_of(configuration: Configuration) -> Worker:
    """The worker that a configuration asks for.

    Args:
        configuration: It names a module.

    Raises:
        ConfigurationError: The module is wrong, a setting is missing, or there are some for a ``Worker`` that was
            made in Python.
        DeclarationError: Two types are alike.
    """
    if configuration.module is None:
        raise ConfigurationError(
            "what is the worker to run?", remedy="give a module, such as shop.orders, or shop.orders:worker"
        )
    found = load(configuration.module)
    if isinstance(found, Worker):
        extra = sorted(configuration.origins.keys() - _OF_THE_PROCESS)
        if extra:
            told = ", ".join(f"{name} (from {configuration.origins[name]})" for name in extra)
            raise ConfigurationError(
                f"{configuration.module} is a Worker with settings of its own", remedy=f"leave out {told}"
            )
        return found
    if configuration.domain is None:
        raise ConfigurationError("in which SWF domain?", remedy="give --domain, FLOWPY_DOMAIN or domain in the file")
    return Worker(
        Client(configuration.domain, _service(configuration)),
        workflows=[each for each in found if isinstance(each, Workflow)],
        activities=[each for each in found if isinstance(each, Activity)],
        task_list=configuration.task_list,
        identity=configuration.identity,
        settings=configuration.settings,
    )


def _service(configuration: Configuration) -> BotoService:
    settings = configuration.settings
    threads = 2 * settings.threads + settings.activity_pollers + settings.activity_slots
    return BotoService(
        region_name=configuration.region,
        endpoint_url=configuration.endpoint_url,
        session=boto_session(configuration.profile, configuration.endpoint_url),
        max_connections=threads + _MORE_CONNECTIONS,
    )
