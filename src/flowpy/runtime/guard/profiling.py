"""Python 3.11: ``sys.setprofile``, while a run is stepped; a profile function that was there before is called too."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FrameType
from typing import Any, Final

from flowpy.errors import NotDeterministic
from flowpy.runtime.guard.audit import keep_profile
from flowpy.runtime.guard.forbidden import Forbidden
from flowpy.runtime.loop import Loop

_Loop: Final[Any] = Loop


class Watch:
    """Watches calls while a run is stepped: ``Loop.running`` is replaced as long."""

    def __init__(self, forbidden: Forbidden) -> None:
        self._forbidden = forbidden
        self._running = Loop.running

        @contextmanager
        def running(loop: Loop) -> Iterator[None]:
            with self._running(loop), self._profiled():
                yield

        # So that nothing is asked while nobody watches.
        _Loop.running = running

    def stop(self) -> None:
        """Put everything back."""
        _Loop.running = self._running

    @contextmanager
    def _profiled(self) -> Iterator[None]:
        before: Any = sys.getprofile()
        if before is not None and not callable(before):
            warnings.warn(
                f"the guard cannot watch clocks, chance, uuid and the environment: {type(before).__name__} profiles "
                "this thread, and Python 3.11 has room for one; profile without the guard, or on Python 3.12",
                RuntimeWarning,
                stacklevel=2,
            )
            yield
            return
        mine = self._profile(before)
        sys.setprofile(mine)
        try:
            yield
        finally:
            # Code may have set another one meanwhile, which is not for us to drop.
            if sys.getprofile() is mine:
                sys.setprofile(before)

    def _profile(self, before: Any) -> Any:
        forbidden = self._forbidden
        names = forbidden.code_names

        def profile(frame: FrameType, event: str, argument: Any) -> None:
            try:
                if event == "c_call":
                    if type(argument) is BuiltinFunctionType:
                        forbidden.builtin(argument, frame, frame.f_lasti)
                elif event == "call" and frame.f_code.co_name in names:
                    forbidden.started(frame)
            except NotDeterministic as error:
                keep_profile(error)
                raise

        if before is None:
            return profile

        def both(frame: FrameType, event: str, argument: Any) -> None:
            before(frame, event, argument)
            profile(frame, event, argument)

        return both
