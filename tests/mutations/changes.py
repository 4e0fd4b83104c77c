"""A change of a sample, and what the kit must say of it."""

from __future__ import annotations

from attrs import field, frozen

from .kit import Edits, Sample, Seen


@frozen
class Change:
    """A row of the table.

    Attributes:
        what: What was changed, in words.
        sample: In which sample.
        edits: Its text, and the text that takes its place.
        seen: What the kit must say of it.
        since_the_patch: The runs from before the sample's patch have all ended.
    """

    what: str
    sample: Sample
    edits: Edits
    seen: Seen = field(factory=Seen)
    since_the_patch: bool = False


def change(what: str, sample: Sample, *edits: tuple[str, str], since_the_patch: bool = False, **seen: str) -> Change:
    """A row."""
    return Change(what, sample, edits, Seen(**seen), since_the_patch)
