"""The console: web pages on an SWF of this machine, for people. Needs the extra ``server``."""

from __future__ import annotations

from flowpy.console.application import Console

__all__ = ["Console"]
