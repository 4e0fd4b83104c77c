"""Deployment: each component after what it needs and beside all others."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from flowpy import WorkflowFailed
from samples.deployment import deploy, deploy_stack

STACK = {"shop": ["database", "cache"], "cache": ["network"], "database": ["network"], "network": []}


def test_every_component_knows_the_addresses_of_what_it_needs(swf, tmp_path):
    addresses = swf.run(deploy_stack, tmp_path / "stack", STACK)

    assert sorted(addresses) == sorted(f"http://{component}.internal" for component in STACK)
    assert json.loads((tmp_path / "stack" / "shop.json").read_text()) == {
        "address": "http://shop.internal",
        "needs": ["http://database.internal", "http://cache.internal"],
    }


def test_what_does_not_need_one_another_is_deployed_at_the_same_time(swf, tmp_path):
    swf.stub(deploy, returns="somewhere", delay="10m")
    began = swf.now()
    swf.run(deploy_stack, tmp_path, STACK)

    begun = {call.args[1]: (call.at - began) // dt.timedelta(minutes=10) for call in swf.calls(deploy)}
    assert begun == {"network": 0, "database": 1, "cache": 1, "shop": 2}


def test_what_needs_a_failed_component_is_not_deployed(swf, tmp_path):
    swf.stub(deploy, raises=OSError("no network"))
    with pytest.raises(WorkflowFailed, match="OSError: no network"):
        swf.run(deploy_stack, tmp_path, STACK)

    assert [call.args[1] for call in swf.calls(deploy)] == ["network"]


def test_a_circle_is_refused(swf, tmp_path):
    with pytest.raises(WorkflowFailed, match="nodes are in a cycle") as failed:
        swf.run(deploy_stack, tmp_path, {"hen": ["egg"], "egg": ["hen"]})
    assert failed.value.type == "CycleError"
