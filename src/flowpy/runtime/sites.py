"""Where user code made a call: found while it runs, turned into a line only for a report."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from flowpy.replay.entities import Site

_FLOWPY = str(Path(__file__).resolve().parent.parent)
_ASYNCIO = str(Path(asyncio.__file__).resolve().parent)
_OURS = (_FLOWPY, _ASYNCIO)
_theirs: set[str] = set()
"""Files that are neither flowpy's nor asyncio's, as far as calls were made from them."""


def call_site(depth: int = 3) -> Site:
    """The nearest frame of user code.

    Args:
        depth: How many frames up it most likely stands; further ones of flowpy and asyncio are passed over.
    """
    try:
        frame = sys._getframe(depth)
    except ValueError:
        return None
    code = frame.f_code
    while code.co_filename not in _theirs:
        if not code.co_filename.startswith(_OURS):
            _theirs.add(code.co_filename)
            break
        back = frame.f_back
        if back is None:
            return None
        frame, code = back, back.f_code
    return (code, frame.f_lasti)
