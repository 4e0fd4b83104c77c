"""What flowpy needs of SWF: one method."""

from __future__ import annotations

from typing import Any, Final, Protocol, runtime_checkable

__all__ = ["WRAP", "Service"]

WRAP: Final = "wrap a boto3 client in flowpy.service.BotoService(client)"
"""What to do with a boto3 client where a Service is needed."""


@runtime_checkable
class Service(Protocol):
    """Anything that answers SWF operations: the real service, the embedded one, a stub in a test.

    It may be called from several threads at once.
    """

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Perform one operation of SWF (API 2012-01-25).

        Args:
            operation: SWF's name, such as ``PollForDecisionTask``.
            request: Exactly what boto3's method takes as keyword arguments.

        Returns:
            What boto3's method returns; {} for operations without output.

        Raises:
            flowpy.errors.ServiceError: The service answered with a fault, or not at all.
        """
        ...
