"""``flowpy.testing.Environment``: workflows from start to end, in this process, on a virtual clock."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from random import Random
from typing import Any, Self, TypeVar

from flowpy.client import Client
from flowpy.client.client import refuse_arguments
from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.durations import Duration, seconds
from flowpy.declare.signals import Signal
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError
from flowpy.interceptors import Interceptor, chosen
from flowpy.local import Engine, VirtualClock
from flowpy.testing.blocked import blocked
from flowpy.testing.calls import Call
from flowpy.testing.driver import Driver, apart
from flowpy.testing.faults import Faults
from flowpy.testing.given import of_kind, several
from flowpy.testing.known import DOMAIN
from flowpy.testing.live import Live
from flowpy.testing.outcomes import NOTHING, Target, check_target
from flowpy.testing.prefixes import replay_prefixes
from flowpy.testing.run import EnvironmentRun
from flowpy.testing.stage import Stage
from flowpy.testing.strictness import watched
from flowpy.testing.stubs import Stub

__all__ = ["Environment"]

R = TypeVar("R")


class Environment:
    """The embedded service, a decider and an activity worker for one test, all in this thread.

    Time is virtual: it stands still while anything can happen, and jumps over the rest. A call that starts or tells
    something returns when all has happened that can happen without time passing; ``result`` and ``advance`` let time
    pass. Nothing is registered by hand: what is started is known, and what that calls is known when it calls it.

    As a context manager it replays, on leaving without an error, every history it made up to each of its decisions
    (``check``).

    >>> import flowpy
    >>> @flowpy.activity
    ... def charge(order_id: str) -> str: ...
    >>> @flowpy.workflow
    ... async def order(order_id: str) -> str:
    ...     await flowpy.sleep("30d")
    ...     return await charge(order_id)
    >>> with Environment() as swf:
    ...     _ = swf.stub(charge, returns="r-1")
    ...     print(swf.run(order, "o-7"), swf.calls(charge) == [("o-7",)])
    r-1 True

    Args:
        workflows: Workflows that no test and no other workflow names, such as another version that a run continues as.
        converter: Reads and writes payloads; default JSON.
        strict: Leave to chance what order promises nothing about: which of several activities begins and ends first,
            how the history is paged; replay every prefix, in more than one way.
        seed: Decides what strict mode leaves to chance; default a new one each time, which failures name.
        interceptors: What stands around workflows, activities and calls of the client, outermost first.

    Attributes:
        client: A client of the service, for all that is not here.
        engine: The embedded service itself.
        faults: What can go wrong.
        seed: What strict mode's chance was decided by, None outside of it.
    """

    def __init__(
        self,
        *,
        workflows: Iterable[Workflow[..., Any]] = (),
        converter: Converter = DEFAULT,
        strict: bool = False,
        seed: int | None = None,
        interceptors: Iterable[Interceptor] = (),
    ) -> None:
        self.strict = strict
        self.seed = None if not strict else Random().randrange(1_000_000) if seed is None else seed  # noqa: S311
        self.engine = Engine(VirtualClock(), seed="test")
        random = None if self.seed is None else Random(self.seed)  # noqa: S311 - chance that can be repeated
        of_kind(converter, Converter, "Environment: converter", "give flowpy.data.Converter(...)")
        given = several(interceptors, "Environment: interceptors", "give [Interceptor(...)]")
        known = several(workflows, "Environment: workflows", "give [order]")
        chosen(given, "Environment", "workflow", "activity", "client")
        self._stage = Stage(self.engine, converter, random, given)
        self._driver = Driver(self._stage, watched if strict else nullcontext)
        self._started: Counter[str] = Counter()
        self.faults = Faults(self._driver)
        self.client = Client(
            DOMAIN,
            self._stage.service,
            converter=converter,
            sleep=self._stage.sleep,
            clock=self._stage.now,
            interceptors=[each for each in given if each.client is not None],
        )
        self.declare(*known)

    def __enter__(self) -> Self:
        """The environment itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Check the histories if all went well, and let go of everything."""
        try:
            if kind is None:
                self.check()
                for name, advice in self.unused_stubs().items():
                    if advice:
                        # No error: what tests share may stub what one of them does not call.
                        warnings.warn(f"stub {name!r}: nothing of that name was called{advice}", stacklevel=2)
        finally:
            self.close()

    def __del__(self) -> None:
        """Say that nobody closed it: what it made was not checked, unless the test did so itself."""
        if getattr(self, "_started", None) and not self._driver.is_closed:
            told = "an Environment was not closed, so no history of it was checked: with Environment() as swf: ..."
            warnings.warn(told, ResourceWarning, source=self, stacklevel=2)

    # --- starting and telling -----------------------------------------------------------------

    def start(
        self,
        workflow: Workflow[..., R],
        /,
        *args: Any,
        workflow_id: str | None = None,
        kwargs: dict[str, Any] | None = None,
        **options: Any,
    ) -> EnvironmentRun[R]:
        """Start a workflow, and let it run until it waits for time or for the test.

        Args:
            workflow: A declared workflow.
            *args: Its positional arguments; keyword ones go into ``kwargs``.
            workflow_id: Its workflowId; default its name and a number, ``order-1``.
            kwargs: Its keyword arguments.
            **options: As in ``workflow.options``, such as ``lambda_role`` and ``execution_start_to_close_timeout``.

        Returns:
            A handle on the run.

        Raises:
            DeclarationError: It is no workflow, or an option is unknown or refused.
            NotStubbed: It calls what only a stub can answer.
            RunHeld: Its code cannot be decided.
            CallError: The environment is closed.
        """
        if not isinstance(workflow, Workflow):
            raise DeclarationError(
                f"start: {workflow!r} is no workflow", remedy="give what @workflow made of the function"
            )
        of_kind(kwargs or {}, dict, "start: kwargs", 'give the arguments by name, {"cents": 4200}')
        refuse_arguments(workflow, options)
        declared = workflow.options(**options)
        task_list: dict[str, str] = declared.overrides.get("taskList", {})
        self._stage.known.meet_workflow(declared, task_list.get("name"))
        self._started[workflow.name] += 1
        chosen = workflow_id or declared.settings.workflow_id or f"{workflow.name}-{self._started[workflow.name]}"
        handle = self.client.start(declared, *args, workflow_id=chosen, kwargs=kwargs)
        self.settle()
        return EnvironmentRun(self, handle.workflow_id, handle.run_id, workflow)

    def run(self, workflow: Workflow[..., R], /, *args: Any, **options: Any) -> R:
        """Start a workflow and give its result; see ``start`` and ``EnvironmentRun.result``."""
        return self.start(workflow, *args, **options).result()

    def find(self, workflow_id: str, *, workflow: Workflow[..., R] | None = None) -> EnvironmentRun[R]:
        """A handle on a run that the test did not start itself, such as a child.

        Args:
            workflow_id: Its workflowId.
            workflow: The declared workflow, for the type of the result and for queries.
        """
        return EnvironmentRun(self, workflow_id, None, workflow)

    def signal(self, run: EnvironmentRun[Any] | str, signal: Signal[Any] | str, value: Any = None) -> None:
        """Send a signal to a run, given by handle or workflowId; see ``EnvironmentRun.signal``."""
        self._handle(run).signal(signal, value)

    def cancel(self, run: EnvironmentRun[Any] | str) -> None:
        """Ask a run to stop, given by handle or workflowId; see ``EnvironmentRun.cancel``."""
        self._handle(run).cancel()

    def _handle(self, run: EnvironmentRun[Any] | str) -> EnvironmentRun[Any]:
        remedy = "give a workflowId, or what start() gave"
        return self.find(run) if isinstance(run, str) else of_kind(run, EnvironmentRun, "run", remedy)

    def declare(self, *workflows: Workflow[..., Any]) -> None:
        """Make workflows known that no test and no other workflow names."""
        for workflow in workflows:
            of_kind(workflow, Workflow, "declare", "give what @workflow made of the function")
            self._stage.known.meet_workflow(workflow)

    # --- stubs and calls ----------------------------------------------------------------------

    def stub(
        self,
        target: Target | str,
        *,
        returns: Any = NOTHING,
        raises: BaseException | type[BaseException] = NOTHING,
        by: Callable[..., Any] = NOTHING,
        times_out: str = NOTHING,
        delay: Duration = 0,
        heartbeats: Sequence[Any] = (),
        times: int | None = None,
    ) -> Stub:
        """Say what an activity, a child workflow or a Lambda function does from now on.

        One of ``returns``, ``raises``, ``by`` and ``times_out`` is given; without any, the real function runs after
        the delay. ``.then(...)`` says how later calls end.

        Args:
            target: The declared activity or workflow, a ``flowpy.lambda_function``, or the name of one of these.
            returns: The result.
            raises: What it raises: an exception, or a class of them.
            by: A function of the same signature that does the work instead; what it asserts fails the test.
            times_out: The timeout that strikes: ``"START_TO_CLOSE"``, ``"HEARTBEAT"``, ``"SCHEDULE_TO_START"`` or
                ``"SCHEDULE_TO_CLOSE"`` for activities, ``"START_TO_CLOSE"`` for children and Lambda functions.
            delay: Virtual time that the work takes, such as ``"3d"``; the end comes after it.
            heartbeats: Details that an activity records meanwhile, evenly spread over the delay.
            times: How many calls end so; default all that follow, or one if a ``then`` follows.

        Returns:
            The stub, for ``.then(...)``.

        Raises:
            DeclarationError: It does not fit what is stubbed: another signature, another type of result.
        """
        return self._stage.stubs.add(target).then(
            returns=returns, raises=raises, by=by, times_out=times_out, delay=delay, heartbeats=heartbeats, times=times
        )

    def unused_stubs(self) -> dict[str, str]:
        """Names that were stubbed and that nothing called was called by, with the nearest that may be meant, if any."""
        return self._stage.stubs.unused(call.name for _, call in self._stage.calls)

    def calls(self, target: Target | str) -> list[Call]:
        """The calls of something so far, retries included, in the order in which they were sent.

        Args:
            target: The declared activity or workflow, a ``flowpy.lambda_function``, or the name of one of these.

        Raises:
            DeclarationError: It is nothing that can be called.
        """
        if not isinstance(target, str):
            check_target("calls", target)
        name = target if isinstance(target, str) else target.name
        version = None if isinstance(target, str) else getattr(target, "version", "")
        return [call for (_, n, v), call in self._stage.calls if n == name and version in (None, v)]

    # --- time ---------------------------------------------------------------------------------

    def now(self) -> dt.datetime:
        """The virtual time, UTC."""
        return dt.datetime.fromtimestamp(self._stage.now(), dt.UTC)

    def clock(self) -> float:
        """The virtual time in epoch seconds."""
        return self._stage.now()

    def advance(self, duration: Duration) -> None:
        """Let time pass; what falls due on the way happens at its time.

        Args:
            duration: How long: seconds, a timedelta or text such as ``"3d"``.
        """
        self.settle()
        self._pass(self.clock() + (seconds(duration, "advance") or 0))

    def _pass(self, until: float) -> None:
        while (due := self._driver.next_due()) <= until:
            self._driver.jump(due)
        self._driver.jump(until)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let nothing happen until the end of the block: what the test does in it arrives together.

        >>> import flowpy
        >>> @flowpy.workflow
        ... async def quick(): ...
        >>> with Environment() as swf:
        ...     with swf.paused():
        ...         run = swf.start(quick)
        ...         run.signal("early")  # before its first decision
        """
        self._driver.is_paused = True
        try:
            yield
        finally:
            self._driver.is_paused = False
        self.settle()

    def settle(self) -> None:
        """Let all happen that can happen without time passing; every other call does it by itself."""
        self._driver.settle()

    def wait(self, run_id: str, until: float | None = None) -> bool:
        """Let time pass until the next thing happens, for a run that is open.

        Args:
            run_id: Its runId.
            until: Epoch seconds until when to wait at most.

        Returns:
            False if the time is over.

        Raises:
            RunBlocked: Nothing will happen any more but the run's own timeout.
        """
        live = self._driver.lives.get(run_id)
        due = self._driver.next_due()
        if until is None and due >= (math.inf if live is None else live.times_out_at):
            raise blocked(self._open_runs(run_id), self.clock(), run_id)
        if until is not None and due > until:
            self._driver.jump(until)
            return False
        self._driver.jump(due)
        return True

    def _open_runs(self, run_id: str) -> list[Live]:
        """Those that are open, the one asked for first."""
        lives = [live for live in self.executions() if live.is_open]
        return sorted(lives, key=lambda live: live.run_id != run_id)

    # --- the end ------------------------------------------------------------------------------

    def raised(self, run_id: str) -> BaseException | None:
        """What the code of a run raised that failed it, or None."""
        live = self._driver.lives.get(run_id)
        value = live.run.outcome.value if live is not None and live.run is not None else None
        return value if isinstance(value, BaseException) else None

    def histories(self) -> list[dict[str, Any]]:
        """The histories made so far but those of stubs, in the form in which ``flowpy.testing.replay`` reads them."""
        return [
            {
                "workflowExecution": {"workflowId": live.workflow_id, "runId": live.run_id},
                "events": list(live.events),
            }
            for live in self.executions()
        ]

    def executions(self) -> list[Live]:
        """The executions made so far, children too, but not those that stubs play; in the order of their start."""
        return [live for live in self._driver.lives.values() if not live.is_stubbed]

    def check(self) -> None:
        """Replay every history made so far up to each of its decisions, and compare with what was decided.

        Raises:
            NonDeterminismError: A replay decides something else.
        """
        for live in self.executions():
            apart(partial(replay_prefixes, live, every=self.strict))

    def close(self) -> None:
        """Let go of everything: code that is suspended is closed, and nothing happens here any more."""
        self._driver.close()
