"""What modules export exists, is in order, and is explained."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import flowpy

ROOT = Path(__file__).parents[1] / "src"


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = sorted(module_name(path) for path in ROOT.rglob("*.py") if path.name != "__main__.py")


def in_order(names: list[str]) -> list[str]:
    """The order ruff keeps: constants, classes, the rest, each by name."""

    def rank(name: str) -> tuple[int, str]:
        if name.isupper() and len(name) > 1:
            return 0, name
        return (1 if name[0].isupper() else 2), name

    return sorted(names, key=rank)


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_exports(name: str) -> None:
    module = importlib.import_module(name)
    exported = list(getattr(module, "__all__", ()))

    assert [each for each in exported if not hasattr(module, each)] == []
    assert exported == in_order(exported)
    assert len(set(exported)) == len(exported)
    assert (module.__doc__ or "").strip(), f"{name} does not say what it is"


def own_docstring(value: object) -> str | None:
    if isinstance(value, type):
        return value.__dict__.get("__doc__")
    return inspect.getdoc(value)


def test_every_public_name_of_flowpy_is_explained() -> None:
    assert flowpy.__all__, "the face has no names"
    values = {name: getattr(flowpy, name) for name in flowpy.__all__}

    explained = {name: value for name, value in values.items() if callable(value) or isinstance(value, ModuleType)}

    assert [name for name, value in explained.items() if not own_docstring(value)] == []


@pytest.mark.parametrize("name", MODULES)
def test_public_methods_are_explained_where_they_are_or_where_they_come_from(name: str) -> None:
    module = importlib.import_module(name)
    classes = {
        owner
        for class_name, owner in vars(module).items()
        if isinstance(owner, type) and owner.__module__ == name and not class_name.startswith("_")
    }

    silent = [
        f"{owner.__name__}.{method}"
        for owner in classes
        for method, value in vars(owner).items()
        if not method.startswith("_") and inspect.isfunction(value) and not inspect.getdoc(getattr(owner, method))
    ]

    assert silent == []
