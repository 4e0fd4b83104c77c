"""Options, environment and file, in this order."""

from __future__ import annotations

import tomllib

import pytest

from flowpy.errors import ConfigurationError
from flowpy.worker import WorkerSettings
from flowpy.worker.configuration import CODE_ONLY, KEYS, Configuration


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "worker.toml"
        path.write_text(text)
        return path

    return write


def test_defaults_are_those_of_the_worker():
    configuration = Configuration.of()
    assert configuration.settings == WorkerSettings()
    assert (configuration.task_list, configuration.processes, configuration.domain) == ("default", 1, None)


def test_every_setting_of_a_worker_can_be_configured():
    assert {attribute.name for attribute in WorkerSettings.__attrs_attrs__} - CODE_ONLY <= KEYS.keys()


def test_what_can_be_configured_can_be_written_down():
    assert {key.type for key in KEYS.values()} <= {bool, float, int, str}
    assert not CODE_ONLY & KEYS.keys()


def test_an_option_goes_before_the_environment_that_before_the_file(file):
    path = file('[worker]\ndomain = "file"\ntask_list = "file"\nthreads = 3\ngrace = 5\n')
    environment = {"FLOWPY_DOMAIN": "environment", "FLOWPY_TASK_LIST": "environment", "HOME": "/"}
    configuration = Configuration.of({"domain": "option", "threads": None}, environment, path)
    assert (configuration.domain, configuration.task_list) == ("option", "environment")
    assert (configuration.settings.threads, configuration.settings.grace) == (3, 5.0)
    assert configuration.origins == {
        "domain": "--domain",
        "task_list": "FLOWPY_TASK_LIST",
        "threads": str(path),
        "grace": str(path),
    }


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("FLOWPY_ACTIVITY_SLOTS", "40", 40),
        ("FLOWPY_GRACE", "2.5", 2.5),
        ("FLOWPY_STICKY", "false", False),
        ("FLOWPY_STRICT", "YES", True),
        ("FLOWPY_POLLS_PER_SECOND", "10", 10.0),
        ("FLOWPY_ON_ABANDON", "time_out", "time_out"),
        ("FLOWPY_REGISTER_DOMAIN", "7", 7),
        ("FLOWPY_HEALTH_HOST", "0.0.0.0", "0.0.0.0"),  # noqa: S104 - only read
    ],
)
def test_the_environment_is_text(variable, text, value):
    name = variable.removeprefix("FLOWPY_").lower()
    assert Configuration.of(environment={variable: text}).value(name) == value


def test_an_empty_variable_is_none():
    assert Configuration.of(environment={"FLOWPY_THREADS": ""}).settings.threads == 2


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"FLOWPY_THREADS": "two"}, "FLOWPY_THREADS='two' is no whole number"),
        ({"FLOWPY_THREADS": "0"}, "FLOWPY_THREADS: threads=0 is no whole number of 1 or more"),
        ({"FLOWPY_GRACE": "soon"}, "FLOWPY_GRACE='soon' is no number"),
        ({"FLOWPY_STICKY": "perhaps"}, "FLOWPY_STICKY='perhaps' is neither true nor false"),
        ({"FLOWPY_GUARD": "loud"}, "FLOWPY_GUARD='loud' is none of warn, error, off"),
        ({"FLOWPY_PROCESSES": "0"}, "FLOWPY_PROCESSES: processes=0 is less than 1"),
        ({"FLOWPY_TASKLIST": "eu"}, "FLOWPY_TASKLIST is no setting; the nearest is FLOWPY_TASK_LIST"),
        ({"FLOWPY_Grace": "5"}, "FLOWPY_Grace is no setting; the nearest is FLOWPY_GRACE"),
        ({"FLOWPY_CONFIGS": "x.toml"}, "FLOWPY_CONFIGS is no setting; the nearest is FLOWPY_CONFIG"),
    ],
)
def test_what_is_wrong_in_the_environment_is_told(environment, message):
    with pytest.raises(ConfigurationError, match=message):
        Configuration.of(environment=environment)


def test_variables_of_others_are_left_alone():
    """Kubernetes sets some for each service that it knows, such as one named flowpy."""
    Configuration.of(environment={"FLOWPY_PORT": "tcp://10.0.0.1:80", "FLOWPY_SERVICE_HOST": "10.0.0.1"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[worker]\ntask-list = 'eu'\n", "there is no setting 'task-list'; the nearest is 'task_list'"),
        ("[worker]\ntread = 1\n", "there is no setting 'tread'; the nearest is 'threads'"),
        ("[worker]\nthreads = '3'\n", "threads='3' is no whole number"),
        ("[worker]\nthreads = true\n", "threads=True is no whole number"),
        ("[worker]\nthreads = 0\n", "threads=0 is no whole number of 1 or more"),
        ("[worker]\nconverter = 'mine'\n", "converter is an object; give it to a Worker"),
        ("[workers]\nthreads = 1\n", r"has no table \[worker\]; it has 'workers'"),
        ("threads\n", "is no TOML"),
        ("threads = 9\n[worker]\n", r"'threads' is outside of \[worker\], which all settings belong in"),
        ("tread = 9\n[worker]\n", r"'tread' is outside of \[worker\]"),
        ("[worker]\n[workers]\nthreads = 9\n", r"\[workers\] is outside of \[worker\]"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_name(file, text, message):
    path = file(text)
    with pytest.raises(ConfigurationError, match=message) as caught:
        Configuration.of(file=path)
    assert str(path) in str(caught.value)


def test_what_others_have_in_the_file_is_left_alone(file):
    path = file("title = 'shop'\n[worker]\nthreads = 3\n[database]\nthreads = 9\n")
    assert Configuration.of(file=path).settings.threads == 3


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        Configuration.of(file=tmp_path / "nothing.toml")


@pytest.mark.parametrize("grace", [2.5, float("inf")])
def test_what_is_shown_is_a_file_that_means_the_same(file, grace):
    options = {"domain": "shop", "threads": 4, "grace": grace, "sticky": False, "identity": 'a "b"'}
    shown = Configuration.of(options, {"FLOWPY_TASK_LIST": "eu"}).show()
    assert tomllib.loads(shown)["worker"]["domain"] == "shop"
    again = Configuration.of(file=file(shown))
    for name in KEYS:
        assert again.value(name) == Configuration.of(options, {"FLOWPY_TASK_LIST": "eu"}).value(name)
    (line,) = [line for line in shown.splitlines() if line.startswith("task_list")]
    assert line.endswith("# FLOWPY_TASK_LIST")
