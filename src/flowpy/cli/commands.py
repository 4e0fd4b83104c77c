"""The commands of ``flowpy``: what they are called, and where they are; each is imported when it is asked for."""

from __future__ import annotations

import importlib
from typing import Any, Final

import click

from flowpy import __version__
from flowpy.cli.failing import Exit, Failure, colour, failure
from flowpy.cli.group import Group
from flowpy.cli.printing import AS_JSON

__all__ = ["Commands", "flowpy"]

COMMANDS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "Write and test": {
        "init": ("flowpy.cli.init:init", "Make a project: a workflow, its tests, a history."),
        "run": ("flowpy.cli.running:run", "Run a workflow here, from start to end."),
        "check": ("flowpy.cli.check:check", "Find what no replay can repeat in workflow code."),
        "replay": ("flowpy.cli.replay:replay", "Replay histories against code."),
        "verify": ("flowpy.cli.verify:verify", "Before a deploy: would this code go on with what runs?"),
    },
    "Serve": {
        "server": ("flowpy.cli.server:server", "Run an SWF on this machine."),
        "worker": ("flowpy.cli.worker:worker", "Run workflows and activities until SIGTERM or Ctrl-C."),
        "types": ("flowpy.cli.types:types", "Registered types: list, register, deprecate."),
    },
    "Start, watch and steer executions": {
        "start": ("flowpy.cli.start:start", "Start an execution."),
        "list": ("flowpy.cli.listing:list_", "List executions."),
        "describe": ("flowpy.cli.describe:describe", "Show what is known of an execution."),
        "result": ("flowpy.cli.result:result", "Wait for the end of an execution, and print its result."),
        "query": ("flowpy.cli.query:query", "Ask an execution's code a question."),
        "signal": ("flowpy.cli.telling:signal", "Send a signal."),
        "cancel": ("flowpy.cli.telling:cancel", "Ask executions to stop."),
        "terminate": ("flowpy.cli.telling:terminate", "End executions at once."),
        "history": ("flowpy.cli.history:history", "Download histories."),
        "show": ("flowpy.cli.show:show", "Show an execution as a timeline."),
    },
    "Shell": {
        "completion": ("flowpy.cli.completion:completion", "Print what makes a shell complete flowpy's commands."),
    },
}
"""Headings, with the commands below each: where it is, ``module:attribute``, and what ``flowpy --help`` says of it."""


class Commands(Group):
    """A group whose commands are imported when they are run, and whose errors are told in a line or two."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of the help."""
        return [name for commands in COMMANDS.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of a name."""
        found = next((commands[cmd_name] for commands in COMMANDS.values() if cmd_name in commands), None)
        if found is None:
            return None
        module, _, attribute = found[0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        command.short_help = found[1]
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options before the command; what is wrong with them is told as all errors are."""
        try:
            return super().parse_args(ctx, args)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise failure(error, as_json="--json" in args) or error from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - likewise
        """The commands below their headings."""
        for heading, commands in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, told) for name, (_, told) in commands.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; known errors end it with their exit code, Ctrl-C with 130, neither with a traceback."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(Exit.INTERRUPTED)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise failure(self._placed(ctx, error), as_json=ctx.meta.get(AS_JSON, False)) or error from error
        except Failure as error:
            error.as_json = ctx.meta.get(AS_JSON, False)
            raise
        except Exception as error:
            told = failure(error, as_json=ctx.meta.get(AS_JSON, False))
            if told is None:
                raise
            raise told from error

    def _placed(self, ctx: click.Context, error: click.UsageError) -> click.UsageError:
        """An error of click's parser, which does not say of which command it is."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        if error.ctx is None and command is not None:
            error.ctx = click.Context(command, ctx, ctx.invoked_subcommand)
        return error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, package_name="flowpy-swf")
@click.pass_context
def flowpy(context: click.Context) -> None:
    """Long-running business processes as Python functions, on Amazon SWF."""
    context.color = colour()
