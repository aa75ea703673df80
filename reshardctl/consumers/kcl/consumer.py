"""KCL 1.0–3.5 on its DynamoDB lease table, one stream or one of several, as one `Consumer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from reshardctl.consumers.base import Candidate, Cannot, Hold, Incarnation
from reshardctl.consumers.kcl import encode as encoding
from reshardctl.consumers.kcl import liveness
from reshardctl.consumers.kcl import rebuild as rebuilding
from reshardctl.consumers.kcl.app import App
from reshardctl.consumers.kcl.behaviour import replay
from reshardctl.consumers.kcl.bystanders import MULTI_STREAM, in_the_way
from reshardctl.consumers.kcl.coordinator import side_tables
from reshardctl.consumers.kcl.fingerprints import applications
from reshardctl.consumers.kcl.flaws import flaws
from reshardctl.consumers.kcl.keys import key_of, split
from reshardctl.consumers.kcl.options import read_options
from reshardctl.consumers.kcl.positions import (
    begun_again,
    cleaned_or_lost,
    earlier_incarnation,
    of_wrong_stream,
    unborn,
)
from reshardctl.consumers.kcl.releases import note_of
from reshardctl.consumers.kcl.rows import LeaseTable, parse
from reshardctl.consumers.kcl.settled import settled
from reshardctl.consumers.kcl.spec import KCL
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

DEFAULTS = {"initial": "LATEST"}
"""DEFAULT_INITIAL_POSITION_IN_STREAM of KinesisClientLibConfiguration (1.x, and of the MultiLang
daemon); StreamTracker.DEFAULT_POSITION_IN_STREAM and RetrievalConfig (2.x and 3.x)."""


class Kcl:
    """See `Consumer`. Stateless."""

    spec = KCL

    def bound(self, _options: Mapping[str, str], _medium: str = "") -> Kcl:
        """Itself: no option decides which rows are leases."""
        return self

    def understand(self, options: Mapping[str, str]) -> None:
        """By the applications that they leave possible on an empty store."""
        self.candidates(self.parse(()), options)

    def parse(self, images: Iterable[Image], stream: Stream | None = None) -> LeaseTable:
        """Lease rows of the stream, with those of other streams and of other kinds apart."""
        return parse(images, stream)

    def side_tables(self, target: str) -> tuple[SideTable, ...]:
        """Those of KCL 3.0-3.4, by the names that they have unless they were configured."""
        return side_tables(target)

    def shard_of(self, key: str) -> ShardId:
        """What is behind the stream in the key of a multi-stream table, else the key itself."""
        return split(key)[1]

    def empty(self, table: LeaseTable) -> bool:
        """Whether there is no lease; rows of other kinds do not count."""
        return not table.rows

    def others(self, _checkpoint: LeaseTable) -> dict[str, str]:
        """None: a table is one application's, whatever streams it reads."""
        return {}

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
        why = "cleaned up, or lost before its children were started"
        for shard in cleaned_or_lost(lineage, table.rows):
            key = key_of(table.named, shard)
            found.append(Odd(Oddity.CLEANED_OR_LOST, key, "", why, shard))
        return found

    def incarnation(self, lineage: Lineage, table: LeaseTable) -> Incarnation:
        """By the times and ranges of every decodable number."""
        numbers = [r for r in table.rows.values() if r.position and decode(r.position)]
        if (wrong := of_wrong_stream(lineage, numbers)) is not None:
            raise WrongStream(
                f"row {wrong.image.key}: {wrong.position} is no number of stream "
                f"{lineage.stream.name}, and younger than it: the table belongs to another stream",
                "name that stream with --stream, or the right table",
            )
        if table.named and table.named.epoch == int(lineage.stream.created):
            return Incarnation.SAME
        if not numbers:
            return Incarnation.AMBIGUOUS
        if all(earlier_incarnation(lineage, row) for row in numbers):
            again = begun_again(lineage, table.rows.values())
            return Incarnation.AMBIGUOUS if again else Incarnation.RECREATED
        return Incarnation.SAME

    def candidates(self, table: LeaseTable, options: Mapping[str, str]) -> list[Candidate]:
        """Start modes × releases that the options and the table's own marks leave open."""
        given = read_options(options)
        if table.named and given.traits and given.traits.first < MULTI_STREAM:
            raise UsageError(
                f"release={options['release']}: KCL before 2.3 reads one stream a table, and this "
                f"one has rows of {table.named.text}",
                "name the release that runs, 2.3 or later",
            )
        note = note_of(options.get("release"))
        return [
            Candidate(app, app.options(), note, DEFAULTS) for app in applications(table, given)
        ]

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
        obstacle = in_the_way(table, app.traits)
        if obstacle is not None:
            return obstacle
        return encoding.encode(lineage, table, want, app, leave)

    def bootstrap(self, lineage: Lineage, want: Wanted, app: App) -> list[Step]:
        """First leases, in the shape that the release writes."""
        return encoding.bootstrap(lineage, want, app)

    def rebuild(
        self, lineage: Lineage, table: LeaseTable, want: Wanted, app: App
    ) -> list[Step] | Cannot:
        """A lease for every listed shard."""
        return in_the_way(table, app.traits) or rebuilding.rebuild(lineage, table, want, app)

    def footprint(self, image: Image) -> dict[str, Any]:
        """Position, parents, pending mark, ownership; no counters, no statistics."""
        item = canonical(image.attributes)
        kept: dict[str, Any] = {name: item[name] for name in self.spec.rests_on if name in item}
        kept["unreadable"] = [flaw.name for flaw in flaws(image.attributes, *split(image.key))]
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

    def watch_needed(self, options: Mapping[str, str]) -> float:
        """A renewal comes every third of the failover time, where that is told."""
        if "failover" not in options:
            return self.spec.least_watch
        return read_options(options).failover / liveness.RENEWALS

    def signs_of_life(self, images: Iterable[Image]) -> dict[str, str]:
        """Renewals of owned leases, the leader's lock, workers' statistics."""
        return liveness.signs_of_life(images)

    def holds(self, table: LeaseTable) -> dict[ShardId, Hold]:
        """Lease by lease: owner, counter, checkpoint."""
        return liveness.holds(table)

    def spent(self, _images: Iterable[Image], _keys: Collection[str]) -> dict[str, str]:
        """None: whatever it goes past, it writes into the row itself."""
        return {}

    def switch(self, images: Sequence[Image]) -> None:
        """Nothing in its store switches it off."""

    def excluded_by(self, seconds: float) -> str:
        """What a silent watch rules out."""
        return liveness.excluded_by(seconds)
