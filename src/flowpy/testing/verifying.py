"""Change safety: would the code here go on with the executions of a domain? Nothing is written to the service."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from attrs import asdict, define, field, frozen

from flowpy.client.client import Client
from flowpy.client.description import Description
from flowpy.client.filters import Tags, Type
from flowpy.client.run import Run
from flowpy.errors import DeclarationError, NonDeterminismError, UnknownResource, UnknownWorkflowType
from flowpy.history.events import CLOSE_EVENTS
from flowpy.replay.divergence import Difference, Divergence
from flowpy.runtime.replaying import Replay
from flowpy.testing.service import ReadingService

if TYPE_CHECKING:
    from flowpy.testing.replaying import Replayer

__all__ = ["KEPT", "Outcome", "Selection", "Verification", "Verified", "verify", "verify_all"]

Outcome = Literal["same", "differs", "unknown version", "unknown type", "gone", "error"]
_BAD: Final[tuple[Outcome, ...]] = ("differs", "unknown version", "error")
_SHOWN: Final = 20

KEPT: Final = 1_000
"""Findings that a verification keeps: a domain may hold 100,000 open executions, and all may differ alike."""


@frozen
class Verified:
    """What became of one execution.

    Attributes:
        workflow_id: Its workflowId.
        run_id: Its runId.
        workflow_type: Name and version of its type.
        outcome: ``same``: the code goes on with it. ``differs``: it diverges. ``unknown version``: the code has the
            type, and not this version of it: no worker with this code alone would go on. ``unknown type``: the code
            has no such type. ``gone``: the service does not know it any more. ``error``: it could not be replayed.
        is_open: Whether it was open when its history was read.
        events: How many events its history had; 0 if it was not read from the service.
        differences: Harmless differences.
        divergence: How history and code differ, or None.
        message: What is wrong, "" if nothing is: the report of a divergence, or the error.
    """

    workflow_id: str
    run_id: str
    workflow_type: tuple[str, str]
    outcome: Outcome
    is_open: bool
    events: int = 0
    differences: tuple[Difference, ...] = ()
    divergence: Divergence | None = None
    message: str = ""


_UNREADABLE: Final = "a history that cannot be read"


@define
class Verification:
    """What a verification found.

    Attributes:
        domain: The domain; "" if recorded histories were verified.
        counts: How many executions had which outcome, by (name, version) of their type.
        findings: The executions that are not plainly the same: bad ones, gone ones, and those with harmless
            differences; the first 1,000 of them. Those of an unknown type are counted only.
        omitted: How many more findings there were; ``progress`` has seen them.
        unknown: How many executions could not be replayed because the code here has no such type, by its name and
            version: the open ones of a domain, and all recorded histories.
        calls: How many calls of the service it took.
    """

    domain: str
    counts: dict[tuple[str, str], dict[Outcome, int]] = field(factory=dict)
    findings: list[Verified] = field(factory=list)
    calls: int = 0
    omitted: int = 0
    unknown: dict[tuple[str, str], int] = field(factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the code goes on with all it knows: nothing differs, no version is missing, all could be read."""
        return not any(self.total(outcome) for outcome in _BAD)

    def total(self, outcome: Outcome | None = None) -> int:
        """How many executions had an outcome; all of them without one."""
        return sum(count for counts in self.counts.values() for had, count in counts.items() if outcome in (None, had))

    def add(self, one: Verified) -> None:
        """Count an execution, and keep it if there is something to say about it."""
        counts = self.counts.setdefault(one.workflow_type, {})
        counts[one.outcome] = counts.get(one.outcome, 0) + 1
        # That a type has gone whose executions of a domain are all closed is as it should be.
        if one.outcome == "unknown type" and (one.is_open or not self.domain):
            self.unknown[one.workflow_type] = self.unknown.get(one.workflow_type, 0) + 1
        if one.outcome not in ("same", "unknown type") or one.differences:
            if len(self.findings) < KEPT:
                self.findings.append(one)
            else:
                self.omitted += 1

    def to_json(self) -> dict[str, Any]:
        """The same as plain dicts, lists and scalars."""
        types: list[dict[str, Any]] = [
            {"name": name, "version": version, "outcomes": {**counts}}
            for (name, version), counts in sorted(self.counts.items())
        ]
        findings = [_plain(one) for one in self.findings]
        unknown = [
            {"name": name, "version": version, "executions": count}
            for (name, version), count in sorted(self.unknown.items())
        ]
        counted = {"unknown_types": unknown, "omitted": self.omitted, "calls": self.calls}
        return {"domain": self.domain, "ok": self.ok, "types": types, "findings": findings, **counted}

    def __str__(self) -> str:
        """A table of the types, then what is wrong with which executions."""
        return "\n".join((*self._table(), "", *self._told()))

    def _table(self) -> Iterator[str]:
        outcomes = [each for each in get_args(Outcome) if self.total(each)]
        width = max((len(f"{name} {version}") for name, version in self.counts), default=0)
        yield f"{'workflow type':<{max(width, 13)}}  {'  '.join(outcomes)}"
        for (name, version), counts in sorted(self.counts.items()):
            cells = (f"{counts.get(each, 0) or '':>{len(each)}}" for each in outcomes)
            yield f"{f'{name} {version}' if name else '(unreadable)':<{max(width, 13)}}  {'  '.join(cells)}".rstrip()

    def _told(self) -> Iterator[str]:
        for one in self.findings[:_SHOWN]:
            name, version = one.workflow_type
            whose = f"{name} {version}, workflow {one.workflow_id!r} run {one.run_id!r}"
            yield f"{one.outcome}: {whose if name else _UNREADABLE}"
            yield from textwrap.indent(one.message, "    ").splitlines()
            yield from (f"    {difference}" for difference in one.differences)
        more = len(self.findings[_SHOWN:]) + self.omitted
        if more:
            yield f"and {more} more"
        total = self.total()
        said = "the code here goes on with all it knows" if self.ok else "the code here does NOT go on with all"
        what = (
            f"execution{'' if total == 1 else 's'} of domain {self.domain!r}"
            if self.domain
            else f"recorded {'history' if total == 1 else 'histories'}"
        )
        yield f"{total} {what}: {said if total else 'nothing was verified'}"
        if self.unknown:
            types = ", ".join(f"{name} {version}" for name, version in sorted(self.unknown))
            yield f"NOT verified: {sum(self.unknown.values())} of types that the code here does not have: {types}"


