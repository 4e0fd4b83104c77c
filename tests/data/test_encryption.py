"""Encryption: the published vectors, rotation, and what a wrong key says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpy.data import Encryption
from flowpy.data.encryption import _cipher
from flowpy.errors import DeclarationError, PayloadCorrupt, PayloadKeyUnknown

OLD, NEW = bytes(32), bytes(range(32))


@pytest.mark.parametrize(
    ("key", "header", "sealed"),
    [
        (b"\x01" * 32, b"", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
        (b"\x03" * 32, b"c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
    ],
)
def test_the_vectors_of_the_specification(key: bytes, header: bytes, sealed: str) -> None:
    nonce = b"ABCDEFGHIJKLMNOPQRSTUVWX"

    made = _cipher(key, nonce, encrypt=True, data=b"XAES-256-GCM", header=header)

    assert made.hex() == sealed
    assert _cipher(key, nonce, encrypt=False, data=made, header=header) == b"XAES-256-GCM"


def test_the_same_twice_is_encrypted_differently() -> None:
    codec = Encryption({"new": NEW}, current="new")

    assert len({codec.encode(b"[4200]") for _ in range(100)}) == 100


def test_what_was_encrypted_with_the_old_key_is_read_after_rotation() -> None:
    before = Encryption({"old": OLD}, current="old").encode(b"[4200]")
    rotated = Encryption({"old": OLD, "new": NEW}, current="new")

    assert rotated.decode(before, 100) == b"[4200]"
    assert rotated.decode(rotated.encode(b"[4200]"), 100) == b"[4200]"
    assert b"new" in rotated.encode(b"[4200]")


def test_a_key_that_is_not_here_is_named() -> None:
    sealed = Encryption({"new": NEW}, current="new").encode(b"[4200]")

    with pytest.raises(PayloadKeyUnknown, match=r"the key 'new', which is not here \(here: old\)") as raised:
        Encryption({"old": OLD}, current="old").decode(sealed, 100)

    assert raised.value.key_id == "new"


def test_another_key_of_the_same_id_is_found_out() -> None:
    sealed = Encryption({"k": NEW}, current="k").encode(b"[4200]")

    with pytest.raises(PayloadCorrupt, match="not encrypted with the key 'k' that is here"):
        Encryption({"k": OLD}, current="k").decode(sealed, 100)


@given(at=st.integers(0, 200), bit=st.integers(0, 7))
def test_no_bit_can_be_changed(at: int, bit: int) -> None:
    codec = Encryption({"k": NEW, "j": NEW}, current="k")
    sealed = bytearray(codec.encode(b"[4200]"))
    sealed[at % len(sealed)] ^= 1 << bit

    with pytest.raises((PayloadCorrupt, PayloadKeyUnknown)):
        codec.decode(bytes(sealed), 100)


def test_what_is_encrypted_cannot_be_said_to_be_of_another_key() -> None:
    codec = Encryption({"k": NEW, "j": NEW}, current="k")

    with pytest.raises(PayloadCorrupt):
        codec.decode(codec.encode(b"[4200]").replace(b"k", b"j", 1), 100)


@given(st.binary(max_size=100))
def test_noise_is_no_payload(noise: bytes) -> None:
    with pytest.raises((PayloadCorrupt, PayloadKeyUnknown)):
        Encryption({"k": NEW}, current="k").decode(noise, 100)


def test_keys_are_fetched_once_each() -> None:
    asked = []

    def fetch(key_id: str) -> bytes:
        asked.append(key_id)
        return {"old": OLD, "new": NEW}[key_id]

    codec = Encryption(fetch, current="new")
    assert asked == []
    assert [codec.decode(codec.encode(b"x"), 9) for _ in range(3)] == [b"x"] * 3
    assert asked == ["new"]
    with pytest.raises(PayloadKeyUnknown, match="its key 'later' cannot be had: KeyError"):
        codec.decode(Encryption({"later": OLD}, current="later").encode(b"x"), 9)


def test_more_than_may_be_read_is_not_decrypted() -> None:
    codec = Encryption({"k": NEW}, current="k")

    with pytest.raises(PayloadCorrupt, match="more than 9 bytes"):
        codec.decode(codec.encode(b"0123456789"), 9)


@pytest.mark.parametrize(
    ("keys", "current", "said"),
    [
        ({"k": b"short"}, "k", "must be 32 bytes .* found 5 bytes"),
        ({"k": "x" * 32}, "k", "found a str"),
        ({"k": NEW}, "j", "current='j' is none of the keys"),
        ({"k k": NEW}, "k k", "key id 'k k'"),
        ({"": NEW}, "", "key id ''"),
        ({}, "k", "none of the keys"),
    ],
)
def test_keys_that_cannot_be_used_are_refused(keys: dict[str, bytes], current: str, said: str) -> None:
    with pytest.raises(DeclarationError, match=said) as raised:
        Encryption(keys, current=current)

    assert "short" not in str(raised.value)


def test_no_key_is_shown() -> None:
    codec = Encryption({"new": NEW, "old": OLD}, current="new")

    assert repr(codec) == "<Encryption with key 'new' of new, old>"
    assert len(Encryption.new_key()) == 32


@pytest.mark.parametrize("keys", [None, [("k", bytes(32))], "k"])
def test_keys_are_a_mapping_or_a_function(keys: Any) -> None:
    with pytest.raises(DeclarationError, match="neither a mapping of key ids nor a function"):
        Encryption(keys, current="k")
