"""The timeline: a history as a picture, in the terminal, as SVG and as one HTML page."""

from __future__ import annotations

from flowpy.view.model import Bar, Kind, OpenWork, Outcome, Row, Timeline
from flowpy.view.page import as_html
from flowpy.view.svg import as_svg
from flowpy.view.timelines import timeline

__all__ = ["Bar", "Kind", "OpenWork", "Outcome", "Row", "Timeline", "as_html", "as_svg", "timeline"]
