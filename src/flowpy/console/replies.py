"""What the console answers: pages that may run and load nothing but what is in them."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlencode

from attrs import field, frozen
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from flowpy.console.payloads import visible
from flowpy.view import Outcome
from flowpy.view.symbols import SYMBOLS
from flowpy.view.wording import clock, elapsed

__all__ = ["Reply", "address", "moved", "rendered", "standalone"]

_STYLE: Final = re.compile("<style>(.*?)</style>", re.DOTALL)
_SAFE: Final = (
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    # With "no-referrer" browsers would not tell the origin of forms.
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
)
_MARKS: Final = {
    "OPEN": SYMBOLS[Outcome.STARTED].text,
    "CONTINUED_AS_NEW": "↻",
    **{name: SYMBOLS[Outcome[name]].text for name in ("COMPLETED", "FAILED", "TIMED_OUT", "CANCELED", "TERMINATED")},
}


@frozen
class Reply:
    """An answer to a browser.

    Attributes:
        status: HTTP's status.
        body: The document.
        headers: All headers but the length.
    """

    status: HTTPStatus
    body: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = _SAFE


def address(path: str, **query: object) -> str:
    """An address on this site, its names and values quoted; a value that is None or "" is left out.

    >>> address("/execution", domain="shop", workflow_id="a&b ü")
    '/execution?domain=shop&workflow_id=a%26b+%C3%BC'
    """
    told = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(told, errors='replace')}" if told else path


def moved(to: str) -> Reply:
    """Sends the browser to another page of this site, which it asks for with GET."""
    return Reply(HTTPStatus.SEE_OTHER, headers=(*_SAFE, ("location", to)))


def rendered(template: str, status: HTTPStatus = HTTPStatus.OK, **shown: Any) -> Reply:
    """A page.

    Args:
        template: Its name in ``templates``, without ending.
        status: HTTP's status.
        shown: What the template writes; all of it is escaped there, but for pictures.
    """
    style, script = _resource("console.css"), _resource("console.js")
    pictures = shown.pop("pictures", {})
    styles = {style, *(match[1] for picture in pictures.values() if (match := _STYLE.search(picture)))}
    body = (
        _templates()
        .get_template(f"{template}.html")
        .render(
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            pictures={name: Markup(picture) for name, picture in pictures.items()},  # noqa: S704 - as_svg escapes
            **shown,
        )
    )
    policy = (
        f"default-src 'none'; style-src {' '.join(sorted(map(_hash, styles)))}; script-src {_hash(script)}; "
        "connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return _html(status, body, policy)


def standalone(document: str) -> Reply:
    """A document that has a policy of its own."""
    return _html(HTTPStatus.OK, document, "frame-ancestors 'none'")


def _html(status: HTTPStatus, body: str, policy: str) -> Reply:
    kind = ("content-type", "text/html; charset=utf-8")
    return Reply(status, body, (*_SAFE, kind, ("content-security-policy", policy)))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _resource(name: str) -> str:
    return files("flowpy.console").joinpath(name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("flowpy.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Names and payloads are hostile: what cannot be seen is written out, before it is escaped.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    made.globals |= {"address": address, "marks": _MARKS}
    made.filters |= {"clock": _clock, "lasted": _lasted, "status": _status, "timeout": _timeout}
    return made


def _seconds(value: Any) -> float:
    """Epoch seconds of a time as SWF's answers have it."""
    return float(value.timestamp() if hasattr(value, "timestamp") else value)


def _clock(value: Any) -> str:
    return clock(_seconds(value)).removesuffix(" UTC")


def _lasted(info: dict[str, Any], now: float) -> str:
    return elapsed(_seconds(info.get("closeTimestamp", now)) - _seconds(info["startTimestamp"]))


def _status(info: dict[str, Any]) -> str:
    """OPEN, or how it closed."""
    return str(info.get("closeStatus", info["executionStatus"]))


def _timeout(seconds: str) -> str:
    return seconds if seconds == "NONE" else elapsed(int(seconds))
