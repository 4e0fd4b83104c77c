"""Spans and metrics for OpenTelemetry; only its API is used, and without an SDK nothing happens."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from attrs import define, evolve, field

from flowpy.data.traced import traced, untraced
from flowpy.declare.activity import EXTERNAL
from flowpy.interceptors import ActivityCall, ClientCall, DecisionCall, Interceptor, Proceed
from flowpy.service.paging import PolledDecisionTask

try:
    from opentelemetry import metrics, trace
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ModuleNotFoundError as missing:
    remedy = "pip install 'flowpy-swf[otel]'"
    raise ModuleNotFoundError(f"flowpy.telemetry.OpenTelemetry needs OpenTelemetry's API: {remedy}") from missing

__all__ = ["OpenTelemetry", "OpenTelemetryMeter"]

_NAME: Final = "flowpy"
_START: Final = "StartWorkflowExecution"
_READS: Final = ("Describe", "Get", "List", "Count")
_REMEMBERED: Final = 50_000
"""Runs whose trace is remembered between their decision tasks: more than any worker keeps in memory."""

_CARRYING: Final = {
    "ScheduleActivityTask": ("scheduleActivityTaskDecisionAttributes", "activityType"),
    "StartChildWorkflowExecution": ("startChildWorkflowExecutionDecisionAttributes", "workflowType"),
    "ContinueAsNewWorkflowExecution": ("continueAsNewWorkflowExecutionDecisionAttributes", ""),
}
"""Decisions whose input carries the trace on: key of their attributes, and of the type in them."""


class OpenTelemetry:
    """Spans for what clients call, decisions and activities, all of one trace, and a meter.

    Give ``interceptor`` to clients and workers, and ``meter`` to ``WorkerSettings``:

    >>> telemetry = OpenTelemetry()
    >>> import flowpy
    >>> client = flowpy.Client("shop", interceptors=[telemetry.interceptor])
    >>> settings = flowpy.worker.WorkerSettings(meter=telemetry.meter)

    The inputs of workflows, activities and children that are started under a span carry its context (contract §2);
    all that reads them must be flowpy. Activities declared ``external`` and types started by name get plain inputs.

    Args:
        tracer_provider: OpenTelemetry's; default the global one.
        meter_provider: The same for metrics.
        plain: Names of further activities and workflows whose workers are not flowpy, and are given plain inputs.

    Attributes:
        interceptor: Makes the spans.
        meter: Makes the metrics.
    """

    def __init__(
        self,
        *,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        plain: Collection[str] = (),
    ) -> None:
        self._tracer = trace.get_tracer(_NAME, tracer_provider=tracer_provider)
        self._propagator = TraceContextTextMapPropagator()
        self._plain = frozenset(plain)
        self._traces: OrderedDict[str, Mapping[str, str]] = OrderedDict()
        self._lock = threading.Lock()
        self.meter = OpenTelemetryMeter(metrics.get_meter(_NAME, meter_provider=meter_provider))
        self.interceptor = Interceptor(client=self._client, decision=self._decision, activity=self._activity)

    # --- clients ----------------------------------------------------------------------------

    def _client(self, call: ClientCall, proceed: Proceed[ClientCall]) -> Any:
        if call.operation.startswith(_READS):
            return proceed(call)
        starts = call.operation == _START
        name = f"start {call.request['workflowType']['name']}" if starts else call.operation
        kind, told = SpanKind.PRODUCER if starts else SpanKind.CLIENT, _told_by(call.request)
        with self._tracer.start_as_current_span(name, kind=kind, attributes=told) as span:
            if call.workflow is not None and call.workflow.name not in self._plain:
                call = evolve(call, request=_carrying(call.request, self._carried(span)))
            reply = proceed(call)
            if starts:
                span.set_attribute("flowpy.run_id", reply["runId"])
            return reply

    # --- decisions --------------------------------------------------------------------------

    def _decision(self, call: DecisionCall, proceed: Proceed[DecisionCall]) -> Any:
        began = time.time_ns()
        try:
            decided = proceed(call)
        except BaseException as error:
            span = self._decision_span(call, began)
            span.record_exception(error)
            span.set_status(StatusCode.ERROR, f"not decided: {type(error).__name__}")
            span.end()
            raise
        # Which trace it belongs to may be known only now that the whole history has been read.
        span = self._decision_span(call, began)
        span.set_attribute("flowpy.decisions", [each["decisionType"] for each in decided.decisions])
        context = self._carried(span)
        span.end()
        return _Decided([self._carrying(each, context) for each in decided.decisions], decided.execution_context)

    def _decision_span(self, call: DecisionCall, began: int) -> trace.Span:
        task = call.task
        name, version = task.workflow_type
        return self._tracer.start_span(
            f"decide {name}",
            context=self._extracted(self._trace_of(task)),
            kind=SpanKind.CONSUMER,
            start_time=began,
            attributes={
                "flowpy.domain": task.domain,
                "flowpy.task_list": call.task_list,
                "flowpy.workflow_id": task.workflow_id,
                "flowpy.run_id": task.run_id,
                "flowpy.workflow_type": name,
                "flowpy.workflow_version": version,
                "flowpy.started_event_id": task.started_event_id,
            },
        )

    def _trace_of(self, task: PolledDecisionTask) -> Mapping[str, str]:
        """The trace that the run's input carries; a run in memory brings only the end of its history."""
        first = task.events[0] if task.events else {}
        with self._lock:
            carried = self._traces.pop(task.run_id, {})
            if first.get("eventId") == 1:
                carried = untraced(first.get("workflowExecutionStartedEventAttributes", {}).get("input"))[1]
            if carried:
                self._traces[task.run_id] = carried
                if len(self._traces) > _REMEMBERED:
                    self._traces.popitem(last=False)
        return carried

    def _carrying(self, decision: dict[str, Any], context: Mapping[str, str]) -> dict[str, Any]:
        key, typed = _CARRYING.get(decision["decisionType"], ("", ""))
        if not key:
            return decision
        attributes = decision[key]
        type_ = attributes[typed] if typed else {"name": "", "version": ""}
        if type_["name"] in self._plain or (typed == "activityType" and (type_["name"], type_["version"]) in EXTERNAL):
            return decision
        return {**decision, key: _carrying(attributes, context)}

    # --- activities -------------------------------------------------------------------------

    def _activity(self, call: ActivityCall, proceed: Proceed[ActivityCall]) -> Any:
        told = {f"flowpy.{name}": value for name, value in call.fields.items()}
        context = self._extracted(call.trace)
        name = f"activity {call.activity.name}"
        with self._tracer.start_as_current_span(name, context=context, kind=SpanKind.CONSUMER, attributes=told):
            return proceed(call)

    # --- trace context ----------------------------------------------------------------------

    def _carried(self, span: trace.Span) -> dict[str, str]:
        carried: dict[str, str] = {}
        self._propagator.inject(carried, trace.set_span_in_context(span, Context()))
        return carried

    def _extracted(self, carried: Mapping[str, str]) -> Context:
        # What is current on a thread of the worker has nothing to do with the run.
        return self._propagator.extract(carried, Context())


