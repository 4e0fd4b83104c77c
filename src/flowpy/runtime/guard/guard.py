"""Switching the guard on, and what happens when it finds something."""

from __future__ import annotations

import logging
import threading
from types import FrameType, TracebackType
from typing import Any, Final, Literal, get_args

from attrs import define, field

from flowpy.errors import NotDeterministic
from flowpy.rules import RULES, Rule, rule_of
from flowpy.runtime.guard import audit, calls
from flowpy.runtime.guard.places import Place, place_of, running

Policy = Literal["error", "warn", "off"]
"""What is done about a call: raise at it, log it once for each line, or nothing."""

_log: Final = logging.getLogger("flowpy.guard")

_blocks: dict[int, list[_Block]] = {}
"""The blocks that are open, by thread, outermost first; empty: nothing is watched anywhere."""


def _is_policy(_guard: Any, _attribute: Any, value: object) -> None:
    known = get_args(Policy)
    if value not in known:
        raise ValueError(f"Guard: policy={value!r} is none of {', '.join(map(repr, known))}")


@define(eq=False)
class _Block:
    """One ``with`` block of one thread."""

    guard: Guard
    found: list[NotDeterministic] = field(factory=list)
    _seen: set[tuple[str, int, str]] = field(factory=set, init=False)

    def take(self, error: NotDeterministic) -> None:
        key = (error.file, error.line, error.rule)
        if key not in self._seen:
            self._seen.add(key)
            self.found.append(error)
        if self.guard.policy == "warn":
            self.guard.warn(error)


@define(eq=False)
class Guard:
    """Watches the workflow code that this thread steps inside of a ``with`` block.

    ::

        with Guard() as found:
            replay(order, "histories/order-o-7.json")

    Only the code of runs is watched: not flowpy's own, not activities, not the function given to
    ``flowpy.side_effect``, not what logging and imports do. A line that ends in
    ``# flowpy: ignore[FLOW106] and the reason`` is let through.

    The object may be used again, and by several threads at once; blocks may be nested, each finds everything.

    Args:
        policy: ``"error"`` (default): the call raises ``NotDeterministic`` before it does anything, and so does the
            end of the block, should the code have caught it. ``"warn"``: the call goes on and the line is logged, once
            as long as the guard lives, by ``flowpy.guard``. ``"off"``: nothing is watched.
        strict: Whether every call of the code is looked at, which finds clocks, chance, uuid and the environment.
            Without it the guard costs next to nothing and finds what Python itself reports as an audit event: files,
            sockets, subprocesses, input, writes to the environment; from 3.12 threads, from 3.13 ``time.sleep``.

    Gives:
        The list of what is found in the block, each line once: ``NotDeterministic`` errors with rule, call, file,
        line, function and replacement.

    Raises:
        NotDeterministic: At the end of the block, if policy is ``"error"`` and anything was found.
        ValueError: It is no policy.
        CallError: At its beginning, if Python lets nobody watch any more calls (strict).
    """

    policy: Policy = field(default="error", validator=_is_policy)
    strict: bool = True
    _warned: dict[tuple[str, int, str], None] = field(factory=dict, init=False, repr=False)

    def __enter__(self) -> list[NotDeterministic]:
        """Begin to watch this thread."""
        block = _Block(self)
        if self.policy != "off":
            audit.install(_audited)
            if self.strict:
                calls.begin(_called)
        _blocks.setdefault(threading.get_ident(), []).append(block)
        return block.found

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Watch no more; raise what was found, if that is the policy."""
        thread = threading.get_ident()
        block = _blocks[thread].pop()
        if not _blocks[thread]:
            del _blocks[thread]
        if self.strict and self.policy != "off":
            calls.end()
        ended = error is None or (isinstance(error, Exception) and error not in block.found)
        if self.policy == "error" and block.found and ended:
            raise block.found[0] from error

    def warn(self, error: NotDeterministic) -> None:
        """Log a finding, the first time that its line is met."""
        key = (error.file, error.line, error.rule)
        if key not in self._warned:
            self._warned[key] = None
            _log.warning("%s", error)


def _audited(rule: str, call: str, frame: FrameType) -> None:
    blocks = _blocks.get(threading.get_ident())
    if blocks:
        _found(RULES[rule], call, frame, [block for block in blocks if block.guard.policy != "off"])


def _called(rule: Rule, call: str, frame: FrameType) -> None:
    blocks = _blocks.get(threading.get_ident())
    if blocks:
        strict = [block for block in blocks if block.guard.strict and block.guard.policy != "off"]
        _found(rule, call, frame, strict)


def _found(rule: Rule, call: str, frame: FrameType, blocks: list[_Block]) -> None:
    """A call was made that breaks a rule: whose is it, and who is to know?"""
    run = running()
    if run is None or not blocks:
        return
    place = place_of(frame, run)
    if place is None:
        return
    if place.through and (known := rule_of(place.through)) is not None and not place.through.startswith("random."):
        # What the line called says more than what that came to: mkdtemp first asks the environment for a folder.
        rule, call = known, place.through
    if place.ignores(rule.id):
        return
    error = _error(rule, call, place)
    for block in blocks:
        block.take(error)
    if any(block.guard.policy == "error" for block in blocks):
        raise error


def _error(rule: Rule, call: str, place: Place) -> NotDeterministic:
    through = f" (by {place.through})" if place.through and place.through != call else ""
    message = (
        f"{place.file}:{place.line} in {place.function}: {call}{through} cannot be replayed, for {rule.why}. "
        f"Instead: {rule.replacement} [{rule.id}]"
    )
    told: dict[str, Any] = {"file": place.file, "line": place.line, "function": place.function}
    return NotDeterministic(message, rule=rule.id, call=call, replacement=rule.replacement, **told)
