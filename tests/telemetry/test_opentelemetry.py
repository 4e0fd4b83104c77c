"""Spans and metrics: of one trace from start to the last activity, each once, and nothing where nothing is set up."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, get_current_span

import flowpy
from flowpy.data.traced import untraced
from flowpy.interceptors import Interceptor
from flowpy.runtime.replaying import replay_history
from flowpy.telemetry import MemoryMeter, OpenTelemetry

from . import shop
from .process import Service, client


class Traces:
    """Telemetry with an SDK that keeps the spans."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.telemetry = OpenTelemetry(tracer_provider=self.provider)
        self.interceptors = [self.telemetry.interceptor]

    @property
    def spans(self):
        return self.exporter.get_finished_spans()

    @property
    def tree(self):
        """Each span as the names on the way to it, sorted."""
        by_id = {span.context.span_id: span for span in self.spans}

        def way(span):
            return [*(way(by_id[span.parent.span_id]) if span.parent else []), span.name]

        return sorted(" / ".join(way(span)) for span in self.spans)


@pytest.fixture
def traces():
    made = Traces()
    yield made
    made.provider.shutdown()
    shop.failing.clear()


def run_order(service, worker, **options):
    shop.failing.append("charge")
    run = client(service, **options).start(shop.order, "o-7", workflow_id="order-7")
    worker.settle()
    service.engine.advance(1)
    worker.settle()
    assert run.result(0) == "42 charged, o-7 packed"
    return run


ORDER = [
    "start order",
    "start order / decide order",  # the charge
    "start order / decide order",  # its back-off
    "start order / decide order",  # its second attempt
    "start order / decide order",  # the child
    "start order / decide order",  # the child has started
    "start order / decide order",  # the end
    "start order / decide order / activity charge",
    "start order / decide order / activity charge",
    "start order / decide order / decide ship",
    "start order / decide order / decide ship",
    "start order / decide order / decide ship / activity pack",
]


@pytest.mark.parametrize("sticky", [True, False], ids=["kept", "replayed"])
def test_an_order_is_one_trace_and_each_span_is_made_once(service, process, traces, sticky):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=traces.interceptors, sticky=sticky)

    run = run_order(service, worker, interceptors=traces.interceptors)

    assert [name for name in traces.tree if name.split(" / ")[-1] != "decide order"] == [
        name for name in ORDER if name.split(" / ")[-1] != "decide order"
    ]
    assert len({span.context.trace_id for span in traces.spans}) == 1
    # One span for each decision task that was completed, however often its run was replayed.
    decisions = [span for span in traces.spans if span.name == "decide order"]
    completed = [each for each in service.events(run) if each["eventType"] == "DecisionTaskCompleted"]
    started = [each["decisionTaskCompletedEventAttributes"]["startedEventId"] for each in completed]
    assert [span.attributes["flowpy.started_event_id"] for span in decisions] == started


def test_a_process_that_takes_over_makes_no_span_again(service, process, traces):
    first = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=traces.interceptors)
    shop.failing.append("charge")
    run = client(service, interceptors=traces.interceptors).start(shop.order, "o-7")
    first.settle()
    first.close()
    service.engine.advance(1)
    service.engine.advance(10)  # the task list of the process that is gone is given up
    second = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=traces.interceptors)
    second.settle()

    assert run.result(0) == "42 charged, o-7 packed"
    assert second.counts["cache_misses"] == 1
    ids = [span.attributes["flowpy.started_event_id"] for span in traces.spans if span.name == "decide order"]
    assert len(ids) == len(set(ids))
    assert len([span for span in traces.spans if span.name == "activity charge"]) == 2
    assert len({span.context.trace_id for span in traces.spans}) == 1


def test_spans_say_what_they_are_of(service, process, traces):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=traces.interceptors)
    run = run_order(service, worker, interceptors=traces.interceptors)

    of = {span.name: dict(span.attributes) for span in traces.spans}
    run_of = {"flowpy.domain": "shop", "flowpy.workflow_id": "order-7", "flowpy.run_id": run.run_id}
    typed = {"flowpy.workflow_type": "order", "flowpy.workflow_version": "1.0"}
    assert of["start order"] == {**run_of, **typed}
    decided = of["decide order"]
    assert decided.pop("flowpy.started_event_id") > 0
    assert decided == {
        **run_of,
        **typed,
        "flowpy.task_list": "main",
        "flowpy.decisions": ("CompleteWorkflowExecution",),
    }
    assert of["activity charge"] == {
        **run_of,
        "flowpy.task_list": "main",
        "flowpy.activity_id": "charge-1.r2",
        "flowpy.activity_type": "charge",
        "flowpy.activity_version": "1.0",
        "flowpy.attempt": 2,
    }


