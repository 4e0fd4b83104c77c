"""The workflows and activities of a test, registered when they are first met, and their task lists."""

from __future__ import annotations

from typing import Any, Final

from attrs import define, field

from flowpy.declare.activity import Activity
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError, UnknownWorkflowType
from flowpy.service.protocol import Service
from flowpy.worker.registration import Registrar

__all__ = ["DOMAIN", "TASK_LIST", "Known"]

DOMAIN: Final = "test"
TASK_LIST: Final = "default"


def _registrar(service: Service) -> Registrar:
    registrar = Registrar(service, DOMAIN, TASK_LIST, pause=lambda _: False)
    registrar.register_domain(1)
    return registrar


@define
class Known:
    """What has been declared, as far as the test has come across it.

    Attributes:
        decision_lists: Task lists that may have decision tasks.
        activity_lists: Task lists that may have activity tasks.
    """

    _registrar: Registrar = field(converter=_registrar, alias="service")
    decision_lists: dict[str, None] = field(factory=dict, init=False)
    activity_lists: dict[str, None] = field(factory=dict, init=False)
    _workflows: dict[tuple[str, str], Workflow[..., Any]] = field(factory=dict, init=False)
    _activities: dict[tuple[str, str], Activity[..., Any]] = field(factory=dict, init=False)

    def meet_workflow(self, workflow: Workflow[..., Any], task_list: str | None = None) -> None:
        """A workflow is started, by the test or as a child, perhaps on a task list of its own.

        Raises:
            DeclarationError: Another one of its name and version is known.
        """
        if _meet(self._workflows, workflow):
            self._registrar.register([workflow], [])
        self.decision_lists[task_list or _default(workflow)] = None

    def meet_activity(self, activity: Activity[..., Any], task_list: str | None = None) -> None:
        """An activity is called, perhaps on a task list of its own.

        Raises:
            DeclarationError: Another one of its name and version is known.
        """
        if _meet(self._activities, activity):
            self._registrar.register([], [activity])
        self.activity_lists[task_list or _default(activity)] = None

    def workflow(self, type_: tuple[str, str]) -> Workflow[..., Any]:
        """The workflow of a name and version.

        Raises:
            UnknownWorkflowType: The test has not come across it.
        """
        workflow = self._workflows.get(type_)
        if workflow is None:
            raise UnknownWorkflowType(
                f"the test has not come across workflow {' '.join(type_)}",
                remedy="name it beforehand, Environment(workflows=[...]) or swf.declare(...)",
            )
        return workflow

    def activity(self, type_: tuple[str, str]) -> Activity[..., Any]:
        """The activity of a name and version, which was scheduled and so is known."""
        return self._activities[type_]


def _meet(known: dict[tuple[str, str], Any], declared: Any) -> bool:
    """Whether something is new."""
    there = known.setdefault((declared.name, declared.version), declared)
    if there.fn is not declared.fn:
        raise DeclarationError(
            f"two are called {declared.name} {declared.version}", remedy="give one another name or version"
        )
    return there is declared


def _default(declared: Any) -> str:
    name: str = declared.registered.defaults(TASK_LIST)["defaultTaskList"]["name"]
    return name
