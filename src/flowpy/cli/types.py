"""``flowpy types``: the registered workflow and activity types."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import click

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.failing import Misuse
from flowpy.cli.group import Group
from flowpy.cli.importing import import_declared
from flowpy.cli.printing import Column, Output, output_option

if TYPE_CHECKING:
    from flowpy.client import Client

__all__ = ["types"]

_KINDS: Final = ("workflow", "activity")
_COLUMNS: Final = (
    Column("KIND", "kind"),
    Column("STATUS", "status"),
    Column("CREATED (UTC)", "creation_date", 19),
    Column("VERSION", "version"),
    Column("NAME", "name"),
)
_kind_option = click.option("--kind", type=click.Choice(_KINDS), help="Only types of this kind.")


@click.group(cls=Group)
def types() -> None:
    """The workflow and activity types that a domain knows."""


@types.command("list")
@_kind_option
@click.option("--name", metavar="NAME", help="Only this name, in all versions.")
@click.option("--deprecated", is_flag=True, help="Deprecated types instead of those in use.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most that many; default all.")
@connection_options
@output_option
def list_(
    connection: Connection, output: Output, kind: str | None, name: str | None, deprecated: bool, limit: int | None
) -> None:
    """List the types of a domain, by name."""
    status = "DEPRECATED" if deprecated else "REGISTERED"
    client = connection.client()
    kinds = (kind,) if kind else _KINDS
    found = (row for each in kinds for row in _listed(client, each, status, name))
    output.each(islice(found, limit), _COLUMNS, none=f"no {status.lower()} types in domain {connection.domain!r}")


def _listed(client: Client, kind: str, status: str, name: str | None) -> Iterator[dict[str, Any]]:
    from flowpy.service.paging import pages

    request = {"domain": client.domain, "registrationStatus": status} | ({"name": name} if name else {})
    for info in pages(client.service, f"List{kind.capitalize()}Types", request, "typeInfos"):
        type_ = info[f"{kind}Type"]
        yield {
            "kind": kind,
            "name": type_["name"],
            "version": type_["version"],
            "status": info["status"],
            "creation_date": info.get("creationDate"),
            "deprecation_date": info.get("deprecationDate"),
            "description": info.get("description", ""),
        }


@types.command("register", short_help="Register the types of modules, as a worker does.")
@click.argument("modules", nargs=-1, required=True, metavar="MODULE...")
@click.option("--task-list", default="default", show_default=True, metavar="NAME", help="For types that name none.")
@click.option(
    "--register-domain", type=click.IntRange(0, 90), metavar="DAYS", help="The domain too; days closed runs are kept."
)
@connection_options
@output_option
def register(
    connection: Connection, output: Output, modules: tuple[str, ...], task_list: str, register_domain: int | None
) -> None:
    """Register the workflows and activities of modules, as a worker does when it starts.

    What is registered already stays as it is: SWF never changes a type. If its defaults differ, a warning says so.
    """
    from flowpy.declare import Activity, Workflow

    modules = tuple(name for given in modules for name in given.split(","))
    from flowpy.worker.registration import Registrar

    workflows = [one for module in modules for one in import_declared(module, Workflow)]
    activities = [one for module in modules for one in import_declared(module, Activity) if not one.external]
    if not (workflows or activities):
        raise Misuse(
            f"nothing is declared in {', '.join(modules)}", "mark functions with @flowpy.workflow or @flowpy.activity"
        )
    client = connection.client()
    registrar = Registrar(client.service, client.domain, task_list, _pause)
    if register_domain is not None:
        registrar.register_domain(register_domain)
    registrar.register(workflows, activities)
    for kind, declared in (("workflow", workflows), ("activity", activities)):
        for one in declared:
            data = {"kind": kind, "name": one.name, "version": one.version}
            output.answer(data, f"registered: {kind} {one.name} {one.version}", compact=True)


def _pause(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _changing(verb: str, done: str, help_text: str, short: str) -> click.Command:
    @click.command(verb, help=help_text, short_help=short)
    @click.argument("kind", type=click.Choice(_KINDS))
    @click.argument("name")
    @click.argument("version")
    @connection_options
    @output_option
    def change(connection: Connection, output: Output, kind: str, name: str, version: str) -> None:
        client = connection.client()
        type_ = {"name": name, "version": version}
        client.service.call(
            f"{verb.capitalize()}{kind.capitalize()}Type", {"domain": client.domain, f"{kind}Type": type_}
        )
        output.answer({"kind": kind, **type_, "done": done}, f"{done}: {kind} {name} {version}")

    return change


types.add_command(
    _changing(
        "deprecate",
        "deprecated",
        "Deprecate a type: what runs goes on, and nothing new of it is started.",
        "Let nothing new of a type be started.",
    )
)
types.add_command(
    _changing(
        "undeprecate", "undeprecated", "Take back the deprecation of a type.", "Take back the deprecation of a type."
    )
)
