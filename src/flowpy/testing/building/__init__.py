"""Writing a history by hand: each call says what happened, links and ids are filled in, what cannot be is refused."""

from flowpy.testing.building.builder import HistoryBuilder
from flowpy.testing.building.handles import (
    BuiltActivity,
    BuiltChild,
    BuiltLambdaFunction,
    BuiltRequest,
    BuiltTimer,
)

__all__ = [
    "BuiltActivity",
    "BuiltChild",
    "BuiltLambdaFunction",
    "BuiltRequest",
    "BuiltTimer",
    "HistoryBuilder",
]
