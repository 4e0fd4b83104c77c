"""What differs between history and code, as data (law L4)."""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final, Literal

from attrs import asdict, frozen

from flowpy.data.redaction import shown
from flowpy.replay.entities import Site

Guess = Literal[
    "renamed",
    "inserted",
    "removed",
    "reordered",
    "other branch",
    "other kind",
    "other type",
    "other target",
    "ended differently",
    "patched",
    "input changed",
    "clock",
    "hash order",
    "Python version",
    "unknown",
]

ABSENT: Final = "(not given)"
"""Stands for a value that one side does not give."""

_CLIP: Final = 60


@frozen
class CodeLine:
    """A line of user code.

    Attributes:
        file: Path of the source file.
        line: Line number, from 1.
        function: Qualified name of the function.
    """

    file: str
    line: int
    function: str

    @classmethod
    def of(cls, site: Site) -> CodeLine | None:
        """The line a call site stands for."""
        if site is None:
            return None
        code, offset = site
        line = code.co_firstlineno
        for start, end, number in code.co_lines():
            if start <= offset < end and number is not None:
                line = number
                break
        return cls(code.co_filename, line, code.co_qualname)

    @property
    def place(self) -> str:
        """``file:line``, the file as seen from the current directory, its last parts if it is far from there."""
        path = Path(self.file)
        if path.is_relative_to(Path.cwd()):
            path = path.relative_to(Path.cwd())
        text = str(path)
        return f"{text if len(text) <= _CLIP else '…/' + '/'.join(path.parts[-2:])}:{self.line}"

    def __str__(self) -> str:
        # Comprehensions have frames of their own up to Python 3.11 only.
        named = [part for part in self.function.split(".<locals>.") if part[0] != "<"]
        return f"{self.place} in {named[-1] if named else self.function}"


@frozen
class Decided:
    """One decision, as one side has it.

    Attributes:
        what: The decision in words, such as ``ScheduleActivityTask(charge-1: charge 1.0)``.
        decision_type: SWF's decisionType.
        id: Its id.
        name: Name of the type, signal, marker or function, "" if none.
        event_id: The recorded event, or None on the code's side.
        line: The line of user code that made it; None on the history's side, and for a result that was returned.
    """

    what: str
    decision_type: str
    id: str
    name: str
    event_id: int | None = None
    line: CodeLine | None = None


@frozen
class Difference:
    """A harmless difference between a recorded decision and the code's: one warning, an error in strict mode.

    Attributes:
        event_id: The recorded event.
        decision: The decision in words.
        what: ``input``, ``argument 2 (cents)``, ``seconds`` or the name of an option.
        recorded: The value in the history, ``(not given)`` if there is none.
        made: The value the code gives now, likewise.
        line: The line of user code.
        completed_event_id: The DecisionTaskCompleted event of the decision, 0 if unknown.
    """

    event_id: int
    decision: str
    what: str
    recorded: Any
    made: Any
    line: CodeLine | None = None
    completed_event_id: int = 0

    def __str__(self) -> str:
        where = f" ({self.line})" if self.line is not None else ""
        verb = "are" if self.what.startswith("arguments") else "is"
        return (
            f"{self.decision}, event {self.event_id}: {self.what} {verb} {self.shown(self.recorded)} in the history "
            f"and {self.shown(self.made)} in the code{where}"
        )

    def shown(self, value: Any) -> str:
        """A value for readers: arguments as Python has them, seconds and options as SWF has them; cut if long."""
        text = repr(value) if self.what.startswith(("argument", "input")) and value != ABSENT else str(value)
        if self.what.startswith(("argument", "input")):
            text = shown(text)
        return text if len(text) <= _CLIP else f"{text[: _CLIP - 1]}…"


