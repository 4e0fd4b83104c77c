"""The 39 operations (swf-semantics §1.1 to §1.5): a request each that is good, and what is wrong with others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from attrs import frozen

from flowpy.local.engine import Quotas

from .driver import ORDER, Driver, decision
from .stories import charge

Request = dict[str, Any]
Arrange = Callable[[Driver], Request]

T1 = {"name": "t", "version": "1"}
EVER = {"oldestDate": datetime(2020, 1, 1, tzinfo=UTC)}
SHOP = "arn:aws:swf:us-east-1:123456789012:/domain/shop"
DAYS = {"workflowExecutionRetentionPeriodInDays": "1"}


def plain(**request: Any) -> Arrange:
    """A request that needs nothing before it."""
    return lambda swf: dict(request)


def of_type(kind: str, *, deprecated: bool = False) -> Arrange:
    """A request about a type ``t`` that is registered, or deprecated."""

    def arrange(swf: Driver) -> Request:
        named = {f"{kind.lower()}Type": T1}
        swf.call(f"Register{kind}Type", domain="shop", **T1)
        if deprecated:
            swf.call(f"Deprecate{kind}Type", domain="shop", **named)
        return {"domain": "shop", **named}

    return arrange


def deprecated_domain(swf: Driver) -> Request:
    swf.call("DeprecateDomain", name="shop")
    return {"name": "shop"}


def of_run(**request: Any) -> Arrange:
    """A request about an open run ``w``."""

    def arrange(swf: Driver) -> Request:
        swf.start()
        return {"domain": "shop", "workflowId": "w", **request}

    return arrange


def of_execution(swf: Driver) -> Request:
    return {"domain": "shop", "execution": {"workflowId": "w", "runId": swf.start()}}


def of_activity(**said: Any) -> Arrange:
    """A request about an activity that a worker has taken."""

    def arrange(swf: Driver) -> Request:
        swf.start()
        swf.decide(charge(input="i"))
        return {"taskToken": swf.take()["taskToken"], **said}

    return arrange


def of_decision(swf: Driver) -> Request:
    swf.start()
    return {"taskToken": swf.poll()["taskToken"], "decisions": [decision("RecordMarker", markerName="m")]}


def poll_decision(swf: Driver) -> Request:
    swf.start()
    return {"domain": "shop", "taskList": {"name": "deciders"}, "identity": "me"}


def poll_activity(swf: Driver) -> Request:
    swf.start()
    swf.decide(charge(input="i"))
    return {"domain": "shop", "taskList": {"name": "workers"}, "identity": "me"}


@frozen
class Success:
    """A good request, and what the answer has beside what its shape requires."""

    arrange: Arrange
    answers: frozenset[str] = frozenset()


def good(arrange: Arrange, *answers: str) -> Success:
    return Success(arrange, frozenset(answers))


def types(kind: str) -> dict[str, Success]:
    """The seven operations on types of a kind."""
    return {
        f"Register{kind}Type": good(plain(domain="shop", **T1)),
        f"Deprecate{kind}Type": good(of_type(kind)),
        f"Undeprecate{kind}Type": good(of_type(kind, deprecated=True)),
        f"Delete{kind}Type": good(of_type(kind, deprecated=True)),
        f"Describe{kind}Type": good(of_type(kind), "typeInfo", "configuration"),
        f"List{kind}Types": good(plain(domain="shop", registrationStatus="REGISTERED"), "typeInfos"),
    }


OPEN = {"domain": "shop", "startTimeFilter": EVER}

SUCCESSES: dict[str, Success] = {
    "RegisterDomain": good(plain(name="new", **DAYS)),
    "DeprecateDomain": good(plain(name="shop")),
    "UndeprecateDomain": good(deprecated_domain),
    "DescribeDomain": good(plain(name="shop"), "domainInfo", "configuration"),
    "ListDomains": good(plain(registrationStatus="REGISTERED"), "domainInfos"),
    "ListTagsForResource": good(plain(resourceArn=SHOP), "tags"),
    "TagResource": good(plain(resourceArn=SHOP, tags=[{"key": "k"}])),
    "UntagResource": good(plain(resourceArn=SHOP, tagKeys=["k"])),
    **types("Activity"),
    **types("Workflow"),
    "StartWorkflowExecution": good(plain(domain="shop", workflowId="w", workflowType=ORDER), "runId"),
    "SignalWorkflowExecution": good(of_run(signalName="s")),
    "RequestCancelWorkflowExecution": good(of_run()),
    "TerminateWorkflowExecution": good(of_run()),
    "PollForDecisionTask": good(
        poll_decision,
        *("taskToken", "startedEventId", "previousStartedEventId", "workflowExecution", "workflowType", "events"),
    ),
    "PollForActivityTask": good(
        poll_activity, "taskToken", "startedEventId", "activityId", "workflowExecution", "activityType", "input"
    ),
    "RespondDecisionTaskCompleted": good(of_decision),
    "RespondActivityTaskCompleted": good(of_activity(result="r")),
    "RespondActivityTaskFailed": good(of_activity(reason="why", details="d")),
    "RespondActivityTaskCanceled": good(of_activity(details="d")),
    "RecordActivityTaskHeartbeat": good(of_activity(details="d"), "cancelRequested"),
    "CountPendingActivityTasks": good(plain(domain="shop", taskList={"name": "workers"}), "count", "truncated"),
    "CountPendingDecisionTasks": good(plain(domain="shop", taskList={"name": "deciders"}), "count", "truncated"),
    "DescribeWorkflowExecution": good(of_execution, "executionInfo", "executionConfiguration", "openCounts"),
    "GetWorkflowExecutionHistory": good(of_execution, "events"),
    "ListOpenWorkflowExecutions": good(plain(**OPEN), "executionInfos"),
    "ListClosedWorkflowExecutions": good(plain(**OPEN), "executionInfos"),
    "CountOpenWorkflowExecutions": good(plain(**OPEN), "count", "truncated"),
    "CountClosedWorkflowExecutions": good(plain(**OPEN), "count", "truncated"),
}

# --- faults ---------------------------------------------------------------------------------


@frozen
class Fault:
    """A request that SWF refuses.

    Attributes:
        arrange: Gives the request.
        message: What SWF says; None where its text is not known.
    """

    arrange: Arrange
    message: str | None = None


Faults = dict[tuple[str, str, str], Fault]


def instead(operation: str, **changed: Any) -> Arrange:
    """The good request with something else in it."""
    return lambda swf: SUCCESSES[operation].arrange(swf) | changed


def after(operation: str, spoil: Callable[[Driver, Request], object]) -> Arrange:
    """The good request, after something that spoils it."""

    def arrange(swf: Driver) -> Request:
        request = SUCCESSES[operation].arrange(swf)
        spoil(swf, request)
        return request

    return arrange


def unknown_domains() -> Faults:
    """Every operation that is told a domain, whatever its list of faults says."""
    faults: Faults = {}
    for operation in SUCCESSES:
        if operation in ("RegisterDomain", "ListDomains") or "Respond" in operation or "Heartbeat" in operation:
            continue
        name = {"Domain": "name", "Resource": "resourceArn"}
        member = next((member for end, member in name.items() if operation.endswith(end)), "domain")
        value = SHOP.replace("shop", "none") if member == "resourceArn" else "none"
        arrange = instead(operation, **{member: value})
        faults[operation, "UnknownResourceFault", "no such domain"] = Fault(arrange, "Unknown domain: none")
    return faults


def type_faults(kind: str) -> Faults:
    label, name = f"{kind}Type=[name=t, version=1]", f"{kind.lower()}Type"
    nowhere = f"Unknown type: {kind}Type=[name=none, version=1]"
    unknown = {"domain": "shop", name: {"name": "none", "version": "1"}}
    register = f"Register{kind}Type"
    return {
        **{
            (f"{verb}{kind}Type", "UnknownResourceFault", "no such type"): Fault(plain(**unknown), nowhere)
            for verb in ("Deprecate", "Undeprecate", "Delete", "Describe")
        },
        (register, "TypeAlreadyExistsFault", "registered"): Fault(
            after(register, lambda swf, _: of_type(kind)(swf)), label
        ),
        (register, "TypeAlreadyExistsFault", "deprecated"): Fault(
            after(register, lambda swf, _: of_type(kind, deprecated=True)(swf)), label
        ),
        (register, "LimitExceededFault", "as many as may be"): Fault(
            after(register, lambda swf, _: limit(swf, types=1)), None
        ),
        (register, "DomainDeprecatedFault", "U4: the domain is deprecated"): Fault(
            after(register, lambda swf, _: deprecated_domain(swf)), "shop"
        ),
        (f"Deprecate{kind}Type", "TypeDeprecatedFault", "twice"): Fault(of_type(kind, deprecated=True), label),
        (f"Undeprecate{kind}Type", "TypeAlreadyExistsFault", "it is registered"): Fault(of_type(kind), label),
        (f"Delete{kind}Type", "TypeNotDeprecatedFault", "it is registered"): Fault(
            of_type(kind), "The type is currently registered and cannot be deleted in its current state"
        ),
    }


def limit(swf: Driver, **quotas: int) -> None:
    swf.engine.world.quotas = Quotas(**quotas)


def tags(many: int) -> list[dict[str, str]]:
    return [{"key": str(number)} for number in range(many)]


def run_faults(operation: str) -> Faults:
    """What names an execution that is not open."""

    def other_run(swf: Driver) -> Request:
        return SUCCESSES[operation].arrange(swf) | {"runId": "r"}

    closed = after(operation, lambda swf, _: swf.terminate())
    return {
        (operation, "UnknownResourceFault", "no such workflowId"): Fault(
            instead(operation, workflowId="none"), "Unknown execution, workflowId = none"
        ),
        (operation, "UnknownResourceFault", "another runId"): Fault(
            other_run, "Unknown execution: WorkflowExecution=[workflowId=w, runId=r]"
        ),
        (operation, "UnknownResourceFault", "it has closed"): Fault(closed, "Unknown execution, workflowId = w"),
    }


def execution_faults(operation: str) -> Faults:
    """What names an execution that never was."""
    nowhere = {"workflowId": "w", "runId": "r"}
    message = "Unknown execution: WorkflowExecution=[workflowId=w, runId=r]"
    return {
        (operation, "UnknownResourceFault", "no such execution"): Fault(instead(operation, execution=nowhere), message),
    }


def task_faults(operation: str, task: str) -> Faults:
    """What answers a task that is not open any more, or that it was never given."""
    scheduled = 2 if task == "decision task" else 5
    other = of_decision if task == "activity" else of_activity()
    timeout = 30 if task == "decision task" else 0

    def ended(swf: Driver) -> Request:
        request = SUCCESSES[operation].arrange(swf)
        if timeout:
            swf.engine.advance(timeout)
        else:
            swf.call("RespondActivityTaskCompleted", taskToken=request["taskToken"])
        return request

    def closed(swf: Driver) -> Request:
        request = SUCCESSES[operation].arrange(swf)
        swf.terminate()
        return request

    def foreign(swf: Driver) -> Request:
        return {"taskToken": other(swf)["taskToken"]}

    return {
        (operation, "UnknownResourceFault", "the task has ended"): Fault(
            ended, f"Unknown {task}, scheduledEventId = {scheduled}"
        ),
        (operation, "UnknownResourceFault", "the execution has closed"): Fault(
            closed, "Unknown execution: WorkflowExecution=[workflowId=w, runId=RUN]"
        ),
        (operation, "ValidationException", "a token made up"): Fault(plain(taskToken="x"), "Invalid token"),
        (operation, "ValidationException", "a token of the other kind"): Fault(foreign, "Invalid token"),
    }


def start_faults() -> Faults:
    start = "StartWorkflowExecution"
    bare = of_type("Workflow")
    defaults = {
        "executionStartToCloseTimeout": "60",
        "taskList": {"name": "deciders"},
        "taskStartToCloseTimeout": "9",
        "childPolicy": "ABANDON",
    }

    def undefined(given: int) -> Arrange:
        said = dict(list(defaults.items())[:given])
        return lambda swf: bare(swf) | {"workflowId": "w", **said}

    return {
        (start, "UnknownResourceFault", "no such type"): Fault(
            instead(start, workflowType={"name": "none", "version": "1"}),
            "Unknown type: WorkflowType=[name=none, version=1]",
        ),
        (start, "TypeDeprecatedFault", "the type is deprecated"): Fault(
            lambda swf: of_type("Workflow", deprecated=True)(swf) | {"workflowId": "w"},
            "WorkflowType=[name=t, version=1]",
        ),
        (start, "DomainDeprecatedFault", "U4: the domain is deprecated"): Fault(
            after(start, lambda swf, _: deprecated_domain(swf)), "shop"
        ),
        (start, "WorkflowExecutionAlreadyStartedFault", "U5: it is open"): Fault(
            after(start, lambda swf, _: swf.start()), "Already Started"
        ),
        (start, "LimitExceededFault", "as many as may be"): Fault(
            after(start, lambda swf, _: limit(swf, open_executions=0)), None
        ),
        **{
            (start, "DefaultUndefinedFault", f"no {name}"): Fault(undefined(given), name)
            for given, name in enumerate(defaults)
        },
    }


def domain_faults() -> Faults:
    taken = Fault(instead("RegisterDomain", name="shop"), "shop")
    return {
        ("RegisterDomain", "DomainAlreadyExistsFault", "the name is taken"): taken,
        ("RegisterDomain", "DomainAlreadyExistsFault", "by one that is deprecated"): Fault(
            lambda swf: deprecated_domain(swf) | DAYS, "shop"
        ),
        ("RegisterDomain", "LimitExceededFault", "as many as may be"): Fault(
            after("RegisterDomain", lambda swf, _: limit(swf, domains=1)), None
        ),
        ("RegisterDomain", "TooManyTagsFault", "51 tags"): Fault(instead("RegisterDomain", tags=tags(51)), None),
        ("DeprecateDomain", "DomainDeprecatedFault", "twice"): Fault(deprecated_domain, "shop"),
        ("UndeprecateDomain", "DomainAlreadyExistsFault", "it is registered"): Fault(plain(name="shop"), "shop"),
        ("TagResource", "TooManyTagsFault", "51 tags in all"): Fault(
            after("TagResource", lambda swf, _: swf.call("TagResource", resourceArn=SHOP, tags=tags(50))), None
        ),
        ("TagResource", "UnknownResourceFault", "no such resource"): Fault(
            instead("TagResource", resourceArn="arn:aws:s3:::bucket"), None
        ),
    }


def list_faults(operation: str) -> Faults:
    """What of the filters excludes each other."""
    two = {"executionFilter": {"workflowId": "w"}, "tagFilter": {"tag": "t"}}
    faults: Faults = {
        (operation, "ValidationException", "two filters"): Fault(
            instead(operation, **two),
            "Cannot specify more than one exclusive filters in the same query: [executionFilter, tagFilter]",
        ),
    }
    if "Closed" in operation:
        faults[operation, "ValidationException", "both times"] = Fault(
            instead(operation, closeTimeFilter=EVER), "Cannot specify both a startTimeFilter and a closeTimeFilter"
        )
        faults[operation, "ValidationException", "no time"] = Fault(plain(domain="shop"), "Must specify time filter")
    return faults


def close_faults() -> Faults:
    respond = "RespondDecisionTaskCompleted"
    message = "Close must be last decision in list"
    close, marker = decision("CompleteWorkflowExecution"), decision("RecordMarker", markerName="m")
    batches = {
        "a close that is not last": [close, marker],
        "two closes": [close, decision("FailWorkflowExecution")],
        "continue as new is a close": [decision("ContinueAsNewWorkflowExecution"), marker],
        "U16: the order is looked at first": [close, {"decisionType": "Dance"}],
    }
    return {
        (respond, "ValidationException", what): Fault(instead(respond, decisions=batch), message)
        for what, batch in batches.items()
    }


FAULTS: Faults = {
    **unknown_domains(),
    **domain_faults(),
    **type_faults("Activity"),
    **type_faults("Workflow"),
    **start_faults(),
    **run_faults("SignalWorkflowExecution"),
    **run_faults("RequestCancelWorkflowExecution"),
    **run_faults("TerminateWorkflowExecution"),
    **execution_faults("DescribeWorkflowExecution"),
    **execution_faults("GetWorkflowExecutionHistory"),
    **task_faults("RespondDecisionTaskCompleted", "decision task"),
    **task_faults("RespondActivityTaskCompleted", "activity"),
    **task_faults("RespondActivityTaskFailed", "activity"),
    **task_faults("RespondActivityTaskCanceled", "activity"),
    **task_faults("RecordActivityTaskHeartbeat", "activity"),
    **list_faults("ListOpenWorkflowExecutions"),
    **list_faults("ListClosedWorkflowExecutions"),
    **list_faults("CountOpenWorkflowExecutions"),
    **list_faults("CountClosedWorkflowExecutions"),
    **close_faults(),
}
"""By operation, fault and what is wrong."""
