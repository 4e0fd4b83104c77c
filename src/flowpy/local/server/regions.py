"""One engine for each AWS region: what one region knows the others do not."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from flowpy.errors import AccessDenied
from flowpy.local.engine import Engine

__all__ = ["Regions", "file_of", "regions_beside"]

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

    def by_name(self) -> dict[str, Engine]:
        """The engines there are by the names of their regions, the default one first."""
        return dict(self._engines)

    def close(self) -> None:
        """Lets go of the engines' stores."""
        for engine in self:
            engine.close()

    def __iter__(self) -> Iterator[Engine]:
        return iter(self._engines.values())


def file_of(path: Path, region: str, default: str) -> Path:
    """Where the engine of a region is kept: the default one in the file itself, the others in files beside it."""
    return path if region == default else path.with_name(f"{path.stem}.{region}{path.suffix}")


def regions_beside(path: Path) -> tuple[str, ...]:
    """The regions that have a file beside this one."""
    found = []
    for other in sorted(path.parent.glob(f"{glob.escape(path.stem)}.*{glob.escape(path.suffix)}")):
        region = other.name[len(path.stem) + 1 : len(other.name) - len(path.suffix)]
        if other != path and re.fullmatch(r"[a-z0-9-]{1,40}", region):
            found.append(region)
    return tuple(found)
