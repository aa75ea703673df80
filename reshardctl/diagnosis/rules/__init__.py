"""All rules, in the order of their codes.

A code is never used twice; `pages/` has the documentation page of each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from reshardctl.diagnosis.rules import (  # noqa: F401 - a family registers its rules
    missing,
    positions,
    rows,
    sinks,
    starts,
    stream,
)
from reshardctl.diagnosis.rules.base import REGISTERED, Finding, Rule, Severity, View, merged
from reshardctl.diagnosis.rules.sinks import Sink

RULES: tuple[Rule[Any], ...] = tuple(sorted(REGISTERED, key=lambda rule: rule.code))
"""All rules, in order."""

SINKS: tuple[Rule[Sink], ...] = tuple(rule for rule in RULES if rule.of_a_sink)
"""Rules on what a sink holds of a stream, for `audit`."""

STARTS: tuple[Rule[View], ...] = tuple(rule for rule in RULES if not rule.of_a_sink)
"""Rules on a consumer's next start, for `inspect`."""

_WANTED_BY = {rule.code: rule.wanted_by for rule in RULES}


def findings(view: View) -> list[Finding]:
    """Every rule's findings for one candidate, worst first."""
    others = [f for rule in STARTS if not rule.last for f in rule.match(view)]
    view = replace(view, findings=others)
    return worst_first([*others, *(f for rule in STARTS if rule.last for f in rule.match(view))])


def sink_findings(sink: Sink) -> list[Finding]:
    """Every rule's findings for one sink, worst first."""
    return worst_first(finding for rule in SINKS for finding in rule.match(sink))


def worst_first(unsorted: Iterable[Finding]) -> list[Finding]:
    """Findings in the order of every report."""
    return sorted(unsorted, key=lambda f: (-f.severity, f.code, f.shards))


def fails(finding: Finding, policy: str) -> bool:
    """Whether the finding is an error that the policy does not ask for."""
    return finding.severity is Severity.ERROR and policy not in _WANTED_BY[finding.code]


__all__ = [
    "RULES", "SINKS", "STARTS", "Finding", "Rule", "Severity", "Sink", "View", "fails", "findings",
    "merged", "sink_findings", "worst_first",
]
