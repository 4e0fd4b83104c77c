"""Which code is workflow code: what is decorated, and everything that it leads to, through any import."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from flowpy.check import Finding, check_paths

Check = Callable[..., list[str]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Writes files, checks them and tells what was found, as ``file:line rule what``."""

    def told(*given: str, **files: str) -> list[str]:
        for name, text in files.items():
            file = tmp_path / f"{name}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(dedent(text), encoding="utf-8")
        paths = [str(tmp_path / each) for each in given] or [str(tmp_path)]
        return [tell(finding, tmp_path) for finding in check_paths(paths)]

    return told


def tell(finding: Finding, root: Path) -> str:
    return f"{Path(finding.path).relative_to(root).as_posix()}:{finding.line} {finding.rule_id} {finding.what}"


@pytest.mark.parametrize(
    "decorated",
    [
        "import flowpy\n@flowpy.workflow",
        "import flowpy\n@flowpy.workflow(version='1.0')",
        "import flowpy as f\n@f.asynchronous",
        "from flowpy import workflow\n@workflow",
        "from flowpy import workflow as wf\n@wf(version='1.0')",
        "from flowpy.declare import workflow\n@workflow",
        "import flowpy\ndurable = flowpy.workflow(version='2.0')\n@durable",
    ],
)
def test_however_a_workflow_is_decorated(check: Check, decorated: str) -> None:
    code = f"import time\n{decorated}\nasync def order():\n    time.time()\n"

    assert [each.partition(" ")[2] for each in check(shop=code)] == ["FLOW101 time.time"]


def test_a_workflow_that_is_declared_without_an_at(check: Check) -> None:
    code = """
        import time, flowpy
        def _order(): time.time()
        order = flowpy.workflow(version="1.0")(_order)
    """
    assert check(shop=code) == ["shop.py:3 FLOW101 time.time"]


def test_activities_and_other_functions_may_do_what_they_like(check: Check) -> None:
    code = """
        import time
        from flowpy import activity, workflow

        @activity(version="1.0")
        def charge(): return time.time()

        def main(): time.sleep(1)

        @workflow
        async def order(): await charge()
    """
    assert check(shop=code) == []


def test_functions_are_followed_through_modules_and_packages(check: Check) -> None:
    files = {
        "shop/__init__": "",
        "shop/orders": """
            from flowpy import workflow
            from . import dates
            from .helpers import deadline as until, unused
            import shop.chance

            @workflow
            async def order(): return until(), shop.chance.roll(), dates.today()
        """,
        "shop/helpers": """
            import time
            from shop.clock import now

            def deadline(): return now()
            def unused(): return time.time()
        """,
        "shop/clock": "from time import time as now\n",
        "shop/chance": "import random\ndef roll(): return random.randint(1, 6)\n",
        "shop/dates": "from datetime import date\ndef today(): return date.today()\n",
    }
    everything = [
        "shop/chance.py:2 FLOW103 random.randint",
        "shop/dates.py:2 FLOW101 datetime.date.today",
        "shop/helpers.py:5 FLOW101 time.time",
    ]
    assert check(**files) == everything
    assert check("shop/orders.py") == everything, "the modules beside a file are read when it asks for them"
    assert check("shop/helpers.py") == []


def test_a_function_that_is_handed_on_is_followed(check: Check) -> None:
    code = """
        import time, flowpy
        def later(order): return time.time()
        def once(): return time.time()

        @flowpy.workflow
        async def order(orders):
            flowpy.side_effect(once)
            return sorted(orders, key=later)
    """
    assert check(shop=code) == ["shop.py:3 FLOW101 time.time"]


def test_classes_are_followed_by_what_is_done_with_them(check: Check) -> None:
    code = """
        import time, uuid
        from dataclasses import dataclass, field
        from flowpy import workflow

        class Base:
            def __init__(self): self.made = time.time()

        class Basket(Base):
            def total(self): return time.monotonic()
            def save(self): open("basket")

        @dataclass
        class Order:
            id: str = field(default_factory=uuid.uuid4)
            def age(self): return time.time_ns()

        @workflow
        async def order(given: Order):
            Order()
            return Basket().total() + given.age()
    """
    assert check(shop=code) == [
        "shop.py:7 FLOW101 time.time",
        "shop.py:10 FLOW102 time.monotonic",
        "shop.py:15 FLOW105 uuid.uuid4",
        "shop.py:16 FLOW101 time.time_ns",
    ]