@frozen
class Divergence:
    """Why the code does not match the history.

    Attributes:
        decision_task: Id of the DecisionTaskStarted event of the episode that differs.
        completed_event_id: Its DecisionTaskCompleted, or None.
        history: Recorded decisions the code did not make, in the order of history.
        code: Decisions the code made that the history does not have, in the order they were made.
        matched: The last decisions that matched, with the lines of code that made them.
        differences: Harmless differences in the same decision task; in strict mode all there are.
        earlier: The first harmless difference in the decision tasks before: where the ways parted, perhaps.
        waiting: Where the code waits now, if it made no decision of its own.
        reason: What contradicts, where one decision stands on both sides.
        guess: The likely kind of change.
        likely: The guess in words, with the names it is about.
        remedy: What to do about it.
        patches: Ids of patches recorded in this run.
        python: (Python that decided the run first, Python here), "" if unknown.
        workflow: (name, version) of the workflow type.
        recorded_workflow: The same as history has it; ("", "") if unknown.
        ends_here: The history ends in this transaction, so that it may just have been cut off.
        stopped: The code was stopped at a side effect that is not recorded: what it would do next is not known.
    """

    decision_task: int
    completed_event_id: int | None
    history: tuple[Decided, ...]
    code: tuple[Decided, ...]
    matched: tuple[Decided, ...] = ()
    differences: tuple[Difference, ...] = ()
    earlier: Difference | None = None
    waiting: tuple[CodeLine, ...] = ()
    reason: str = ""
    guess: Guess = "unknown"
    likely: str = ""
    remedy: str = ""
    patches: tuple[str, ...] = ()
    python: tuple[str, str] = ("", "")
    workflow: tuple[str, str] = ("", "")
    recorded_workflow: tuple[str, str] = ("", "")
    ends_here: bool = False
    stopped: bool = False

    @property
    def rows(self) -> list[tuple[Decided | None, Decided | None]]:
        """History beside code: what most likely stands for the same place in one pair, None where a side has none."""
        return paired(self.history, self.code)

    def to_json(self) -> dict[str, Any]:
        """The report as plain dicts, lists and scalars, fields as named here.

        ``recorded`` and ``made`` of a difference are JSON values as the payloads hold them.
        """
        return asdict(self, value_serializer=lambda _, __, value: list(value) if isinstance(value, tuple) else value)


def paired(history: tuple[Decided, ...], code: tuple[Decided, ...]) -> list[tuple[Decided | None, Decided | None]]:
    """Put the decisions of both sides side by side: the same id first, then those of one kind in their order.

    >>> old = Decided("ScheduleActivityTask(a-1: a 1.0)", "ScheduleActivityTask", "a-1", "a", 5)
    >>> new = Decided("ScheduleActivityTask(b-1: b 1.0)", "ScheduleActivityTask", "b-1", "b")
    >>> timer = Decided("StartTimer(timer-1)", "StartTimer", "timer-1", "")
    >>> [(h and h.id, c and c.id) for h, c in paired((old,), (timer, new))]
    [(None, 'timer-1'), ('a-1', 'b-1')]
    """
    by_id = {(one.id, one.decision_type): one for one in code} | {(one.id, ""): one for one in code if one.id}
    partners: dict[int, Decided] = {}
    taken: set[int] = set()
    for one in history:
        partner = by_id.get((one.id, one.decision_type)) or by_id.get((one.id, ""))
        if partner is not None and id(partner) not in taken:
            partners[id(one)] = partner
            taken.add(id(partner))
    left = [one for one in history if id(one) not in partners]
    right = [one for one in code if id(one) not in taken]
    kinds = [one.decision_type for one in left], [one.decision_type for one in right]
    for start, other, size in SequenceMatcher(None, *kinds, autojunk=False).get_matching_blocks():
        for k in range(size):
            partners[id(left[start + k])] = right[other + k]
            taken.add(id(right[other + k]))
    return _rows(history, code, partners, taken)


def _rows(
    history: tuple[Decided, ...], code: tuple[Decided, ...], partners: dict[int, Decided], taken: set[int]
) -> list[tuple[Decided | None, Decided | None]]:
    """Rows in the order of history; what only the code has comes before the pair that follows it in the code."""
    rows: list[tuple[Decided | None, Decided | None]] = []
    pending = list(code)
    for one in history:
        partner = partners.get(id(one))
        while partner is not None and pending and id(pending[0]) not in taken:
            rows.append((None, pending.pop(0)))
        rows.append((one, partner))
        if partner is not None:
            pending = [other for other in pending if other is not partner]
    rows += [(None, one) for one in pending if id(one) not in taken]
    return rows
