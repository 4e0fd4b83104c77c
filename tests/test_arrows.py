"""Who may import whom: the arrows point one way, and the pure rooms touch no service and no event loop."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "flowpy"

_KERNEL = {"errors", "words", "declare", "data", "history", "replay"}
_RUNNING = _KERNEL | {"runtime", "service", "interceptors"}

# Each room with the rooms it may import from; "face" is flowpy/__init__.py.
# Imports for annotations count too: a type that a room knows is a room that it knows.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "rules": set(),
    "words": set(),
    "declare": {"errors", "words"},
    "interceptors": {"errors", "declare", "service"},
    "data": {"errors", "declare", "words"},
    "history": {"errors", "words"},
    "replay": _KERNEL | {"rules"},
    "runtime": _KERNEL | {"rules", "interceptors"},
    "check": {"rules"},
    "service": {"errors", "words"},
    "client": _RUNNING,
    "worker": _RUNNING | {"client"},
    "telemetry": _RUNNING | {"worker"},
    "view": {"errors", "data", "history"},
    "console": {"errors", "history", "view"},
    # The embedded service is SWF and knows nothing of the SDK.
    "local": {"errors", "words"},
    "testing": _RUNNING | {"client", "worker", "view", "local", "face"},
    "cli": _RUNNING | {"client", "worker", "view", "local", "testing", "face", "check", "rules", "console"},
    "face": _RUNNING | {"client", "worker"},
}

# Top-level modules that are part of another room.
PART_OF = {"execution": "client"}

# Replay must give the same answer anywhere: no room of the kernel waits, calls out or starts anything.
PURE = {"history", "replay"}
IMPURE = {"asyncio", "boto3", "botocore", "concurrent", "http", "multiprocessing", "socket", "ssl", "subprocess"}


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "face" if first == "__init__" else PART_OF.get(first, first)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of everything a module imports, wherever in it the import stands."""
    package = ["flowpy", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)


def target_of(name: str) -> str | None:
    """The room an imported name of flowpy lies in, or None for other distributions."""
    first, _, rest = name.partition(".")
    if first != "flowpy":
        return None
    room = rest.partition(".")[0]
    room = PART_OF.get(room, room)
    return room if room in ALLOWED and room != "face" else "face"


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_imports_only_what_lies_below_it(path: Path) -> None:
    room = room_of(path)
    assert room in ALLOWED, f"{room} is a new room: say in ALLOWED what it may import"

    wrong = [
        f"{path}:{line}: {room} imports {name}"
        for line, name in imports(path)
        if (target := target_of(name)) is not None and target != room and target not in ALLOWED[room]
    ]

    assert wrong == []


@pytest.mark.parametrize("path", [path for path in MODULES if room_of(path) in PURE], ids=named)
def test_the_kernel_is_pure(path: Path) -> None:
    wrong = [f"{path}:{line}: {name}" for line, name in imports(path) if name.partition(".")[0] in IMPURE]

    assert wrong == []


def test_the_arrows_have_no_cycle() -> None:
    def reaches(room: str, seen: frozenset[str] = frozenset()) -> set[str]:
        below = ALLOWED[room] - {room} - seen
        return below.union(*(reaches(other, seen | {room}) for other in below)) if below else set()

    assert [room for room in ALLOWED if any(room in reaches(other) for other in ALLOWED[room] - {room})] == []


def test_importing_flowpy_loads_no_service_client() -> None:
    heavy = "[name for name in ('boto3', 'botocore', 'click', 'uvicorn', 'sqlite3', 'moto') if name in sys.modules]"
    program = f"import sys, flowpy, flowpy.history, flowpy.replay; print({heavy})"

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert found.stdout.strip() == "[]"
