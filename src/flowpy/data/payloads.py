"""Payloads between the converter and the history: the chain of codecs, the stores, and what fits.

Values become JSON text in the converter. On its way out that text may be compressed, encrypted and kept in a store
(it is *sealed*), on its way in that is undone (it is *opened*), once, at the border: workflow code, replay and
comparison see only the text that the converter wrote.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from flowpy.data.cache import Cache
from flowpy.data.codecs import Codec
from flowpy.data.jsontext import clip, dump, parse
from flowpy.data.limits import DATA, SURE, check_length
from flowpy.data.stores import Store
from flowpy.data.traced import traced, untraced
from flowpy.errors import (
    DeclarationError,
    PayloadCodecUnknown,
    PayloadCorrupt,
    PayloadError,
    PayloadNotDecodable,
    PayloadStoreUnavailable,
    PayloadTooLarge,
    PayloadUnavailable,
)

__all__ = ["PLAIN", "Payloads"]

_MARKED: Final = re.compile(r'\s*\{\s*"\$flowpy"\s*:\s*"(?:codec|offload)"')
_FORM: Final = 1_024
"""Bytes of what stands around encoded data."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_CODEC_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Payloads:
    """What is done to payloads before they are sent; give it to ``Converter(payloads=…)``.

    Args:
        codecs: Applied in this order, undone in the reverse: compress first, then encrypt.
        stores: The first keeps payloads that are too large, all are read from.
        offload_over: Characters; longer payloads go to the store, and shorter ones where SWF takes less (heartbeats).
        largest: Bytes of the largest payload that is sent or read, as the converter writes it.
        largest_history: Characters that the payloads opened for one replay may be together, so that no history fills
            the memory of a worker, which has others to decide.
        cache: Bytes of payloads read from stores that stay in memory, those used last.
        clear: Names of activities, workflows, signals and Lambda functions that are sent their input as plain JSON,
            because who reads it has no flowpy.
        redact: Leave values out of what workers log; default if a codec keeps secrets.

    Raises:
        DeclarationError: Two codecs or stores of one name, or a bound that nothing can keep.
    """

    def __init__(
        self,
        codecs: Sequence[Codec] = (),
        stores: Sequence[Store] = (),
        *,
        offload_over: int = 16_384,
        largest: int = 16 * 1024 * 1024,
        largest_history: int = 1024 * 1024 * 1024,
        cache: int = 64 * 1024 * 1024,
        clear: Collection[str] = (),
        redact: bool | None = None,
    ) -> None:
        if isinstance(clear, str):
            raise DeclarationError(f"Payloads: clear={clear!r} must be a list of names")
        if offload_over < 0 or min(largest, largest_history) < 1 or cache < 0:
            raise DeclarationError("Payloads: offload_over and cache must not be below 0, the largest not below 1")
        self._codecs = _by_name(codecs)
        self._stores = _by_root(stores)
        self._offload_over = offload_over
        self._largest = largest
        self.largest_history = largest_history
        self._cache = Cache(cache)
        self.clear = frozenset(clear)
        self.is_secret = any(codec.is_secret for codec in codecs)
        self.redact = self.is_secret if redact is None else redact
        self.is_plain = not codecs and not stores

    def __repr__(self) -> str:
        return f"<Payloads {', '.join([*self._codecs, *(store.root for store in self._stores)]) or 'as they are'}>"

    # --- out --------------------------------------------------------------------------------

    def check(self, text: str, limit: int, what: str) -> str:
        """Give a payload back if it can be sent, without sending or keeping anything.

        Args:
            text: JSON text, as the converter wrote it.
            limit: The most characters SWF takes, such as ``limits.DATA``.
            what: What the payload is, for the message.

        Raises:
            PayloadTooLarge: It will not fit.
        """
        if len(text) <= SURE and limit >= DATA:
            return text  # whatever is done to it
        if self.is_plain:
            return check_length(text, limit, what)
        if self._stores:
            self._check_largest(len(text) if text.isascii() else len(text.encode()), what)
            return text
        try:
            encoded = self._encoded(text, what)
        except PayloadUnavailable:
            return text  # no reason to fail the call: the run is held when the payload is to be sealed
        self._fitting(encoded, text, limit, what)
        return text

    def seal(self, text: str, limit: int, what: str) -> str:
        """Make a payload what is sent: encoded by the codecs, and a pointer to a store if it is long.

        Args:
            text: JSON text, as the converter wrote it.
            limit: The most characters SWF takes.
            what: What the payload is, for messages.

        Returns:
            A payload of contract form: ``codec``, ``offload``, or the text itself.

        Raises:
            PayloadTooLarge: It does not fit.
            PayloadUnavailable: The current key or the store cannot be had now.
        """
        if self.is_plain:
            return check_length(text, limit, what)
        sealed = self._encoded(text, what)
        if self._stores and len(sealed) > min(self._offload_over, limit):
            sealed = self._kept(sealed, what)
        return self._fitting(sealed, text, limit, what)

    def _encoded(self, text: str, what: str) -> str:
        data = text.encode()
        self._check_largest(len(data), what)
        names = []
        for name, codec in self._codecs.items():
            with _as_unavailable(f"{what} cannot be encoded: the codec {name!r}"):
                made = codec.encode(data)
                if made is not None:
                    data = _bytes(made)
            if made is not None:
                names.append(name)
        if not names:
            return text
        return f'{{"$flowpy": "codec", "name": "{"+".join(names)}", "data": "{base64.b64encode(data).decode()}"}}'

    def _kept(self, text: str, what: str) -> str:
        content = text.encode()
        sha256 = hashlib.sha256(content).hexdigest()
        store, key = self._stores[0], _key(sha256)
        try:
            with _as_unavailable(f"the store {store.root}"):
                store.put(key, content)
        except PayloadUnavailable as error:
            raise PayloadStoreUnavailable(f"{what} cannot be kept: {error.what}", remedy=error.remedy) from error
        self._cache.put(sha256, content)
        return dump({"$flowpy": "offload", "uri": f"{store.root}{key}", "sha256": sha256, "size": len(content)})

    def _check_largest(self, size: int, what: str) -> None:
        if size > self._largest:
            raise PayloadTooLarge(
                f"{what} is {size:,} bytes long as JSON and Payloads(largest=…) allows {self._largest:,}",
                remedy="keep the data elsewhere and pass a reference to it, or raise that bound for all who read it",
            )

    def _fitting(self, sealed: str, text: str, limit: int, what: str) -> str:
        if len(sealed) > limit:
            raise PayloadTooLarge(
                f"{what} is {len(text):,} characters long as JSON, {len(sealed):,} after its codecs, and SWF takes "
                f"{limit:,}",
                remedy="give Payloads a store, or keep the data elsewhere and pass a reference to it",
            )
        return sealed

    # --- in ---------------------------------------------------------------------------------

    def open(self, text: str, what: str = "payload") -> str:
        """Make what was sent the JSON text that it was.

        Args:
            text: A payload of any form; one that was not sealed is given back as it is.
            what: What the payload is, for messages.

        Returns:
            The text that the converter wrote.

        Raises:
            PayloadUnavailable: A codec, key, store or object is missing here, or the data was changed.
        """
        inside, trace = untraced(text)
        if not inside or not is_sealed(inside):
            return text
        opened = self._opened(inside, what)
        # Of which trace it is stays around it, for who asks.
        return traced(opened, trace, limit=sys.maxsize) if trace else opened

    def _opened(self, text: str, what: str) -> str:
        try:
            form = _form(text)
            if _is_pointer(form):
                text = self._fetched(form)
                form = _form(text) if is_sealed(text) else {}
            if _is_encoded(form):
                return self._decoded(form)
        except PayloadUnavailable as error:
            error.args = (f"{what} cannot be opened: {error}",)
            raise
        return text

    def _decoded(self, form: dict[str, Any]) -> str:
        name, data = form["name"], form["data"]
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise PayloadCorrupt(f"its data for the codec {clip(name)} is no base64: it was changed or cut") from None
        names = name.split("+")
        unknown = [one for one in names if one not in self._codecs]
        if unknown or len(set(names)) < len(names):
            known = ", ".join(self._codecs) or "none"
            raise PayloadCodecUnknown(
                f"it is encoded by {clip(name)} and this process has the codecs: {known}",
                remedy="give its converter Payloads(codecs=…) as the process that wrote it has",
            )
        for one in reversed(names):
            with _as_unavailable(f"the codec {one!r}"):
                content = _bytes(self._codecs[one].decode(content, self._largest))
        return _as_text(content)

    def _fetched(self, form: dict[str, Any]) -> str:
        uri, sha256, size = form["uri"], form["sha256"], form["size"]
        key = _key(sha256)
        # Nothing but what this store would itself have named so is ever fetched.
        store = next((one for one in self._stores if uri == f"{one.root}{key}"), None)
        if store is None:
            known = ", ".join(one.root for one in self._stores) or "none"
            raise PayloadStoreUnavailable(
                f"it is kept at {clip(uri, 200)} and this process has the stores: {known}",
                remedy="give its converter Payloads(stores=…) with that one too",
            )
        if size > 2 * self._largest + _FORM:  # base64 makes four bytes of three
            raise PayloadCorrupt(
                f"{uri} is said to be {size:,} bytes long and Payloads(largest=…) allows {self._largest:,}",
                remedy="raise it if it is one of yours",
            )
        content = self._cache.get(sha256)
        if content is None:
            with _as_unavailable(f"the store {store.root}"):
                content = _bytes(store.get(key, size))
            _check_content(content, uri, sha256, size)
            self._cache.put(sha256, content)
        return _as_text(content)


