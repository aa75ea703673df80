"""Every rule speaks up where it must and is silent where it must be, and is needed for that.

The expectations are those of the case files and of the tables in this folder; both cite the runs
on the real library, its source, or a public thread.
"""

from __future__ import annotations

import pytest

from reshardctl.diagnosis import rules
from reshardctl.diagnosis.rules import STARTS, Rule, Severity
from reshardctl.model import ShardId
from tests.support.grouped import by_case
from tests.unit.diagnosis.rules.rule_tables import Told, table_of, told_by_cases, view_of

pytestmark = pytest.mark.slow

RAISED_ELSEWHERE = {
    "RSH103", "RSH104", "RSH105", "RSH216", "RSH217", "RSH218", "RSH231", "RSH232", "RSH233",
    "RSH234", "RSH307", "RSH401", "RSH403", "RSH901",
}  # fmt: skip
"""Codes that no view of a lease table can show: of a listing, of a watch, of records that were
read, of a read that failed, of another library's store (whose cases show them), or of what the
other rules leave."""

MATCHING = [rule for rule in STARTS if rule.code not in RAISED_ELSEWHERE]
BY_CASES = told_by_cases()
TABLES = {rule.code: table_of(rule.code) for rule in STARTS}
every_rule = pytest.mark.parametrize("rule", MATCHING, ids=[rule.code for rule in MATCHING])
every_table = by_case(
    (f"{code}-{told.name}", f"{told.initial} {told.release}", (code, told))
    for code, table in TABLES.items() for told in table
)


def broken(code: str) -> list[Told]:
    """Situations in which the rule must report something."""
    named = [told for told in BY_CASES if code in told.findings]
    return named + [told for told in TABLES[code] if told.speaks]


def fine(code: str) -> list[Told]:
    """Situations that look like it and are not."""
    return [told for told in TABLES[code] if not told.speaks]


def wrong(rule: Rule, told: list[Told], speaks: bool) -> list[str]:
    """The names of the situations in which the rule does the other thing."""
    return [t.name for t in told if any(rule.match(view_of(t))) is not speaks]


@every_table
def test_table(code: str, told: Told) -> None:
    found = rules.findings(view_of(told))
    assert {f.code for f in found if f.severity >= Severity.WARNING} == told.findings
    own = [f for f in found if f.code == code]
    assert bool(own) is told.speaks
    if told.severity is not None:
        assert [str(f.severity) for f in own] == [told.severity]
    if told.shards is not None:
        (one,) = own
        assert one.shards == tuple(ShardId(f"shardId-{n:012d}") for n in told.shards)


@every_rule
def test_three_broken_and_two_fine(rule: Rule) -> None:
    counted = [len({told.name for told in some(rule.code)}) for some in (broken, fine)]
    assert counted[0] >= 3 and counted[1] >= 2, (
        f"{rule.code} has {counted[0]} broken and {counted[1]} fine situations: add tables to "
        f"tests/unit/diagnosis/rules/{rule.code.lower()}.toml, or name the rule in "
        "RAISED_ELSEWHERE if no lease table of KCL can show it; see docs/extending.md"
    )


@every_rule
def test_speaks_where_broken_and_only_there(rule: Rule) -> None:
    assert wrong(rule, broken(rule.code), speaks=True) == []
    assert wrong(rule, fine(rule.code), speaks=False) == []


@pytest.mark.parametrize("code", sorted(RAISED_ELSEWHERE))
def test_what_is_raised_elsewhere_is_raised_by_no_table(code: str) -> None:
    (rule,) = (rule for rule in STARTS if rule.code == code)
    assert not TABLES[code]
    assert not any(any(rule.match(view_of(told))) for told in BY_CASES)
