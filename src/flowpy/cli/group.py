"""A group of commands, and what it says of a command that it does not have."""

from __future__ import annotations

import click

from flowpy.cli.printing import AS_JSON
from flowpy.declare.names import did_you_mean

__all__ = ["Group"]


class Group(click.Group):
    """A group that names the nearest command for one that there is not."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that arguments begin with."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            # No command is there to read the option; its user wants JSON all the same.
            ctx.meta[AS_JSON] = "--json" in args
            raise click.UsageError(f"there is no command {name!r}{did_you_mean(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)
