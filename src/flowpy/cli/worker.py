"""``flowpy worker``."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
from attrs import evolve

from flowpy.cli.failing import Exit, Failure
from flowpy.cli.importing import dotted, import_module
from flowpy.cli.leaving import leave
from flowpy.errors import FlowpyError
from flowpy.worker.configuration import CONFIG, KEYS, PREFIX, Configuration, Key
from flowpy.worker.loading import worker_of
from flowpy.worker.notifying import is_supervised
from flowpy.worker.supervising import Supervisor

__all__ = ["worker"]

F = TypeVar("F", bound=Callable[..., Any])

_HELP = {
    "domain": "SWF domain.",
    "task_list": "Task list to poll.",
    "identity": "Who it is, recorded in the histories.",
    "processes": "Worker processes; more than one are supervised and started again when they die.",
    "region": "AWS region.",
    "endpoint_url": "Address of the service.",
    "profile": "Name of an AWS profile.",
    "log_level": "Least level that is logged.",
    "threads": "Threads that make decisions.",
    "activity_pollers": "Threads that poll for activities.",
    "activity_slots": "Activities that run at once.",
    "grace": "Seconds that work in progress gets to end when the worker stops.",
    "cancel_grace": "Seconds that a cancelled activity in a process of its own gets to stop by itself.",
    "on_abandon": "What becomes of activities that have not ended by then.",
    "on_divergence": "What becomes of runs that do not match the code.",
    "guard": "What is done if workflow code opens files, sockets, programs.",
    "strict": "Hold runs also for differences that are only warned of.",
    "register": "Register the types at the start.",
    "register_domain": "Register the domain too, with that many days of retention.",
    "page_size": "Events per page of a history.",
    "sticky": "Keep runs in memory between their decision tasks.",
    "sticky_timeout": "Seconds that a decision task waits for the process that keeps its run.",
    "cached_runs": "Runs kept in memory at most.",
    "cached_bytes": "Memory that they may take together.",
    "polls_per_second": "Polls at most.",
    "calls_per_second": "Other calls at most, heartbeats aside.",
    "health_port": "Port on which /healthz and /readyz are answered.",
    "health_host": "Address to answer on.",
    "health_after": "Seconds without an answered poll after which the worker is not well.",
}


def _option(key: Key) -> Callable[[F], F]:
    name, metavar = key.name.replace("_", "-"), {int: "N", float: "SECONDS", str: "TEXT"}.get(key.type)
    known = "" if key.default is None or not isinstance(key.default, (str, int, float)) else f" Default {key.default}."
    help = f"{_HELP.get(key.name, '')}{known} [{PREFIX}{key.name.upper()}]"
    if key.type is bool:
        return click.option(f"--{name}/--no-{name}", key.name, default=None, help=help)
    if key.name.endswith("_per_second"):
        metavar = "RATE"
    choice = click.Choice(key.choices) if key.choices else None
    return click.option(f"--{name}", key.name, type=choice or str, metavar="|".join(key.choices) or metavar, help=help)


def _options(command: F) -> F:
    for key in reversed(KEYS.values()):
        if key.name != "module":
            command = _option(key)(command)
    return command


@click.command()
@click.argument("module", required=False)
@click.option("--config", "file", metavar="FILE", help="TOML file with a table [worker]. [FLOWPY_CONFIG]")
@click.option("--show-config", is_flag=True, help="Print all settings and where they come from, and stop.")
@_options
@click.pass_context
def worker(context: click.Context, /, file: str | None, show_config: bool, **options: Any) -> None:
    """Run workflows and activities until SIGTERM or Ctrl-C.

    MODULE is package.module, of which all workflows and activities declared there are run, or module:name, which is a
    flowpy.Worker, a workflow, an activity or a list. Several have commas between. Settings come from options, then from
    the environment, then from the file, then from defaults.

    Exit code: 0 stopped and nothing left behind, 9 stopped and work was left behind that did not end in its grace; for
    errors as all commands, of which 2, wrong usage, says that starting it again would not help.
    """
    file = file or os.environ.get(CONFIG)
    configuration = Configuration.of(options, os.environ, file)
    if show_config:
        click.echo(configuration.show())
        return
    context.exit(_run(configuration))


def _run(configuration: Configuration) -> int:
    handler = logging.StreamHandler()
    # What botocore says of where it found credentials is no news of the worker's.
    handler.addFilter(lambda record: record.levelno != logging.INFO or record.name.partition(".")[0] != "botocore")
    told = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=configuration.log_level, format=told, handlers=[handler])
    if is_supervised(os.environ):
        # The supervisor answers the probes for all.
        settings = evolve(configuration.settings, health_port=None)
        return _work(evolve(configuration, settings=settings))
    if configuration.processes == 1:
        return _work(configuration)
    # What is wrong with the module is found before there are processes.
    if configuration.module is None:
        worker_of(configuration)
    settings = configuration.settings
    health = None if settings.health_port is None else (settings.health_host, settings.health_port)
    command = [sys.executable, "-m", "flowpy.cli", *sys.argv[1:]]
    try:
        return Supervisor(command, configuration.processes, settings.grace, health).run()
    except OSError as error:
        raise _taken(error) from error


def _work(configuration: Configuration) -> int:
    # Until the worker itself listens, a signal ends the process: as process 1 it would not by itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    made = worker_of(_imported(configuration))
    try:
        made.run()
    except OSError as error:
        if isinstance(error, FlowpyError):
            raise
        raise _taken(error) from error
    finally:
        if made.abandoned:
            leave()
    return Exit.ABANDONED if made.abandoned else Exit.OK


def _imported(configuration: Configuration) -> Configuration:
    """The configuration, its modules imported and what is wrong with them told as all commands tell it."""
    if configuration.module is None:
        return configuration
    named = []
    for each in configuration.module.split(","):
        module, colon, attribute = each.partition(":")
        import_module(module)
        named.append(f"{dotted(module)}{colon}{attribute}")
    return evolve(configuration, module=",".join(named))


def _taken(error: OSError) -> Failure:
    return Failure(error.strerror or str(error), Exit.NO, "--health-port 0 takes any that is free", error=error)
