"""What an attacker may write where a payload is expected."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from hypothesis import strategies as st

BOMB = zlib.compress(b"0" * 2**24, 9)
"""16 KB that stand for 16 MB."""


def codec(name: str, data: bytes) -> str:
    return json.dumps({"$flowpy": "codec", "name": name, "data": base64.b64encode(data).decode()})


def pointer(uri: str, sha256: Any = "0" * 64, size: Any = 1) -> str:
    return json.dumps({"$flowpy": "offload", "uri": uri, "sha256": sha256, "size": size})


LENGTH = 32_768

LONG = {
    "arrays": "[" * LENGTH,
    "closed arrays": "[" * (LENGTH // 2) + "]" * (LENGTH // 2),
    "objects": '{"a":' * (LENGTH // 5),
    "closed objects": '{"a":' * (LENGTH // 6) + "1" + "}" * (LENGTH // 6),
    "causes": '{"cause":' * (LENGTH // 10) + "null" + "}" * (LENGTH // 10),
    "a huge number": "9" * LENGTH,
    "a huge exponent": "1e" + "9" * 1_000,
    "a small huge exponent": '"1e999999999"',
    "a huge negative exponent": '"-1e-999999999"',
    "a huge fraction": "0." + "1" * (LENGTH - 2),
    "huge numbers": "[" + ",".join(["9" * 4_000] * 8) + "]",
    "many small things": "[" + "[],{}," * (LENGTH // 6 - 1) + "0]",
    "an open string": '"' + "a" * (LENGTH - 1),
    "backslashes": "\\" * LENGTH,
    "a string of backslashes": '"' + "\\\\" * (LENGTH // 2 - 1) + '"',
    "open quotes": '["' * (LENGTH // 2),
    "quotes": '"' * LENGTH,
    "surrogates": '"' + "\\ud800" * (LENGTH // 6 - 1) + '"',
    "colons": ": " * (LENGTH // 2),
    "words and colons": "A: " * (LENGTH // 3),
    "dots": "a." * (LENGTH // 2),
    "white space": " " * LENGTH,
    "white space and a mark": " " * (LENGTH - 20) + '{"$flowpy": "codec"',
    "marks": '{"$flowpy": "codec", ' * (LENGTH // 21),
    "a type": '{"type": "' + "a" * (LENGTH - 20) + '"}',
    "types": '{"type": "a", ' * (LENGTH // 14),
    "frames": json.dumps({"type": "E", "message": "m", "traceback": 'File "x", line 1\n' * (LENGTH // 20)}),
    "the same key": "{" + '"a": 1, ' * (LENGTH // 8 - 1) + '"a": 2}',
    "digits": '"' + "1" * (LENGTH - 2) + '"',
    "a duration": '"' + "1h" * (LENGTH // 2 - 1) + '"',
    "base64": '"' + "A" * (LENGTH - 3) + '="',
    "dates": '"' + "2026-01-01T" * (LENGTH // 11 - 1) + '"',
}
"""Texts of the greatest length, each made to be slow or large where it is read carelessly."""

NAMED = [
    '{"__class__": "os.system", "args": ["touch /tmp/x"]}',
    '{"py/object": "subprocess.Popen", "py/newargs": {"py/tuple": ["id"]}}',
    '{"py/reduce": [{"py/function": "os.system"}, {"py/tuple": ["id"]}]}',
    '{"__obj": ["subprocess:Popen", {"args": ["id"]}]}',
    '{"type": "SystemExit", "module": "builtins", "message": "", "traceback": ""}',
    '{"type": "Popen", "module": "subprocess", "message": "id", "data": {"args": "id"}}',
    '["java.util.Date", 1]',
    '["com.example.Evil", {"cmd": "id"}]',
    '{"@class": "javax.swing.JEditorPane", "page": "http://127.0.0.1:1/"}',
    "gASVIAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAJpZJSFlFKULg==",
    "cos\nsystem\n(S'id'\ntR.",
    "!!python/object/apply:os.system ['id']",
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    "\"__import__('os').system('id')\"",
    '{"$ref": "file:///etc/passwd"}',
]
"""What other formats and other tools take for an order to import, call or fetch."""

SEALED = [
    codec("zlib", BOMB),
    codec("zlib+zlib", BOMB),
    codec("xaes-256-gcm", b"\1\1k" + bytes(60)),
    codec("xaes-256-gcm", b"\1\xff" + b"k" * 300),
    codec("xaes-256-gcm", b""),
    codec("os.system", b"id"),
    codec("../zlib", b"x"),
    codec("+".join(["zlib"] * 5_000), b"x"),
    codec("", b""),
    pointer("file:///etc/passwd"),
    pointer("file:///etc/passwd", size=2**63),
    pointer("http://127.0.0.1:1/x"),
    pointer("s3://other/x"),
    pointer("memory://payloads/00/" + "0" * 64, size=10**12),
    pointer("file://../../etc/passwd", sha256="../../../etc/passwd"),
    pointer("file:///etc/passwd", sha256=None, size=-1),
    pointer("\\\\host\\share\\x", sha256="0" * 64, size=True),
]
"""Forms of flowpy's own that nobody wrote who may."""

PIECES = [*NAMED, *SEALED, *LONG.values()]

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from(["$flowpy", "name", "data", "uri", "args", "kwargs", "type", "cause"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)

texts = (
    st.sampled_from(PIECES)
    | st.text(max_size=200)
    | plain.map(json.dumps)
    | st.builds(codec, st.sampled_from(["zlib", "xaes-256-gcm", "zlib+xaes-256-gcm", "x"]), st.binary(max_size=200))
    | st.tuples(st.sampled_from(PIECES), st.integers(0, 400), st.text(max_size=5)).map(
        lambda drawn: drawn[0][: drawn[1]] + drawn[2] + drawn[0][drawn[1] + 1 :]
    )
)
"""Any text: hostile ones, noise, JSON of any shape, and hostile ones that were changed at some place."""
