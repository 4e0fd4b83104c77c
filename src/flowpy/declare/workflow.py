"""``@workflow``: the function, or class, that is the business process."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, ParamSpec, Protocol, Self, TypeVar, Unpack, overload

from flowpy.declare.calling import Calls
from flowpy.declare.durations import YEAR
from flowpy.declare.functions import declarable, default_name, is_async, locating, refuse_self
from flowpy.declare.keywords import WorkflowCallOptions, WorkflowDeclaration
from flowpy.declare.markers import Handlers, execute, query, signal
from flowpy.declare.options import WorkflowOptions
from flowpy.declare.promise import ChildPromise, Promise
from flowpy.declare.registered import RegisteredType
from flowpy.declare.signature import Signature
from flowpy.errors import DeclarationError, OutsideWorkflow

__all__ = ["Workflow", "execute", "query", "signal", "workflow"]

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

_DECORATOR: Final = "@workflow"
_DEFAULTS: Final = WorkflowOptions(
    execution_start_to_close_timeout=YEAR, task_start_to_close_timeout=30, child_policy="TERMINATE"
)


class Workflow(RegisteredType[P, ChildPromise[R], WorkflowOptions], Generic[P, R]):
    """A declared workflow; calling it in workflow code starts a child.

    Attributes:
        is_class: Whether it is a class; then ``fn`` is the class, and ``cls`` too.
        cls: The class, or None.
        execute_name: Attribute of the class's ``@execute`` method, "" for a function.
        signal_handlers: Signal name to attribute of the class.
        queries: Query name to attribute of the class.
        signatures: Attribute to signature, without ``self``, of the marked methods.
        arounds: Interceptors around what runs, outermost first.
    """

    decorator = _DECORATOR
    arounds: tuple[Any, ...] = ()

    def __init__(self, *, handlers: Handlers | None, **declared: Any) -> None:
        self.is_class = handlers is not None
        self.execute_name = handlers.execute if handlers else ""
        self.signal_handlers = handlers.signals if handlers else {}
        self.queries = handlers.queries if handlers else {}
        self.signatures = handlers.signatures if handlers else {}
        super().__init__(**declared)
        self.cls: type | None = self.fn if isinstance(self.fn, type) else None

    def _ask(self, calls: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ChildPromise[R]:
        return calls.call_workflow(self, args, kwargs)

    def _outside(self) -> OutsideWorkflow:
        kind = "class" if self.is_class else "function"
        return OutsideWorkflow(
            f"workflow {self.name!r} was called outside workflow code",
            remedy=f"start it with client.start({self.__name__}, ...), or call it in another @workflow function, which "
            f"makes it a child; the plain {kind} is {self.__name__}.fn",
        )

    def options(self, **options: Unpack[WorkflowCallOptions]) -> Self:
        """Returns the same workflow, whose starts carry other options.

        Args:
            **options: Fields of ``WorkflowOptions``; what is not named stays as it is.

        Raises:
            DeclarationError: If an option is unknown or its value refused.
        """
        return self._with(dict(options))


# Every class is an object, so the overloads for classes overlap; the first that fits is meant to win.
class Runs(Protocol[P, R_co]):
    """A workflow class whose ``@execute`` method is called ``run``: only of these can checkers know the types.

    mypy (2.4) takes no notice of what a decorator makes of a class: for its users ``order = workflow(Order)`` is typed,
    ``@workflow`` on the class is not. Both mean the same.
    """

    def run(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """The workflow itself."""
        ...


class WorkflowDecorator(Protocol):
    """``@workflow(...)`` with its options given."""

    @overload
    def __call__(self, fn: type[Runs[P, Coroutine[Any, Any, R]]], /) -> Workflow[P, R]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, fn: type[Runs[P, R]], /) -> Workflow[P, R]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, fn: type[object], /) -> Workflow[..., Any]: ...

    @overload
    def __call__(self, fn: Callable[P, Coroutine[Any, Any, Promise[R]]], /) -> Workflow[P, R]: ...

    @overload
    def __call__(self, fn: Callable[P, Coroutine[Any, Any, R]], /) -> Workflow[P, R]: ...

    @overload
    def __call__(self, fn: Callable[P, Promise[R]], /) -> Workflow[P, R]: ...

    @overload
    def __call__(self, fn: Callable[P, R], /) -> Workflow[P, R]: ...


@overload
def workflow(fn: type[Runs[P, Coroutine[Any, Any, R]]], /) -> Workflow[P, R]: ...  # type: ignore[overload-overlap]


@overload
def workflow(fn: type[Runs[P, R]], /) -> Workflow[P, R]: ...  # type: ignore[overload-overlap]


@overload
def workflow(fn: type[object], /) -> Workflow[..., Any]: ...


@overload
def workflow(fn: Callable[P, Coroutine[Any, Any, Promise[R]]], /) -> Workflow[P, R]: ...


@overload
def workflow(fn: Callable[P, Coroutine[Any, Any, R]], /) -> Workflow[P, R]: ...


@overload
def workflow(fn: Callable[P, Promise[R]], /) -> Workflow[P, R]: ...


@overload
def workflow(fn: Callable[P, R], /) -> Workflow[P, R]: ...


@overload
def workflow(
    *, name: str | None = ..., version: str = ..., **options: Unpack[WorkflowDeclaration]
) -> WorkflowDecorator: ...


def workflow(
    fn: Callable[..., Any] | None = None, /, *, name: str | None = None, version: str = "1.0", **options: Any
) -> Any:
    """Declares a function or a class as a workflow.

    The options are registered as defaults of the SWF workflow type and may be overridden on each start with
    ``.options(...)``; tags, which SWF has no default for, go with each start. Without any: executions end after
    365 days, decision tasks after 30 seconds, and children are terminated with their parent.

    Args:
        fn: An ``async def``, a plain ``def``, or a class with one ``@execute`` method and a constructor without
            arguments; without it a decorator is returned.
        name: Name of the workflow type; default the function's or class's qualified name.
        version: Version of the workflow type.
        **options: Fields of ``WorkflowOptions``; durations in seconds, as a timedelta or text such as ``"30d"``.

    Raises:
        DeclarationError: If the declaration can never work; the message says what to change.
    """

    def declare(target: Any) -> Workflow[..., Any]:
        handlers = None
        if inspect.isclass(target):
            known_as = default_name(target, _DECORATOR) if name is None else name
            handlers = _class_handlers(target, f"{_DECORATOR} {known_as}")
            runs, signature = getattr(target, handlers.execute), handlers.signatures[handlers.execute]
        else:
            target = runs = declarable(target, _DECORATOR)
            signature = Signature.of(runs)
            refuse_self(runs, signature, _DECORATOR)
            known_as = default_name(runs, _DECORATOR) if name is None else name
        with locating(f"{_DECORATOR} {known_as}"):
            signature.refuse_variadic()
            registered = _registered(options)
        return Workflow(
            fn=target,
            name=known_as,
            version=version,
            signature=signature,
            is_async=is_async(runs),
            registered=registered,
            called=WorkflowOptions(tag_list=registered.tag_list),
            handlers=handlers,
        )

    return declare if fn is None else declare(fn)


def _class_handlers(owner: type, where: str) -> Handlers:
    """The marked methods of a class that can be made without arguments."""
    constructor = Signature.of(owner)
    missing = [p.name for p in (*constructor.positional, *constructor.keyword_only.values()) if p.required]
    if missing:
        raise DeclarationError(
            f"{where}: the object is made without arguments when the run starts, but __init__ needs "
            f"{', '.join(missing)}",
            remedy="take them in the @execute method",
        )
    return Handlers.of(owner, where)


def _registered(options: dict[str, Any]) -> WorkflowOptions:
    """The options of a declaration over flowpy's defaults."""
    if options.get("workflow_id") is not None:
        raise DeclarationError(
            "workflow_id belongs to one execution",
            remedy="give it where that is started: .options(workflow_id=...) or client.start(..., workflow_id=...)",
        )
    return _DEFAULTS.override(**options)
