"""What differs between history and code, as data, with a guess at the cause (law L4)."""

from __future__ import annotations

from typing import Any, Final, Literal

from attrs import frozen

from flowpy.replay.entities import Site

Guess = Literal[
    "renamed", "inserted", "removed", "reordered", "other type", "other target", "ended differently",
    "patched", "Python version", "clock or hash order", "unknown",
]

REMEDIES: Final[dict[str, str]] = {
    "renamed": "give the activity, workflow or id its old name back, or put the new call behind flowpy.patched(...)",
    "inserted": 'put the new call behind `if flowpy.patched("..."):` so that runs already under way skip it',
    "removed": 'restore the call for runs already under way: `if not flowpy.patched("..."):` around it',
    "reordered": "restore the order of the calls, or put the new order behind flowpy.patched(...)",
    "other type": "restore the type and version, or put the new one behind flowpy.patched(...)",
    "other target": "restore the workflow id the request goes to; it must come from the input or from results only",
    "ended differently": "restore how the function ends for runs already under way, behind flowpy.patched(...)",
    "patched": "restore the code that asked for this patch id",
    "Python version": "run this execution with the Python version it was started with, and report the difference",
    "clock or hash order": "take time, chance and ids from flowpy.now(), .random() and .uuid4(); never iterate a set",
    "unknown": "restore the code this run was started with, or deploy the change as a new version of the type",
}


@frozen
class CodeLine:
    """A line of user code.

    Attributes:
        file: Path of the source file.
        line: Line number, from 1.
        function: Name of the function.
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

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


@frozen
class Decided:
    """One decision, as one side has it.

    Attributes:
        what: The decision in words, such as ``ScheduleActivityTask(charge-1: charge 1.0)``.
        decision_type: SWF's decisionType.
        id: Its id.
        name: Name of the type, signal, marker or function, "" if none.
        event_id: The recorded event, or None on the code's side.
        line: The line of user code that made it, or None on the history's side.
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
        recorded: The value in the history.
        made: The value the code gives now.
        line: The line of user code.
    """

    event_id: int
    decision: str
    what: str
    recorded: Any
    made: Any
    line: CodeLine | None = None

    def __str__(self) -> str:
        where = f" ({self.line})" if self.line is not None else ""
        return (
            f"{self.decision}, event {self.event_id}: {self.what} is {self.recorded!r} in the history "
            f"and {self.made!r} in the code{where}"
        )


@frozen
class Divergence:
    """Why the code does not match the history.

    Attributes:
        decision_task: Id of the DecisionTaskStarted event of the episode that differs.
        completed_event_id: Its DecisionTaskCompleted, or None.
        matched: The last decisions that matched.
        history: Recorded decisions the code did not make.
        code: Decisions the code made that the history does not have.
        reason: What contradicts, where one decision stands on both sides.
        guess: The likely kind of change.
        patches: Ids of patches recorded in this run.
        python: (Python that decided the run first, Python here), "" if unknown.
        workflow: (name, version) of the workflow type.
        ends_here: The history ends in this transaction, so that it may just have been cut off.
    """

    decision_task: int
    completed_event_id: int | None
    history: tuple[Decided, ...]
    code: tuple[Decided, ...]
    matched: tuple[Decided, ...] = ()
    reason: str = ""
    guess: Guess = "unknown"
    patches: tuple[str, ...] = ()
    python: tuple[str, str] = ("", "")
    workflow: tuple[str, str] = ("", "")
    ends_here: bool = False

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return REMEDIES[self.guess]


def guess(history: tuple[Decided, ...], code: tuple[Decided, ...], reason: str, python: tuple[str, str]) -> Guess:
    """Classify a divergence from what each side has too much.

    >>> one = Decided("StartTimer(timer-2)", "StartTimer", "timer-2", "")
    >>> guess((one,), (), "", ("", ""))
    'removed'
    """
    if reason:
        return "other target" if reason.startswith("target") else "other type"
    closes = [d for d in (*history, *code) if d.decision_type.endswith("WorkflowExecution") and not d.id]
    if closes and len(closes) == len(history) + len(code):
        return "ended differently"
    if any(d.name == "flowpy.patch" for d in (*history, *code)):
        return "patched"
    if not history or all(d in closes for d in history):
        return "inserted"
    if not code or all(d in closes for d in code):
        return "removed"
    history_ids, code_ids = {d.id for d in history}, {d.id for d in code}
    if python[0] and python[1] and python[0] != python[1]:
        return "Python version"
    if sorted(d.decision_type for d in history) == sorted(d.decision_type for d in code):
        same_names = sorted(d.name for d in history) == sorted(d.name for d in code)
        return "clock or hash order" if same_names and history_ids != code_ids else "renamed"
    return "reordered"
