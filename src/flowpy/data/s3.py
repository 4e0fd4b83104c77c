"""The store that keeps payloads in Amazon S3."""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from typing import Any, Final

from flowpy.errors import DeclarationError, PayloadMissing, PayloadStoreUnavailable

__all__ = ["S3Store"]

_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_MISSING: Final = frozenset(("NoSuchKey", "404"))


class S3Store:
    """Keeps payloads as objects in a bucket of S3.

    Whoever writes needs ``s3:PutObject`` there, whoever reads ``s3:GetObject``; with ``s3:ListBucket`` a missing
    object is told from a forbidden one. Set no expiry shorter than the longest run and the domain's retention.

    Args:
        bucket: The bucket.
        prefix: What keys begin with, such as ``"payloads/"``.
        client: A boto3 client of S3 to use; default one made when it is first needed.
        region_name: Its region; default boto3's own.
        endpoint_url: Its address; default boto3's own.
    """

    def __init__(
        self,
        bucket: str,
        prefix: str = "",
        *,
        client: Any = None,
        region_name: str | None = None,
        endpoint_url: str | None = None,
    ) -> None:
        if not _BUCKET.fullmatch(bucket):
            raise DeclarationError(
                f"S3Store: {bucket!r} is no name of a bucket", remedy="give it without s3:// and key"
            )
        self._bucket = bucket
        self._prefix = prefix if not prefix or prefix.endswith("/") else f"{prefix}/"
        self._client = client
        self._options = {"region_name": region_name, "endpoint_url": endpoint_url}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<S3Store {self.root}>"

    @property
    def root(self) -> str:
        """``s3://``, the bucket and the prefix."""
        return f"s3://{self._bucket}/{self._prefix}"

    def put(self, key: str, content: bytes) -> None:
        """Write an object (PutObject); S3 checks what it got."""
        checksum = base64.b64encode(hashlib.sha256(content).digest()).decode()
        request = {"ContentType": "application/json", "ChecksumSHA256": checksum, "Body": content}
        try:
            self._s3().put_object(Bucket=self._bucket, Key=self._prefix + key, **request)
        except Exception as error:
            raise self._unavailable(key, "written", error) from error

    def get(self, key: str, size: int) -> bytes:
        """Read an object (GetObject)."""
        try:
            with self._s3().get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"] as body:
                content: bytes = body.read(size + 1)
        except Exception as error:
            if _code(error) in _MISSING:
                uri = f"{self.root}{key}"
                raise PayloadMissing(
                    f"there is no object {uri}",
                    remedy="see whether a lifecycle rule or somebody deleted it, and restore it (a version, a backup)",
                    uri=uri,
                ) from None
            raise self._unavailable(key, "read", error) from error
        return content

    def _unavailable(self, key: str, done: str, error: Exception) -> PayloadStoreUnavailable:
        return PayloadStoreUnavailable(f"{self.root}{key} cannot be {done} ({type(error).__name__}: {error})")

    def _s3(self) -> Any:
        with self._lock:
            if self._client is None:
                import boto3
                from botocore.config import Config

                # A thread of a worker waits for this: it gives up well before its decision task does.
                config = Config(connect_timeout=5, read_timeout=10, retries={"mode": "standard", "max_attempts": 2})
                given = {name: value for name, value in self._options.items() if value is not None}
                session: Any = boto3.session.Session()
                self._client = session.client("s3", config=config, **given)
            return self._client


def _code(error: Exception) -> str:
    response = getattr(error, "response", None)
    found = response.get("Error") if isinstance(response, dict) else None
    return str(found.get("Code", "")) if isinstance(found, dict) else ""
