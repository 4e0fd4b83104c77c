"""SWF's faults and botocore's exceptions as flowpy's errors."""

from __future__ import annotations

from typing import Any, Final

from flowpy import errors

__all__ = ["NOT_SENT", "fault", "from_botocore"]

NOT_SENT: Final = frozenset({"EndpointConnectionError", "ConnectTimeoutError", "ProxyConnectionError"})
"""Values of ``ServiceUnavailable.fault`` for which the request certainly never reached the service."""

_CLASSES: Final[dict[type[errors.ServiceError], tuple[str, ...]]] = {
    errors.UnknownResource: ("UnknownResourceFault",),
    errors.AlreadyExists: (
        "DomainAlreadyExistsFault",
        "TypeAlreadyExistsFault",
        "WorkflowExecutionAlreadyStartedFault",
    ),
    errors.TypeDeprecated: ("TypeDeprecatedFault", "DomainDeprecatedFault"),
    errors.DefaultUndefined: ("DefaultUndefinedFault",),
    errors.Throttled: (
        "ThrottlingException",
        "Throttling",
        "ThrottledException",
        "LimitExceededFault",
        "RequestLimitExceeded",
        "TooManyRequestsException",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
    ),
    errors.InvalidRequest: (
        "ValidationException",
        "ValidationError",
        "SerializationException",
        "UnknownOperationException",
        "TooManyTagsFault",
        "ParamValidationError",
    ),
    errors.AccessDenied: (
        "OperationNotPermittedFault",
        "AccessDeniedException",
        "AccessDenied",
        "NotAuthorized",
        "UnrecognizedClientException",
        "InvalidClientTokenId",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "ExpiredToken",
        "ExpiredTokenException",
        "RequestExpired",
        "OptInRequired",
        "AuthFailure",
        "NoCredentialsError",
        "PartialCredentialsError",
        "NoAuthTokenError",
        "TokenRetrievalError",
        "UnauthorizedSSOTokenError",
        "SSOTokenLoadError",
        "ProfileNotFound",
    ),
    errors.ServiceUnavailable: (
        "InternalFailure",
        "InternalError",
        "InternalServerError",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "RequestTimeout",
        "RequestTimeoutException",
        "CredentialRetrievalError",
        "IncompleteReadError",
    ),
}

_BY_CODE: Final = {code: cls for cls, codes in _CLASSES.items() for code in codes}

_REMEDIES: Final[dict[type[errors.ServiceError], str]] = {
    errors.AccessDenied: "check the AWS credentials in use and the IAM policy of their role",
    errors.DefaultUndefined: "give the named option at the call or register the type with a default for it",
    errors.TypeDeprecated: "undeprecate it or use another version",
    errors.ServiceUnavailable: "whether the call took effect is not known; check network, endpoint and region",
}

_NO_CREDENTIALS: Final = (
    "give boto3 credentials, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE; "
    "a service on this machine wants some too, and takes any"
)


def fault(code: str, message: str, operation: str, *, status: int = 0) -> errors.ServiceError:
    """Make the error for a fault of the service.

    Args:
        code: SWF's or AWS's error code, such as ``UnknownResourceFault``.
        message: What the service said.
        operation: The SWF operation that was called.
        status: HTTP status, 0 if unknown; a 5xx of an unknown code is ServiceUnavailable.

    Returns:
        An instance of the matching subclass of ServiceError, to be raised by the caller.
    """
    fallback = errors.ServiceUnavailable if status >= 500 else errors.ServiceError
    cls = _BY_CODE.get(code, fallback)
    text = f"{operation}: {code}" + (f": {message}" if message else "")
    remedy = _NO_CREDENTIALS if code == "NoCredentialsError" else _REMEDIES.get(cls, "")
    return cls(text, operation=operation, fault=code, remedy=remedy)


def from_botocore(error: Exception, operation: str) -> errors.ServiceError | None:
    """Translate what a boto3 client raised.

    Args:
        error: Any exception.
        operation: The SWF operation that was called.

    Returns:
        The error to raise instead, or None if the exception is none of botocore's.
    """
    from botocore import exceptions as boto

    if isinstance(error, boto.ClientError):
        response: Any = error.response
        said = response.get("Error", {})
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return fault(str(said.get("Code", "")), str(said.get("Message", "")), operation, status=status)
    name = type(error).__name__
    if isinstance(error, boto.ParamValidationError):
        return fault("ParamValidationError", str(error), operation)
    if name in _BY_CODE:
        return fault(name, str(error), operation)
    if isinstance(error, (boto.HTTPClientError, boto.ConnectionError)):
        return fault(name, str(error), operation, status=503)
    return fault(name, str(error), operation) if isinstance(error, boto.BotoCoreError) else None