@contextmanager
def _as_unavailable(whose: str) -> Iterator[None]:
    """An error of a codec's or store's own is one that waiting may cure: what it stands for must not be lost for it."""
    try:
        yield
    except PayloadError:
        raise
    except Exception as error:
        raise PayloadUnavailable(f"{whose} raised {type(error).__name__}: {error}") from error


def _bytes(made: Any) -> bytes:
    if not isinstance(made, bytes):
        raise TypeError(f"it gave {type(made).__name__} instead of bytes")
    return made


def is_sealed(text: str) -> bool:
    """Say whether a text is a payload that was encoded or is kept in a store, or an input around one."""
    inside, _ = untraced(text)
    return _MARKED.match(inside or "") is not None


def _form(text: str) -> dict[str, Any]:
    """The object a text is; what is malformed is left to who reads it, who can blame one signal and not the run."""
    try:
        form = parse(text)
    except PayloadNotDecodable:
        return {}
    return form if isinstance(form, dict) else {}


def _is_pointer(form: dict[str, Any]) -> bool:
    uri, sha256, size = form.get("uri"), form.get("sha256"), form.get("size")
    return (
        form.get("$flowpy") == "offload"
        and isinstance(uri, str)
        and isinstance(sha256, str)
        and _SHA256.fullmatch(sha256) is not None
        and type(size) is int
        and size >= 0
    )


