"""A guess at what was changed, from what each side has too much, what came later, and what the code says (law L4).

A guess is only a guess: it is made to be right for one edit at a time, and says what it goes by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from attrs import field, frozen

from flowpy.replay.divergence import ABSENT, CodeLine, Decided, Difference, Guess, paired
from flowpy.replay.remedies import remedy
from flowpy.replay.source import Found, Source

_TYPED: Final = ("ScheduleActivityTask", "StartChildWorkflowExecution")
_CALLED: Final = {
    "StartTimer": ("sleep", "receive", "timeout", "timeout_at", "wait_for", "wait", "call_later"),
    "RecordMarker": ("side_effect",),
    "SignalExternalWorkflowExecution": ("signal",),
    "RequestCancelExternalWorkflowExecution": ("cancel",),
    "RequestCancelActivityTask": ("cancel", "timeout", "wait_for"),
    "CancelTimer": ("cancel", "timeout", "wait_for"),
    "ScheduleLambdaFunction": ("lambda_function",),
}
_ENDS: Final = {
    "CompleteWorkflowExecution": ("returned", "returns"),
    "FailWorkflowExecution": ("failed", "fails"),
    "CancelWorkflowExecution": ("was cancelled", "is cancelled"),
    "ContinueAsNewWorkflowExecution": ("continued as new", "continues as new"),
}
_PATH: Final = re.compile(r"(?:[ts]\d+\.)*")
_NUMBERED: Final = r"-\d+(?:\.[rw]\d+)*$"
_ORDER: Final = ("reordered", "clock", "hash order", "other branch", "unknown")


class Cause(NamedTuple):
    """What most likely was changed, in words, and what to do."""

    guess: Guess
    likely: str
    remedy: str


@frozen
class Evidence:
    """What a guess goes by.

    Attributes:
        history: Recorded decisions the code did not make.
        code: Decisions the code made that are not recorded.
        reason: What contradicts, where one decision stands on both sides.
        differences: Harmless differences in the same decision task.
        later: (decisionType, id) of decisions recorded in later decision tasks, with their event ids; of the close
            its words in place of the id.
        lost_patches: Recorded patches that the code asked for too early: they answered False.
        unasked_patches: Patches recorded in this decision task, or the one before, that the code did not ask for.
        shift: What was inserted among, or removed from, calls of one name that are told apart by their numbers.
        since: The first call with another input among those of the same name, in any decision task.
        newest: The history has no later decisions, so what was only moved looks new or gone.
        stopped: The code was stopped at a side effect that is not recorded.
        python: (Python that decided the run first, Python here).
        source: The functions the calls stand in.
    """

    history: tuple[Decided, ...]
    code: tuple[Decided, ...]
    reason: str = ""
    differences: tuple[Difference, ...] = ()
    later: dict[tuple[str, str], int] = field(factory=dict)
    lost_patches: tuple[str, ...] = ()
    unasked_patches: tuple[str, ...] = ()
    shift: tuple[Decided, ...] = ()
    since: Difference | None = None
    newest: bool = False
    stopped: bool = False
    python: tuple[str, str] = ("", "")
    source: Source = field(factory=lambda: Source(()))


def guess(evidence: Evidence) -> Cause:
    """Classify a divergence.

    >>> timer = Decided("StartTimer(timer-2)", "StartTimer", "timer-2", "", 7)
    >>> guess(Evidence((timer,), ())).likely
    'timer timer-2 (event 7) was removed'
    """
    cause = _same_call(evidence) or _patches(evidence) or _moved(evidence) or _ends(evidence) or _calls(evidence)
    old, new = evidence.python
    if cause.guess in _ORDER and old and new and old != new:
        words = f"Python {old} decided this run first, this is Python {new}: they may order tasks otherwise"
        return Cause("Python version", words, remedy("Python version"))
    return cause


def guess_differences(differences: tuple[Difference, ...], source: Source) -> Cause:
    """Classify differences that leave every decision where it was: input, seconds, options."""
    first = differences[0]
    old, new = [repr(d.recorded) for d in differences], [repr(d.made) for d in differences]
    clock = source.not_repeatable(first.line)
    if len(differences) > 1 and sorted(old) == sorted(new):
        one_line = len({d.line for d in differences}) == 1
        if one_line and source.sets_walked() is not None:
            words = "one line makes the same calls in another order, as may happen with" + _set(source)
            return Cause("hash order", words, remedy("hash order"))
        if one_line:
            words = "one line makes the same calls in another order: by an edit, or by walking a set"
            return Cause("reordered", words, remedy("reordered"))
        words = "the calls were reordered: the same values come in another order"
        return Cause("reordered", words, remedy("reordered"))
    if clock is not None:
        return Cause("clock", _read(clock), remedy("clock"))
    if first.what.startswith(("argument", "input")):
        gone = ABSENT in (first.recorded, first.made)
        words = f"{first.what} is new or gone" if gone else f"the code computes {first.what} in another way"
    else:
        what = "the seconds of the timer were" if first.what == "seconds" else f"{first.what} was"
        words = f"{what} changed"
    return Cause("input changed", words, remedy("input changed"))


# --- the order of the questions -------------------------------------------------------------


def _same_call(evidence: Evidence) -> Cause | None:
    """One decision that stands on both sides, or the call at which the code was stopped."""
    if evidence.stopped:
        return _more(evidence, evidence.code[-1])
    if evidence.reason:
        return _other_type(evidence, *next(_pairs(evidence)))
    for old, new in _pairs(evidence):
        if old.id and old.id == new.id:
            words = f"{old.id} is {_kind(old)} in the history and {_kind(new)} in the code"
            return Cause("other kind", words, remedy("other kind", old, new))
    return None


def _other_type(evidence: Evidence, old: Decided, new: Decided) -> Cause:
    if evidence.reason.startswith("target"):
        return Cause("other target", "the request now goes to another execution", remedy("other target"))
    if old.name == new.name:
        words = f"{old.name} is called in another version"
    else:
        words = f"{old.name} was replaced by {new.name} under the same id"
    return Cause("other type", words, remedy("other type", old, new))


def _patches(evidence: Evidence) -> Cause | None:
    if evidence.lost_patches:
        named = ", ".join(map(repr, evidence.lost_patches))
        words = f"patch {named} was moved: the code asks for it before the decision task that recorded it"
    elif evidence.unasked_patches:
        named = ", ".join(map(repr, evidence.unasked_patches))
        words = f"patch {named} was removed with the way it led to: it is recorded, and nothing asks for it"
    else:
        return None
    return Cause("patched", words, remedy("patched"))


def _moved(evidence: Evidence) -> Cause | None:
    """Calls of one name got other numbers, which shows in their inputs."""
    if evidence.shift:
        one = evidence.shift[0]
        if one.event_id is None:
            words = f"{one.id} is new; what had its number and those after it have the next numbers"
            return Cause("inserted", words, remedy("unnumbered"))
        words = f"{one.id} (event {one.event_id}) was removed; the calls of that name after it took its number"
        return Cause("removed", words, remedy("unnumbered"))
    history, code = ([one for one in side if not _is_close(one)] for side in (evidence.history, evidence.code))
    if evidence.since is None or (history and code):
        return None
    guessed: Guess = "removed" if history else "inserted"
    name = (history or code)[0].name
    words = f"a call of {name} was {guessed} earlier: from event {evidence.since.event_id} on they have other inputs"
    return Cause(guessed, words, remedy("unnumbered"))


def _ends(evidence: Evidence) -> Cause | None:
    """The function ended, on one side at least."""
    old = next((one for one in evidence.history if _is_close(one)), None)
    new = next((one for one in evidence.code if _is_close(one)), None)
    if old is not None and new is not None:
        words = f"the run {_ENDS[old.decision_type][0]} here, and now it {_ENDS[new.decision_type][1]}"
    elif new is not None and new.decision_type == "FailWorkflowExecution" and not _ends_so_later(evidence, new):
        words = "the code now raises here"
    elif new is not None and evidence.history and not _still_there(evidence, evidence.history):
        return None
    elif new is not None:
        words = "the function ends earlier than it did"
    elif old is not None and not evidence.code:
        words = "the function ended here and now goes on"
    else:
        return None
    return Cause("ended differently", words, remedy("ended differently"))


def _calls(evidence: Evidence) -> Cause:
    history = [one for one in evidence.history if not _is_close(one)]
    code = [one for one in evidence.code if not _is_close(one)]
    if not code and not history:
        return Cause("unknown", "not recognised", remedy("unknown"))
    if not code:
        return _fewer(evidence, history)
    if not history:
        return _more(evidence, code[0])
    return _both(evidence, history, code)


def _fewer(evidence: Evidence, history: list[Decided]) -> Cause:
    clock = evidence.source.not_repeatable()
    if _still_there(evidence, tuple(history)) and clock is not None:
        return Cause("clock", _read(clock), remedy("clock"))
    words = f"{_list(tuple(history))} {'was' if len(history) == 1 else 'were'} removed"
    calls = evidence.source.mentions(_names(history[0])) if history[0].decision_type in _TYPED else []
    if calls:
        words += f", or the code no longer comes to {_place(calls[-1])}"
    return Cause("removed", words, remedy("removed", history[0]))


def _more(evidence: Evidence, first: Decided) -> Cause:
    later = evidence.later.get((first.decision_type, first.id))
    if later is not None:
        words = f"calls were reordered: the history has {_call(first)} later, at event {later}"
        return Cause("reordered", words, remedy("reordered"))
    code = (first,) if evidence.stopped else tuple(one for one in evidence.code if not _is_close(one))
    words = f"{_list(code)} {'was' if len(code) == 1 else 'were'} inserted"
    return Cause("inserted", words, remedy("inserted", None, first))


def _both(evidence: Evidence, history: list[Decided], code: list[Decided]) -> Cause:
    old, new = next(_pairs(evidence), (history[0], code[0]))
    if sorted(one.name for one in history) == sorted(one.name for one in code):
        return _other_ids(evidence, history, code)
    mentioned = evidence.source.mentions(_names(old))
    calls = [call for call in mentioned if not _became(evidence, call, new)]
    fork = next((f for call in calls if new.line and (f := evidence.source.branch(call.line, new.line.line))), None)
    if fork is not None:
        clock = evidence.source.not_repeatable(CodeLine(fork.file, fork.line, ""))
        if clock is not None:
            words = f"{_read(clock)}, and so may take another way here"
            return Cause("clock", words, remedy("clock"))
        words = f"the code takes another way at {_place(fork)}: if {fork.text}"
        return Cause("other branch", words, remedy("other branch"))
    later = evidence.later.get((new.decision_type, new.id))
    passed = all(call.called and new.line is not None and call.is_before(new.line) for call in calls)
    if later is not None and passed:
        words = f"{_list((old,))} was removed: the code goes on with {_call(new)}, event {later} in the history"
        return Cause("removed", words, remedy("removed", old))
    if later is not None:
        walked = evidence.source.sets_walked()
        words = f"calls were reordered: the history has {_call(new)} later, at event {later}"
        if walked is not None:
            return Cause("hash order", f"{words}, as may happen with{_set(evidence.source)}", remedy("hash order"))
        return Cause("reordered", words, remedy("reordered"))
    if calls and not passed:
        words = f"{_list((new,))} was inserted before {_call(old)}" + (", or moved there" if evidence.newest else "")
        return Cause("inserted", words, remedy("inserted", None, new))
    if old.decision_type != new.decision_type:
        return Cause("other kind", f"{_call(old)} was replaced by {_call(new)}", remedy("other kind", old, new))
    elsewhere = evidence.source.calls_anywhere(_names(old))
    if calls:
        words = f"{_call(old)} was replaced by {_call(new)}"
    elif elsewhere and not mentioned:
        words = f"{_call(old)} was replaced by {_call(new)}, or the code no longer comes to {_place(elsewhere[-1])}"
        return Cause("other branch", words, remedy("other branch"))
    else:
        also = ", replaced by it, or removed" if evidence.newest else ", or replaced by it"
        words = f"{_call(old)} was renamed to {_call(new)}{also}"
    return Cause("renamed", words, remedy("renamed", old, new))


def _other_ids(evidence: Evidence, history: list[Decided], code: list[Decided]) -> Cause:
    """The same names under other ids."""
    own = [all(_is_structural(one) for one in side) for side in (history, code)]
    if not all(own):
        words = f"the same calls have other ids: {code[0].id} was {history[0].id}"
        if any(own):
            words += ", so an id was given to the call, or is no longer given"
            return Cause("other target", words, remedy("other id"))
        return Cause("clock", f"{words}, so an id comes from a clock or from chance", remedy("clock"))
    paths = [sorted(_path(one) for one in side) for side in (history, code)]
    walked = evidence.source.sets_walked()
    if paths[0] == paths[1] and walked is not None:
        words = "tasks start in another order, as may happen with" + _set(evidence.source)
        return Cause("hash order", words, remedy("hash order"))
    if paths[0] == paths[1]:
        words = "tasks start in another order: by an edit, or by walking a set"
        return Cause("reordered", words, remedy("reordered"))
    words = f"the task {paths[0][0] or '(main)'} of the history is {paths[1][0] or '(main)'} in the code"
    if _numbers(paths[1][0]) > _numbers(paths[0][0]):
        return Cause("inserted", f"a task was started before it: {words}", remedy("inserted", None, code[0]))
    return Cause("removed", f"a task before it is no longer started: {words}", remedy("removed", history[0]))


# --- words ----------------------------------------------------------------------------------


def _pairs(evidence: Evidence) -> Iterator[tuple[Decided, Decided]]:
    for old, new in paired(evidence.history, evidence.code):
        if old is not None and new is not None:
            yield old, new


def _names(one: Decided) -> tuple[str, ...]:
    """What the code calls it: the last part of the type's name, or the functions that make such a decision."""
    if one.decision_type in _TYPED:
        return (one.name.rpartition(".")[2].replace("-", "_"),)
    return _CALLED.get(one.decision_type, ())


