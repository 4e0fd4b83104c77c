"""How a worker process is configured: by options, environment variables and a TOML file, in this order."""

from __future__ import annotations

import difflib
import json
import types
import typing
from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, Self

import attrs
from attrs import field, frozen

from flowpy.errors import ConfigurationError
from flowpy.worker.settings import WorkerSettings

__all__ = ["CODE_ONLY", "CONFIG", "KEYS", "PREFIX", "Configuration", "Key"]

PREFIX: Final = "FLOWPY_"
"""What the environment variables begin with: ``task_list`` is ``FLOWPY_TASK_LIST``."""

CONFIG: Final = f"{PREFIX}CONFIG"
"""The variable that names the TOML file."""

CODE_ONLY: Final = frozenset({"converter", "decider", "meter"})
"""Settings of a worker that are objects: give a ``Worker`` instead of a module."""

_TABLE: Final = "worker"
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")
_NEAR: Final = 0.8
"""How much a variable of the environment has to look like a setting to be taken for a slip of the pen."""


@frozen
class Key:
    """A setting that can be configured.

    Attributes:
        name: Its name, as in the TOML file.
        type: ``str``, ``int``, ``float`` or ``bool``.
        choices: The values that it may have; empty for any.
        default: Its default.
    """

    name: str
    type: type
    choices: tuple[str, ...]
    default: Any

    def parse(self, text: str, where: str) -> Any:
        """Read a value written as text.

        Args:
            text: As in the environment.
            where: What it is called there, for errors.

        Raises:
            ConfigurationError: It cannot be read.
        """
        if self.type is bool:
            word = text.strip().lower()
            if word in _TRUE or word in _FALSE:
                return word in _TRUE
            raise ConfigurationError(f"{where}={text!r} is neither true nor false")
        if self.type is str:
            return self.check(text, where)
        try:
            return self.type(text)
        except ValueError:
            raise ConfigurationError(f"{where}={text!r} is no {self._kind}") from None

    def check(self, value: Any, where: str) -> Any:
        """A value that has a type already.

        Raises:
            ConfigurationError: It is of another type, or none of the choices.
        """
        if self.type is float and type(value) is int:
            return float(value)
        if type(value) is not self.type:
            raise ConfigurationError(f"{where}={value!r} is no {self._kind}")
        if self.choices and value not in self.choices:
            raise ConfigurationError(f"{where}={value!r} is none of {', '.join(self.choices)}")
        return value

    @property
    def _kind(self) -> str:
        return {int: "whole number", float: "number", str: "text", bool: "truth value"}[self.type]


@frozen(kw_only=True)
class Configuration:
    """What ``flowpy worker`` is to do.

    Attributes:
        module: What it runs: ``package.module`` or ``module:name``.
        domain: SWF domain.
        task_list: Task list that it polls; default ``"default"``.
        identity: Who it is, recorded in the histories; default process id and host.
        processes: Worker processes; default 1, which is this one.
        region: AWS region; default boto3's own.
        endpoint_url: Address of the service; default boto3's own.
        profile: Name of an AWS profile; default boto3's own.
        log_level: Least level that is logged: DEBUG, INFO (default), WARNING or ERROR.
        settings: How the worker works: each is a setting of its own.
        origins: Where each setting that is no default comes from.
    """

    module: str | None = None
    domain: str | None = None
    task_list: str = "default"
    identity: str | None = None
    processes: int = 1
    region: str | None = None
    endpoint_url: str | None = None
    profile: str | None = None
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    settings: WorkerSettings = field(factory=WorkerSettings)
    origins: dict[str, str] = field(factory=dict)

    @classmethod
    def of(
        cls,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        file: str | Path | None = None,
    ) -> Self:
        """Put settings together; an option goes before the environment, that before the file, that before defaults.

        Args:
            options: Values by name, of their own type or as text; None is not given.
            environment: Variables such as ``FLOWPY_TASK_LIST``; others are left alone, but those that look like a
                slip of the pen.
            file: TOML with a table ``[worker]``.

        Raises:
            ConfigurationError: A setting is unknown (the message names the nearest) or wrong, or the file is.
        """
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}
        sources = (_from_file(file), _from_environment(environment or {}), _from_options(options or {}))
        for name, value, origin in (each for source in sources for each in source):
            values[name], origins[name] = value, origin
        if values.get("processes", 1) < 1:
            raise ConfigurationError(f"{origins['processes']}: processes={values['processes']} is less than 1")
        own = {name: values.pop(name) for name in list(values) if name in _OWN}
        return cls(**own, settings=_settings(values, origins), origins=origins)

    def value(self, name: str) -> Any:
        """The value of a setting."""
        return getattr(self if name in _OWN else self.settings, name)

    def show(self) -> str:
        """All settings as TOML, each with where it comes from."""
        lines = [f"[{_TABLE}]"]
        for key in KEYS.values():
            value, origin = self.value(key.name), self.origins.get(key.name, "default")
            text = f"# {key.name} =" if value is None else f"{key.name} = {_as_toml(value)}"
            lines.append(f"{text:<40}# {'not set' if value is None else origin}")
        return "\n".join(lines)


