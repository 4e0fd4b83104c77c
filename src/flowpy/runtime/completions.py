"""Activities that were completed: most of what a replay sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from flowpy.data.converter import Converter
from flowpy.data.jsontext import scan
from flowpy.errors import PayloadNotDecodable, PayloadUnavailable
from flowpy.history.malformed import MALFORMED, malformed
from flowpy.replay.entities import CLOSED
from flowpy.replay.results import opened_nothing
from flowpy.runtime.activities import ActivityPromise
from flowpy.runtime.promise import DONE, PENDING
from flowpy.runtime.task import Task

if TYPE_CHECKING:
    from flowpy.data.decoders import Decoder
    from flowpy.declare.signature import Signature
    from flowpy.history.episode import Cut
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run

# The results that replays have most of, read without calling a decoder, which takes longer than the reading.
_READ_HERE: Final = (int, str, bool)
_NOT_SCANNED: Final = (ValueError, TypeError, StopIteration, RecursionError)
_UNREAD: Final = (None, -1)


def run_through_plain(run: Run, cuts: Iterator[Cut]) -> Cut | None:
    """Run the code through decided episodes of the plainest kind, for as long as they go as recorded.

    Args:
        run: The run.
        cuts: Episodes to run, in order.

    Returns:
        A plain episode that the code has seen and that has to be ended, or one of another kind that it has not seen;
        None at the end.

    Raises:
        HistoryError: An event is malformed, or about an activity that is not open.
    """
    return _complete(run, cuts, begins=True)


def complete(run: Run, events: Iterable[Event]) -> None:
    """Go through some events of an episode that has begun.

    Args:
        run: The run.
        events: Nothing but ActivityTaskCompleted events.

    Raises:
        HistoryError: An event is malformed, or about an activity that is not open.
    """
    _complete(run, (([], list(events), {}, {}),), begins=False)


def _complete(run: Run, cuts: Iterable[Cut], *, begins: bool) -> Cut | None:
    """Go through the events of plain episodes, the code running after each until it blocks (law L2)."""
    execution, loop, outcome = run.execution, run.loop, run.outcome
    activities, unsent, ready, open_calls = execution.activities, execution.unsent, loop.ready, run.open_calls
    open_ids, readers = execution.open_ids, run.readers
    event: Event = {}
    call: Any = None
    for cut in cuts:
        if type(cut) is not tuple:
            return cut
        answers, events, _, _ = cut
        if begins:
            execution.current = cut
            execution.answers = answers
            execution.at = 0
        for event in events:
            try:
                attributes = event["activityTaskCompletedEventAttributes"]
                by = attributes["scheduledEventId"]
                ended = activities.pop(by, None)
                if ended is None:
                    raise opened_nothing(by, event)
                # What execution.close does: a recorded activity always holds its id, if that is noted at all.
                ended.state = CLOSED
                if open_ids:
                    open_ids.pop(ended.id, None)
                if unsent:
                    execution.forget_requests(ended)
                call = ended if type(ended) is ActivityPromise else ended.listener
                if open_calls:
                    open_calls.pop(call._number, None)
                if call._state is not PENDING:
                    continue
                signature = call.activity.signature
                kind, decode = readers.get(signature) or _reader(run, signature)
                text = attributes.get("result")
                try:
                    value, end = _UNREAD if kind is None else scan(text, 0)
                except _NOT_SCANNED:
                    value, end = _UNREAD
                call._value = value if type(value) is kind and end == len(text) else decode(text)
            except (PayloadUnavailable, PayloadNotDecodable, *MALFORMED) as error:
                _unreadable(call, event, error)
            else:
                call._state = DONE
                waiting = call._waiting
                if type(waiting) is Task:
                    # What _wake does, for the one task that mostly waits.
                    call._waiting = None
                    waiting.step()
                elif waiting is not None:
                    call._wake()
            if ready:
                loop.run_until_blocked()
            if run.halted:
                return cut
        if begins and (unsent or execution.at < len(answers) or outcome.kind):
            return cut
    return None


def _unreadable(call: Any, event: Event, error: Exception) -> None:
    """A result cannot be read: the call fails, or the whole run if others can read it or the history is corrupt."""
    if isinstance(error, PayloadUnavailable):
        error.args = (f"result of event {event['eventId']}: {error}",)
        raise error
    if not isinstance(error, PayloadNotDecodable):
        raise malformed(event, error) from error
    what = f"result of activity {call.activity.name} ({call.id}), event {event['eventId']}"
    call.set_exception(PayloadNotDecodable(f"{what}: {error}"))


def _reader(run: Run, signature: Signature) -> tuple[type | None, Decoder]:
    """What reads the results of a function: a type whose JSON text is read right here, or None, and a decoder."""
    returns = signature.return_type
    kind = next((each for each in _READ_HERE if each is returns), None) if type(run.converter) is Converter else None
    read = run.readers[signature] = kind, run.converter.decoder(returns)
    return read