def _became(evidence: Evidence, call: Found, new: Decided) -> bool:
    """Whether a call that reads as the old one makes the new decision: the type has another name than the function."""
    here = [each.line for each in evidence.source.mentions(_names(new))]
    return new.line is not None and (call.file, call.line) == (new.line.file, new.line.line) and call.line not in here


def _still_there(evidence: Evidence, history: tuple[Decided, ...]) -> bool:
    return any(evidence.source.mentions(_names(one)) for one in history)


def _ends_so_later(evidence: Evidence, end: Decided) -> bool:
    """Whether the history ends in the same way after the decisions that the code does not make."""
    return bool(evidence.history) and (end.decision_type, end.what) in evidence.later


def _is_close(one: Decided) -> bool:
    return not one.id


def _kind(one: Decided) -> str:
    words = {"ScheduleActivityTask": "an activity", "StartTimer": "a timer", "ScheduleLambdaFunction": "a function"}
    return {**words, "StartChildWorkflowExecution": "a child workflow"}.get(one.decision_type, one.decision_type)


def _call(one: Decided) -> str:
    if one.decision_type in _TYPED:
        # Only what is called more than once needs its number.
        number = re.search(rf"{re.escape(one.name)}-(?!1\b)\d+", one.id)
        return number[0] if number else one.name
    words = {
        "StartTimer": "timer",
        "RecordMarker": "side effect",
        "ScheduleLambdaFunction": "function",
        "CancelTimer": "the cancelling of timer",
        "RequestCancelActivityTask": "the cancelling of activity",
        "SignalExternalWorkflowExecution": "external signal",
        "RequestCancelExternalWorkflowExecution": "external cancel",
    }
    return f"{words.get(one.decision_type, one.decision_type)} {one.id}"


