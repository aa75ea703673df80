"""Every effect that a start has is claimed by exactly one finding.

What no finding claims is never shown; what two claim is counted twice. One exception is meant: a
merge that cannot end (RSH211) also shows what becomes of the parent that is missing, which has a
finding of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.diagnosis.rules import View, findings
from reshardctl.errors import UsageError
from reshardctl.model import Cause
from reshardctl.planning.effects import Effect, Harm
from tests.support.case import Case, all_cases
from tests.support.case_rows import Item, item_of
from tests.support.covering import few
from tests.support.grouped import by_case
from tests.support.judging import Bench
from tests.unit.diagnosis.rules.rule_tables import Told, table_of, told_by_cases, view_of, views_of

BESIDE = "RSH211"
THE_LAST = "RSH218"
"""It reports what all other rules leave: of a lease table, nothing."""
TOLD = told_by_cases()
RELEASES = ("1.13.3", "1.15.3", "2.2.11", "2.7.2", "3.1.3", "3.5.1", None)
INITIALS = ("LATEST", "TRIM_HORIZON", "AT_TIMESTAMP:+300", "AT_TIMESTAMP")


def to_be_claimed(effect: Effect) -> bool:
    """Re-reads that are merely possible are the price of not knowing, and no finding."""
    return effect.harm is not Harm.REREAD or effect.certain


def misclaimed(view: View) -> Iterator[tuple[Effect, list[str]]]:
    """Effects that none or more than one finding claims, with the codes."""
    found = findings(view)
    for effect in filter(to_be_claimed, view.effects):
        codes = [f.code for f in found if any(effect is claimed for claimed in f.effects)
                 and f.code != THE_LAST]
        if len([code for code in codes if code != BESIDE]) != 1:
            yield effect, codes


FEW = few(tuple({told.name: told.case for told in TOLD}.values()))


@by_case(((t.name, f"{t.initial} {t.release}", (t,)) for t in TOLD), FEW)
def test_in_every_case(told: Told) -> None:
    assert list(misclaimed(view_of(told))) == []


def test_in_every_table_of_a_rule() -> None:
    told = [one for code in range(101, 500) for one in table_of(f"RSH{code}")]
    assert told
    assert [(t.name, list(bad)) for t in told if (bad := list(misclaimed(view_of(t))))] == []


@st.composite
def tables(draw: st.DrawFn) -> tuple[Case, list[Item]]:
    """Any row of a known kind, or none, for every shard of a case's stream."""
    case = draw(st.sampled_from(STREAMS))
    rows = [
        row for shard in case.topology if (row := draw(st.sampled_from(_rows(case, shard))))
    ]
    return case, [item_of(row, dict(case.topology)) for row in rows]


def _rows(case: Case, shard: int) -> list[dict]:
    own = case.topology[shard]
    number = {"shard": shard, "checkpoint": own.records[1][1]}
    other = next(s.records[0][1] for s in case.topology.values() if s.id != shard and s.records)
    marks = ["TRIM_HORIZON", "LATEST", "SHARD_END", "AT_TIMESTAMP", "START"]
    return [
        {},
        number,
        *({"shard": shard, "checkpoint": mark} for mark in marks),
        {"shard": shard, "checkpoint": "END" if own.closed else "START"},
        {"shard": shard, "checkpoint": other},
        {"shard": shard, "checkpoint": "SHARD_END", "sub": 5},
        number | {"omit": ["leaseCounter"]},
        number | {"omit": ["checkpoint"]},
        number | {"parents": []},
        {"shard": shard, "checkpoint": "TRIM_HORIZON", "parents": []},
    ]


def _one_per_topology() -> list[Case]:
    seen: dict[object, Case] = {}
    for case in all_cases("kcl"):
        if all(len(s.records) > 1 for s in case.topology.values()):
            shape = tuple((s.id, s.parents, s.listed) for s in case.topology.values())
            seen.setdefault(shape, case)
    return list(seen.values())


STREAMS = _one_per_topology()


any_table = given(tables(), st.sampled_from(INITIALS), st.sampled_from(RELEASES))
some = settings(max_examples=80, suppress_health_check=[HealthCheck.filter_too_much])


@any_table
@some
def test_in_any_table(drawn: tuple[Case, list[Item]], initial: str, release: str | None) -> None:
    every_effect_is_claimed(*drawn, initial, release)


@pytest.mark.long
@any_table
@settings(some, max_examples=400)
def test_in_many_tables(drawn: tuple[Case, list[Item]], initial: str, release: str | None) -> None:
    every_effect_is_claimed(*drawn, initial, release)


def every_effect_is_claimed(
    case: Case, items: list[Item], initial: str, release: str | None
) -> None:
    if not items:
        return
    bench = Bench.of(case, initial, release, items=items)
    try:
        views = list(views_of(bench.plan_case))
    except UsageError:  # a number that proves the table to be another stream's
        return
    for view in views:
        assert list(misclaimed(view)) == []


def test_an_unclaimed_loss_is_reported_all_the_same() -> None:
    told = next(t for t in TOLD if "RSH203" in t.findings)
    view = view_of(told)
    unclaimed = (
        (Harm.SKIPPED, None), (Harm.STALLED, Cause.BACKFILL), (Harm.CRASHES, Cause.BACKFILL),
    )
    for harm, cause in unclaimed:
        stray = [replace(e, harm=harm, cause=cause) for e in view.effects]
        last = [f for f in findings(replace(view, effects=stray)) if f.code == THE_LAST]
        assert [f.effects for f in last] == [tuple(stray)]
