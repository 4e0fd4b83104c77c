"""What the check finds."""

from __future__ import annotations

from attrs import frozen

from flowpy.rules import RULES, Rule

__all__ = ["Finding"]


@frozen(order=True)
class Finding:
    """One place in workflow code that breaks a rule.

    Attributes:
        path: The file, as it was named.
        line: Line, from 1.
        column: Column, from 1.
        rule_id: Id of the rule.
        what: What stands there, such as ``time.time``.
        function: The function of workflow code it stands in, "" for what concerns the file.
        note: What is particular about this place, or "".
        severity: ``"error"`` or ``"warning"``.
    """

    path: str
    line: int
    column: int
    rule_id: str
    what: str = ""
    function: str = ""
    note: str = ""
    severity: str = "error"

    @property
    def rule(self) -> Rule:
        """The rule it breaks."""
        return RULES[self.rule_id]

    @property
    def message(self) -> str:
        """What is wrong, in one line, without the place and the remedy."""
        where = f" in {self.function}" if self.function else ""
        what = f"{self.what}{where}: " if self.what else ""
        return f"{what}{self.note or self.rule.why}"

    @property
    def remedy(self) -> str:
        """What to write instead."""
        return self.rule.replacement