def test_all_methods_of_a_workflow_class_are_workflow_code(check: Check) -> None:
    code = """
        import time, flowpy

        @flowpy.workflow
        class Order:
            @flowpy.execute
            async def run(self): time.time()
            @flowpy.signal
            def approve(self): time.time()
            @flowpy.query
            def age(self): return time.time()
            def helper(self): time.time()
    """
    assert [each.split(":")[1].split()[0] for each in check(shop=code)] == ["7", "9", "11", "12"]


def test_handlers_and_functions_inside_are_workflow_code(check: Check) -> None:
    code = """
        import time, flowpy
        approval = flowpy.Signal("approval", bool)

        @flowpy.workflow
        async def order():
            @approval.handler
            def approve(yes): time.time()
            later = lambda: time.monotonic()
    """
    assert check(shop=code) == ["shop.py:8 FLOW101 time.time", "shop.py:9 FLOW102 time.monotonic"]


def test_workflows_may_be_defined_inside_of_functions(check: Check) -> None:
    code = """
        import time, random
        from flowpy import workflow

        def test_order(random):
            time.time()

            @workflow
            async def order(): return time.time(), random.random()

            class Other:
                @workflow
                async def order(): time.time()
    """
    assert check(shop=code) == ["shop.py:9 FLOW101 time.time", "shop.py:13 FLOW101 time.time"]


def test_names_mean_what_they_mean_where_they_stand(check: Check) -> None:
    code = """
        import time, random, os
        from flowpy import workflow
        import flowpy

        @workflow
        async def order(time, id, open=None):
            random = flowpy.random()
            hash = {"a": 1}
            for os in []: os.getpid()
            return time.time(), random.random(), open("x"), id, hash["a"]

        @workflow
        async def other():
            from datetime import datetime as moment
            now = moment.now
            return time.time(), now()
    """
    assert check(shop=code) == ["shop.py:16 FLOW101 datetime.datetime.now", "shop.py:17 FLOW101 time.time"]


def test_errors_constants_and_types_are_not_calls(check: Check) -> None:
    code = """
        import random, socket, subprocess, time, os
        from flowpy import workflow

        @workflow
        async def order(rng: random.Random, wait: socket.socket):
            try:
                assert isinstance(rng, random.Random)
            except (subprocess.CalledProcessError, socket.timeout):
                raise subprocess.TimeoutExpired("true", 1) from None
            return [subprocess.PIPE, socket.AF_INET, os.path.join("a", "b"), time.strftime("%Y", (2026,)), os.sep]
    """
    assert check(shop=code) == []


def test_a_comment_with_a_reason_is_heeded_and_one_without_is_reported(check: Check) -> None:
    code = """
        import time
        from flowpy import workflow

        @workflow
        async def order():
            time.time()  # flowpy: ignore[FLOW101] only logged
            time.time()  # flowpy: ignore[FLOW102, FLOW101] only logged
            # flowpy: ignore[FLOW101] only logged
            time.time()
            time.time()  # flowpy: ignore[FLOW102] another rule
            time.time()  # flowpy: ignore[FLOW101]
    """
    assert check(shop=code) == [
        "shop.py:11 FLOW101 time.time",
        "shop.py:12 FLOW101 time.time",
        "shop.py:12 FLOW191 FLOW101",
    ]


# --- what a module holds ------------------------------------------------------------------------


def test_chance_and_numbers_that_a_module_holds_are_found(check: Check) -> None:
    code = """
        import itertools, random
        import flowpy
        from chance import SHARED

        LOTS = random.Random(4)
        SECRETS = random.SystemRandom()
        IDS = itertools.count()

        @flowpy.workflow
        async def order():
            own, ids = random.Random(7), iter([1])
            own.random(), next(ids)
            LOTS.random()
            SECRETS.choice("ab")
            SHARED.shuffle([])
            return next(IDS)
    """
    assert check(shop=code, chance="from random import Random\nSHARED = Random()\n") == [
        "shop.py:14 FLOW103 LOTS.random",
        "shop.py:15 FLOW104 SECRETS.choice",
        "shop.py:16 FLOW103 SHARED.shuffle",
        "shop.py:17 FLOW131 next(IDS)",
    ]


