"""Where the order of a set shows, and where it does not."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from flowpy.check import Finding, check_paths

BEFORE = """\
import asyncio, itertools, functools, json
from dataclasses import dataclass, field
from collections.abc import Set as AbstractSet
import flowpy
from flowpy import Promise, activity, workflow

REGIONS = {"eu", "us"}
LIMITS = frozenset({1, 2})

@dataclass
class Order:
    tags: set[str]
    lines: list[str]

@activity
def charge(region: str) -> str: ...

async def step(region: str) -> str: ...

def known() -> frozenset[str]: ...

@workflow
async def order(names: set[str], sizes: set[int], given: Order, some: AbstractSet[str], done: set[Promise[str]]):
"""


def found(code: str, tmp_path: Path) -> list[Finding]:
    file = tmp_path / "shop.py"
    file.write_text(BEFORE + indent(code, "    ") + "\n", encoding="utf-8")
    return check_paths([str(file)])


@pytest.mark.parametrize(
    "code",
    [
        "for name in names: charge(name)",
        "for name in {'eu', 'us'}: charge(name)",
        "for name in set(given.lines): charge(name)",
        "for name in given.tags: charge(name)",
        "for name in some: charge(name)",
        "for name in REGIONS: charge(name)",
        "for name in known(): charge(name)",
        "for name in names | {'eu'}: charge(name)",
        "for name in names.union(given.lines): charge(name)",
        "for name in {'a': 1}.keys() - given.lines: charge(name)",
        "for name in (names if given.lines else []): charge(name)",
        "left = names - REGIONS\nfor name in left: charge(name)",
        "[charge(name) for name in names]",
        "{name: charge(name) for name in names}",
        "await asyncio.gather(*[charge(name) for name in names])",
        "await asyncio.gather(*map(charge, names))",
        "print(*names)",
        "list(names)",
        "tuple(names)",
        "enumerate(names)",
        "next(iter(names))",
        "dict.fromkeys(names)",
        "','.join(names)",
        "given.lines.extend(names)",
        "names.pop()",
        "first, *others = names",
        "[*names]",
        "f'{names}'",
        "str(names)",
        "itertools.chain(names, [])",
        "functools.reduce(max, names)",
        "sorted(names)[0]; list(names)",
    ],
)
def test_the_order_shows(code: str, tmp_path: Path) -> None:
    assert [finding.rule_id for finding in found(code, tmp_path)] == ["FLOW120"]


@pytest.mark.parametrize(
    "code",
    [
        "for name in sorted(names): charge(name)",
        "names = sorted(names)\nfor name in names: charge(name)",
        "for name in given.lines: charge(name)",
        "[charge(name) for name in sorted(names)]",
        "sorted(name.upper() for name in names)",
        "sorted([name.upper() for name in names])",
        "{name.upper() for name in names}",
        "set(names); frozenset(names); len(names); max(names); sum(len(name) for name in names)",
        "any(name == 'eu' for name in names)",
        "'eu' in names or names <= REGIONS or names == {'eu'}",
        "names.add('eu'); names.discard('us'); names.update(given.lines)",
        "charge(names)",
        "return names",
        "for promise in done: promise.result()",
        "for promise in {charge(name) for name in sorted(names)}: promise.result()",
        "tasks = {asyncio.create_task(step(name)) for name in sorted(names)}\nfor task in tasks: await task",
        "json.dumps(sorted(names))",
        "for name in {'eu': 1}: charge(name)",
        "for name in dict.fromkeys(['eu']): charge(name)",
        "given.lines.pop()",
    ],
)
def test_the_order_does_not_show(code: str, tmp_path: Path) -> None:
    assert found(code, tmp_path) == []


@pytest.mark.parametrize(
    "code",
    [
        "for size in sizes: flowpy.sleep(size)",
        "for size in {1, 2.5, -3}: flowpy.sleep(size)",
        "for size in LIMITS: flowpy.sleep(size)",
        "for size in set(range(3)): flowpy.sleep(size)",
        "for size in {len(name) for name in names}: flowpy.sleep(size)",
    ],
)
def test_of_numbers_it_is_a_warning(code: str, tmp_path: Path) -> None:
    (finding,) = found(code, tmp_path)

    assert (finding.rule_id, finding.severity) == ("FLOW120", "warning")
    assert "not on every Python" in finding.message


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        ("jobs = [step('eu'), step('us')]\nfor job in asyncio.as_completed(jobs): await job", ["FLOW122"]),
        ("for job in asyncio.as_completed([charge('eu')]): await job", []),
        ("for job in asyncio.as_completed([asyncio.create_task(step('eu'))]): await job", []),
        ("try: pass\nexcept: pass", ["FLOW130"]),
        ("try: pass\nexcept (ValueError, BaseException): return", ["FLOW130"]),
        ("try: pass\nexcept BaseException:\n    if given: raise", []),
        ("try: pass\nexcept BaseException:\n    def f(): raise\n", ["FLOW130"]),
        ("try: pass\nfinally: return 1", ["FLOW130"]),
        ("try: pass\nexcept Exception: pass", []),
        ("try: pass\nexcept asyncio.CancelledError: pass", []),
        ("global REGIONS\nREGIONS = set()", ["FLOW131"]),
        ("REGIONS.add('ap')", ["FLOW131"]),
        ("Order.seen = 1", ["FLOW131"]),
        ("del REGIONS[0]", ["FLOW131"]),
        ("REGIONS[0], mine = 1, 2", ["FLOW131"]),
        ("REGIONS[0] += 1", ["FLOW131"]),
        ("count = 0\ncount += len(names)", []),
        ("mine: set[str] = set(names)\nfor name in mine: charge(name)", ["FLOW120"]),
        ("mine: 'list[str] | None' = None\nfor name in mine or (): charge(name)", []),
        ("def later(found: set[str] | None):\n    return [name for name in found]", ["FLOW120"]),
        ("yield from names", ["FLOW120"]),
        ("given.tags = set()", []),
        ("mine = {}\nmine['a'] = 1\nmine.update(b=2)\ndel mine['a']", []),
        ("asyncio.get_running_loop().run_until_complete(None)", ["FLOW123"]),
        ("sorted(given.lines, key=id)", ["FLOW121"]),
    ],
)
def test_other_rules(code: str, rules: list[str], tmp_path: Path) -> None:
    assert [finding.rule_id for finding in found(code, tmp_path)] == rules


HELD_BY_ALL = """\
from collections import deque
from flowpy import execute, workflow

@workflow
class Order:
    seen: list[str] = []
    waiting = deque()
    own: list[str] = []
    few = ("a", "b")

    def __init__(self):
        self.own = []

    @execute
    async def run(self, name: str, given: list[str], met: list[str] = [], *, more=None, noted: dict = {}):
        {code}
"""


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("self.seen.append(name)", "self.seen.append"),
        ("self.seen[0] = name", "self.seen[0]"),
        ("self.waiting.popleft()", "self.waiting.popleft"),
        ("met.append(name)", "met.append"),
        ("noted[name] = 1", "noted[name]"),
        ("self.own.append(name)", None),
        ("self.few.index(name)", None),
        ("given.append(name)", None),
        ("met = list(met); met.append(name)", None),
        ("more.append(name)", None),
        ("len(self.seen)", None),
    ],
)
def test_what_all_objects_or_all_calls_share_is_like_state_of_the_module(
    code: str, what: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "shop.py"
    file.write_text(HELD_BY_ALL.replace("{code}", code), encoding="utf-8")

    found = check_paths([str(file)])

    assert [(each.rule_id, each.what, each.severity) for each in found] == (
        [("FLOW131", what, "warning")] if what else []
    )
