"""KCL 2.3–3.5 on its DynamoDB lease table, single stream, as one `Consumer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from reshardctl.consumers.base import Candidate, Cannot, Incarnation
from reshardctl.consumers.kcl import encode as encoding
from reshardctl.consumers.kcl import liveness
from reshardctl.consumers.kcl.app import App, Start
from reshardctl.consumers.kcl.behaviour import replay
from reshardctl.consumers.kcl.keys import key_of, split
from reshardctl.consumers.kcl.options import read_options
from reshardctl.consumers.kcl.plain import PLAIN
from reshardctl.consumers.kcl.positions import earlier_incarnation, of_another_stream, unborn
from reshardctl.consumers.kcl.releases import KCL_2, KCL_3, KCL_3_5, Traits
from reshardctl.consumers.kcl.rows import LeaseTable, parse
from reshardctl.consumers.kcl.settled import settled
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Image,
    Line,
    Odd,
    Oddity,
    Replay,
    ShardId,
    Step,
    Stream,
    Wanted,
    canonical,
    decode,
)

_FOOTPRINT = (
    "checkpoint", "checkpointSubSequenceNumber", "parentShardId", "childShardIds",
    "pendingCheckpoint", "leaseOwner", "checkpointOwner", "entityType",
)


class Kcl:
    """See `Consumer`. Stateless."""

    name = "kcl"
    moving = frozenset({
        "leaseCounter", "leaseOwner", "checkpointOwner", "ownerSwitchesSinceCheckpoint",
        "throughputKBps",
    })
    counters = frozenset({"leaseCounter"})
    owners = frozenset({"leaseOwner", "checkpointOwner"})
    reading = frozenset({
        "checkpoint", "checkpointSubSequenceNumber", "pendingCheckpoint", "childShardIds",
        "leaseOwner", "checkpointOwner",
    })
    plain = PLAIN

    def parse(self, images: Iterable[Image], stream: Stream | None = None) -> LeaseTable:  # noqa: ARG002
        """Lease rows, with rows of other kinds apart."""
        return parse(images)

    def shard_of(self, key: str) -> ShardId:
        """What is behind the stream in the key of a multi-stream table, else the key itself."""
        return split(key)[1]

    def empty(self, table: LeaseTable) -> bool:
        """Whether there is no lease; rows of other kinds do not count."""
        return not table.rows

    def positions(self, table: LeaseTable) -> dict[ShardId, str]:
        """Checkpoints as spelled, with the sub-sequence number where there is one."""
        return {
            shard: (row.position or "?") + (f"/{row.sub}" if row.sub else "")
            for shard, row in table.rows.items()
        }

    def odd(self, lineage: Lineage, table: LeaseTable) -> list[Odd]:
        """Oddities of the rows themselves, and of rows against the lineage."""
        found = list(table.odd)
        for shard, row in table.rows.items():
            key, raw = row.image.key, row.position or ""
            if unborn(lineage, shard):
                why = "the stream has no such shard yet"
                found.append(Odd(Oddity.UNBORN, key, raw, why, shard))
            elif shard not in lineage:
                why = "the shard is not listed any more"
                found.append(Odd(Oddity.GONE, key, raw, why, shard))
            if earlier_incarnation(lineage, row):
                why = "its number is older than the stream"
                found.append(Odd(Oddity.EARLIER_INCARNATION, key, raw, why, shard))
        return found

    def incarnation(self, lineage: Lineage, table: LeaseTable) -> Incarnation:
        """By the times and ranges of every decodable number."""
        numbers = [r for r in table.rows.values() if r.position and decode(r.position)]
        for row in numbers:
            if of_another_stream(lineage, row):
                raise WrongStream(
                    f"row {row.image.key}: {row.position} is no number of stream "
                    f"{lineage.stream.name}, and younger than it: the table belongs to another "
                    "stream",
                    "name that stream with --stream, or the right table",
                )
        if not numbers:
            return Incarnation.AMBIGUOUS
        if all(earlier_incarnation(lineage, row) for row in numbers):
            return Incarnation.RECREATED
        return Incarnation.SAME

    def candidates(self, table: LeaseTable, options: Mapping[str, str]) -> list[Candidate]:
        """Start modes × releases that the options and the table's own marks leave open."""
        given = read_options(options)
        releases: Sequence[Traits] = (given.traits,) if given.traits else _starters(table)
        starts = (given.initial,) if given.initial else _starts(table)
        apps = [App(s, t, given.time, given.failover) for s in starts for t in releases]
        return [Candidate(app, app.options()) for app in apps]

    def settled(self, lineage: Lineage, table: LeaseTable, app: App) -> Line:
        """Present rows at their word, absent ones by cause."""
        return settled(lineage, table, app)

    def replay(self, lineage: Lineage, table: LeaseTable, app: App) -> Replay:
        """The next start."""
        return replay(lineage, table, app)

    def encode(
        self, lineage: Lineage, table: LeaseTable, want: Wanted, app: App,
        leave: Collection[ShardId],
    ) -> list[Step] | Cannot:
        """Lease rows that hold the line."""
        if table.foreign and not app.traits.takes_foreign:
            return Cannot(
                f"KCL {app.traits.release} dies of the rows that 3.5 keeps beside its leases, "
                "and only leases are ours to write",
                (
                    "start the application with KCL 3.5 or later",
                    "or follow AWS's rollback procedure, which takes those rows away",
                ),
            )
        return encoding.encode(lineage, table, want, app, leave)

    def bootstrap(self, lineage: Lineage, want: Wanted, app: App) -> list[Step]:  # noqa: ARG002
        """First leases; the same for every release."""
        return encoding.bootstrap(lineage, want)

    def footprint(self, image: Image) -> dict[str, Any]:
        """Position, parents, pending mark, ownership; no counters, no statistics."""
        item = canonical(image.attributes)
        kept: dict[str, Any] = {name: item[name] for name in _FOOTPRINT if name in item}
        kept["unreadable"] = [
            name for name in ("leaseCounter", "ownerSwitchesSinceCheckpoint")
            if "N" not in item.get(name, {})
        ]
        return kept

    def family(self, lineage: Lineage, keys: Collection[str]) -> set[str]:
        """The rows themselves and those of all ancestors, descendants and their parents."""
        wide: set[ShardId] = set()
        named = None
        for key in keys:
            named, shard = split(key)
            wide |= {shard} | lineage.ancestors(shard) | lineage.descendants(shard)
        for shard in list(wide):
            wide.update(lineage[shard].parents if shard in lineage else ())
            wide.update(lineage.children(shard))
        return {key_of(named, shard) for shard in wide}

    def signs_of_life(self, images: Iterable[Image]) -> dict[str, str]:
        """Renewals of owned leases, the leader's lock, workers' statistics."""
        return liveness.signs_of_life(images)

    def excluded_by(self, seconds: float) -> str:
        """What a silent watch rules out."""
        return liveness.excluded_by(seconds)


def _starters(table: LeaseTable) -> tuple[Traits, ...]:
    if table.foreign or table.marks_entities:
        return (KCL_3_5,)
    return (KCL_3, KCL_3_5) if table.newer_than_2 else (KCL_2, KCL_3_5)


def _starts(table: LeaseTable) -> tuple[Start, ...]:
    """A sentinel that only one start mode writes tells it; else all are possible."""
    stored = {row.position for row in table.rows.values()}
    for start in (Start.AT_TIMESTAMP, Start.LATEST):
        if str(start) in stored:
            return (start,)
    return (Start.LATEST, Start.TRIM_HORIZON, Start.AT_TIMESTAMP)