def test_a_run_that_continues_stays_in_its_trace(service, process, traces):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=traces.interceptors)

    run = client(service, interceptors=traces.interceptors).start(shop.twice, 2)
    worker.settle()

    assert run.result(0) == "done"
    assert len({span.context.trace_id for span in traces.spans}) == 1
    assert traces.tree.count("start twice / decide twice / decide twice / activity pack") == 1


def test_it_joins_the_trace_of_whoever_starts(service, process, traces):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=traces.interceptors)
    tracer = traces.provider.get_tracer("request")

    with tracer.start_as_current_span("POST /orders") as request:
        client(service, interceptors=traces.interceptors).start(shop.ship, "o-7")
    worker.settle()

    assert "POST /orders / start ship / decide ship / activity pack" in traces.tree
    assert {span.context.trace_id for span in traces.spans} == {request.get_span_context().trace_id}


def test_other_operations_are_spans_and_reads_are_not(service, process, traces):
    process(shop.WORKFLOWS, shop.ACTIVITIES)
    run = client(service, interceptors=traces.interceptors).start(shop.order, "o-7")

    run.signal("approval", True)
    run.describe()
    run.history()
    run.terminate("enough")

    assert [span.name for span in traces.spans] == [
        "start order",
        "SignalWorkflowExecution",
        "TerminateWorkflowExecution",
    ]
    assert traces.spans[1].attributes["flowpy.run_id"] == run.run_id


def test_what_fails_says_so(service, process, traces):
    worker = process([shop.order], shop.ACTIVITIES, interceptors=traces.interceptors)
    start = client(service, interceptors=traces.interceptors).start
    shop.failing.append("charge")
    start(shop.order, "o-7")
    with pytest.raises(flowpy.UnknownResource):
        start(shop.ship, "o-8")
    worker.settle()

    by_name = {span.name: span for span in traces.spans}
    assert by_name["activity charge"].status.status_code is StatusCode.ERROR
    assert by_name["activity charge"].events[0].attributes["exception.type"].endswith("ConnectionError")
    assert by_name["start ship"].status.status_code is StatusCode.ERROR
    assert by_name["decide order"].status.status_code is StatusCode.UNSET


def test_a_held_decision_says_why(service, process, traces):
    worker = process([shop.order], shop.ACTIVITIES, interceptors=traces.interceptors)

    def hold(call, proceed):
        raise flowpy.UnknownWorkflowType("no workflow order 2.0 here")

    worker.decisions.arounds.append(hold)
    client(service).start(shop.order, "o-7")
    worker.settle()

    (span,) = traces.spans
    assert (span.name, span.status.status_code) == ("decide order", StatusCode.ERROR)
    assert span.status.description == "not decided: UnknownWorkflowType"


def test_telemetry_is_made_of_interceptors_and_stands_among_others(service, process, traces):
    seen = []

    def mine(call, proceed):
        seen.append(get_current_span().name)
        return proceed(call)

    given = [*traces.interceptors, Interceptor(activity=mine, client=mine)]
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=given, meter=MemoryMeter())
    client(service, interceptors=given).start(shop.ship, "o-7")
    worker.settle()

    assert seen == ["start ship", "activity pack"]
    measures, telemetry = worker.worker._around.measures.interceptor, traces.telemetry.interceptor
    assert worker.decisions.arounds == [measures.decision, telemetry.decision]
    assert worker.activities.around.arounds == [measures.activity, telemetry.activity, mine]


# --- what histories have ----------------------------------------------------------------------


def test_without_an_sdk_histories_are_the_same_to_the_byte():
    def history(**options):
        from .process import Process

        service = Service()
        worker = Process(service, shop.WORKFLOWS, shop.ACTIVITIES, sticky=False, **options)
        run = client(service, **options).start(shop.order, "o-7", workflow_id="order-7")
        worker.settle()
        worker.close()
        assert run.result(0) == "42 charged, o-7 packed"
        return json.dumps(service.events(run), default=str)

    assert history(interceptors=[OpenTelemetry().interceptor]) == history()


