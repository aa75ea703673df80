"""Rows beside the judged stream's own leases: what they crash, and what all rows show of releases.

The attributes of the rows say which releases may have written a table, and may start on it.
Sources: the serializers of 1.3.0, 1.4.0, 1.13.3, 1.15.3, 2.2.11, 2.7.2 and 3.5.1. Only attributes
that 1.x never writes distinguish 1.14–1.15 from 2.3–2.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kcl.flaws import STREAM_NAME, Flaw, flaws, text, unnamed
from reshardctl.consumers.kcl.releases import (
    KCL_1_0,
    KCL_1_7,
    KCL_1_14,
    KCL_2,
    KCL_2_0,
    KCL_3,
    KCL_3_5,
    App,
    Options,
    Start,
    Traits,
    Unreadable,
)
from reshardctl.consumers.kcl.rows import LeaseTable, Row
from reshardctl.consumers.kcl.table import (
    FINAL,
    MIGRATION,
    ROLLED_BACK,
    UPGRADING,
    WITH_ROLLBACK,
    Coordinator,
    workers,
)
from reshardctl.consumers.sequence_numbers import to_come
from reshardctl.errors import UsageError, command_line
from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Crash, Image, Risk, ShardId
from reshardctl.model.phrases import listed
from reshardctl.model.times import instant

MULTI_STREAM = (2, 3)
"""The first release that reads several streams from one table."""
READABLE_AGAIN = "the row can be read again"
_EPOCH_ZERO = re.compile(r"\d+:[^:]+:0+\Z", re.ASCII)
"""A stream's name that StreamIdentifier.validateCreationEpoch refuses."""

_STATES = {
    UPGRADING: "KCL 3.x is upgrading from 2.x here ({cv}): its workers assign leases as 2.x does, "
    "without a leader's lock, until every worker is 3.x",
    ROLLED_BACK: "KCL 3.x was rolled back here ({cv}): its workers assign leases as 2.x does, "
    "whatever they are configured with, until someone rolls it forward",
    WITH_ROLLBACK: "KCL 3.x runs here in its own way and can still be rolled back ({cv})",
}

_NOT_YET = (
    "a worker of KCL 3.5 with migrateAllEntitiesToLeaseTable crashes at its start "
    "until TableMigration3.5 is DEPLOYED"
)
_MOVES = {
    "": f"its side tables are in use; {_NOT_YET}",
    "INIT": f"its side tables are in use, and 3.5 is being rolled out (INIT); {_NOT_YET}",
    "DEPLOYED": "its side tables are in use and may be moved into the lease table (DEPLOYED)",
    "PENDING": "its side tables are moving into the lease table (PENDING): it can still go back",
    "COMPLETE": "its side tables have moved into the lease table for good (COMPLETE)",
}
"""TableMigrationStateMachineImpl of 3.5.1, by the state stored in `TableMigration3.5`."""


def of_other_rows(table: LeaseTable, traits: Traits) -> Crash | None:
    """The crash caused by the first row beside the stream's own that the release cannot read."""
    if traits.leader_lock and table.coordinator.broken:
        return Crash(
            f"KCL {traits.release} cannot read the row {MIGRATION} ({table.coordinator.broken}) "
            "and crashes after twenty attempts",
            f"the row {MIGRATION} can be read again, or is deleted",
        )
    for row in table.strangers:
        what = f"the row {row.image.key!r}"
        if crash := unreadable(what, flaws_beside(row.image, table, traits), traits, None):
            return crash
    for row in (row for rows in table.others.values() for row in rows):
        what = f"the lease {row.image.key}"
        if crash := unreadable(what, row.unread(traits), traits, None):
            return crash
    if (refused := _with_epoch_zero(table)) is not None:
        return Crash(
            f"KCL refuses the stream of the row {refused!r}, whose creation epoch is 0, and may "
            "read nothing at all", "that row is gone", certain=False,
        )
    return None


def _with_epoch_zero(table: LeaseTable) -> str | None:
    """A row of a multi-stream table whose stream was created at epoch 0.

    Runs of 2.7.2 and 3.5.1 beside such a row delivered nothing, one of 3.1.3 everything; beside a
    name of another form (`orders`) all three delivered everything (November 2026).
    """
    names = {r.image.key: text(r.image.attributes, STREAM_NAME) for r in table.strangers}
    wrong = (key for key, name in names.items() if name and _EPOCH_ZERO.match(name))
    return next(wrong, None) if table.named else None


def of_other_kinds(table: LeaseTable, traits: Traits) -> Crash | None:
    """The crash caused by rows of other kinds, which only 3.5 expects among the leases."""
    bad = sorted(key for key, image in table.foreign.items() if flaws_beside(image, table, traits))
    if traits.takes_foreign or not bad:
        return None
    return Crash(
        f"KCL {traits.release} cannot read the rows of other kinds that 3.5 keeps in the "
        f"lease table ({listed(bad, 3)}) and crashes at its start",
        "the application runs on 3.5 or later again", certain=_kills(traits),
    )


def flaws_beside(image: Image, table: LeaseTable, traits: Traits) -> tuple[Flaw, ...]:
    """Why the release makes no lease of a row that is not the stream's own; none if it makes one.

    Such rows are those of `foreign` and `strangers` of the table.
    """
    item = image.attributes
    row_flaws = [*flaws(item, None, ShardId(image.key)), *(unnamed(item) if table.named else ())]
    return tuple(flaw for flaw in row_flaws if flaw.name in traits.reads)


