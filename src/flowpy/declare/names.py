"""What SWF allows as names, versions, ids and tags, and what flowpy keeps for itself.

SWF's rules are those of its API reference: no ``:`` ``/`` ``|``, no control characters, not the word ``arn``, no
blanks around, at most 256 characters (64 in a version). flowpy adds two: a name must not look like a task path
(``t2.``, ``s3.``), because ids are made of both, and nothing may begin with ``flowpy.``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, Final

from flowpy.errors import DeclarationError
from flowpy.words import an

__all__ = [
    "RESERVED",
    "check_id",
    "check_name",
    "check_signal_name",
    "check_tag_list",
    "check_text",
    "check_version",
    "did_you_mean",
]

RESERVED: Final = "flowpy."
"""The prefix of flowpy's own timers, markers and signals."""

_LONGEST_NAME: Final = 256
_LONGEST_VERSION: Final = 64
_MOST_TAGS: Final = 5
_FORBIDDEN: Final = re.compile("[:/|\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TASK_PATH: Final = re.compile(r"[ts][0-9]+\..*", re.DOTALL)


def check_name(name: Any, what: str) -> str:
    """Returns the name of an activity, workflow or task list if SWF and flowpy allow it.

    Args:
        name: The name, 1 to 256 characters.
        what: What it names, such as ``"activity name"``; begins the error message.

    Raises:
        DeclarationError: If it is not allowed; the message says why and what to change.
    """
    return _unreserved(_identifier(name, what, _LONGEST_NAME), what)


def check_id(id: Any, what: str) -> str:
    """Returns an id given by a user (activity, timer, workflow id) if SWF and flowpy allow it.

    Args:
        id: The id, 1 to 256 characters.
        what: What it identifies, such as ``"activity_id"``; begins the error message.

    Raises:
        DeclarationError: If it is not allowed.
    """
    return check_name(id, what)


def check_version(version: Any, what: str = "version") -> str:
    """Returns the version of an activity or workflow type if SWF allows it.

    Args:
        version: The version, 1 to 64 characters.
        what: Begins the error message.

    Raises:
        DeclarationError: If it is not allowed; numbers are refused, since ``1.10`` would be ``1.1``.
    """
    return _identifier(version, what, _LONGEST_VERSION)


def check_signal_name(name: Any, what: str = "signal name") -> str:
    """Returns the name of a signal if SWF and flowpy allow it.

    SWF restricts no characters here, so signals of other frameworks can always be declared.

    Args:
        name: The name, 1 to 256 characters.
        what: Begins the error message.

    Raises:
        DeclarationError: If it is empty, too long or begins with ``flowpy.``.
    """
    check_text(name, what, _LONGEST_NAME)
    if name.startswith(RESERVED):
        raise DeclarationError(
            f"{what}: {name!r} begins with {RESERVED!r}, which flowpy keeps for itself", remedy="rename it"
        )
    return str(name)


def check_tag_list(tags: Any, what: str = "tag_list") -> tuple[str, ...]:
    """Returns the tags of an execution as a tuple if SWF allows them.

    Args:
        tags: At most five texts of at most 256 characters.
        what: Begins the error message.

    Raises:
        DeclarationError: If there are more, or one is not a text of that length.
    """
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise DeclarationError(f"{what}: {tags!r} is no list of texts", remedy=f"give such as [{tags!r}]")
    listed = tuple(tags)
    if len(listed) > _MOST_TAGS:
        raise DeclarationError(
            f"{what}: {len(listed)} tags, but SWF takes at most {_MOST_TAGS}",
            remedy=f"drop {', '.join(map(repr, listed[_MOST_TAGS:]))}",
        )
    return tuple(check_text(tag, f"{what}: tag {tag!r}", _LONGEST_NAME, shortest=0) for tag in listed)


def check_text(value: Any, what: str, longest: int, *, shortest: int = 1) -> str:
    """Returns a value if it is text of a length that SWF takes.

    Args:
        value: The text.
        what: Begins the error message.
        longest: The most characters allowed.
        shortest: The fewest characters allowed.

    Raises:
        DeclarationError: If it is not.
    """
    if not isinstance(value, str):
        raise DeclarationError(f"{what}: {value!r} is {an(type(value).__name__)}", remedy="give text in quotes")
    if len(value) < shortest:
        raise DeclarationError(f"{what}: it is empty; SWF needs at least {shortest} character")
    if len(value) > longest:
        raise DeclarationError(f"{what}: {len(value)} characters, but SWF takes at most {longest}", remedy="shorten it")
    return value


def _identifier(value: Any, what: str, longest: int) -> str:
    """Holds a value to SWF's rules for identifiers."""
    text = check_text(value, what, longest)
    if bad := _FORBIDDEN.search(text):
        raise DeclarationError(
            f"{what}: {text!r} has {bad.group()!r} at position {bad.start()}; SWF allows no ':', '/', '|' and no "
            "control characters",
            remedy="use '-', '_' or '.' instead",
        )
    if text != text.strip():
        raise DeclarationError(
            f"{what}: {text!r} begins or ends with a blank, which SWF refuses", remedy=f"use {text.strip()!r}"
        )
    if text == "arn":
        raise DeclarationError(f"{what}: SWF refuses the word 'arn'", remedy="use another one")
    return text


def _unreserved(text: str, what: str) -> str:
    """Keeps names and ids apart from flowpy's own and from task paths."""
    if text.startswith(RESERVED):
        raise DeclarationError(
            f"{what}: {text!r} begins with {RESERVED!r}, which flowpy keeps for itself", remedy="rename it"
        )
    if _TASK_PATH.fullmatch(text):
        raise DeclarationError(
            f"{what}: {text!r} looks like the path of a task ('t1.', 's2.'), which ids begin with",
            remedy=f"rename it, such as {text.replace('.', '-', 1)!r}",
        )
    return text


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns what to append to an error about a name that does not exist; empty if none is near.

        >>> did_you_mean("ordr", ["order", "refund"])
        "; did you mean 'order'?"
        >>> did_you_mean("x", ["order", "refund"])
        ''

    Args:
        name: What was given.
        known: What there is.
    """
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
