"""Codecs: what is done to the bytes of a payload on the way into a history, and undone on the way out."""

from __future__ import annotations

import zlib
from typing import ClassVar, Protocol, runtime_checkable

from attrs import field, frozen, validators

from flowpy.errors import PayloadCorrupt

__all__ = ["Codec", "Compression", "DecodeOnly"]


@runtime_checkable
class Codec(Protocol):
    """One link of a chain of codecs; write one to add another compression or encryption.

    A codec must give back exactly the bytes it was given, whatever they are. What it writes may differ from call to
    call: payloads are compared as they were before.
    """

    @property
    def name(self) -> str:
        """What it is called in histories, for ever; without ``+``, which joins the names of a chain."""
        ...

    @property
    def is_secret(self) -> bool:
        """Whether what it writes tells nothing to who has no key: then nothing may be told beside it either."""
        ...

    def encode(self, data: bytes) -> bytes | None:
        """Give the bytes to write, or None to leave these as they are."""
        ...

    def decode(self, data: bytes, largest: int) -> bytes:
        """Give back what was encoded.

        Args:
            data: What ``encode`` gave, or what somebody says it gave.
            largest: The most bytes to give back.

        Raises:
            PayloadUnavailable: It cannot be done here, or ``data`` is not what ``encode`` gave.
        """
        ...


@frozen(kw_only=True)
class Compression:
    """Compresses payloads with zlib where that makes them shorter.

    Attributes:
        over: Bytes; shorter payloads are left alone.
        level: 1 (fast) to 9 (small).

    Example:
        >>> Compression().decode(Compression().encode(b"[0, 0, 0, 0]" * 100), 1_200)[:12]
        b'[0, 0, 0, 0]'
    """

    name: ClassVar[str] = "zlib"
    is_secret: ClassVar[bool] = False

    over: int = field(default=512, validator=validators.ge(0))
    level: int = field(default=6, validator=[validators.ge(1), validators.le(9)])

    def encode(self, data: bytes) -> bytes | None:
        """Give the compressed bytes, or None if they are not fewer."""
        if len(data) <= self.over:
            return None
        made = zlib.compress(data, self.level)
        # A quarter is what base64 costs those that were text.
        return made if len(made) * 4 < len(data) * 3 else None

    def decode(self, data: bytes, largest: int) -> bytes:
        """Give the bytes back, never more than ``largest`` of them: a few bytes can stand for gigabytes.

        Raises:
            PayloadCorrupt: It is no zlib stream, is cut off, or holds more than that.
        """
        stream = zlib.decompressobj()
        try:
            made = stream.decompress(data, largest + 1)
        except zlib.error as error:
            raise PayloadCorrupt(f"it is not what zlib compressed ({error}): the data was changed or cut") from None
        if len(made) > largest:
            raise PayloadCorrupt(
                f"it decompresses to more than {largest:,} bytes",
                remedy="raise Payloads(largest=…) if it is one of yours",
            )
        if not stream.eof or stream.unused_data:
            raise PayloadCorrupt("its compressed data is cut off, or something follows it: the data was changed")
        return made


@frozen
class DecodeOnly:
    """A codec that is undone where it is met and not applied: one not used yet, or not any more.

    Give a new codec so to all workers and clients before the first of them writes with it.

    Attributes:
        codec: The codec.

    Example:
        >>> print(DecodeOnly(Compression(over=0)).encode(b"0" * 100))
        None
    """

    codec: Codec
    is_secret: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The codec's."""
        return self.codec.name

    def encode(self, data: bytes) -> None:
        """Leave the bytes as they are."""

    def decode(self, data: bytes, largest: int) -> bytes:
        """Give back what the codec encoded.

        Raises:
            PayloadUnavailable: As the codec.
        """
        return self.codec.decode(data, largest)
