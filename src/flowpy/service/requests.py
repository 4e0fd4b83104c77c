"""Requests as botocore makes them, with less work for each.

For every request botocore checks the parameters member by member and serializes them likewise, works out where the
service is, makes its User-Agent twice, reads the host out of the address twice while signing, puts the whole request
together once more to be told its body, and keeps headers as those of an e-mail: together two fifths of what a request
costs. Here parameters that are plainly right are seen to be so by checks made once from botocore's model, and are their
own JSON; address, host and User-Agent are worked out once; and headers are what they look like. Whatever is not plainly
right is left to botocore's own check, which raises what it always raises. Signing stays botocore's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import field, frozen

__all__ = ["host_of", "trim_requests"]

Check = Callable[[Any], bool]
"""Whether a value is plainly right for one shape."""


def trim_requests(client: Any, attempts: int) -> None:
    """Let a boto3 client of SWF spend less on each request; bodies and addresses stay the same.

    Args:
        client: A client made with ``Config(parameter_validation=False)``: parameters are checked here.
        attempts: How often at most botocore makes a request. For 1 the two headers that say which attempt it is are
            left out, with which SWF does nothing.
    """
    if attempts == 1:
        from botocore import handlers

        again = getattr(handlers, "add_retry_headers", None)
        if again is not None:
            client.meta.events.unregister("request-created", again)
        client.meta.events.unregister("request-created.swf", unique_id="seed-max-attempts-swf")
        # Nobody need be asked after each reply whether there is another attempt.
        client.meta.events.unregister("needs-retry.swf", unique_id="retry-config-swf")
    parameters = _Parameters()
    serializer = getattr(client, "_serializer", None)
    if serializer is None:
        # Last, so that what handlers of the user's own make of the parameters is checked too.
        client.meta.events.register_last("before-parameter-build.swf", parameters.check)
    else:
        client._serializer = _Serializer(serializer, parameters)  # noqa: SLF001
    client.meta.events.register_first("request-created.swf", _lighten())
    # Last before the signing: handlers of the user's own may send a request elsewhere until then.
    client.meta.events.register_last("before-sign.swf", _Hosts().name)
    # botocore gives these no public names: a version without one does that work itself, and nothing else changes.
    resolver = getattr(client, "_ruleset_resolver", None)
    if resolver is not None:
        client._ruleset_resolver = _Endpoints(resolver)  # noqa: SLF001
    creator = getattr(client, "_user_agent_creator", None)
    rebuild = getattr(creator, "rebuild_and_replace_user_agent_handler", None)
    if rebuild is not None:
        client.meta.events.unregister("request-created.swf", rebuild)
        client._user_agent_creator = _UserAgent(creator)  # noqa: SLF001


@frozen
class _Parameters:
    """Checks of parameters, made when they are first needed, by the name of the input shape."""

    checks: dict[str, Check] = field(factory=dict)

    def check(self, params: Any, model: Any, **_other: Any) -> bool:
        """Refuse parameters as botocore does.

        Returns:
            Whether they are plainly right: of JSON's own types all through, under the names that are sent.

        Raises:
            ParamValidationError: One is missing, unknown, of the wrong type or too short.
        """
        shape = model.input_shape
        if shape is None:
            return False
        check = self.checks.get(shape.name)
        if check is None:
            check = self.checks[shape.name] = _of(shape)
        if check(params):
            return True
        from botocore.exceptions import ParamValidationError
        from botocore.validate import ParamValidator

        report = ParamValidator().validate(params, shape)
        if report.has_errors():
            raise ParamValidationError(report=report.generate_report())
        return False


@frozen
class _Serializer:
    """botocore's serializer, asked once for each operation for what is the same in all its requests."""

    serializer: Any
    parameters: _Parameters
    known: dict[str, dict[str, Any]] = field(factory=dict)

    def serialize_to_request(self, parameters: Any, operation_model: Any) -> dict[str, Any]:
        """A request, as a dict.

        Raises:
            ParamValidationError: As ``_Parameters.check``.
        """
        if not self.parameters.check(parameters, operation_model):
            made: dict[str, Any] = self.serializer.serialize_to_request(parameters, operation_model)
            return made
        same = self.known.get(operation_model.name)
        if same is None:
            same = self.known[operation_model.name] = self.serializer.serialize_to_request({}, operation_model)
        # What comes after writes into these.
        request = {name: value.copy() if type(value) is dict else value for name, value in same.items()}
        request["body"] = json.dumps(parameters).encode()
        return request

    def __getattr__(self, name: str) -> Any:
        return getattr(self.serializer, name)


