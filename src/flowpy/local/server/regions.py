"""One engine for each AWS region: what one region knows the others do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from flowpy.errors import AccessDenied
from flowpy.local.engine import Engine

__all__ = ["Regions"]

_MOST: Final = 50


class Regions:
    """Engines by region, made when a region is first called.

    ``Regions(lambda region: engine)`` is one engine whatever region a request names.

    Args:
        make: Makes the engine of a region.
        default: The region of requests that name none, because they are not signed.
        known: Regions whose engines are made at once, so that what is due there happens.
    """

    def __init__(self, make: Callable[[str], Engine], default: str = "us-east-1", known: tuple[str, ...] = ()) -> None:
        self.default = default
        self._make = make
        self._engines: dict[str, Engine] = {}
        for region in dict.fromkeys((default, *known)):
            self.engine(region)

    def engine(self, region: str | None = None) -> Engine:
        """The engine of a region.

        Raises:
            AccessDenied: UnrecognizedClientException, when there are too many regions already.
        """
        name = region or self.default
        engine = self._engines.get(name)
        if engine is None:
            if len(self._engines) >= _MOST:
                message = f"Region {name}: {_MOST} regions are in use already, no further one is opened"
                raise AccessDenied(message, fault="UnrecognizedClientException")
            engine = self._engines[name] = self._make(name)
        return engine

    def __iter__(self) -> Iterator[Engine]:
        return iter(self._engines.values())
