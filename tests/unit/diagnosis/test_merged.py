"""One list of the findings of several candidates."""

from __future__ import annotations

import pytest

from reshardctl.diagnosis.rules.base import Finding, Severity, merged
from reshardctl.model import shard_id


def found(what: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding("RSH206", "false-end", severity, (shard_id(1),), what, "")


@pytest.mark.parametrize(("parts", "what", "when"), [
    ({"1.13.3": "crashes", "2.7.2": "is lost", "3.5.1": "is lost"}, "is lost", ""),
    ({"1.13.3": "crashes", "2.7.2": "is lost"}, "crashes", ""),
    ({"1.13.3": "crashes", "2.7.2": "is lost", "3.5.1": "is lost", "3.1.3": None}, "is lost",
     "1.13.3 or 2.7.2 or 3.5.1"),
])  # fmt: skip
def test_what_most_candidates_say_of_a_finding_is_shown(parts, what, when):
    said = {label: [found(told)] if told else [] for label, told in parts.items()}
    (one,) = merged(said)
    assert (one.what, one.when) == (what, when)


def test_the_gravest_counts_though_most_say_less():
    parts = {"a": [found("crashes")], "b": [found("late", Severity.WARNING)],
             "c": [found("late", Severity.WARNING)]}  # fmt: skip
    (one,) = merged(parts)
    assert (one.what, one.severity) == ("crashes", Severity.ERROR)