@pytest.mark.parametrize("sticky", [True, False], ids=["kept", "replayed"])
def test_processes_with_and_without_telemetry_take_turns(service, process, traces, sticky, caplog):
    """A deployment that turns telemetry on or off strands no run and warns of nothing, strict as it may be."""
    options = {"sticky": sticky, "strict": True}
    shop.failing.append("charge")
    process(shop.WORKFLOWS, shop.ACTIVITIES)  # registers the types
    run = client(service, interceptors=traces.interceptors).start(shop.order, "o-7")
    for interceptors in (traces.interceptors, [], traces.interceptors, []):
        worker = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=interceptors, **options)
        for _ in range(2):
            worker.decisions.step()
            worker._activity()
        worker.close()
        service.engine.advance(11)
    last = process(shop.WORKFLOWS, shop.ACTIVITIES, **options)
    last.settle()

    assert run.result(0) == "42 charged, o-7 packed"
    assert [record for record in caplog.records if "differ" in record.getMessage()] == []


def test_replays_pass_over_the_trace_and_name_real_differences(service, process, traces):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, interceptors=traces.interceptors)
    run = run_order(service, worker, interceptors=traces.interceptors)
    events = service.events(run)

    @flowpy.workflow(name="order", task_list="main")
    async def dearer(order_id: str) -> str:
        receipt = await shop.charge(43)
        return f"{receipt}, {await shop.ship(order_id)}"

    scheduled = next(each for each in events if each["eventType"] == "ActivityTaskScheduled")
    text = scheduled["activityTaskScheduledEventAttributes"]["input"]
    assert untraced(text)[0] == "[42]"
    assert set(untraced(text)[1]) == {"traceparent"}
    assert replay_history(shop.order, events, run.workflow_id, run.run_id, strict=True).check().result is not None
    replay = replay_history(dearer, events, run.workflow_id, run.run_id)
    assert [(each.what, each.recorded, each.made) for each in replay.warnings] == [("argument 1 (cents)", 42, 43)] * 2


def test_who_is_not_flowpy_gets_plain_inputs(service, process, traces):
    for each in (shop.weigh, shop.pack):
        type_ = {"domain": "shop", **each.type, **each.registered.defaults("main")}
        service.engine.call("RegisterActivityType", type_)
    plain = OpenTelemetry(tracer_provider=traces.provider, plain=["pack"])
    worker = process(shop.WORKFLOWS, [], interceptors=[plain.interceptor])
    calls = client(service, interceptors=[plain.interceptor])

    weighing = calls.start(shop.weighing, "o-7")
    shipping = calls.start(shop.ship, "o-8")
    by_name = calls.start("ship", "o-9")
    while worker.decisions.step():
        pass

    def inputs(run, kind):
        key = f"{kind[0].lower()}{kind[1:]}EventAttributes"
        return [each[key]["input"] for each in service.events(run) if each["eventType"] == kind]

    assert inputs(weighing, "ActivityTaskScheduled") == ['["o-7"]']
    assert inputs(shipping, "ActivityTaskScheduled") == ['["o-8"]']
    assert untraced(inputs(shipping, "WorkflowExecutionStarted")[0])[1]
    assert inputs(by_name, "WorkflowExecutionStarted") == ['["o-9"]']


# --- metrics ----------------------------------------------------------------------------------


def test_metrics_reach_the_sdk(service, process):
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    meter = OpenTelemetry(meter_provider=provider).meter
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, meter=meter)
    run_order(service, worker)
    meter.observe("spare", lambda: 3, {"domain": "shop"})
    meter.observe("spare", lambda: 4, {"domain": "other"})()

    (scope,) = reader.get_metrics_data().resource_metrics[0].scope_metrics
    found = {metric.name: metric for metric in scope.metrics}
    provider.shutdown()
    points = {point.attributes["kind"]: point.value for point in found["flowpy.polls"].data.data_points}
    assert points["activity"] > 3
    duration = found["flowpy.activity_duration"]
    assert (duration.unit, sum(point.count for point in duration.data.data_points)) == ("s", 3)
    assert [(p.value, dict(p.attributes)) for p in found["flowpy.spare"].data.data_points] == [(3, {"domain": "shop"})]


# --- what is not used is not there ------------------------------------------------------------


def test_nothing_of_it_is_imported_unless_it_is_used():
    program = (
        "import sys, flowpy, flowpy.telemetry, flowpy.client, flowpy.worker\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('opentelemetry', 'structlog')])"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert found.stdout.strip() == "[]"


def test_without_the_extra_it_says_how_to_get_it():
    program = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "try:\n    from flowpy.telemetry import OpenTelemetry\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert "pip install 'flowpy-swf[otel]'" in found.stdout
