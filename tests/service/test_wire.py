"""BotoService over real HTTP on the loopback."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from flowpy import errors
from flowpy.service import BotoService


@pytest.fixture
def server():
    """A server that answers from ``replies``, (status, body), and remembers the operations in ``asked``."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.server.asked.append(self.headers["X-Amz-Target"].rpartition(".")[2])
            self.rfile.read(int(self.headers["Content-Length"]))
            status, body = self.server.replies.pop(0)
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.asked, made.replies = [], []
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def service(server, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    made = BotoService(region_name="eu-west-1", endpoint_url=f"http://127.0.0.1:{server.server_address[1]}")
    yield made
    made.close()


def fault(name, status=400):
    return status, json.dumps({"__type": f"com.amazonaws.swf.base.model#{name}", "message": "so SWF says"}).encode()


def test_an_empty_poll_as_swf_writes_it(server, service):
    server.replies.append((200, b'{"previousStartedEventId":0,"startedEventId":0}'))
    reply = service.call("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "main"}})
    assert reply == {"previousStartedEventId": 0, "startedEventId": 0}


def test_an_operation_without_output_has_an_empty_body(server, service):
    server.replies.append((200, b""))
    assert service.call("SignalWorkflowExecution", {"domain": "shop", "workflowId": "w", "signalName": "s"}) == {}


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("UnknownResourceFault", errors.UnknownResource),
        ("DefaultUndefinedFault", errors.DefaultUndefined),
        ("OperationNotPermittedFault", errors.AccessDenied),
    ],
)
def test_faults_on_the_wire(server, service, name, cls):
    server.replies.append(fault(name))
    with pytest.raises(cls, match="so SWF says"):
        service.call("SignalWorkflowExecution", {"domain": "shop", "workflowId": "w", "signalName": "s"})


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PollForActivityTask", {"domain": "shop", "taskList": {"name": "main"}}),
        ("RespondDecisionTaskCompleted", {"taskToken": "t"}),
        ("RespondActivityTaskCompleted", {"taskToken": "t"}),
        ("RecordActivityTaskHeartbeat", {"taskToken": "t"}),
        ("SignalWorkflowExecution", {"domain": "shop", "workflowId": "w", "signalName": "s"}),
    ],
)
def test_an_outage_is_not_repeated_behind_our_back(server, service, operation, request_):
    server.replies.append(fault("InternalFailure", 500))
    with pytest.raises(errors.ServiceUnavailable):
        service.call(operation, request_)
    assert server.asked == [operation]