def leases_of_strangers(table: LeaseTable, traits: Traits) -> Iterator[Row]:
    """Rows whose keys name no shard, and of which the release makes leases all the same."""
    rows = table.keyed_otherwise()
    return (row for row in rows if not flaws_beside(row.image, table, traits))


def unreadable(
    what: str, bad: Sequence[Flaw], traits: Traits, cause: Cause | None
) -> Crash | None:
    """The crash at a row that the release cannot read; cause `None`: not the stream's own row."""
    if not bad or traits.unreadable is Unreadable.LEFT_OUT:
        return None
    why = f"KCL {traits.release} cannot read {what} ({', '.join(map(str, bad))}) and"
    if _kills(traits):
        return Crash(f"{why} crashes after twenty attempts", READABLE_AGAIN, cause=cause)
    otherwise = (
        "crashes if a scan returns it first; otherwise it leaves the row out, and every pass of "
        "KCL's hash-range auditor fails"
    )
    return Crash(f"{why} {otherwise}", READABLE_AGAIN, certain=False, cause=cause)


def _kills(traits: Traits) -> bool:
    return traits.unreadable is Unreadable.KILLS


def in_the_way(table: LeaseTable, traits: Traits) -> Cannot | None:
    """A crash that no write to the stream's own leases can prevent."""
    if of_other_kinds(table, traits) is not None:
        return Cannot(
            f"KCL {traits.release} crashes on the rows that 3.5 keeps beside its leases, "
            "and only leases are ours to write",
            (
                "start the application with KCL 3.5 or later, which can assign leases as 2.x does",
                "or let AWS's migration tool of KCL 3.5.3 remove them: reshardctl rule RSH302",
            ),
        )
    if traits.leader_lock and table.coordinator.broken:
        return Cannot(
            f"KCL {traits.release} crashes at the row {MIGRATION}: {table.coordinator.broken}; "
            "reshardctl writes leases only",
            ("repair the row by hand: reshardctl rule RSH302",),
        )
    return _beside_in_the_way(table, traits)


def _beside_in_the_way(table: LeaseTable, traits: Traits) -> Cannot | None:
    if (key := _with_epoch_zero(table)) is not None:
        return Cannot(
            f"KCL may read nothing beside the row {key!r}, whose stream has the creation epoch 0",
            ("stop every worker and delete that row by hand: reshardctl rule RSH302",),
        )
    if traits.unreadable is Unreadable.LEFT_OUT:
        return None
    for row in table.strangers:
        if flaws_beside(row.image, table, traits):
            return at_the_row(row, traits)
    for named, rows in table.others.items():
        if any(row.unread(traits) for row in rows):
            return Cannot(
                f"KCL {traits.release} crashes at a row of another stream, {named.text}",
                (f"repair that stream's rows first, with {command_line('--stream', named.name)}",),
            )
    return None


def at_the_row(row: Row, traits: Traits) -> Cannot:
    """A row that is no lease of the stream, and at which the release crashes."""
    return Cannot(
        f"KCL {traits.release} crashes at the row {row.image.key!r}, which is no lease of this "
        "stream",
        ("stop every worker and delete that row by hand: reshardctl rule RSH302",),
    )


def risks(
    lineage: Lineage, table: LeaseTable, traits: Traits, shards: Sequence[ShardId]
) -> Iterator[Risk]:
    """Workers that 3.x takes for alive by a time in the future, and gives leases to.

    LeaseAssignmentManager of 3.5.1 asks only whether the last update is not older than a minute;
    it takes a lease that nobody renews from such a worker, and gives it leases again. shards: those
    that will be read.
    """
    if not traits.leader_lock or table.coordinator.as_2:
        return
    for image, updated in workers(table.foreign, table.side):
        if to_come(lineage, updated):
            yield Risk(
                Cause.CLOCK_AHEAD, tuple(shards),
                f"worker {image.key} was last seen in the future ({instant(updated)}): until then "
                "KCL 3.x takes it for alive, and gives it leases again and again if it does not "
                "run, which nobody reads meanwhile",
                f"stop every worker and delete the row {image.key} by hand",
            )


def notes(table: LeaseTable, traits: Traits) -> Iterator[str]:
    """What an operator should know of the other streams and of the application's state."""
    yield from table.notes
    state = table.coordinator
    if traits.leader_lock:
        yield from _of_3(state, traits.takes_foreign)
    elif state.client in (WITH_ROLLBACK, FINAL):
        yield (
            f"KCL 3.x runs here in its own way ({state.client}): stop all of its workers before "
            f"KCL {traits.release} starts"
        )
    if state.unread and table.newer_than_2 and not table.foreign:
        yield f"not looked at: {'; '.join(state.unread)}"


def _of_3(state: Coordinator, takes_foreign: bool) -> Iterator[str]:
    if not state.as_2:
        yield (
            "KCL 3.x: after a crash nothing is assigned until the old leader's lock is two "
            "minutes old; a graceful stop leaves none"
        )
    if state.client in _STATES:
        yield _STATES[state.client].format(cv=state.client)
    if state.tables or (state.beside and takes_foreign):
        yield _MOVES.get(state.tables, f"TableMigration3.5 is {state.tables}, which is not known")


_AUDITED = frozenset({"startingHashKey", "endingHashKey", "childShardIds"})
"""Written by 1.14+ and 2.3+; KCL's auditor adds hash keys to every unfinished row without them."""

_NEVER_1 = frozenset({"pendingCheckpointState", "streamName", "shardId"})
"""Written by 2.3+ only."""


class Shape(Struct, frozen=True):
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
