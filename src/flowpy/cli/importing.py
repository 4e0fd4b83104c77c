"""The user's code: modules and workflows named on the command line."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import click

from flowpy.cli.failing import Misuse, place_of
from flowpy.declare.names import did_you_mean
from flowpy.declare.registered import RegisteredType
from flowpy.errors import FlowpyError

if TYPE_CHECKING:
    from flowpy.declare import Workflow

__all__ = ["dotted", "import_declared", "import_module", "import_workflow", "import_workflows"]

_DOTTED: Final = "give a dotted name, as in shop.orders"

D = TypeVar("D", bound="RegisteredType[..., Any, Any]")


def dotted(name: str) -> str:
    """The dotted name of a module that may have been given as a path, as shells complete it.

    Raises:
        click.UsageError: It names no module of the current folder.
    """
    path = os.path.normpath(name.removesuffix(".py")) if os.sep in name or name.endswith(".py") else name
    dotted = path.replace(os.sep, ".")
    if not all(dotted.split(".")):
        raise Misuse(f"{name!r} names no module of {Path.cwd()}", _DOTTED)
    return dotted


def import_module(name: str) -> ModuleType:
    """Import a module, with the current folder on ``sys.path`` as ``python -m`` has it.

    Args:
        name: A dotted name; a path such as ``shop.py`` is taken for the module that it is.

    Raises:
        click.UsageError: There is none, or it cannot be imported; names the line that fails.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    name = dotted(name)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        _refuse(name, error)


def import_workflow(target: str) -> Workflow[..., Any]:
    """Import a workflow.

    Args:
        target: ``MODULE:WORKFLOW``, the attribute or the name of its type; just ``MODULE`` if it declares one only.

    Raises:
        click.UsageError: There is none, or several to choose from.
    """
    from flowpy.declare import Workflow

    module, _, name = target.partition(":")
    found = {key: value for key, value in vars(import_module(module)).items() if isinstance(value, Workflow)}
    if name in found:
        return found[name]
    chosen = _each_once(value for value in found.values() if name in ("", value.name))
    if len(chosen) == 1:
        return chosen[0]
    if not found:
        raise _none(module)
    told = f"module {module} has no workflow {name!r}" if name and not chosen else f"which workflow of module {module}?"
    there = ", ".join(f"{module}:{attribute}" for attribute in found)
    near = did_you_mean(name, {*found, *(value.name for value in found.values())}) if name and not chosen else ""
    raise Misuse(f"{told}{near}", f"there {'is' if len(found) == 1 else 'are'} {there}")


def import_workflows(targets: str) -> list[Workflow[..., Any]]:
    """Import all workflows of modules, each once.

    Args:
        targets: Modules with commas between; ``MODULE:WORKFLOW`` is that one alone.

    Raises:
        click.UsageError: A module cannot be imported, or declares none.
    """
    from flowpy.declare import Workflow

    found: list[Workflow[..., Any]] = []
    for target in targets.split(","):
        workflows = [import_workflow(target)] if ":" in target else import_declared(target, Workflow)
        if not workflows:
            raise _none(target)
        found += workflows
    return _each_once(found)


def import_declared(module: str, kind: type[D]) -> list[D]:
    """Import what a module declares of a kind, ``Workflow`` or ``Activity``, each once.

    Raises:
        click.UsageError: The module cannot be imported.
    """
    return _each_once(value for value in vars(import_module(module)).values() if isinstance(value, kind))


def _each_once(declared: Iterable[D]) -> list[D]:
    """The first of those that are one type of one function: others are the same with other options."""
    found: dict[tuple[str, str, int], D] = {}
    for one in declared:
        found.setdefault((one.name, one.version, id(one.fn)), one)
    return list(found.values())


def _none(module: str) -> click.UsageError:
    if getattr(sys.modules.get(module), "__file__", None) is None:  # a folder without __init__.py
        inside = f"name a module in it, as in {module}.orders, or go there with cd"
        return Misuse(f"{module} is a folder, no module with code of its own", inside)
    return Misuse(f"module {module} declares no workflow", "mark a function with @flowpy.workflow")


def _refuse(name: str, error: BaseException) -> NoReturn:
    if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
        message = f"there is no module {error.name!r} in {Path.cwd()} or among what is installed"
        raise Misuse(message, _DOTTED) from error
    said = error.msg if isinstance(error, SyntaxError) else error.what if isinstance(error, FlowpyError) else error
    if isinstance(error, SystemExit):
        said = f"it ends the process when it is imported, with {error.code!r}"
    message = f"module {name} cannot be imported: {type(error).__name__}: {said}{place_of(error)}"
    raise click.UsageError(message) from error
