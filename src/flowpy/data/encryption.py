"""Encryption of payloads: XAES-256-GCM, by the package ``cryptography`` (extra ``encryption``).

Plain AES-GCM with random nonces is safe for about four thousand million messages of one key only. XAES-256-GCM
(https://c2sp.org/XAES-256-GCM) derives a key for each message from the first half of a nonce of 24 bytes, so one key
lasts for more messages than can be sent, and no count has to be kept between processes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from flowpy.errors import DeclarationError, PayloadCorrupt, PayloadKeyUnknown
from flowpy.words import an

__all__ = ["Encryption"]

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 24

_KEY_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")
_VERSION: Final = 1
_TAG_BYTES: Final = 16

Keys = Mapping[str, bytes] | Callable[[str], bytes]
"""Keys by id, or a function that gives the key of an id and raises LookupError if there is none."""


class Encryption:
    """Encrypts and authenticates payloads.

    The id of the key is written with each payload. To rotate: give all workers and clients the new key beside the
    old one, then make it ``current`` everywhere, and take the old one away when no history needs it any more (the
    longest run and the domain's retention after the change).

    Args:
        keys: 32 random bytes (``Encryption.new_key()``) by key id; or a function that fetches the key of an id, asked
            once for each id, that raises LookupError if there is none.
        current: Id of the key to encrypt with.

    Raises:
        DeclarationError: A key is not 32 bytes long, a key id is not 1 to 128 letters, digits or ``. _ : / -``, or
            there is no current one.

    Example:
        >>> old, new = Encryption.new_key(), Encryption.new_key()
        >>> secret = Encryption({"2025": old}, current="2025").encode(b"4242")
        >>> Encryption({"2025": old, "2026": new}, current="2026").decode(secret, 100)
        b'4242'
    """

    name: Final = "xaes-256-gcm"
    is_secret: Final = True

    def __init__(self, keys: Keys, *, current: str) -> None:
        self._given = keys
        self._current = current
        self._known: dict[str, bytes] = {}
        if not isinstance(keys, Mapping):
            if not callable(keys):
                raise DeclarationError("Encryption: keys is neither a mapping of key ids nor a function that gives one")
            _check_id(current)
            return
        for key_id, key in keys.items():
            self._known[_check_id(key_id)] = _check_key(key_id, key)
        if current not in self._known:
            raise DeclarationError(f"Encryption: current={current!r} is none of the keys ({_ids(self._known)})")

    def __repr__(self) -> str:
        return f"<Encryption with key {self._current!r} of {_ids(self._known) or 'a function'}>"

    @staticmethod
    def new_key() -> bytes:
        """Make a key: 32 bytes from the operating system's source of randomness."""
        return os.urandom(KEY_BYTES)

    def encode(self, data: bytes) -> bytes:
        """Encrypt with the current key.

        Raises:
            PayloadKeyUnknown: The function that fetches keys does not give it.
        """
        key_id = self._current.encode()
        header = bytes((_VERSION, len(key_id))) + key_id
        nonce = os.urandom(NONCE_BYTES)
        # The header is authenticated too: nobody can make a payload say that it is of another key.
        return header + nonce + _cipher(self._key(self._current), nonce, encrypt=True, data=data, header=header)

    def decode(self, data: bytes, largest: int) -> bytes:
        """Decrypt with the key that is named.

        Raises:
            PayloadKeyUnknown: There is no such key here.
            PayloadCorrupt: It was changed, or was encrypted with another key of that id, or is too large.
        """
        version, length = data[:2] if len(data) >= 2 else (0, 0)
        header, nonce = data[: 2 + length], data[2 + length : 2 + length + NONCE_BYTES]
        sealed = data[2 + length + NONCE_BYTES :]
        key_id = header[2:].decode("utf-8", "replace")
        if version != _VERSION or len(sealed) < _TAG_BYTES or not _KEY_ID.fullmatch(key_id):
            raise PayloadCorrupt("it is not what this codec wrote: it was changed or cut, or a newer flowpy wrote it")
        if len(sealed) - _TAG_BYTES > largest:
            raise PayloadCorrupt(
                f"it is more than {largest:,} bytes long", remedy="raise Payloads(largest=…) if it is yours"
            )
        from cryptography.exceptions import InvalidTag

        try:
            return _cipher(self._key(key_id), nonce, encrypt=False, data=sealed, header=header)
        except InvalidTag:
            raise PayloadCorrupt(
                f"it was not encrypted with the key {key_id!r} that is here, or it was changed since",
                remedy="compare the key with the one it was encrypted with",
            ) from None

    def _key(self, key_id: str) -> bytes:
        key = self._known.get(key_id)
        if key is not None:
            return key
        if isinstance(self._given, Mapping):
            raise PayloadKeyUnknown(
                f"it is encrypted with the key {key_id!r}, which is not here (here: {_ids(self._known)})",
                remedy="give that key to Encryption too",
                key_id=key_id,
            )
        try:
            key = self._known[key_id] = _check_key(key_id, self._given(key_id))
        except Exception as error:
            raise PayloadKeyUnknown(
                f"its key {key_id!r} cannot be had: {type(error).__name__}: {error}", key_id=key_id
            ) from error
        return key


def _cipher(key: bytes, nonce: bytes, *, encrypt: bool, data: bytes, header: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise DeclarationError(
            "Encryption needs the package cryptography", remedy="pip install flowpy-swf[encryption]"
        ) from None
    aes = AESGCM(_derived(key, nonce[:12]))
    made: bytes = (aes.encrypt if encrypt else aes.decrypt)(nonce[12:], data, header)
    return made


def _derived(key: bytes, context: bytes) -> bytes:
    """Derive the key of one message, with CMAC as a key derivation in counter mode (NIST SP 800-108)."""
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.cmac import CMAC

    halves = []
    for number in (1, 2):
        cmac = CMAC(AES(key))
        cmac.update(bytes((0, number, 0x58, 0)) + context)
        halves.append(cmac.finalize())
    return b"".join(halves)


def _check_id(key_id: Any) -> str:
    if not isinstance(key_id, str) or not _KEY_ID.fullmatch(key_id):
        raise DeclarationError(f"Encryption: key id {key_id!r} is not 1 to 128 letters, digits or . _ : / -")
    return key_id


def _check_key(key_id: str, key: Any) -> bytes:
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        # The key itself is never shown.
        found = f"{len(key)} bytes" if isinstance(key, bytes) else an(type(key).__name__)
        raise DeclarationError(f"Encryption: the key {key_id!r} must be {KEY_BYTES} bytes (new_key()), found {found}")
    return key


def _ids(keys: Mapping[str, bytes]) -> str:
    return ", ".join(sorted(keys))