@define
class _Decided:
    """What is sent instead of what was decided: the same, its inputs carrying the trace."""

    decisions: list[dict[str, Any]]
    execution_context: str | None


def _carrying(request: Mapping[str, Any], context: Mapping[str, str]) -> dict[str, Any]:
    text = request.get("input")
    return {**request} if text is None else {**request, "input": traced(text, context)}


def _told_by(request: Mapping[str, Any]) -> dict[str, str]:
    told = {"flowpy.domain": request.get("domain"), "flowpy.workflow_id": request.get("workflowId")}
    told["flowpy.run_id"] = request.get("runId")
    type_ = request.get("workflowType") or {}
    told |= {"flowpy.workflow_type": type_.get("name"), "flowpy.workflow_version": type_.get("version")}
    return {name: value for name, value in told.items() if value is not None}


@define(eq=False)
class OpenTelemetryMeter:
    """A ``Meter`` whose names begin with ``flowpy.``, its times in seconds.

    Args:
        meter: OpenTelemetry's.
    """

    _meter: metrics.Meter
    _instruments: dict[str, Any] = field(factory=dict, init=False)
    _observed: dict[str, dict[object, tuple[Callable[[], int], Mapping[str, str]]]] = field(factory=dict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def count(self, name: str, number: int, labels: Mapping[str, str]) -> None:
        """So many more of something happened."""
        self._instrument(name, self._meter.create_counter).add(number, labels)

    def record(self, name: str, value: float, labels: Mapping[str, str]) -> None:
        """One value of something that is measured each time."""
        self._instrument(name, self._histogram).record(value, labels)

    def observe(self, name: str, read: Callable[[], int], labels: Mapping[str, str]) -> Callable[[], None]:
        """Something goes up and down."""
        key = object()
        with self._lock:
            self._observed.setdefault(name, {})[key] = (read, labels)
        self._instrument(name, lambda full: self._gauge(name, full))

        def end() -> None:
            with self._lock:
                self._observed[name].pop(key, None)

        return end

    def _instrument(self, name: str, create: Callable[[str], Any]) -> Any:
        instrument = self._instruments.get(name)
        if instrument is None:
            with self._lock:
                instrument = self._instruments.get(name)
                if instrument is None:
                    instrument = self._instruments[name] = create(f"{_NAME}.{name}")
        return instrument

    def _histogram(self, name: str) -> metrics.Histogram:
        return self._meter.create_histogram(name, unit="s")

    def _gauge(self, name: str, full: str) -> metrics.ObservableGauge:
        def observed(_options: metrics.CallbackOptions) -> Iterator[metrics.Observation]:
            with self._lock:
                reads = list(self._observed[name].values())
            for read, labels in reads:
                yield metrics.Observation(read(), labels)

        return self._meter.create_observable_gauge(full, [observed])