def _never(_value: Any) -> bool:
    """Left to botocore."""
    return False


def _of(shape: Any) -> Check:
    kind, least = shape.type_name, shape.metadata.get("min", 0)
    if kind == "structure":
        return _structure(shape)
    if kind == "list":
        return _list(_of(shape.member), least)
    if kind == "string":
        return lambda value: type(value) is str and len(value) >= least
    if kind == "boolean":
        return lambda value: type(value) is bool
    if kind in ("integer", "long"):
        return lambda value: type(value) is int and value >= least
    return _never


def _structure(shape: Any) -> Check:
    if getattr(shape, "is_tagged_union", False) or getattr(shape, "is_document_type", False):
        return _never
    if any(member.serialization.get("name", name) != name for name, member in shape.members.items()):
        return _never
    members: Final = {name: _of(member) for name, member in shape.members.items()}
    required: Final = frozenset(shape.metadata.get("required", ()))

    def check(value: Any) -> bool:
        if type(value) is not dict or not required <= value.keys():
            return False
        for name, each in value.items():
            member = members.get(name)
            if member is None or not member(each):
                return False
        return True

    return check


def _list(member: Check, least: int) -> Check:
    return lambda value: type(value) is list and len(value) >= least and all(map(member, value))


def _lighten() -> Callable[..., None]:
    """The handler that takes weight off a request that was just made; botocore is imported when the first client is."""
    from botocore.awsrequest import AWSRequest
    from botocore.compat import HTTPHeaders

    class Headers(HTTPHeaders):  # type: ignore[misc] # botocore has no types
        """Headers without an e-mail's policies, which let these through as they are."""

        def items(self) -> list[tuple[str, Any]]:
            return list(self._headers)

        def __contains__(self, name: object) -> bool:
            return str(name).lower() in [known.lower() for known, _ in self._headers]

        def __setitem__(self, name: str, value: Any) -> None:
            if type(value) is bytes and (plain := (name, value.decode())) in self._headers:
                # Encoded at the end: botocore would send the last of two, so this takes the place of the first.
                self._headers[self._headers.index(plain)] = name, value
                return
            self._headers.append((name, value))

    class Request(AWSRequest):  # type: ignore[misc]
        """A request that knows its body without being put together."""

        @property
        def body(self) -> Any:
            data = self.data
            return data if type(data) is bytes and data else super().body

    def lighten(request: Any, **_other: Any) -> None:
        if type(request) is AWSRequest and type(request.headers) is HTTPHeaders:
            request.__class__, request.headers.__class__ = Request, Headers

    return lighten


@frozen
class _Hosts:
    """The handler that writes the header Host, which botocore signs and HTTP clients send, as either would make it."""

    known: dict[str, str] = field(factory=dict)

    def name(self, request: Any, **_other: Any) -> None:
        """Give a request its Host, unless the user's own code gave it one."""
        if "Host" in request.headers:
            return
        url = request.url
        host = self.known.get(url)
        if host is None:
            host = self.known[url] = host_of(url)
        request.headers["Host"] = host


def host_of(url: str) -> str:
    """The value of the header Host: in lower case, with the port if it is not the scheme's own."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    own = {"http": 80, "https": 443}.get(parts.scheme)
    return host if parts.port in (None, own) else f"{host}:{parts.port}"


@frozen
class _UserAgent:
    """botocore's maker of the User-Agent, asked once: what a client says of itself stays the same."""

    creator: Any
    made: list[str] = field(factory=list)

    def to_string(self) -> str:
        """The header."""
        if not self.made:
            self.made.append(self.creator.to_string())
        return self.made[0]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.creator, name)


@frozen
class _Endpoints:
    """botocore's resolver of addresses, asked once for each operation.

    SWF's rules look at the client (region, FIPS, dual stack, an address given), and at nothing in a request; where an
    operation says otherwise, every request is resolved.
    """

    resolver: Any
    known: dict[str, Any] = field(factory=dict)

    def construct_endpoint(self, operation_model: Any, call_args: Any, request_context: Any) -> Any:
        """The address of an operation."""
        name = operation_model.name
        found = self.known.get(name)
        if found is None:
            found = self.resolver.construct_endpoint(operation_model, call_args, request_context)
            # botocore 1.35.50 does not have the second.
            named = getattr(operation_model, "operation_context_parameters", ())
            if not (operation_model.context_parameters or named):
                self.known[name] = found
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.resolver, name)
