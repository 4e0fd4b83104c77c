"""docs/running-workers.md: what it says of settings, exit codes and grace is so."""

from __future__ import annotations

import json
import re
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # its stubs are a package of their own
from click.testing import CliRunner
from tests.docs.pages import PAGES, fences

from flowpy.cli.commands import flowpy as command
from flowpy.cli.failing import Exit
from flowpy.worker import supervising
from flowpy.worker.configuration import KEYS, Configuration
from flowpy.worker.health import Health
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.quarantine import Quarantine
from flowpy.worker.slots import Slots

PAGE = "docs/running-workers.md"
TEXT = PAGES[PAGE]


def rows(heading: str) -> list[list[str]]:
    table = TEXT.split(heading)[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_every_setting_is_in_the_table_with_its_default() -> None:
    shown = {name: row[1] for row in rows("| setting | default |") for name in re.findall(r"`(\w+)`", row[0])}

    assert shown.keys() == KEYS.keys()
    for name, default in shown.items():
        if re.fullmatch(r"`.*`|[0-9.]+", default):
            value = KEYS[name].default
            assert default.strip("`") == (
                str(value).lower() if isinstance(value, bool) else f"{value}".removesuffix(".0")
            )


def test_the_file_on_the_page_is_one(tmp_path: Path) -> None:
    (toml,) = fences(PAGE, "toml")
    (tmp_path / "worker.toml").write_text(toml.text, encoding="utf-8")

    configuration = Configuration.of(file=tmp_path / "worker.toml")

    assert (configuration.module, configuration.settings.grace) == ("shop.orders", 65)


def test_the_exit_codes_are_those() -> None:
    codes = [int(row[0]) for row in rows("| exit code |")]

    failed = [supervising.FAILED, supervising.USAGE, Exit.NOT_FOUND, Exit.REFUSED, Exit.UNREACHABLE]
    assert codes == [Exit.OK, *failed, supervising.ABANDONED]
    assert (Exit.NO, Exit.USAGE, Exit.ABANDONED) == (supervising.FAILED, supervising.USAGE, supervising.ABANDONED)


@pytest.fixture
def unit() -> ConfigParser:
    """The unit of systemd; what it starts is tried with all commands."""
    (ini,) = fences(PAGE, "ini")
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of systemd have capitals
    parser.read_string(ini.text)
    return parser


@pytest.fixture
def deployment() -> Any:
    """That of Kubernetes."""
    (manifest,) = fences(PAGE, "yaml")
    return yaml.safe_load(manifest.text)


def test_the_image_starts_a_worker_that_may_be_given_the_rest_by_the_environment() -> None:
    (dockerfile,) = fences(PAGE, "dockerfile")
    ((program, *words),) = (json.loads(line[4:]) for line in dockerfile.text.splitlines() if line.startswith("CMD "))
    told = CliRunner(env={"FLOWPY_TASK_LIST": "orders"}).invoke(command, [*words, "--show-config"])

    assert program == "flowpy"
    assert told.exit_code == Exit.OK
    assert re.findall(r"^(?:module|grace|task_list) = [^ ]+", told.output, re.MULTILINE) == [
        'module = "shop"',
        'task_list = "orders"',
        "grace = 65.0",
    ]


def test_systemd_waits_longer_than_a_drain_takes_and_starts_nothing_that_is_wrong(unit: ConfigParser) -> None:
    service = unit["Service"]

    assert unit.sections() == ["Unit", "Service", "Install"]
    assert service["Type"] == "notify"
    assert int(service["TimeoutStopSec"]) > 65 + supervising.MARGIN
    assert int(service["RestartPreventExitStatus"]) == supervising.USAGE


def test_kubernetes_waits_longer_than_a_drain_takes_and_asks_where_it_is_answered(deployment: Any) -> None:
    pod = deployment["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]}
    configuration = Configuration.of(environment=environment)
    (port,) = container["ports"]

    assert deployment["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"]
    assert pod["spec"]["terminationGracePeriodSeconds"] > configuration.settings.grace + supervising.MARGIN
    assert configuration.processes == 2
    assert configuration.settings.health_port == port["containerPort"]
    probes = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")}
    assert {each["port"] for each in probes.values()} == {port["name"]}
    assert {name: each["path"] for name, each in probes.items()} == {
        "startup": "/healthz",
        "readiness": "/readyz",
        "liveness": "/healthz",
    }


def test_a_probe_is_answered_with_what_is_shown() -> None:
    (shown,) = fences(PAGE, "json")
    said = Health(Lifecycle(), Slots(16), Quarantine()).report()

    assert json.loads(shown.text).keys() <= said.keys()