def _is_encoded(form: dict[str, Any]) -> bool:
    named = isinstance(form.get("name"), str) and isinstance(form.get("data"), str)
    return named and form.get("$flowpy") == "codec"


def _as_text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise PayloadCorrupt("what comes out is no UTF-8: a codec does not undo what it does") from None


def _check_content(content: bytes, uri: str, sha256: str, size: int) -> None:
    if len(content) != size or hashlib.sha256(content).hexdigest() != sha256:
        found = f"more than {size:,}" if len(content) > size else f"{len(content):,}"
        raise PayloadCorrupt(
            f"{uri} is not what was kept there: checksum or length differ (length {found}, expected {size:,})",
            remedy="restore the object whose SHA-256 is its name",
        )


def _key(sha256: str) -> str:
    # Two letters of folder keep directories small.
    return f"{sha256[:2]}/{sha256}"


def _by_name(codecs: Sequence[Codec]) -> dict[str, Codec]:
    named: dict[str, Codec] = {}
    for codec in codecs:
        if isinstance(codec, type) or not isinstance(codec, Codec):
            raise DeclarationError(f"Payloads: {codec!r} is no codec: it has no name, is_secret, encode and decode")
        if not _CODEC_NAME.fullmatch(codec.name) or codec.name in named:
            raise DeclarationError(f"Payloads: the name {codec.name!r} of a codec is taken or not letters and . _ -")
        named[codec.name] = codec
    return named


def _by_root(stores: Sequence[Store]) -> tuple[Store, ...]:
    for store in stores:
        if isinstance(store, type) or not isinstance(store, Store):
            raise DeclarationError(f"Payloads: {store!r} is no store: it has no root, put and get")
    if len({store.root for store in stores}) < len(stores):
        raise DeclarationError("Payloads: two stores have the same root")
    return tuple(stores)


PLAIN: Final = Payloads()
"""Payloads as they are: no codec, no store."""
