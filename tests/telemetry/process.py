"""A worker process whose polls the test makes one by one, on the engine and its virtual clock."""

from __future__ import annotations

from flowpy.client import Client
from flowpy.errors import Throttled
from flowpy.local.engine import Engine, VirtualClock
from flowpy.worker import Worker, WorkerSettings
from flowpy.worker.lifecycle import Lifecycle

NOON = 1_767_268_800.0
PATIENCE = 10.0


class Service:
    """The engine, which throttles on request."""

    def __init__(self):
        self.clock = VirtualClock(NOON)
        self.engine = Engine(self.clock)
        self.throttles = []
        self.engine.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "7"})

    def call(self, operation, request):
        if operation in self.throttles:
            self.throttles.remove(operation)
            raise Throttled("slow down", fault="ThrottlingException")
        return self.engine.call(operation, request)

    def events(self, run):
        execution = {"workflowId": run.workflow_id, "runId": run.run_id}
        return self.engine.call("GetWorkflowExecutionHistory", {"domain": "shop", "execution": execution})["events"]


class Process:
    """A worker that has no threads of its own but for activities and for the runs it keeps."""

    def __init__(self, service, workflows, activities, *, interceptors=(), **settings):
        self.worker = Worker(
            service,
            domain="shop",
            workflows=workflows,
            activities=activities,
            task_list="main",
            identity="me",
            settings=WorkerSettings(threads=1, **settings),
            interceptors=interceptors,
        )
        around = self.worker._around
        self.worker._lifecycle = Lifecycle(wait=lambda event, seconds: event.is_set(), counted=around.counted)
        self.worker._register()
        self.decisions = self.worker._decision_worker()
        self.sticky = self.worker._sticky
        self.activities = self.worker._make_activity_worker()

    def settle(self):
        """Let all happen that can happen without time passing."""
        steps = [self.decisions.step, self._activity]
        if self.sticky is not None:
            steps.insert(0, self.decisions.sticky_step)
        while any(step() for step in steps):
            if self.sticky is not None:
                self.sticky._owners[0].thread.post(lambda: None).result(PATIENCE)

    def _activity(self):
        if not self.activities.step():
            return False
        lifecycle = self.worker._lifecycle
        lifecycle.stopping.set()  # its end is then told
        while lifecycle.tasks:
            lifecycle.message()
        lifecycle.stopping.clear()
        return True

    @property
    def counts(self):
        return self.worker.counts

    def close(self):
        self.worker._around.close()
        if self.sticky is not None:
            self.sticky.close()
        self.activities.loop.close()


def client(service, **options):
    return Client("shop", service, sleep=lambda seconds: None, **options)
