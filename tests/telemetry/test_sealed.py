"""Traces of runs whose payloads are sealed: the trace stays readable around what is not."""

from __future__ import annotations

import json

import pytest

from flowpy.data.codecs import Compression
from flowpy.data.converter import Converter
from flowpy.data.payloads import Payloads, is_sealed
from flowpy.data.traced import untraced
from flowpy.runtime.replaying import replay_history

from . import shop
from .process import client
from .test_opentelemetry import Traces


@pytest.fixture
def traces():
    made = Traces()
    yield made
    made.provider.shutdown()


@pytest.mark.parametrize("sticky", [True, False], ids=["kept", "replayed"])
def test_a_trace_goes_around_what_is_sealed(service, process, traces, sticky, caplog):
    converter = Converter(payloads=Payloads([Compression(over=10)]))
    options = {"interceptors": traces.interceptors}
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, sticky=sticky, strict=True, converter=converter, **options)

    run = client(service, converter=converter, **options).start(shop.order, "o" * 500)
    worker.settle()

    assert run.result(0).endswith("packed")
    assert len({span.context.trace_id for span in traces.spans}) == 1
    started = service.events(run)[0]["workflowExecutionStartedEventAttributes"]["input"]
    inside, trace = untraced(started)
    assert set(trace) == {"traceparent"}
    assert is_sealed(inside)
    assert json.loads(untraced(converter.payloads.open(started))[0]) == ["o" * 500]
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []
    replay = replay_history(
        shop.order, service.events(run), run.workflow_id, run.run_id, strict=True, converter=converter
    )
    assert replay.check().ok