@frozen
class Selection:
    """Which executions of a domain are looked at: those that all of it fits.

    Attributes:
        workflow_id: Only those of this workflowId.
        workflow: Only those of this type: a declared workflow, ``(name, version)``, or a name in all its versions.
        tag: Only those with this tag, or with all of these.
        since: Only those started since then.
        open: At most that many open ones, the newest; None: all.
        closed: At most that many closed ones, the newest.
    """

    workflow_id: str | None = None
    workflow: Type = None
    tag: Tags = None
    since: datetime | None = None
    open: int | None = None
    closed: int = 0

    def __attrs_post_init__(self) -> None:
        for name, value in (("open", self.open), ("closed", self.closed)):
            if value is not None and value < 0:
                raise DeclarationError(f"Selection: {name}={value} is no number of executions", remedy="say 0 or more")

    def listed(self, client: Client) -> Iterator[Description]:
        """The executions, page by page as they are asked for; those that close meanwhile may come twice."""
        chosen: dict[str, Any] = {"workflow_id": self.workflow_id, "workflow": self.workflow, "tag": self.tag}
        yield from islice(client.list_open(**chosen, since=self.since), self.open)
        if self.closed:
            yield from islice(client.list_closed(**chosen, since=self.since), self.closed)


def verify(
    replayer: Replayer,
    client: Client,
    selection: Selection,
    *,
    calls_per_second: float,
    progress: Callable[[Verified], object] | None,
) -> Verification:
    """See ``Replayer.verify``."""
    if not calls_per_second > 0:
        raise DeclarationError(
            f"verify: calls_per_second={calls_per_second!r} is no rate", remedy="say how many, such as 5"
        )
    reading = ReadingService(client.service, calls_per_second, client.sleep, client.clock)
    reader = Client(client.domain, reading, converter=client.converter, sleep=client.sleep, clock=client.clock)
    verification = Verification(client.domain)
    domain, seen = _Domain(replayer, reader), set[str]()
    for told in selection.listed(reader):
        for one in domain.followed(told, seen):
            verification.add(one)
            if progress is not None:
                progress(one)
    verification.calls = reading.calls
    return verification


