"""``@activity``: a function that does the work, in any process, at any time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Protocol, Self, TypeVar, Unpack, overload

from flowpy.declare.calling import Calls, current
from flowpy.declare.durations import NONE
from flowpy.declare.functions import declarable, default_name, is_async, locating, refuse_self
from flowpy.declare.keywords import ActivityCallOptions, ActivityDeclaration
from flowpy.declare.options import ActivityOptions
from flowpy.declare.promise import Promise
from flowpy.declare.registered import RegisteredType
from flowpy.declare.retry import Retry
from flowpy.declare.signature import Signature
from flowpy.errors import DeclarationError, OutsideWorkflow

__all__ = ["Activity", "AsyncActivity", "PlainActivity", "activity"]

P = ParamSpec("P")
R = TypeVar("R")

_DECORATOR: Final = "@activity"
_HEARTBEAT: Final = "60"
_NEVER: Final = ActivityOptions(
    schedule_to_start_timeout=NONE,
    schedule_to_close_timeout=NONE,
    start_to_close_timeout=NONE,
    heartbeat_timeout=NONE,
)


class Activity(RegisteredType[P, Promise[R], ActivityOptions], Generic[P, R]):
    """A declared activity; calling it in workflow code schedules it.

    Attributes:
        retry: The retry policy of its calls, or None.
        manual: Whether it is completed elsewhere, by its task token.
        external: Whether a worker of another SDK runs it.
    """

    decorator = _DECORATOR

    def __init__(self, *, manual: bool, external: bool, **declared: Any) -> None:
        self.manual = manual
        self.external = external
        super().__init__(**declared)

    @property
    def retry(self) -> Retry | None:
        """The retry policy of its calls, or None."""
        return self.settings.retry

    def _ask(self, calls: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Promise[R]:
        return calls.call_activity(self, args, kwargs)

    if not TYPE_CHECKING:

        def __call__(self, /, *args, **kwargs):  # noqa: ANN002, ANN003, ANN204 - typed in Declared
            # What the base does, with one call less: this is made for every activity of every replay.
            calls = current.get()
            if calls is None:
                raise OutsideWorkflow(self._outside())
            return calls.call_activity(self, args, kwargs)

    def _outside(self) -> str:
        return (
            f"activity {self.name!r} was called outside workflow code: call {self.__name__}.fn(...) to run the plain "
            "function here, or call it in a @workflow function"
        )

    def options(self, **options: Unpack[ActivityCallOptions]) -> Self:
        """Returns the same activity, whose calls carry other options.

        Args:
            **options: Fields of ``ActivityOptions``; what is not named stays as it is.

        Raises:
            DeclarationError: If an option is unknown or its value refused.
        """
        return self._with(dict(options))


class PlainActivity(Activity[P, R]):
    """An activity that is a plain ``def``: ``fn`` returns its result."""

    fn: Callable[P, R]


class AsyncActivity(Activity[P, R]):
    """An activity that is an ``async def``: ``fn`` returns a coroutine."""

    fn: Callable[P, Coroutine[Any, Any, R]]


# A coroutine is a result too, so the overloads overlap; the first that fits is meant to win.
class ActivityDecorator(Protocol):
    """``@activity(...)`` with its options given."""

    @overload
    def __call__(self, fn: Callable[P, Coroutine[Any, Any, R]], /) -> AsyncActivity[P, R]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, fn: Callable[P, R], /) -> PlainActivity[P, R]: ...


@overload
def activity(fn: Callable[P, Coroutine[Any, Any, R]], /) -> AsyncActivity[P, R]: ...  # type: ignore[overload-overlap]


@overload
def activity(fn: Callable[P, R], /) -> PlainActivity[P, R]: ...


@overload
def activity(
    *,
    name: str | None = ...,
    version: str = ...,
    manual: bool = ...,
    external: bool = ...,
    **options: Unpack[ActivityDeclaration],
) -> ActivityDecorator: ...


def activity(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    version: str = "1.0",
    manual: bool = False,
    external: bool = False,
    **options: Any,
) -> Any:
    """Declares a function as an activity.

    The options are registered as defaults of the SWF activity type and may be overridden on each call with
    ``.options(...)``. Without any, only ``heartbeat_timeout`` is set, to 60 seconds: the worker heartbeats by itself,
    so a dead worker is noticed within a minute, however long the activity runs.

    Args:
        fn: The function, a plain ``def`` or ``async def``; without it a decorator is returned.
        name: Name of the activity type; default the function's qualified name.
        version: Version of the activity type.
        manual: Whether it is completed elsewhere, by its task token; then no timeout is set.
        external: Whether a worker of another SDK runs it; then no timeout is set, and the body is never called.
        **options: Fields of ``ActivityOptions``, in seconds, as a timedelta, text such as ``"5m"``, or ``NONE``.

    Raises:
        DeclarationError: If the declaration can never work; the message says what to change.
    """

    def declare(function: Any) -> Activity[..., Any]:
        plain = declarable(function, _DECORATOR)
        signature = Signature.of(plain)
        refuse_self(plain, signature, _DECORATOR)
        known_as = default_name(plain, _DECORATOR) if name is None else name
        with locating(f"{_DECORATOR} {known_as}"):
            signature.refuse_variadic()
            if manual and external:
                raise DeclarationError(
                    "manual is for activities that a worker of flowpy starts, external for those of another SDK; "
                    "give one of the two"
                )
            registered = _registered(options, heartbeat=not (manual or external))
        runs_async = is_async(plain)
        return (AsyncActivity if runs_async else PlainActivity)(
            fn=plain,
            name=known_as,
            version=version,
            signature=signature,
            is_async=runs_async,
            registered=registered,
            called=ActivityOptions(),
            manual=manual,
            external=external,
        )

    return declare if fn is None else declare(fn)


def _registered(options: dict[str, Any], *, heartbeat: bool) -> ActivityOptions:
    """The options of a declaration over flowpy's defaults."""
    if options.get("activity_id") is not None:
        raise DeclarationError(
            "activity_id belongs to one call, and two calls with one id would clash; "
            "give it there: .options(activity_id=...)"
        )
    defaults = _NEVER.override(heartbeat_timeout=_HEARTBEAT) if heartbeat else _NEVER
    return defaults.override(**options)
