"""What ``flowpy worker MODULE`` runs."""

from __future__ import annotations

import sys

import pytest

from flowpy.errors import ConfigurationError
from flowpy.worker import Worker
from flowpy.worker.configuration import Configuration
from flowpy.worker.loading import load, worker_of

ORDERS = """
import flowpy
from billing_of_others import pay

@flowpy.activity
def charge(order_id: str) -> str: ...

@flowpy.activity(external=True)
def java(order_id: str) -> str: ...

@flowpy.workflow
async def order(order_id: str) -> None: ...

alias = charge
number = 7
both = [charge, pay]
nothing = []
"""
PAY = """
import flowpy

@flowpy.activity
def pay(cents: int) -> str: ...
"""
WORKERS = """
import flowpy
from flowpy.service import BotoService
from orders_here import order

first = flowpy.Worker(flowpy.Client("shop"), workflows=[order])
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "billing_of_others.py").write_text(PAY)
    (tmp_path / "orders_here.py").write_text(ORDERS)
    (tmp_path / "workers_here.py").write_text(WORKERS)
    (tmp_path / "broken_here.py").write_text("import a_module_that_is_nowhere\n")
    (tmp_path / "folder_here").mkdir()
    package = tmp_path / "shop_here"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("from shop_here.deep.parts import ship\nfrom billing_of_others import pay\n")
    (package / "deep" / "__init__.py").write_text("")
    (package / "deep" / "parts.py").write_text(PAY.replace("pay", "ship"))
    monkeypatch.chdir(tmp_path)
    known, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - known:
        del sys.modules[name]


def names(found):
    return sorted(each.name for each in found)


def test_what_is_declared_in_a_module_is_run_and_what_it_imports_is_not():
    assert names(load("orders_here")) == ["charge", "order"]


def test_a_package_has_what_its_modules_declare():
    assert names(load("shop_here")) == ["ship"]


def test_a_name_may_be_a_workflow_an_activity_or_a_list():
    assert names(load("orders_here:order")) == ["order"]
    assert names(load("orders_here:both")) == ["charge", "pay"]


def test_a_name_or_a_module_may_have_a_worker():
    assert isinstance(load("workers_here:first"), Worker)
    assert load("workers_here") is load("workers_here:first")


def test_several_have_commas_between_and_what_two_name_is_run_once():
    assert names(load("orders_here,shop_here,orders_here:order")) == ["charge", "order", "ship"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("orders_here,workers_here:first", "workers_here:first is a Worker, .* leave out the other modules"),
        ("orders_here,", "'' is no module"),
        ("nowhere_at_all", "there is no module 'nowhere_at_all'"),
        ("orders_here.py", "do you mean orders_here"),
        ("./orders_here.py", r"'\./orders_here\.py' is no module; give .*; do you mean orders_here\?"),
        (".orders_here", "is no module"),
        ("", "'' is no module"),
        (":order", "'' is no module"),
        ("orders_here:number", "number is 7; name a Worker"),
        ("orders_here:nobody", "module orders_here has no 'nobody'; what is declared there is "),
        ("orders_here:nothing", "name a Worker"),
        ("shop_here.deep", "nothing to run in shop_here.deep"),
        ("folder_here", "it is a folder, no module: name one in it, as in folder_here.orders"),
    ],
)
def test_what_cannot_be_run_is_told(name, message):
    with pytest.raises(ConfigurationError, match=message):
        load(name)


def test_a_module_that_imports_what_is_not_there_says_so_itself():
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_nowhere"):
        load("broken_here")


def test_a_worker_is_made_of_a_module_and_its_configuration():
    made = worker_of(
        Configuration.of({"module": "orders_here", "domain": "shop", "task_list": "eu", "identity": "me", "threads": 5})
    )
    assert (made.domain, made.task_list, made.identity, made.settings.threads) == ("shop", "eu", "me", 5)
    assert (names(made.workflows), names(made.activities)) == (["order"], ["charge"])


def test_what_is_missing_is_told():
    with pytest.raises(ConfigurationError, match="give a module"):
        worker_of(Configuration.of())
    with pytest.raises(ConfigurationError, match="give --domain, FLOWPY_DOMAIN or domain"):
        worker_of(Configuration.of({"module": "orders_here"}))


def test_a_worker_made_in_python_keeps_its_own_settings():
    assert worker_of(Configuration.of({"module": "workers_here", "processes": 2, "log_level": "DEBUG"}))
    with pytest.raises(ConfigurationError, match=r"leave out threads \(from FLOWPY_THREADS\)"):
        worker_of(Configuration.of({"module": "workers_here"}, {"FLOWPY_THREADS": "3"}))
