"""Which releases may have written a lease table, and may start on it, judged by its attributes.

Sources: the serializers of 1.3.0, 1.4.0, 1.13.3, 1.15.3, 2.2.11, 2.7.2 and 3.5.1. Only attributes
that 1.x never writes distinguish 1.14–1.15 from 2.3–2.7.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reshardctl.consumers.kcl.app import App, Start
from reshardctl.consumers.kcl.coordinator import ROLLED_BACK
from reshardctl.consumers.kcl.options import Options
from reshardctl.consumers.kcl.releases import (
    KCL_1_0,
    KCL_1_7,
    KCL_1_14,
    KCL_2,
    KCL_2_0,
    KCL_3,
    KCL_3_5,
    Traits,
)
from reshardctl.consumers.kcl.rows import LeaseTable
from reshardctl.errors import UsageError

_AUDITED = frozenset({"startingHashKey", "endingHashKey", "childShardIds"})
"""Written by 1.14+ and 2.3+; KCL's auditor adds hash keys to every unfinished row without them."""

_NEVER_1 = frozenset({"pendingCheckpointState", "streamName", "shardId"})
"""Written by 2.3+ only."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Which optional attributes a table's rows have, so that new rows have the same.

    audited: hash keys and childShardIds. subs: checkpointSubSequenceNumber.
    """

    audited: bool
    subs: bool


def shape_of(table: LeaseTable, traits: Traits) -> Shape:
    """The shape of the existing rows; for an empty table, the one that the release writes."""
    if not table.rows:
        return Shape(not traits.syncs_fully, traits.reads_subs)
    return Shape(_any(table, _AUDITED), _any(table, {"checkpointSubSequenceNumber"}))


def applications(table: LeaseTable, given: Options) -> list[App]:
    """Start modes × releases; raises UsageError if the named release has no such start mode."""
    releases = (given.traits,) if given.traits else starters(table)
    starts = (given.initial,) if given.initial else _starts(table)
    apps = [
        App(start, traits, given.time, given.failover)
        for start in starts for traits in releases
        if traits.starts_by_time or start is not Start.AT_TIMESTAMP
    ]
    if not apps:
        raise UsageError(
            f"KCL {releases[0].release} has no start mode AT_TIMESTAMP: it came with 1.7",
            "initial=LATEST or initial=TRIM_HORIZON, or another release=",
        )
    return apps


def starters(table: LeaseTable) -> tuple[Traits, ...]:
    """The releases that may start on the table: the one that wrote its newest row, and later ones.

    Where an upgrade was rolled back, or is in progress in tables of its own, 2.x too.
    """
    single = bool(table.foreign) or table.marks_entities
    if table.coordinator.client == ROLLED_BACK and single:
        return (KCL_2, KCL_3_5)
    if table.coordinator.as_2 and not single:
        return (KCL_2, KCL_3, KCL_3_5)
    if table.foreign or table.marks_entities:
        return (KCL_3_5,)
    if table.newer_than_2:
        return (KCL_3, KCL_3_5)
    if _any(table, _NEVER_1):
        return (KCL_2, KCL_3_5)
    if not table.rows or _any(table, _AUDITED):
        return (KCL_1_14, KCL_2, KCL_3_5)
    if _any(table, {"checkpointSubSequenceNumber"}):
        return (KCL_1_7, KCL_1_14, KCL_2_0, KCL_2, KCL_3_5)
    return (KCL_1_0, KCL_1_7, KCL_1_14, KCL_2_0, KCL_2, KCL_3_5)


def _any(table: LeaseTable, names: Iterable[str]) -> bool:
    wanted = frozenset(names)
    return any(not wanted.isdisjoint(row.image.attributes) for row in table.rows.values())


def _starts(table: LeaseTable) -> tuple[Start, ...]:
    """The one start mode that writes a stored sentinel, if there is one; else all."""
    stored = {row.position for row in table.rows.values()}
    for start in (Start.AT_TIMESTAMP, Start.LATEST):
        if str(start) in stored:
            return (start,)
    return (Start.LATEST, Start.TRIM_HORIZON, Start.AT_TIMESTAMP)
