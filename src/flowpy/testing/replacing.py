"""Values for values: of the same type and shape, from a keyed hash, so that equal ones stay equal and code still reads.

Letters become letters and digits digits, each run of them by a permutation of all runs of its length (a Feistel
network over the key): two different values never become the same one, in whatever order and history they come.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import uuid
from collections.abc import Callable
from typing import Final

__all__ = ["KeyedReplacement", "Replace", "Scalar"]

Scalar = str | int | float
Replace = Callable[[Scalar, tuple[str, ...]], Scalar]
"""Gives what stands for a value, of the same type; also told the names that lead to it."""

_ROUNDS: Final = 8
_RUNS: Final = re.compile(r"[A-Za-z]+|[0-9]+")
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+")
_HEX: Final = re.compile(r"(?=.*\d)(?:[0-9a-f]{16,}|[0-9A-F]{16,})")
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIME: Final = re.compile(r"(\d\d):(\d\d)(?::(\d\d))?(?=[.+\-Z]|$)")
_MOMENT: Final = re.compile(
    r"(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?)"
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_DIGITS: Final = "0123456789"


class KeyedReplacement:
    """Replaces text and numbers by others of the same shape.

    A text without blanks is replaced run by run, so that what code puts together from such texts still fits; one with
    blanks as a whole. UUIDs, hexadecimal digests, dates, times and durations such as ``5m`` become others of their
    kind. 0 stays 0.

    Args:
        key: The key; who has it can try values.

    Example:
        >>> replace = KeyedReplacement(b"secret")
        >>> replace("order-17", ()), replace("17", ()), replace(17, ())
        ('uswwo-81', '81', 81)
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._orders: dict[int, list[int]] = {}

    def __call__(self, value: Scalar, _names: tuple[str, ...]) -> Scalar:
        """What stands for a value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int):
            return int(self._number(str(value)))
        return float(self._number(repr(value)))

    def text(self, text: str) -> str:
        """What stands for a text."""
        try:
            found = uuid.UUID(text) if len(text) == 36 else None
        except ValueError:
            found = None
        if found is not None:
            return self._uuid(text, found)
        if _HEX.fullmatch(text):
            digest = self._bytes(len(text), "hex", text).hex()[: len(text)]
            return digest if text.lower() == text else digest.upper()
        if _MOMENT.fullmatch(text):
            return self._moment(text)
        tweak = text if re.search(r"\s", text) else ""
        if _DURATION.fullmatch(text):
            return re.sub(r"\d+", lambda run: self._run(run[0], _DIGITS, ""), text)
        replaced = _RUNS.sub(lambda run: self._run(run[0], _DIGITS if run[0].isdigit() else _LETTERS, tweak), text)
        return "".join(letter if letter.isascii() else self._foreign(letter, tweak) for letter in replaced)

    def _number(self, text: str) -> str:
        mantissa, mark, exponent = text.partition("e")
        if not mantissa.strip("-0.") or not mantissa.strip("-").replace(".", "").isdigit():
            return text
        return re.sub(r"\d+", lambda run: self._run(run[0], _DIGITS, ""), mantissa) + mark + exponent

    def _run(self, run: str, alphabet: str, tweak: str) -> str:
        """A run of one alphabet; it begins with 0 where the original does, so that numbers stay numbers."""
        values = [alphabet.index(letter) for letter in run.lower()]
        zero = values[0] == 0 if alphabet is _DIGITS else None
        while True:
            values = self._permuted(values, len(alphabet), tweak)
            # Going round until it fits is a permutation of those that fit.
            if zero is None or (values[0] == 0) is zero:
                break
        made = [alphabet[value] for value in values]
        return "".join(letter.upper() if was.isupper() else letter for letter, was in zip(made, run, strict=True))

    def _permuted(self, values: list[int], base: int, tweak: str) -> list[int]:
        if len(values) == 1:
            if base not in self._orders:
                self._orders[base] = sorted(range(base), key=lambda one: self._bytes(8, "one", str(base), str(one)))
            return [self._orders[base][values[0]]]
        middle = len(values) // 2
        left, right = values[:middle], values[middle:]
        for number in range(_ROUNDS):
            words = ",".join(map(str, right))
            noise = self._bytes(2 * len(left), "round", str(base), str(number), str(len(values)), words, tweak)
            added = [noise[2 * i] * 256 + noise[2 * i + 1] for i in range(len(left))]
            left, right = right, [(one + other) % base for one, other in zip(left, added, strict=True)]
        return left + right

    def _uuid(self, text: str, found: uuid.UUID) -> str:
        made = uuid.UUID(bytes=self._bytes(16, "uuid", str(found)), version=found.version or 4)
        return str(made) if text.lower() == text else str(made).upper()

    def _moment(self, text: str) -> str:
        one, two, three, four, five, six = self._bytes(6, "moment", text)

        def date(_found: re.Match[str]) -> str:
            return f"{1970 + one % 100:04}-{1 + two % 12:02}-{1 + three % 28:02}"

        def time(found: re.Match[str]) -> str:
            seconds = f":{six % 60:02}" if found[3] is not None else ""
            return f"{four % 24:02}:{five % 60:02}{seconds}"

        return _TIME.sub(time, _DATE.sub(date, text, count=1), count=1)

    def _foreign(self, letter: str, tweak: str) -> str:
        """A letter of another alphabet; no two need differ."""
        if not letter.isalnum():
            return letter
        made = _LETTERS[self._bytes(1, "foreign", letter, tweak)[0] % len(_LETTERS)]
        return made.upper() if letter.isupper() else made

    def _bytes(self, count: int, *parts: str) -> bytes:
        """That many bytes that follow from the key and the parts."""
        message = b"\0".join(part.encode("utf-8", "surrogatepass") for part in parts)
        made = b""
        while len(made) < count:
            made += hmac.new(self._key, f"{len(made)}:".encode() + message, hashlib.sha256).digest()
        return made[:count]