def _as_toml(value: Any) -> str:
    return "inf" if value == inf else json.dumps(value, ensure_ascii=False)


def _keys(cls: type, leave_out: frozenset[str]) -> Iterator[Key]:
    hints = typing.get_type_hints(cls)
    for attribute in attrs.fields(cls):
        if attribute.name not in leave_out:
            hint, choices = hints[attribute.name], ()
            if typing.get_origin(hint) is types.UnionType:
                (hint,) = (part for part in typing.get_args(hint) if part is not types.NoneType)
            if typing.get_origin(hint) is Literal:
                hint, choices = str, typing.get_args(hint)
            yield Key(attribute.name, hint, choices, attribute.default)


KEYS: Final = {
    key.name: key
    for keys in (_keys(Configuration, frozenset({"settings", "origins"})), _keys(WorkerSettings, CODE_ONLY))
    for key in keys
}
"""All settings by name."""

_OWN: Final = frozenset(key.name for key in _keys(Configuration, frozenset({"settings", "origins"})))


def _settings(values: dict[str, Any], origins: dict[str, str]) -> WorkerSettings:
    try:
        return WorkerSettings(**values)
    except ValueError as error:
        # attrs has no word for where a value came from: try them one by one.
        for name, value in values.items():
            try:
                WorkerSettings(**{name: value})
            except ValueError as wrong:
                message = str(wrong).removeprefix("WorkerSettings: ")
                raise ConfigurationError(f"{origins[name]}: {message}") from error
        raise ConfigurationError(str(error)) from error


def _unknown(name: str, where: str, names: Mapping[str, Any]) -> ConfigurationError:
    if name in CODE_ONLY:
        return ConfigurationError(
            f"{where}: {name} is an object", remedy="give it to a Worker in Python, and name that Worker"
        )
    near = difflib.get_close_matches(name.lower().replace("-", "_"), names, 1, 0.0)
    return ConfigurationError(f"{where}: there is no setting {name!r}", remedy=f"the nearest is {near[0]!r}")


def _from_file(path: str | Path | None) -> Iterator[tuple[str, Any, str]]:
    if path is None:
        return
    import tomllib

    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"{path} is no TOML: {error}") from error
    table = data.get(_TABLE)
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path} has no table [{_TABLE}]; it has {', '.join(map(repr, data)) or 'nothing'}")
    for name, value in data.items():
        is_table = isinstance(value, dict)
        if name != _TABLE and difflib.get_close_matches(name, [_TABLE] if is_table else KEYS, 1, _NEAR):
            what = f"[{name}]" if is_table else repr(name)
            raise ConfigurationError(f"{path}: {what} is outside of [{_TABLE}], which all settings belong in")
    for name, value in table.items():
        if name not in KEYS:
            raise _unknown(name, str(path), KEYS)
        yield name, KEYS[name].check(value, f"{path}: {name}"), str(path)


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    known = {PREFIX + name.upper(): key for name, key in KEYS.items()}
    names = [variable.removeprefix(PREFIX) for variable in (*known, CONFIG)]
    for variable, text in environment.items():
        told = variable.upper().removeprefix(PREFIX)
        if variable in known:
            if text:
                yield known[variable].name, known[variable].parse(text, variable), variable
        elif variable != CONFIG and told != variable.upper():
            for near in difflib.get_close_matches(told, names, 1, _NEAR):
                raise ConfigurationError(f"{variable} is no setting", remedy=f"the nearest is {PREFIX}{near}")


def _from_options(options: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    for name, value in options.items():
        if value is None:
            continue
        option = name if name == "module" else f"--{name.replace('_', '-')}"
        if name not in KEYS:
            raise _unknown(name, "options", KEYS)
        key = KEYS[name]
        is_text = isinstance(value, str) and key.type is not str
        yield name, key.parse(value, option) if is_text else key.check(value, option), option
