"""kinsumer on its three DynamoDB tables, as one `Consumer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reshardctl.consumers.base import MANY, Candidate, Cannot, Hold, Incarnation
from reshardctl.consumers.kinsumer import encode as encoding
from reshardctl.consumers.kinsumer import liveness
from reshardctl.consumers.kinsumer.app import App
from reshardctl.consumers.kinsumer.behaviour import replay
from reshardctl.consumers.kinsumer.bootstrap import bootstrap
from reshardctl.consumers.kinsumer.odd import odd
from reshardctl.consumers.kinsumer.options import applications
from reshardctl.consumers.kinsumer.releases import note_of
from reshardctl.consumers.kinsumer.rows import Row, Store, parse
from reshardctl.consumers.kinsumer.settled import settled
from reshardctl.consumers.kinsumer.spec import KINSUMER
from reshardctl.consumers.kinsumer.tables import CACHE, CHECKPOINTS, key_of
from reshardctl.consumers.related_shards import kin
from reshardctl.consumers.sequence_numbers import earlier_incarnation, of_wrong_stream
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Image,
    Line,
    Odd,
    Replay,
    ShardId,
    SideTable,
    Step,
    Stream,
    Wanted,
    canonical,
    decode,
)

DEFAULTS = {"initial": "TRIM_HORIZON"}
"""shard_consumer.go of both: TRIM_HORIZON unless Snowplow's fork is given a start timestamp."""


class Kinsumer:
    """See `Consumer`. Stateless."""

    spec = KINSUMER

    def bound(self, _options: Mapping[str, str], _medium: str = "") -> Kinsumer:
        """Itself: no option decides which rows are its own."""
        return self

    def understand(self, options: Mapping[str, str]) -> None:
        """By the applications that they leave possible on an empty store."""
        self.candidates(self.parse(()), options)

    def parse(
        self, images: Iterable[Image], stream: Stream | None = None,  # noqa: ARG002
    ) -> Store:
        """The three tables; they hold one stream, and do not say which."""
        return parse(images)

    def side_tables(self, target: str) -> tuple[SideTable, ...]:  # noqa: ARG002
        """None: all three tables are the store."""
        return ()

    def shard_of(self, key: str) -> ShardId:
        """What is behind the table in a checkpoint's key; the ShardCache is about all shards."""
        return ShardId(key.removeprefix(CHECKPOINTS)) if key.startswith(CHECKPOINTS) else MANY

    def empty(self, store: Store) -> bool:
        """Whether there is no checkpoint; clients, leader and ShardCache do not count."""
        return not store.rows

    def others(self, _checkpoint: Store) -> dict[str, str]:
        """None: each application has tables of its own."""
        return {}

    def positions(self, store: Store) -> dict[ShardId, str]:
        """Positions as spelled, with the finished mark where there is one."""
        return {shard: _spelled(row) for shard, row in store.rows.items()}

    def odd(self, lineage: Lineage, store: Store) -> list[Odd]:
        """Oddities of the rows themselves, and of rows against the lineage."""
        return odd(lineage, store)

    def incarnation(self, lineage: Lineage, store: Store) -> Incarnation:
        """By the times and ranges of every decodable number."""
        numbers = [
            (shard, row.number) for shard, row in store.rows.items()
            if row.number is not None and decode(row.number)
        ]
        if (wrong := of_wrong_stream(lineage, dict(numbers))) is not None:
            row = store.rows[wrong]
            raise WrongStream(
                f"row {row.image.key}: {row.number} is no number of stream "
                f"{lineage.stream.name}, and younger than it: the tables belong to another "
                "stream, or two streams share this application's name",
                "name that stream with --stream, or the right application",
            )
        if not numbers:
            return Incarnation.AMBIGUOUS
        if all(earlier_incarnation(lineage, number) for _, number in numbers):
            return Incarnation.RECREATED
        return Incarnation.SAME

    def candidates(self, store: Store, options: Mapping[str, str]) -> list[Candidate]:
        """Releases × start modes that the options and the tables' own marks leave open."""
        cached = store.cache.image if store.cache else None
        return [
            Candidate(
                replace(app, cached=cached), app.options(), note_of(options.get("release")),
                DEFAULTS,
            )
            for app in applications(options, store.forked)
        ]

    def settled(self, lineage: Lineage, store: Store, app: App) -> Line:
        """Rows at their word; what has none was never read."""
        return settled(lineage, store, app)

    def replay(self, lineage: Lineage, store: Store, app: App) -> Replay:
        """The next start."""
        return replay(lineage, store, app)

    def encode(
        self, lineage: Lineage, store: Store, want: Wanted, app: App,
        leave: Collection[ShardId],
    ) -> list[Step] | Cannot:
        """Checkpoints that hold the line, and the ShardCache where it would undo that."""
        return encoding.encode(lineage, store, want, app, leave)

    def bootstrap(self, lineage: Lineage, want: Wanted, app: App) -> list[Step]:
        """First checkpoints and a ShardCache."""
        return bootstrap(lineage, want, app)

    def rebuild(self, lineage: Lineage, _store: Store, want: Wanted, app: App) -> list[Step]:
        """A checkpoint for every listed shard, as for a new application."""
        return bootstrap(lineage, want, app)

    def footprint(self, image: Image) -> dict[str, Any]:
        """Position, finished mark, owner, cached shards; no stamps."""
        item = canonical(image.attributes)
        return {name: item[name] for name in self.spec.rests_on if name in item}

    def family(self, lineage: Lineage, keys: Collection[str]) -> set[str]:
        """The rows themselves, those of all ancestors and descendants, and the ShardCache."""
        own = (self.shard_of(key) for key in keys if key.startswith(CHECKPOINTS))
        return {CACHE} | {key_of(shard) for shard in kin(lineage, own)}

    def watch_needed(self, _options: Mapping[str, str]) -> float:
        """A client that lives renews its row in that time, by default."""
        return self.spec.least_watch

    def signs_of_life(self, images: Iterable[Image]) -> dict[str, str]:
        """Renewals of clients and of the leader."""
        return liveness.signs_of_life(images)

    def holds(self, store: Store) -> dict[ShardId, Hold]:
        """Checkpoint by checkpoint: owner, stamp, position."""
        return liveness.holds(store)

    def spent(self, _images: Iterable[Image], _keys: Collection[str]) -> dict[str, str]:
        """None: whatever it goes past, it writes into the row itself."""
        return {}

    def switch(self, images: Sequence[Image]) -> None:
        """Nothing in its store switches it off."""

    def excluded_by(self, seconds: float) -> str:
        """What a silent watch rules out."""
        return liveness.excluded_by(seconds)


def _spelled(row: Row) -> str:
    if "SequenceNumber" in row.mistyped:
        return "?"
    if row.finished is not None:
        return f"finished ({row.number})" if row.number else "finished without a number"
    return row.number or "never read"
