"""Findings as SARIF 2.1.0, the form in which code scanning services take them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from flowpy.check.finding import Finding
from flowpy.rules import RULES, Rule

__all__ = ["sarif"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX = {id: index for index, id in enumerate(RULES)}


def sarif(findings: Iterable[Finding], version: str) -> dict[str, Any]:
    """A SARIF log of one run.

    Args:
        findings: What was found.
        version: Of flowpy.

    Returns:
        What ``json.dumps`` takes.
    """
    driver = {"name": "flowpy check", "version": version, "rules": [_rule(rule) for rule in RULES.values()]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding) for finding in findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.name},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"Instead: {rule.replacement}"},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.path)},
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }
    }
    if finding.function:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.function, "kind": "function"}]
    return {
        "ruleId": finding.rule_id,
        "ruleIndex": _INDEX[finding.rule_id],
        "level": finding.severity,
        "message": {"text": f"{finding.message}. Instead: {finding.remedy}"},
        "locations": [location],
    }


def _uri(path: str) -> str:
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(pure.as_posix())
