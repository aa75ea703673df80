"""harlow/kinesis-consumer in all of its stores, and what shares them, as one `Consumer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from reshardctl.consumers.base import Candidate, Cannot, Hold, Incarnation
from reshardctl.consumers.kinesis_consumer import encode as encoding
from reshardctl.consumers.kinesis_consumer.app import App, Start, Whose, applications, whose
from reshardctl.consumers.kinesis_consumer.behaviour import replay
from reshardctl.consumers.kinesis_consumer.releases import note_of
from reshardctl.consumers.kinesis_consumer.rows import LEASE, Positions, belonging, parse
from reshardctl.consumers.kinesis_consumer.settled import settled
from reshardctl.consumers.kinesis_consumer.spec import KINESIS_CONSUMER
from reshardctl.consumers.kinesis_consumer.tables import NUMBER, key_of, shard_of
from reshardctl.consumers.related_shards import kin
from reshardctl.consumers.sequence_numbers import (
    ELSEWHERE,
    earlier_incarnation,
    of_a_shard_elsewhere,
    of_wrong_stream,
    unborn,
)
from reshardctl.errors import UsageError, WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Image,
    Line,
    Odd,
    Oddity,
    Replay,
    ShardId,
    SideTable,
    Step,
    Stream,
    Wanted,
    canonical,
    decode,
)


class KinesisConsumer:
    """See `Consumer`. Holds nothing but whose rows it reads."""

    spec = KINESIS_CONSUMER

    def __init__(self, rows_of: Whose | None = None) -> None:
        """rows_of: whose rows to read; nobody's until it is bound to a locator's options."""
        self._whose = rows_of or Whose()

    def bound(self, options: Mapping[str, str], medium: str = "") -> KinesisConsumer:
        """The same for one application. Raises UsageError for an option that there is not."""
        return KinesisConsumer(whose(options, medium))

    def understand(self, options: Mapping[str, str]) -> None:
        """By the applications that they leave possible on an empty store."""
        self.candidates(self.parse(()), options)

    def parse(self, images: Iterable[Image], stream: Stream | None = None) -> Positions:
        """The application's rows, with those of others apart."""
        return parse(images, self._whose, stream)

    def side_tables(self, _target: str) -> tuple[SideTable, ...]:
        """None."""
        return ()

    def shard_of(self, key: str) -> ShardId:
        """What is behind the namespace."""
        return shard_of(key)

    def empty(self, positions: Positions) -> bool:
        """Whether the application has no row at all, not even an unreadable one."""
        return not positions.rows and not positions.blank

    def others(self, positions: Positions) -> dict[str, str]:
        """Of the same table or keyspace: by application where they read the same stream."""
        return belonging(positions, self._whose)

    def positions(self, positions: Positions) -> dict[ShardId, str]:
        """Numbers as spelled."""
        return {shard: row.text for shard, row in positions.rows.items()}

    def odd(self, lineage: Lineage, positions: Positions) -> list[Odd]:
        """Oddities of the rows themselves, and of rows against the listing."""
        found = list(positions.odd)
        for shard, row in positions.rows.items():
            key, raw = row.image.key, row.text
            if unborn(lineage, shard):
                elsewhere = of_a_shard_elsewhere(lineage, shard, raw)
                why = ELSEWHERE if elsewhere else "the stream has no such shard yet"
                found.append(Odd(Oddity.UNBORN, key, raw, why, shard))
            elif shard not in lineage:
                why = "the shard is not listed any more"
                found.append(Odd(Oddity.GONE, key, raw, why, shard))
            if earlier_incarnation(lineage, raw):
                why = "its number is older than the stream"
                found.append(Odd(Oddity.EARLIER_INCARNATION, key, raw, why, shard))
        return found

    def incarnation(self, lineage: Lineage, positions: Positions) -> Incarnation:
        """By the times and ranges of every decodable number."""
        numbers = [row for row in positions.rows.values() if decode(row.text)]
        texts = {row.shard: row.text for row in numbers}
        if (wrong := of_wrong_stream(lineage, texts)) is not None:
            row = positions.rows[wrong]
            raise WrongStream(
                f"row {row.image.key}: {row.text} is no number of stream {lineage.stream.name}, "
                f"and younger than it: {positions.namespace} is kept for another stream",
                "APP-STREAM is one text: another split of it into app and stream may be meant; "
                "name that stream with --stream, or the right app=",
            )
        if not numbers:
            return Incarnation.AMBIGUOUS
        if all(earlier_incarnation(lineage, row.text) for row in numbers):
            return Incarnation.RECREATED
        return Incarnation.SAME

    def candidates(self, positions: Positions, options: Mapping[str, str]) -> list[Candidate]:
        """Start modes × releases that the options leave open; nothing in the rows tells."""
        found = applications(
            options, leased=bool(positions.leases), medium=self._whose.medium
        )
        note = note_of(options.get("release"))
        return [Candidate(app, app.options(), note, _defaults(app)) for app in found]

    def settled(self, lineage: Lineage, positions: Positions, app: App) -> Line:
        """Rows at their word, absent ones by what stands around them."""
        return settled(lineage, positions, app)

    def replay(self, lineage: Lineage, positions: Positions, app: App) -> Replay:
        """The next start."""
        return replay(lineage, positions, app)

    def encode(
        self, lineage: Lineage, positions: Positions, want: Wanted, app: App,
        leave: Collection[ShardId],
    ) -> list[Step] | Cannot:
        """Rows that hold the line."""
        return encoding.encode(lineage, positions, want, app, leave)

    def bootstrap(self, lineage: Lineage, want: Wanted, app: App) -> list[Step]:
        """First rows."""
        namespace = self._whose.namespace(lineage.stream.name)
        return encoding.bootstrap(lineage, want, app, namespace)

    def rebuild(
        self, lineage: Lineage, _positions: Positions, want: Wanted, app: App
    ) -> list[Step] | Cannot:
        """Rows where the line has shards to be read, as for a new application."""
        if app.traits.infers_ends:
            want = encoding.rewound(lineage, want)
        try:
            return self.bootstrap(lineage, want, app)
        except UsageError as error:
            return Cannot(error.what, (error.next,))

    def footprint(self, image: Image) -> dict[str, Any]:
        """The number; of a group's lease whether it is completed."""
        item = canonical(image.attributes)
        return {name: item[name] for name in self.spec.rests_on if name in item}

    def family(self, lineage: Lineage, keys: Collection[str]) -> set[str]:
        """The rows themselves and those of all ancestors, descendants and their parents; with the
        leases that a consumer group has of them."""
        wide: set[str] = set()
        leases = self._whose.leases(lineage.stream.name)
        for key in keys:
            space, near = key.partition("/")[0], kin(lineage, [shard_of(key)])
            wide |= {key} | {f"{space}/{one}" for one in near}
            wide |= {key_of(leases, f"{LEASE}{one}") for one in near}
        return wide

    def watch_needed(self, _options: Mapping[str, str]) -> float:
        """None: no row tells whether it runs."""
        return 0.0

    def signs_of_life(self, images: Iterable[Image]) -> dict[str, str]:
        """Positions that advance, and the clocks of a consumer group."""
        return {image.key: _sign(image) for image in images}

    def holds(self, positions: Positions) -> dict[ShardId, Hold]:
        """Nobody's; a group's lease says whose."""
        leases = positions.leases
        return {
            shard: Hold(leases[shard].owner if shard in leases else "", row.text, row.text)
            for shard, row in positions.rows.items()
        }

    def spent(self, _images: Iterable[Image], _keys: Collection[str]) -> dict[str, str]:
        """None: whatever it goes past, it writes into the row itself."""
        return {}

    def switch(self, images: Sequence[Image]) -> None:
        """Nothing in its store switches it off."""

    def excluded_by(self, seconds: float) -> str:
        """What a silent watch rules out."""
        return f"no position moved for {seconds:g} s, which a consumer with nothing to read shows"


def _sign(image: Image) -> str:
    item = canonical(image.attributes)
    return " ".join(
        str(next(iter(item[name].values())))
        for name in (NUMBER, "lease_expires_at", "worker_expires_at") if name in item
    )




def _defaults(app: App) -> dict[str, str]:
    """initialShardIteratorType of the library's New; shard_iterator_type of Telegraf's plugin."""
    telegraf = app.traits.release.startswith("telegraf")
    return {"initial": str(Start.TRIM_HORIZON if telegraf else Start.LATEST)}
