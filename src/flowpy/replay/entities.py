"""One small state machine for each thing of SWF that a run decides about.

An entity is created by a call in workflow code (CREATED: its decision waits in the outbox), becomes SENT when history
records the answer to its decision, and CLOSED when it has ended, was refused, or was cancelled before it was sent.
Each knows the decision that makes it and what the recorded answer must agree with (law L3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, ClassVar, Final

from flowpy.data.converter import Converter
from flowpy.data.traced import untraced

CREATED: Final = 0
SENT: Final = 1
CLOSED: Final = 2

Site = tuple[CodeType, int] | None
"""Where user code made a call: a code object and an instruction offset; turned into a line only for a report."""

_same = Converter().same


def decision_key(decision_type: str) -> str:
    """The key under which a decision's attributes stand in it."""
    return f"{decision_type[:1].lower()}{decision_type[1:]}DecisionAttributes"


class Entity:
    """What all entities share.

    Attributes:
        id: The id of its decision: activityId, timerId, child workflowId, ``control`` or the id inside a marker.
        name: Name of the type, signal, marker or function; "" for timers.
        version: Version of the type, "" where there is none.
        input: The payload sent, or None.
        attributes: Further SWF attributes that the code sets explicitly.
        site: Where user code made the call.
        state: CREATED, SENT or CLOSED.
        listener: The runtime's side, told how the entity ends; None for an activity that listens itself.
        event_id: The event that answered its decision, 0 before.
    """

    # No __slots__: thousands are made in every replay, and what has its default costs nothing.
    decision_type: ClassVar[str] = ""
    decision_key: ClassVar[str] = ""
    name: str = ""
    version: str = ""
    attributes: dict[str, Any] | None = None
    listener: Any = None
    state: int = CREATED
    event_id: int = 0

    def __init_subclass__(cls) -> None:
        """Write the key of a decision's attributes once, and not for every decision."""
        super().__init_subclass__()
        cls.decision_key = decision_key(cls.decision_type)

    def __init__(
        self,
        id: str,
        name: str = "",
        version: str = "",
        input: str | None = None,
        attributes: dict[str, Any] | None = None,
        listener: Any = None,
        site: Site = None,
    ) -> None:
        self.id = id
        if name:
            self.name = name
        if version:
            self.version = version
        self.input = input
        self.attributes = attributes
        self.listener = listener
        self.site = site

    def decision(self) -> dict[str, Any]:
        """The decision as boto3 takes it."""
        return {"decisionType": self.decision_type, self.decision_key: self.decision_attributes()}

    def decision_attributes(self) -> dict[str, Any]:
        """The attributes of the decision."""
        raise NotImplementedError

    def _with_payload(self, made: dict[str, Any]) -> dict[str, Any]:
        """Attributes with the input, if there is one, and with the options the code set."""
        if self.input is not None:
            made["input"] = self.input
        if self.attributes:
            made.update(self.attributes)
        return made

    def identity(self) -> str:
        """What the decision is about, for reports."""
        what = f"{self.name} {self.version}".strip()
        return f"{self.decision_type}({self.id}{': ' + what if what else ''})"

    def mismatch(self, recorded: dict[str, Any]) -> str | None:  # noqa: ARG002 - for those that override it
        """What in the recorded answer contradicts the identity of this decision, or None."""
        return None

    def differences(self, recorded: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        """Harmless differences with the recorded answer: (what, recorded, made by the code)."""
        # With which trace a call was made is no part of it.
        text, _ = untraced(recorded.get("input"))
        if text != self.input and not _same(text, self.input):
            yield "input", text, self.input
        if self.attributes:
            for key, value in self.attributes.items():
                if recorded.get(key) != value:
                    yield key, recorded.get(key), value


def _type_mismatch(entity: Entity, recorded: dict[str, str]) -> str | None:
    if recorded["name"] == entity.name and recorded["version"] == entity.version:
        return None
    return f"type {recorded['name']} {recorded['version']} in the history, {entity.name} {entity.version} in the code"


def schedule_attributes(
    id: str, type: dict[str, str], control: str | None, input: str | None, explicit: dict[str, Any] | None
) -> dict[str, Any]:
    """The attributes of ScheduleActivityTask: what is None is left out, what the code sets explicitly comes last."""
    made: dict[str, Any] = {"activityType": dict(type), "activityId": id}
    if control is not None:
        made["control"] = control
    if input is not None:
        made["input"] = input
    if explicit:
        made.update(explicit)
    return made


class ActivityTask(Entity):
    """ScheduleActivityTask and what follows: Scheduled, Started, then Completed, Failed, TimedOut or Canceled.

    Attributes:
        type: Name and version as SWF writes them, which most recorded answers just equal.
        control: What is recorded with it: its retry policy.
        recorded_control: The control that history has.
    """

    decision_type = "ScheduleActivityTask"
    type: dict[str, str]
    control: str | None = None
    recorded_control: str | None = None

    def __init__(
        self,
        id: str,
        type: dict[str, str],
        input: str | None = None,
        attributes: dict[str, Any] | None = None,
        listener: Any = None,
        site: Site = None,
    ) -> None:
        super().__init__(id, input=input, attributes=attributes, listener=listener, site=site)
        self.type = type

    @property
    def name(self) -> str:  # type: ignore[override] # read only: it is the type's
        """Name of the type."""
        return self.type["name"]

    @property
    def version(self) -> str:  # type: ignore[override] # read only: it is the type's
        """Version of the type."""
        return self.type["version"]

    def decision_attributes(self) -> dict[str, Any]:
        return schedule_attributes(self.id, self.type, self.control, self.input, self.attributes)

    def mismatch(self, recorded: dict[str, Any]) -> str | None:
        type_ = recorded["activityType"]
        return None if type_ == self.type else _type_mismatch(self, type_)


class Timer(Entity):
    """StartTimer and what follows: Started, then Fired or Canceled. ``input`` holds the seconds as text."""

    decision_type = "StartTimer"

    def decision_attributes(self) -> dict[str, Any]:
        return {"timerId": self.id, "startToFireTimeout": self.input}

    def differences(self, recorded: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        seconds = recorded.get("startToFireTimeout", self.input)
        if seconds != self.input:
            yield "seconds", seconds, self.input


class ChildWorkflow(Entity):
    """StartChildWorkflowExecution and what follows, through Initiated and Started to one of five ends."""

    decision_type = "StartChildWorkflowExecution"
    cancel_control: str

    def decision_attributes(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "workflowType": {"name": self.name, "version": self.version},
            "workflowId": self.id,
        }
        return self._with_payload(made)

    def mismatch(self, recorded: dict[str, Any]) -> str | None:
        return _type_mismatch(self, recorded["workflowType"])


class LambdaFunction(Entity):
    """ScheduleLambdaFunction and what follows. There is no decision that cancels one."""

    decision_type = "ScheduleLambdaFunction"

    def decision_attributes(self) -> dict[str, Any]:
        made: dict[str, Any] = {"id": self.id, "name": self.name}
        return self._with_payload(made)

    def mismatch(self, recorded: dict[str, Any]) -> str | None:
        if recorded["name"] == self.name:
            return None
        return f"function {recorded['name']} in the history, {self.name} in the code"


class ExternalRequest(Entity):
    """A request to another execution; ``version`` holds its workflowId, ``attributes`` the runId if one was given."""

    @property
    def workflow_id(self) -> str:
        """The execution the request goes to."""
        return self.version

    def identity(self) -> str:
        what = f": {self.name}" if self.name else ""
        return f"{self.decision_type}({self.id} to {self.version}{what})"

    def mismatch(self, recorded: dict[str, Any]) -> str | None:
        if recorded["workflowId"] != self.version:
            return f"target {recorded['workflowId']} in the history, {self.version} in the code"
        return None


class ExternalSignal(ExternalRequest):
    """SignalExternalWorkflowExecution; ``name`` is the signal's."""

    decision_type = "SignalExternalWorkflowExecution"

    def decision_attributes(self) -> dict[str, Any]:
        made: dict[str, Any] = {"workflowId": self.version, "signalName": self.name, "control": self.id}
        return self._with_payload(made)

    def mismatch(self, recorded: dict[str, Any]) -> str | None:
        if recorded["signalName"] != self.name:
            return f"signal {recorded['signalName']} in the history, {self.name} in the code"
        return super().mismatch(recorded)


class ExternalCancel(ExternalRequest):
    """RequestCancelExternalWorkflowExecution, to a child or to any other execution."""

    decision_type = "RequestCancelExternalWorkflowExecution"

    def decision_attributes(self) -> dict[str, Any]:
        return {"workflowId": self.version, "control": self.id, **(self.attributes or {})}


class Marker(Entity):
    """RecordMarker. The id stands inside the details."""

    decision_type = "RecordMarker"

    def decision_attributes(self) -> dict[str, Any]:
        return {"markerName": self.name, "details": self.input}

    def differences(self, recorded: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        details = recorded.get("details")
        if details != self.input and not _same(details, self.input):
            yield "details", details, self.input


class CancelActivity(Entity):
    """RequestCancelActivityTask for an activity that is recorded as scheduled."""

    decision_type = "RequestCancelActivityTask"

    def decision_attributes(self) -> dict[str, Any]:
        return {"activityId": self.id}

    def differences(self, recorded: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:  # noqa: ARG002
        return iter(())


class CancelTimer(Entity):
    """CancelTimer for a timer that is recorded as started."""

    decision_type = "CancelTimer"

    def decision_attributes(self) -> dict[str, Any]:
        return {"timerId": self.id}

    def differences(self, recorded: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:  # noqa: ARG002
        return iter(())


class Close(Entity):
    """One of the four decisions that end a run; built when it is sent, so that what late handlers did is carried."""

    def __init__(self, decision_type: str, build: Callable[[], dict[str, Any]], site: Site = None) -> None:
        super().__init__(id="", site=site)
        self._type = decision_type
        self._build = build

    def decision(self) -> dict[str, Any]:
        return {"decisionType": self._type, decision_key(self._type): self._build()}

    def identity(self) -> str:
        return self._type

    @property
    def type(self) -> str:
        """Its decisionType."""
        return self._type
