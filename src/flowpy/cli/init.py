"""``flowpy init``."""

from __future__ import annotations

import keyword
import re
import shlex
from collections.abc import Iterator
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

from flowpy.cli.failing import Exit, Failure
from flowpy.cli.printing import Output, output_option

__all__ = ["init"]

_ODD: Final = re.compile(r"[^a-z0-9]+")


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.option("--name", metavar="NAME", help="Name of the project and its module; default the folder's.")
@output_option
def init(output: Output, folder: Path, name: str | None) -> None:
    """Make a project in FOLDER, default here: a workflow, its tests, and a stored history that is a test too.

    The tests pass at once: run pytest. Nothing that is there already is changed.

    Exit code: 5 a file is there already.
    """
    called = _ODD.sub("-", (name or folder.resolve().name).lower()).strip("-") or "shop"
    module = _module(called)
    files = dict(_files(called, module))
    stored = f"tests/histories/{module}.history.json"
    there = [file for file in (*files, stored) if (folder / file).exists()]
    if there:
        raise Failure(f"{folder / there[0]} is there already", Exit.EXISTS, "name another folder, or remove it")
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    _store(folder / f"{module}.py", folder / stored)
    made = [*files, stored]
    enter = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
    pytest = "pytest" if find_spec("pytest") is not None else "pip install pytest && pytest"
    output.answer({"folder": str(folder), "files": made}, "\n".join(f"made {folder / file}" for file in made))
    output.line(f"\nnext: {enter}{pytest}\n      flowpy run {module}:order o-7 --signal approval true")


def _files(name: str, module: str) -> Iterator[tuple[str, str]]:
    folder = resources.files("flowpy.cli") / "skeleton"
    for template, file in (
        ("workflows", f"{module}.py"),
        ("tests", f"tests/test_{module}.py"),
        ("project", "pyproject.toml"),
        ("readme", "README.md"),
    ):
        text = (folder / f"{template}.txt").read_text(encoding="utf-8")
        # Not str.format: the Python in them has braces of its own.
        yield file, text.replace("{name}", name).replace("{module}", module)


def _module(name: str) -> str:
    """A module name that no keyword, no number and no installed module is in the way of."""
    module = name.replace("-", "_")
    if module[0].isdigit():
        return f"workflows_{module}"
    if keyword.iskeyword(module) or module == "tests":
        return f"{module}_workflows"
    there = find_spec(module)
    # A folder of that name, such as the project's own seen from above, is no module that matters.
    return f"{module}_workflows" if there is not None and there.origin is not None else module


def _store(code: Path, file: Path) -> None:
    """Run the workflow as its tests do, and store what was recorded."""
    from flowpy.cli.histories import write
    from flowpy.testing import Environment

    made: dict[str, Any] = {"__name__": code.stem}
    exec(compile(code.read_text(encoding="utf-8"), code, "exec"), made)  # noqa: S102 - the skeleton itself
    with Environment() as swf:
        run = swf.start(made["order"], "o-7", workflow_id="order-o-7")
        run.signal(made["approval"], True)
        run.result()
        write(file, run.workflow_id, run.run_id or "", run.history())
