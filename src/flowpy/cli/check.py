"""``flowpy check``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import click

from flowpy import __version__
from flowpy.check import Finding, check_paths
from flowpy.check.sarif import sarif
from flowpy.rules import RULES

__all__ = ["check"]


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--json", "form", flag_value="json", help="Print the findings as JSON.")
@click.option("--sarif", "form", flag_value="sarif", help="Print them as SARIF 2.1.0.")
@click.option("--ignore", metavar="RULE", multiple=True, help="Leave a rule out, such as FLOW131; may be repeated.")
@click.pass_context
def check(context: click.Context, paths: tuple[str, ...], form: str | None, ignore: tuple[str, ...]) -> None:
    """Find calls and constructs in workflow code that no replay can repeat.

    PATH is a file or a folder. Workflow code is what is decorated with flowpy.workflow or flowpy.asynchronous, and
    everything that it calls in the same tree.

    Exit code: 0 nothing found, 1 something found, 2 wrong usage.
    """
    unknown = sorted(set(ignore) - set(RULES))
    if unknown:
        raise click.BadParameter(f"no rule {', '.join(unknown)}; there are {', '.join(RULES)}", param_hint="--ignore")
    findings = [finding for finding in check_paths(paths) if finding.rule_id not in ignore]
    if form == "sarif":
        click.echo(json.dumps(sarif(findings, __version__), indent=2))
    elif form == "json":
        click.echo(json.dumps({"findings": [_data(finding) for finding in findings]}, indent=2))
    else:
        for line in _lines(findings):
            click.echo(line)
    context.exit(1 if findings else 0)


def _data(finding: Finding) -> dict[str, Any]:
    return {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "rule": finding.rule_id,
        "severity": finding.severity,
        "function": finding.function,
        "message": finding.message,
        "remedy": finding.remedy,
    }


def _lines(findings: Iterable[Finding]) -> Iterator[str]:
    count = {"error": 0, "warning": 0}
    for finding in findings:
        count[finding.severity] += 1
        place = click.style(f"{finding.path}:{finding.line}:{finding.column}", bold=True)
        colour = "red" if finding.severity == "error" else "yellow"
        warning = " (warning)" if finding.severity == "warning" else ""
        yield f"{place} {click.style(finding.rule_id, fg=colour)}{warning} {finding.message}"
        yield f"    instead: {finding.remedy}"
    yield f"{_counted(count['error'], 'error')}, {_counted(count['warning'], 'warning')}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
