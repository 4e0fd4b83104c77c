from __future__ import annotations

import pytest
from botocore import exceptions as boto

from flowpy import errors
from flowpy.service.faults import NOT_SENT, fault, from_botocore


@pytest.mark.parametrize(
    ("code", "cls"),
    [
        ("UnknownResourceFault", errors.UnknownResource),
        ("WorkflowExecutionAlreadyStartedFault", errors.AlreadyExists),
        ("TypeAlreadyExistsFault", errors.AlreadyExists),
        ("DomainAlreadyExistsFault", errors.AlreadyExists),
        ("TypeDeprecatedFault", errors.TypeDeprecated),
        ("DomainDeprecatedFault", errors.TypeDeprecated),
        ("DefaultUndefinedFault", errors.DefaultUndefined),
        ("ThrottlingException", errors.Throttled),
        ("LimitExceededFault", errors.Throttled),
        ("ValidationException", errors.InvalidRequest),
        ("SerializationException", errors.InvalidRequest),
        ("OperationNotPermittedFault", errors.AccessDenied),
        ("UnrecognizedClientException", errors.AccessDenied),
        ("ExpiredTokenException", errors.AccessDenied),
        ("InternalFailure", errors.ServiceUnavailable),
        ("TypeNotDeprecatedFault", errors.ServiceError),
    ],
)
def test_each_fault_has_its_class(code, cls):
    error = fault(code, "what SWF said", "StartWorkflowExecution")
    assert type(error) is cls
    assert (error.fault, error.operation) == (code, "StartWorkflowExecution")
    assert str(error).startswith(f"StartWorkflowExecution: {code}: what SWF said")


def test_an_unknown_code_with_a_5xx_is_an_outage():
    assert type(fault("Weird", "", "DescribeDomain", status=502)) is errors.ServiceUnavailable
    assert type(fault("Weird", "", "DescribeDomain", status=400)) is errors.ServiceError


def test_a_client_error_keeps_code_message_and_operation():
    response = {"Error": {"Code": "UnknownResourceFault", "Message": "Unknown domain: shop"}}
    error = from_botocore(boto.ClientError(response, "PollForDecisionTask"), "PollForDecisionTask")
    assert isinstance(error, errors.UnknownResource)
    assert "Unknown domain: shop" in str(error)


@pytest.mark.parametrize(
    ("raised", "cls"),
    [
        (boto.EndpointConnectionError(endpoint_url="http://x"), errors.ServiceUnavailable),
        (boto.ConnectTimeoutError(endpoint_url="http://x"), errors.ServiceUnavailable),
        (boto.ReadTimeoutError(endpoint_url="http://x"), errors.ServiceUnavailable),
        (boto.ConnectionClosedError(endpoint_url="http://x"), errors.ServiceUnavailable),
        (boto.SSLError(endpoint_url="http://x", error="cut"), errors.ServiceUnavailable),
        (boto.NoCredentialsError(), errors.AccessDenied),
        (boto.ParamValidationError(report="missing domain"), errors.InvalidRequest),
    ],
)
def test_what_botocore_itself_raises(raised, cls):
    error = from_botocore(raised, "SignalWorkflowExecution")
    assert type(error) is cls
    assert error.fault == type(raised).__name__


def test_missing_credentials_are_told_how_to_give_them():
    error = from_botocore(boto.NoCredentialsError(), "RegisterDomain")
    assert "AWS_ACCESS_KEY_ID" in str(error)


def test_only_failures_to_connect_are_certain_not_to_have_been_sent():
    assert "EndpointConnectionError" in NOT_SENT
    assert "ReadTimeoutError" not in NOT_SENT
    assert "ConnectionClosedError" not in NOT_SENT


def test_other_exceptions_are_left_alone():
    assert from_botocore(ValueError("bug"), "DescribeDomain") is None
