"""Stores: where payloads go that are too large for a history."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import Protocol, runtime_checkable
from uuid import uuid4

from flowpy.errors import DeclarationError, PayloadMissing, PayloadStoreUnavailable, PayloadUnavailable

__all__ = ["DirectoryStore", "MemoryStore", "Store"]


@runtime_checkable
class Store(Protocol):
    """Keeps bytes under keys; what is kept under a key never changes, because the key is made of what is kept.

    Whoever reads checks length and checksum: a store need not be trusted, only not to lose anything as long as a
    history may need it.
    """

    @property
    def root(self) -> str:
        """What the URI of every object begins with, up to the key: ``s3://bucket/payloads/``."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Keep bytes; keeping the same twice does nothing.

        Raises:
            PayloadStoreUnavailable: They cannot be kept now.
        """
        ...

    def get(self, key: str, size: int) -> bytes:
        """Give back what is kept.

        Args:
            key: The key.
            size: Bytes expected; a store reads no more than one byte beyond.

        Raises:
            PayloadMissing: There is nothing under this key.
            PayloadStoreUnavailable: It cannot be read now.
        """
        ...


class DirectoryStore:
    """Keeps payloads as files in a directory that all workers and clients share.

    Args:
        path: The directory; made if it is not there. Its path must be the same everywhere: it stands in histories.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).absolute()

    def __repr__(self) -> str:
        return f"DirectoryStore({str(self._path)!r})"

    @property
    def root(self) -> str:
        """``file://`` and the path."""
        return f"{self._path.as_uri()}/"

    def put(self, key: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        path = self._path / key
        try:
            if self._has(key, content):
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{path.name}.{uuid4().hex}")
            try:
                with partial.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)
            _sync(path.parent)
        except OSError as error:
            raise PayloadStoreUnavailable(
                f"{path} cannot be written ({error})", remedy="see that the directory can"
            ) from error

    def _has(self, key: str, content: bytes) -> bool:
        """Whether a file is there and whole: one that was damaged is written again, or this payload were lost too."""
        try:
            return self.get(key, len(content)) == content
        except PayloadUnavailable:
            return False

    def get(self, key: str, size: int) -> bytes:
        """Read a file."""
        path = self._path / key
        try:
            with open(path, "rb", opener=_regular) as file:
                return file.read(size + 1)
        except FileNotFoundError:
            raise PayloadMissing(
                f"there is no file {path}",
                remedy="bring it back from a backup, or share the directory with the machine that wrote it",
                uri=f"{self.root}{key}",
            ) from None
        except OSError as error:
            raise PayloadStoreUnavailable(
                f"{path} cannot be read ({error})", remedy="see that the directory can"
            ) from error


def _regular(path: str, flags: int) -> int:
    """Open a file, and nothing else that somebody may have put in its place: a pipe to wait at, a link to elsewhere."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return descriptor


def _sync(directory: Path) -> None:
    """Make a new name in a directory outlast a power cut: history will point to it for months."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class MemoryStore:
    """Keeps payloads in this process: for tests.

    Args:
        name: Part of its URIs; give another one to each of several.

    Attributes:
        objects: What is kept, by key.
        reads: How often something was read.
    """

    def __init__(self, name: str = "payloads") -> None:
        if not name or "/" in name:
            raise DeclarationError(f"MemoryStore: name={name!r} must not be empty or have a slash")
        self._name = name
        self._lock = threading.Lock()
        self.objects: dict[str, bytes] = {}
        self.reads = 0

    def __repr__(self) -> str:
        return f"<MemoryStore {self._name!r} of {len(self.objects)} objects>"

    @property
    def root(self) -> str:
        """``memory://`` and the name."""
        return f"memory://{self._name}/"

    def put(self, key: str, content: bytes) -> None:
        """Keep bytes."""
        with self._lock:
            self.objects[key] = content

    def get(self, key: str, size: int) -> bytes:
        """Give them back."""
        with self._lock:
            self.reads += 1
            content = self.objects.get(key)
        if content is None:
            uri = f"{self.root}{key}"
            raise PayloadMissing(f"there is no object {uri}: it was kept in another process, or taken away", uri=uri)
        return content[: size + 1]
