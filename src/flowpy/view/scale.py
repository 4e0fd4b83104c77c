"""Where a time stands between the left and the right edge of a picture."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, Protocol

from attrs import field, frozen

from flowpy.history import seconds
from flowpy.view.model import Timeline
from flowpy.view.wording import elapsed

__all__ = ["OrderScale", "Scale", "TimeScale", "scale_of"]

_STEPS: Final = (
    *(base * size for size in (0.001, 0.01, 0.1) for base in (1, 2, 5)),
    *(1, 2, 5, 10, 15, 30),
    *(60 * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(3_600 * hours for hours in (1, 2, 3, 6, 12)),
    *(86_400 * days for days in (1, 2, 7, 14, 30, 60, 90, 180, 365)),
)


class Scale(Protocol):
    """Places times."""

    def at(self, seconds: float) -> float:
        """Where a time stands: 0.0 at the left edge, 1.0 at the right one; times outside stand at the edge.

        Args:
            seconds: Epoch seconds.
        """
        ...

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Places on the axis with what is written there: the time since the beginning.

        Args:
            most: How many at most, at least one.
        """
        ...


def scale_of(timeline: Timeline, *, by_order: bool = False) -> Scale:
    """Make the scale of a timeline.

    Args:
        timeline: The timeline.
        by_order: Give each time at which something happened the same width, whatever passed between them.
    """
    if not by_order:
        return TimeScale(timeline.begin, timeline.end)
    return OrderScale(tuple(sorted({*(seconds(event) for event in timeline.events), timeline.end})))


@frozen
class TimeScale:
    """A second is as wide as any other.

    >>> scale = TimeScale(1000.0, 1090.0)
    >>> scale.at(1045.0), scale.ticks(4)
    (0.5, [(0.0, '0s'), (0.3333333333333333, '30s'), (0.6666666666666666, '1m'), (1.0, '1m 30s')])

    Attributes:
        begin: Epoch seconds of the left edge.
        end: Epoch seconds of the right edge.
    """

    begin: float
    end: float

    def at(self, seconds: float) -> float:
        """Where a time stands."""
        span = self.end - self.begin
        return min(1.0, max(0.0, (seconds - self.begin) / span)) if span > 0 else 0.0

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Round numbers of seconds, minutes, hours, days."""
        span = self.end - self.begin
        if span <= 0 or most < 2:
            return [(0.0, "0s")]
        step = next((step for step in _STEPS if span / step < most), span / (most - 1))
        times = [number * step for number in range(int(span / step) + 1)]
        return list(zip((time / span for time in times), _told(times), strict=True))


@frozen
class OrderScale:
    """Each time at which something happened is as far from the next as any other.

    >>> scale = OrderScale((1000.0, 1001.0, 87401.0))
    >>> scale.at(1001.0), scale.ticks(3)
    (0.5, [(0.0, '0s'), (0.5, '1s'), (1.0, '1d')])

    Attributes:
        times: These times in epoch seconds, ascending, each once.
    """

    times: Sequence[float] = field(repr=lambda times: f"<{len(times)}>")

    def at(self, seconds: float) -> float:
        """Where a time stands."""
        last = len(self.times) - 1
        if last < 1:
            return 0.0
        index = min(max(bisect_right(self.times, seconds) - 1, 0), last - 1)
        before, after = self.times[index], self.times[index + 1]
        return (index + min(1.0, max(0.0, (seconds - before) / (after - before)))) / last

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """The times of some of the events."""
        last = len(self.times) - 1
        if last < 1 or most < 2:
            return [(0.0, "0s")]
        step = -(-last // (most - 1))
        chosen = [index for index in range(0, last + 1, step) if index == 0 or last - index >= step // 2]
        told = _told([self.times[index] - self.times[0] for index in chosen])
        return list(zip((index / last for index in chosen), told, strict=True))


def _told(times: Sequence[float]) -> list[str]:
    """Times as they are told one after another: those that would read like one before them by how much later they are.

    >>> _told([0.0, 2_592_000.0, 2_592_000.5, 2_592_002.0, 2_595_600.0])
    ['0s', '30d', '+500ms', '+2s', '30d 1h']
    """
    told: list[str] = []
    base, first = "", 0.0
    for time in times:
        text = elapsed(time)
        told.append(f"+{elapsed(time - first)}" if text == base else text)
        if text != base:
            base, first = text, time
    return told
