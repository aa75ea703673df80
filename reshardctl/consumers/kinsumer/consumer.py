"""kinsumer on its three DynamoDB tables, as one `Consumer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from reshardctl.consumers.base import MANY, BaseConsumer, Candidate
from reshardctl.consumers.kinsumer.behaviour import (
    excluded_by,
    holds,
    processed,
    saved_at,
    signs_of_life,
    simulate_start,
    workers,
)
from reshardctl.consumers.kinsumer.encode import bootstrap, encode, title
from reshardctl.consumers.kinsumer.releases import App, applications, note_of
from reshardctl.consumers.kinsumer.rows import NOT_BEGUN, Row, Tables, parse, stored_cut
from reshardctl.consumers.kinsumer.spec import CACHE, CHECKPOINTS, KINSUMER, key_of
from reshardctl.consumers.sequence_numbers import against_listing
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, Cut, Image, ShardId, Stream

DEFAULTS = {"initial": "TRIM_HORIZON"}
"""shard_consumer.go of both: TRIM_HORIZON unless Snowplow's fork is given a start timestamp."""


class Kinsumer(BaseConsumer[Tables, App]):
    """See `BaseConsumer`. Stateless."""

    spec = KINSUMER
    processed = staticmethod(processed)
    simulate_start = staticmethod(simulate_start)
    encode = staticmethod(encode)
    bootstrap = staticmethod(bootstrap)
    signs_of_life = staticmethod(signs_of_life)
    owners_by_shard = staticmethod(holds)
    saved_at = staticmethod(saved_at)
    workers = staticmethod(workers)
    excluded_by = staticmethod(excluded_by)
    title = staticmethod(title)

    def parse(self, images: Iterable[Image], _stream: Stream | None = None, /) -> Tables:
        """Parse the three tables; they hold one stream, and do not name it."""
        return parse(images)

    def parse_again(
        self, images: Iterable[Image], _stream: Stream | None, before: Tables, /
    ) -> Tables:
        """Parse the three tables; checkpoints whose images are unchanged are taken over."""
        return parse(images, before.rows)

    def shard_of(self, key: str, /) -> ShardId:
        """The part of a checkpoint's key after the table; MANY for the ShardCache."""
        return ShardId(key.removeprefix(CHECKPOINTS)) if key.startswith(CHECKPOINTS) else MANY

    def empty(self, tables: Tables, /) -> bool:
        """Whether there is no checkpoint; clients, leader and ShardCache do not count."""
        return not tables.rows

    def positions(self, tables: Tables, /) -> dict[ShardId, str]:
        """Positions as spelled, with the finished mark where there is one."""
        return {shard: _spelled(row) for shard, row in tables.rows.items()}

    def texts(self, tables: Tables, /) -> dict[ShardId, str]:
        """Positions without the finished mark."""
        return {shard: row.number or "" for shard, row in tables.rows.items()}

    def stored_cuts(self, lineage: Lineage, tables: Tables, app: App, /) -> dict[ShardId, Cut]:
        """Numbers and LATEST; a finished mark is the end, with the last record's number."""
        cuts = {shard: stored_cut(lineage, row, app) for shard, row in tables.rows.items()}
        return {shard: cut for shard, cut in cuts.items() if cut is not None}

    def anomalies(self, lineage: Lineage, tables: Tables, /) -> list[Anomaly]:
        """Anomalies of the rows themselves, and of rows against the lineage."""
        anomalies = list(tables.anomalies)
        for shard, row in tables.rows.items():
            anomalies += against_listing(
                lineage, shard, row.image.key, row.number or "",
                unlisted="the shard is not listed; kinsumer never deletes a checkpoint",
                never_read=row.finished is None and row.number is None,
            )
        return anomalies

    def wrong_stream(self, tables: Tables, shard: ShardId, why: str, /) -> WrongStream:
        """The error names the row; no key names the stream."""
        return WrongStream(
            f"row {tables.rows[shard].image.key}: {why}: the tables belong to another "
            "stream, or two streams share this application's name",
            "name that stream with --stream, or the right application",
        )

    def candidates(self, tables: Tables, options: Mapping[str, str], /) -> list[Candidate]:
        """Releases × start modes that the options and the tables' attributes leave open."""
        cached = tables.cache.image if tables.cache else None
        return [
            Candidate(
                replace(app, cached=cached), app.options(), note_of(options.get("release")),
                DEFAULTS,
            )
            for app in applications(options, tables.forked)
        ]

    def family(self, lineage: Lineage, keys: Collection[str], /) -> set[str]:
        """The rows themselves, those of all ancestors and descendants, and the ShardCache."""
        own = (self.shard_of(key) for key in keys if key.startswith(CHECKPOINTS))
        return {CACHE} | {key_of(shard) for shard in lineage.related(own)}


def _spelled(row: Row) -> str:
    if "SequenceNumber" in row.mistyped:
        return "?"
    if row.finished is not None:
        return f"finished ({row.number})" if row.number else "finished without a number"
    return row.number or NOT_BEGUN
