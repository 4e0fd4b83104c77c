"""How commands reach a domain of SWF: the options that they share, and the client these make.

Every command that talks to the service is decorated with `connection_options` and takes a `Connection`::

    @click.command()
    @connection_options
    def count(connection: Connection) -> None:
        client = connection.client()
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click
from attrs import frozen

from flowpy.cli.failing import Misuse

if TYPE_CHECKING:
    from flowpy.client import Client

__all__ = ["Connect", "Connection", "connect", "connection_options"]

F = TypeVar("F", bound=Callable[..., Any])


@frozen
class Connection:
    """What the options, and the environment, say about the service and the domain.

    Attributes:
        domain: SWF domain, None if none was given.
        region: AWS region; None: boto3's own choice.
        profile: Profile of the AWS configuration; None: boto3's own choice.
        endpoint_url: Address of the service; None: boto3's own choice.
        connect: Makes the client.
    """

    domain: str | None
    region: str | None
    profile: str | None
    endpoint_url: str | None
    connect: Connect

    def client(self) -> Client:
        """A client of the domain, closed when the command ends.

        Raises:
            click.UsageError: There is no domain.
            AccessDenied: There is no such profile.
        """
        if not self.domain:
            raise Misuse("which domain?", "give --domain NAME, or set FLOWPY_DOMAIN")
        client = self.connect(self)
        click.get_current_context().call_on_close(client.close)
        return client


Connect: TypeAlias = "Callable[[Connection], Client]"
"""Makes a client of a connection's domain. Who runs the commands from a program gives one as click's ``obj``."""


def connect(connection: Connection) -> Client:
    """Make a client that speaks to SWF through boto3.

    Raises:
        AccessDenied: There is no such profile.
    """
    from flowpy.client import Client
    from flowpy.service import BotoService
    from flowpy.service.sessions import boto_session

    session = boto_session(connection.profile, connection.endpoint_url)
    service = BotoService(session=session, region_name=connection.region, endpoint_url=connection.endpoint_url)
    return Client(connection.domain or "", service)


def connection_options(command: F) -> F:
    """Give a command ``--domain``, ``--region``, ``--profile``, ``--endpoint-url``, and the argument ``connection``."""

    @click.option("--domain", envvar="FLOWPY_DOMAIN", metavar="NAME", help="SWF domain; or set FLOWPY_DOMAIN.")
    @click.option("--region", envvar="AWS_REGION", metavar="NAME", help="AWS region; or set AWS_REGION.")
    @click.option("--profile", metavar="NAME", help="Profile of the AWS configuration; or set AWS_PROFILE.")
    @click.option(
        "--endpoint-url", metavar="URL", help="Where the service is, if not at AWS; or set AWS_ENDPOINT_URL_SWF."
    )
    @click.pass_context
    @functools.wraps(command)
    def connected(
        context: click.Context,
        /,
        *args: Any,
        domain: str | None,
        region: str | None,
        profile: str | None,
        endpoint_url: str | None,
        **rest: Any,
    ) -> Any:
        made = Connection(domain, region, profile, endpoint_url, context.obj or connect)
        return command(*args, connection=made, **rest)

    return connected  # type: ignore[return-value]  # its keywords are those of the command and the options