def verify_all(
    replayer: Replayer, sources: Any, *, progress: Callable[[Verified], object] | None = None
) -> Verification:
    """See ``Replayer.verify_all``."""
    verification = Verification("")
    for replay in replayer.replay_all(sources):
        one = _recorded(replayer, replay)
        verification.add(one)
        if progress is not None:
            progress(one)
    return verification


def _recorded(replayer: Replayer, replay: Replay) -> Verified:
    """What became of a recorded history; where it stands is told with what is wrong."""
    named = (replay.workflow_id, replay.run_id, replay.workflow_type)
    missing = _missing(replayer, *replay.workflow_type) if isinstance(replay.error, UnknownWorkflowType) else None
    if missing is not None:
        return Verified(*named, missing[0], replay.closed is None, message=missing[1])
    return _verified(named, replay, replay.closed is None, 0, source=f"{replay.source}: ")


def _verified(
    named: tuple[str, str, tuple[str, str]], replay: Replay, is_open: bool, events: int, *, source: str = ""
) -> Verified:
    outcome: Outcome = "same" if replay.ok else "differs" if replay.divergence else "error"
    message = "" if replay.error is None else source + _said(replay.error)
    return Verified(*named, outcome, is_open, events, tuple(replay.warnings), replay.divergence, message)


@frozen
class _Domain:
    """The code here and the executions there."""

    replayer: Replayer
    client: Client

    def verified(self, told: Description) -> tuple[Verified, str | None]:
        """What became of one execution, and the runId of the one that followed it since it was listed."""
        named = (told.workflow_id, told.run_id, told.workflow_type)
        missing = _missing(self.replayer, *told.workflow_type)
        if missing is not None:
            return Verified(*named, missing[0], told.status == "OPEN", message=missing[1]), None
        try:
            events, replay = self._replayed(told)
        except UnknownResource as error:
            return Verified(*named, "gone", False, message=str(error)), None
        except Exception as error:
            return Verified(*named, "error", told.status == "OPEN", message=_said(error)), None
        last = events[-1]
        one = _verified(named, replay, last["eventType"] not in CLOSE_EVENTS, len(events))
        continued = last.get("workflowExecutionContinuedAsNewEventAttributes", {})
        return one, continued.get("newExecutionRunId") if told.status == "OPEN" else None

    def _replayed(self, told: Description) -> tuple[list[dict[str, Any]], Replay]:
        run: Run[Any] = self.client.run(told.workflow_id, told.run_id)
        for last_look in (False, True):
            events = run.history()
            replay = self.replayer.replay(events, workflow_id=told.workflow_id, run_id=told.run_id, check=False)
            # The run went on between two pages: a decision whose events were cut off would look like a divergence.
            if last_look or replay.divergence is None or not replay.divergence.ends_here:
                break
        return events, replay

    def followed(self, told: Description, seen: set[str]) -> Iterator[Verified]:
        """An execution not seen yet, and those that followed it by continue-as-new since it was listed."""
        following: str | None = told.run_id
        while following is not None and following not in seen:
            seen.add(following)
            one, following = self.verified(told)
            yield one
            if following is not None:
                try:
                    told = self.client.run(told.workflow_id, following).describe()
                except UnknownResource:
                    return


def _missing(replayer: Replayer, name: str, version: str) -> tuple[Outcome, str] | None:
    """What is to be said of a type that the code here does not have."""
    versions = sorted(one.version for one in replayer.workflows if one.name == name)
    if version in versions:
        return None
    if not versions:
        return "unknown type", ""
    return "unknown version", (
        f"the code here has {name} {', '.join(versions)}, not {version}: keep {version} declared in some worker "
        "until its runs have ended"
    )


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, NonDeterminismError) else f"{type(error).__name__}: {error}"


def _plain(one: Verified) -> dict[str, Any]:
    plain = asdict(one, recurse=False)
    plain["workflow_type"] = {"name": one.workflow_type[0], "version": one.workflow_type[1]}
    plain["divergence"] = None if one.divergence is None else one.divergence.to_json()
    plain["differences"] = [asdict(each) for each in one.differences]
    return plain