# --- star imports -------------------------------------------------------------------------------


def test_star_imports_bind_what_their_modules_give(check: Check) -> None:
    code = """
        from flowpy import *
        from math import *
        from time import *

        @workflow
        async def order():
            sqrt(time())
            sleep(1)
    """
    assert check(shop=code) == ["shop.py:8 FLOW101 time.time", "shop.py:9 FLOW111 time.sleep"], "the last one counts"


def test_star_imports_lead_through_the_tree(check: Check) -> None:
    found = check(
        face="from flowpy import activity, workflow\n",
        clocks="import time\nfrom shop import *\ndef age(): return time.time()\ndef _hidden(): return time.time()\n",
        listed="import time\n__all__ = ['wait']\ndef wait(): time.sleep(1)\ndef age(): return time.time_ns()\n",
        shop="from face import *\nfrom clocks import *\nfrom listed import *\n@workflow\ndef order(): wait(age())\n",
    )
    assert found == ["clocks.py:3 FLOW101 time.time", "listed.py:3 FLOW111 time.sleep"]


@pytest.mark.parametrize("face", ["from flowpy import workflow", "import flowpy\nworkflow = flowpy.workflow"])
def test_a_decorator_may_be_passed_on(check: Check, face: str) -> None:
    code = "import time\nfrom face import workflow as durable\n@durable(version='1.0')\ndef order(): time.time()\n"
    assert check(face=face, shop=code) == ["shop.py:4 FLOW101 time.time"]


def test_a_name_of_ones_own_comes_before_that_of_a_star(check: Check) -> None:
    code = "from time import *\nfrom flowpy import *\ndef time(): ...\n@workflow\ndef order(): time()\n"
    assert check(shop=code) == []


# --- files --------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_a_finding(check: Check, tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"name = '\xe9'\n")
    (tmp_path / "nul.py").write_bytes(b"name = '\x00'\n")
    (tmp_path / "deep.py").write_text("x = " + "(" * 500 + ")" * 500)

    (tmp_path / "deeper.py").write_text("x = " + "-" * 20_000 + "1")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")

    found = check(broken="def order(:\n    pass\n")

    assert [each.partition(" ")[0] + each.partition(" ")[2][:8] for each in found] == [
        "broken.py:1FLOW190 ",
        "deep.py:1FLOW190 ",
        "deeper.py:1FLOW190 ",
        "gone.py:1FLOW190 ",
        "latin.py:1FLOW190 ",
        "nul.py:1FLOW190 ",
    ]


def test_a_function_that_is_nested_too_deeply_leaves_the_others_read(check: Check) -> None:
    deep = f"import flowpy\n@flowpy.workflow\ndef deep():\n    x = {'1 + ' * 900}1\n"

    found = check(deep=deep, shop="import flowpy, time\n@flowpy.workflow\ndef order(): time.time()\n")

    assert [each[:17] for each in found] == ["deep.py:3 FLOW190", "shop.py:3 FLOW101"]


def test_locks_of_editors_are_no_code(check: Check, tmp_path: Path) -> None:
    (tmp_path / ".#shop.py").symlink_to("ann@host.4711")

    assert check(shop="") == []


def test_an_encoding_may_be_declared(check: Check, tmp_path: Path) -> None:
    text = "# coding: latin-1\nimport time, flowpy\n@flowpy.workflow\ndef order(): return 'é', time.time()\n"
    (tmp_path / "shop.py").write_bytes(text.encode("latin-1"))

    assert check() == ["shop.py:4 FLOW101 time.time"]


def test_environments_caches_and_hidden_folders_are_left_out(check: Check, tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    for folder in ("env", ".tox", "node_modules", "__pycache__"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "broken.py").write_text("def (")

    assert check() == []
    assert check("env/broken.py") == ["env/broken.py:1 FLOW190 "], "unless it is named"


def test_a_path_with_nothing_there_is_said() -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        check_paths(["nowhere"])


def test_modules_that_import_each_other_come_to_an_end(check: Check) -> None:
    files = {
        "a": "from b import f\nfrom flowpy import workflow\n@workflow\ndef order(): f(); g()\n",
        "b": "from a import f\n",
    }
    assert check(**files) == []
