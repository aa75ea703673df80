"""harlow/kinesis-consumer in all of its stores, and programs that share them, as one `Consumer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from reshardctl.consumers.base import BaseConsumer, Candidate, Cannot, ShardOwner
from reshardctl.consumers.kinesis_consumer.behaviour import processed, simulate_start
from reshardctl.consumers.kinesis_consumer.encode import (
    bootstrap,
    encode,
    not_guarded,
    rewound,
    title,
)
from reshardctl.consumers.kinesis_consumer.releases import (
    App,
    Start,
    Whose,
    applications,
    note_of,
    whose,
)
from reshardctl.consumers.kinesis_consumer.rows import LEASE, Positions, belonging, parse
from reshardctl.consumers.kinesis_consumer.spec import KINESIS_CONSUMER, NUMBER, key_of, shard_of
from reshardctl.consumers.sequence_numbers import against_listing
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, Image, ShardId, Step, Stream, TargetFrontier, canonical


class KinesisConsumer(BaseConsumer[Positions, App]):
    """See `BaseConsumer`. rows_of: whose rows to read, nobody's until options are known."""

    spec = KINESIS_CONSUMER
    shard_of = staticmethod(shard_of)
    processed = staticmethod(processed)
    simulate_start = staticmethod(simulate_start)
    encode = staticmethod(encode)
    title = staticmethod(title)

    def __init__(self, rows_of: Whose | None = None) -> None:
        self._whose = rows_of or Whose()

    def for_options(self, options: Mapping[str, str], medium: str = "", /) -> KinesisConsumer:
        """Returns the consumer for one application; raises UsageError for an unknown option."""
        return KinesisConsumer(whose(options, medium))

    def parse(self, images: Iterable[Image], stream: Stream | None = None, /) -> Positions:
        """Parse the application's rows, with those of others apart."""
        return parse(images, self._whose, stream)

    def parse_again(
        self, images: Iterable[Image], stream: Stream | None, before: Positions, /
    ) -> Positions:
        """Parse the application's rows; rows whose images are unchanged are taken over."""
        return parse(images, self._whose, stream, before)

    def empty(self, positions: Positions, /) -> bool:
        """Whether the application has no row at all, not even an unreadable one."""
        return not positions.rows and not positions.blank

    def others(self, positions: Positions, /) -> dict[str, str]:
        """Rows of the same table or keyspace, by application where they read the same stream."""
        return belonging(positions, self._whose)

    def positions(self, positions: Positions, /) -> dict[ShardId, str]:
        """Numbers as spelled."""
        return {shard: row.text for shard, row in positions.rows.items()}

    def texts(self, positions: Positions, /) -> Mapping[ShardId, str]:
        """Numbers without what keeps the library from reading them: a repair writes them so."""
        return positions.bare

    def anomalies(self, lineage: Lineage, positions: Positions, /) -> list[Anomaly]:
        """Anomalies of the rows themselves, and of rows against the listing."""
        anomalies = list(positions.anomalies)
        for shard, row in positions.rows.items():
            anomalies += against_listing(lineage, shard, row.image.key, row.text)
        return anomalies

    def wrong_stream(self, positions: Positions, shard: ShardId, why: str, /) -> WrongStream:
        """The error names the row: two splits into application and stream may share a namespace.

        Keys of Redis have a mark between the two.
        """
        split = "APP-STREAM is one text: another split of it into app and stream may be meant; "
        if self._whose.medium in ("redis", "rediss"):
            split = ""
        return WrongStream(
            f"row {positions.rows[shard].image.key}: {why}: {positions.namespace} is kept for "
            "another stream",
            f"{split}name that stream with --stream, or the right app=",
        )

    def candidates(self, positions: Positions, options: Mapping[str, str], /) -> list[Candidate]:
        """Start modes × releases that the options leave open; the rows distinguish none."""
        apps = applications(
            options, leased=bool(positions.leases), medium=self._whose.medium
        )
        note = note_of(options.get("release"))
        return [Candidate(app, app.options(), note, _defaults(app)) for app in apps]

    def bootstrap(
        self, lineage: Lineage, want: TargetFrontier, app: App, /
    ) -> list[Step] | Cannot:
        """First rows."""
        namespace = self._whose.namespace(lineage.stream.name)
        return bootstrap(lineage, want, app, namespace)

    def rebuild(
        self, lineage: Lineage, positions: Positions, want: TargetFrontier, app: App, /
    ) -> list[Step] | Cannot:
        """Rows where the target frontier has unread shards, as for a new application."""
        if positions.unguarded:
            return not_guarded(positions.unguarded)
        if app.traits.infers_ends:
            want = rewound(lineage, want)
        return super().rebuild(lineage, positions, want, app)

    def family(self, lineage: Lineage, keys: Collection[str], /) -> set[str]:
        """The rows of related shards, with a consumer group's leases of them."""
        wide: set[str] = set()
        leases = self._whose.leases(lineage.stream.name)
        for key in keys:
            space, near = key.partition("/")[0], lineage.related([shard_of(key)])
            wide |= {key} | {f"{space}/{shard}" for shard in near}
            wide |= {key_of(leases, f"{LEASE}{shard}") for shard in near}
        return wide

    def signs_of_life(self, images: Iterable[Image], /) -> dict[str, str]:
        """Positions that advance, and the times of a consumer group."""
        return {image.key: _sign(image) for image in images}

    def owners_by_shard(self, positions: Positions, /) -> dict[ShardId, ShardOwner]:
        """No owner, except where a group's lease names one."""
        leases = positions.leases
        return {
            shard: ShardOwner(leases[shard].owner if shard in leases else "", row.text, row.text)
            for shard, row in positions.rows.items()
        }

    def excluded_by(self, seconds: float, /) -> str:
        """What a watch without a change rules out."""
        return f"no position moved for {seconds:g} s, which a consumer with nothing to read shows"


def _sign(image: Image) -> str:
    item = canonical(image.attributes)
    return " ".join(
        str(next(iter(item[name].values())))
        for name in (NUMBER, "lease_expires_at", "worker_expires_at") if name in item
    )


def _defaults(app: App) -> dict[str, str]:
    """By initialShardIteratorType of the library's New, and Telegraf's shard_iterator_type."""
    telegraf = app.traits.release.startswith("telegraf")
    return {"initial": str(Start.TRIM_HORIZON if telegraf else Start.LATEST)}
