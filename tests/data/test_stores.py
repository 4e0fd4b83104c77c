"""What every store promises: in memory, in a directory, in S3."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowpy.data import DirectoryStore, MemoryStore, S3Store, Store
from flowpy.errors import DeclarationError, PayloadMissing, PayloadStoreUnavailable

KEY = "ab/" + "ab" * 32


class Refused(Exception):
    """As botocore's ClientError."""

    def __init__(self, code: str) -> None:
        super().__init__(f"{code} was said")
        self.response = {"Error": {"Code": code}}


class Bucket:
    """The two operations of S3's client, in memory."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], bytes] = {}
        self.refusing = ""
        self.requests: list[dict[str, Any]] = []

    def put_object(self, **request: Any) -> dict[str, Any]:
        self.requests.append(request)
        self._refuse()
        self.objects[request["Bucket"], request["Key"]] = request["Body"]
        return {}

    def get_object(self, **request: Any) -> dict[str, Any]:
        self._refuse()
        try:
            return {"Body": io.BytesIO(self.objects[request["Bucket"], request["Key"]])}
        except KeyError:
            raise Refused("NoSuchKey") from None

    def _refuse(self) -> None:
        if self.refusing:
            raise Refused(self.refusing)


def s3_of_moto() -> Iterator[S3Store]:
    moto = pytest.importorskip("moto")
    boto3 = pytest.importorskip("boto3")
    with pytest.MonkeyPatch.context() as patch, moto.mock_aws():
        patch.setenv("AWS_ACCESS_KEY_ID", "none")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "none")
        boto3.session.Session().client("s3", region_name="us-east-1").create_bucket(Bucket="shop-payloads")
        yield S3Store("shop-payloads", "flowpy", region_name="us-east-1")


@pytest.fixture(params=["memory", "directory", "S3", "moto"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "moto":
        yield from s3_of_moto()
        return
    yield {  # noqa: PT022 - the other is taken down
        "memory": MemoryStore,
        "directory": lambda: DirectoryStore(tmp_path / "payloads"),
        "S3": lambda: S3Store("shop-payloads", "flowpy", client=Bucket()),
    }[request.param]()


def test_what_is_kept_comes_back(store: Store) -> None:
    store.put(KEY, b"[4200]")
    store.put(KEY, b"[4200]")

    assert store.get(KEY, 6) == b"[4200]"


def test_no_more_is_read_than_one_byte_beyond(store: Store) -> None:
    store.put(KEY, b"0123456789")

    assert store.get(KEY, 3) == b"0123"


def test_what_is_not_there_is_missing(store: Store) -> None:
    with pytest.raises(PayloadMissing) as raised:
        store.get(KEY, 6)

    assert raised.value.uri == f"{store.root}{KEY}"


def test_it_is_a_store(store: Store) -> None:
    assert isinstance(store, Store)
    assert store.root.endswith("/")


# --- a directory --------------------------------------------------------------------------------


def test_a_file_has_the_name_that_its_uri_says(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    store.put(KEY, b"[4200]")

    assert f"{store.root}{KEY}" == (tmp_path / KEY).as_uri()
    assert (tmp_path / KEY).read_bytes() == b"[4200]"
    assert [path.name for path in (tmp_path / KEY).parent.iterdir()] == [(tmp_path / KEY).name]


@pytest.mark.parametrize("found", [b"[42", b"[4201]", b""])
def test_a_file_that_a_crash_cut_off_or_damaged_is_written_again(tmp_path: Path, found: bytes) -> None:
    store = DirectoryStore(tmp_path)
    (tmp_path / KEY).parent.mkdir()
    (tmp_path / KEY).write_bytes(found)

    store.put(KEY, b"[4200]")

    assert store.get(KEY, 6) == b"[4200]"


def test_a_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = DirectoryStore(tmp_path / "file")

    with pytest.raises(PayloadStoreUnavailable, match=f"{tmp_path}.* cannot be written"):
        store.put(KEY, b"[4200]")
    with pytest.raises(PayloadStoreUnavailable, match=f"{tmp_path}.* cannot be read"):
        store.get(KEY, 6)


def test_a_relative_directory_stands_in_histories_as_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert DirectoryStore("payloads").root == f"{Path(os.getcwd(), 'payloads').as_uri()}/"  # noqa: PTH109 - as it is


# --- S3 -----------------------------------------------------------------------------------------


def test_s3_checks_what_it_gets() -> None:
    bucket = Bucket()
    S3Store("shop-payloads", "flowpy", client=bucket).put(KEY, b"[4200]")

    assert bucket.requests == [
        {
            "Bucket": "shop-payloads",
            "Key": f"flowpy/{KEY}",
            "Body": b"[4200]",
            "ContentType": "application/json",
            "ChecksumSHA256": "8TdoseOozFcSc4qU0JqzlQAVnOb5OyXapsQgq8OP57s=",
        }
    ]


def test_what_s3_refuses_is_told() -> None:
    bucket = Bucket()
    bucket.refusing = "AccessDenied"
    store = S3Store("shop-payloads", client=bucket)

    with pytest.raises(PayloadStoreUnavailable, match=r"s3://shop-payloads/ab/\w+ cannot be read \(Refused: AccessD"):
        store.get(KEY, 6)
    with pytest.raises(PayloadStoreUnavailable, match="cannot be written"):
        store.put(KEY, b"[4200]")


@pytest.mark.parametrize("name", ["s3://shop", "shop/payloads", "", "A"])
def test_a_bucket_is_a_name(name: str) -> None:
    with pytest.raises(DeclarationError, match="no name of a bucket"):
        S3Store(name)


def test_a_name_of_a_memory_store() -> None:
    with pytest.raises(DeclarationError, match="slash"):
        MemoryStore("a/b")


@pytest.mark.parametrize("what", ["pipe", "link", "directory"])
def test_what_is_no_file_is_not_read(tmp_path: Path, what: str) -> None:
    """Who may write to the directory can put something there that never ends, or that leads out of it."""
    outside = tmp_path / "outside"
    outside.write_bytes(b"secret")
    store, place = DirectoryStore(tmp_path / "store"), tmp_path / "store" / "ab" / "abc"
    place.parent.mkdir(parents=True)
    {"pipe": lambda: os.mkfifo(place), "link": lambda: place.symlink_to(outside), "directory": place.mkdir}[what]()

    with pytest.raises(PayloadStoreUnavailable, match="abc cannot be read"):
        store.get("ab/abc", 100)
