"""What was read from a store and may be asked for again: every replay of a run asks for the same payloads."""

from __future__ import annotations

import threading
from collections import OrderedDict

__all__ = ["Cache"]


class Cache:
    """Keeps the bytes used last, up to a number of them.

    Args:
        room: Bytes it may keep.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._used = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """Give what is kept under a key, or None."""
        with self._lock:
            content = self._kept.get(key)
            if content is not None:
                self._kept.move_to_end(key)
            return content

    def put(self, key: str, content: bytes) -> None:
        """Keep something, unless it would take all the room there is."""
        if len(content) > self._room:
            return
        with self._lock:
            self._used += len(content) - len(self._kept.pop(key, b""))
            self._kept[key] = content
            while self._used > self._room:
                _, oldest = self._kept.popitem(last=False)
                self._used -= len(oldest)
