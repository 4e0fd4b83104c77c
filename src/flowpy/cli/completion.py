"""``flowpy completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete the commands, options and files of flowpy.

    \b
    bash: eval "$(flowpy completion bash)" in ~/.bashrc
    zsh:  eval "$(flowpy completion zsh)" in ~/.zshrc
    fish: flowpy completion fish > ~/.config/fish/completions/flowpy.fish
    """  # noqa: D301 - click looks for the character
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    click.echo(made(context.find_root().command, {}, "flowpy", "_FLOWPY_COMPLETE").source())