def _list(decided: tuple[Decided, ...]) -> str:
    named = [_call(one) + (f" (event {one.event_id})" if one.event_id is not None else "") for one in decided[:3]]
    return ", ".join(named) + (f" and {len(decided) - 3} more" if len(decided) > 3 else "")


def _place(found: Found) -> str:
    return CodeLine(found.file, found.line, "").place


def _set(source: Source) -> str:
    walked = source.sets_walked()
    return f" {walked.text} at {_place(walked)}" if walked is not None else " a set"


def _read(found: Found) -> str:
    return f"the code reads {found.text} at {_place(found)}"


def _is_structural(one: Decided) -> bool:
    """Whether an id is flowpy's own, from the place of the call (CONTRACTS §1), and not one that was given."""
    if one.decision_type == "StartChildWorkflowExecution":
        return re.search(rf"\b{re.escape(one.name)}-\d+\.[0-9a-f]{{8}}$", one.id) is not None
    kinds = {"ScheduleActivityTask": one.name, "RequestCancelActivityTask": one.name}
    stem = kinds.get(one.decision_type, "timer|effect|signal|cancel|lambda|.*[.]cancel")
    stem = re.escape(stem) if one.decision_type in kinds else f"(?:{stem})"
    return re.match(stem + _NUMBERED, one.id.removeprefix(_path(one))) is not None


def _path(one: Decided) -> str:
    """The path of the task that made a call: the beginning of its id."""
    matched = _PATH.match(one.id)
    return matched[0] if matched else ""


def _numbers(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]
