"""All rules, in the order of their codes.

A code is never used twice; `pages/` has the documentation page of each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import Any

from reshardctl.diagnosis.rules.base import REGISTERED, Finding, Rule, Severity, View, merged
from reshardctl.diagnosis.rules.sinks import Sink

for _name in (
    "rsh101_reshard_in_progress",
    "rsh102_stream_recreated",
    "rsh103_hash_range_hole",
    "rsh104_open_parent",
    "rsh105_closed_without_children",
    "rsh201_child_before_parent",
    "rsh202_parent_abandoned",
    "rsh203_child_not_started",
    "rsh204_position_expired",
    "rsh205_orphaned_position",
    "rsh206_false_end",
    "rsh207_position_out_of_range",
    "rsh208_child_at_latest",
    "rsh209_refilled_at_start_position",
    "rsh210_position_at_end",
    "rsh211_merge_parent_missing",
    "rsh212_position_before_birth",
    "rsh213_blocked_for_ever",
    "rsh214_read_again",
    "rsh215_time_mark_without_time",
    "rsh216_drained_not_ended",
    "rsh217_head_unknown",
    "rsh218_unread_skipped",
    "rsh231_dies_after_reshard",
    "rsh232_source_key_missing",
    "rsh233_may_never_commit",
    "rsh234_log_shared",
    "rsh301_unreadable_entry",
    "rsh302_foreign_entry",
    "rsh303_pending_checkpoint_left",
    "rsh304_end_with_subsequence",
    "rsh305_parents_unreadable",
    "rsh306_handoff_in_progress",
    "rsh307_unreadable_beside",
    "rsh401_consumer_running",
    "rsh402_leader_lock_left",
    "rsh403_not_progressing",
    "rsh404_time_in_the_future",
    "rsh501_records_missing",
    "rsh502_records_doubled",
    "rsh503_keys_out_of_order",
    "rsh504_rows_of_no_shard",
    "rsh505_shard_without_rows",
    "rsh506_position_behind_sink",
    "rsh507_position_ahead_of_sink",
    "rsh508_cannot_be_known",
    "rsh509_rows_unreadable",
    "rsh510_sink_changed_while_read",
    "rsh901_could_not_look",
):
    import_module(f"{__name__}.{_name}")

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
