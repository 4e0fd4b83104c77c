"""What a browser asks, and who may: this machine alone, by a name of it; and for actions this site alone."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from attrs import field, frozen

__all__ = ["MOST_BYTES", "Refused", "Request", "check_action", "check_visitor", "read_request"]

MOST_BYTES: Final = 1_048_576
"""The longest form that is read."""

_FORM: Final = "application/x-www-form-urlencoded"
_MOST_FIELDS: Final = 50


class Refused(Exception):
    """The console does not do what was asked.

    Args:
        status: HTTP's status.
        text: Why, for a person.
    """

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status


@frozen(kw_only=True)
class Request:
    """One request of a browser.

    Attributes:
        method: ``GET``, ``HEAD`` or ``POST``.
        path: The path, decoded.
        query: What follows the question mark; of names that come twice, the last.
        form: The fields of a form, likewise.
        headers: Headers by their names in lower case; of names that come twice, all values.
        client: The address of who asks; None if nobody knows.
    """

    method: str = "GET"
    path: str = "/"
    query: Mapping[str, str] = field(factory=dict)
    form: Mapping[str, str] = field(factory=dict, repr=False)
    headers: Mapping[str, tuple[str, ...]] = field(factory=dict, repr=False)
    client: str | None = None

    def header(self, name: str) -> str:
        """A header that comes once at most; "" if it is not there.

        Raises:
            Refused: It comes twice.
        """
        values = self.headers.get(name, ())
        if len(values) > 1:
            raise Refused(HTTPStatus.BAD_REQUEST, f"The header {name} came twice.")
        return values[0] if values else ""

    def asked(self, name: str) -> str:
        """A part of the query that the page cannot do without.

        Raises:
            Refused: It is not there.
        """
        if not self.query.get(name):
            raise Refused(HTTPStatus.BAD_REQUEST, f"The address of this page lacks {name}.")
        return self.query[name]


def read_request(scope: Mapping[str, Any], body: bytes) -> Request:
    """A request as ASGI gives it.

    Args:
        scope: ASGI's description of it.
        body: Its body.

    Raises:
        Refused: It is nothing that a form of the console sends.
    """
    if len(body) > MOST_BYTES:
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The form is too long.")
    headers: dict[str, tuple[str, ...]] = {}
    for header, value in scope["headers"]:
        name = header.decode("latin-1").lower()
        headers[name] = (*headers.get(name, ()), value.decode("latin-1"))
    client = scope.get("client")
    request = Request(
        method=scope["method"],
        path=scope["path"],
        query=_fields(scope.get("query_string", b"")),
        headers=headers,
        client=client[0] if client else None,
    )
    if scope["method"] != "POST":
        return request
    if request.header("content-type").partition(";")[0].strip().lower() != _FORM:
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Only forms of the console are read here.")
    return Request(method=request.method, path=request.path, form=_fields(body), headers=headers, client=request.client)


def _fields(text: bytes) -> dict[str, str]:
    try:
        pairs: Iterable[tuple[str, str]] = parse_qsl(
            text.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
        return dict(pairs)
    except ValueError:
        raise Refused(HTTPStatus.BAD_REQUEST, "The request cannot be read.") from None


def check_visitor(request: Request) -> None:
    """Refuses who is not on this machine, and pages of others that gave their own name this machine's address.

    Raises:
        Refused: The other end, or the name it called this machine by, is not of this machine.
    """
    if not (request.client and _is_loopback(request.client)):
        raise Refused(HTTPStatus.FORBIDDEN, "The console is for programs on its own machine.")
    if not _is_loopback(_host(request)):
        text = "The console answers to localhost, 127.0.0.1 and [::1] only: open it by one of these names."
        raise Refused(HTTPStatus.MISDIRECTED_REQUEST, text)


def check_action(request: Request, token: str) -> None:
    """Refuses actions that do not come from a form of the console's own pages.

    Args:
        request: The request.
        token: What those forms carry, and no other page can know.

    Raises:
        Refused: It comes from elsewhere.
    """
    origin = request.header("origin")
    is_own = origin == f"http://{request.header('host')}" and request.header("sec-fetch-site") in {"", "same-origin"}
    if not is_own:
        raise Refused(HTTPStatus.FORBIDDEN, "Another site asked for this, so it was not done.")
    if not hmac.compare_digest(request.form.get("token", "").encode("utf-8", "replace"), token.encode()):
        text = "The form is from before the service was started again, so nothing was done: go back and load it anew."
        raise Refused(HTTPStatus.FORBIDDEN, text)


def _host(request: Request) -> str:
    try:
        return urlsplit(f"//{request.header('host')}").hostname or ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    if host in {"localhost", "localhost."}:
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
