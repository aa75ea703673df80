"""KCL 1.0–3.5 on a DynamoDB lease table for one stream or several, as a `Consumer`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from reshardctl.consumers.base import (
    BaseConsumer,
    Candidate,
    Cannot,
    Contradiction,
    Incarnation,
    Migration,
    Worker,
    WorkerLimit,
)
from reshardctl.consumers.kcl.behaviour import simulate_start
from reshardctl.consumers.kcl.beside import MULTI_STREAM, applications
from reshardctl.consumers.kcl.encode import bootstrap, encode, rebuild
from reshardctl.consumers.kcl.flaws import flaws
from reshardctl.consumers.kcl.migrations import migrations
from reshardctl.consumers.kcl.processed import (
    PositionKind,
    begun_again,
    cleaned_or_lost,
    cut_of,
    kind_of,
    processed,
    wrong_parents,
)
from reshardctl.consumers.kcl.releases import App, note_of, read_options
from reshardctl.consumers.kcl.rows import (
    RENEWALS,
    LeaseTable,
    excluded_by,
    holds,
    notes_on_clients,
    parse,
    signs_of_life,
)
from reshardctl.consumers.kcl.spec import KCL
from reshardctl.consumers.kcl.steps import TRANSACTION, title
from reshardctl.consumers.kcl.sync import in_the_way
from reshardctl.consumers.kcl.table import key_of, named_workers, side_tables, split
from reshardctl.consumers.sequence_numbers import against_listing
from reshardctl.errors import UsageError, WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import Anomaly, AnomalyKind, Cut, Image, ShardId, Step, TargetFrontier

DEFAULTS = {"initial": "LATEST"}
"""DEFAULT_INITIAL_POSITION_IN_STREAM of KinesisClientLibConfiguration (1.x, and of the MultiLang
daemon); StreamTracker.DEFAULT_POSITION_IN_STREAM and RetrievalConfig (2.x and 3.x)."""


class Kcl(BaseConsumer[LeaseTable, App]):
    """See `BaseConsumer`. Stateless."""

    spec = KCL
    at_once = TRANSACTION
    parse = staticmethod(parse)
    side_tables = staticmethod(side_tables)
    processed = staticmethod(processed)
    simulate_start = staticmethod(simulate_start)
    bootstrap = staticmethod(bootstrap)
    signs_of_life = staticmethod(signs_of_life)
    owners_by_shard = staticmethod(holds)
    excluded_by = staticmethod(excluded_by)
    title = staticmethod(title)

    def shard_of(self, key: str, /) -> ShardId:
        """The part of a multi-stream key after the stream, else the key itself."""
        return split(key)[1]

    def empty(self, table: LeaseTable, /) -> bool:
        """Whether there is no lease; rows of other kinds do not count."""
        return not table.rows

    def workers(self, table: LeaseTable, /) -> list[Worker]:
        """Those of KCL 3.x that report their load, and the holder of the leader's lock."""
        return named_workers(table.foreign, table.side, table.coordinator.leader)

    def worker_limit(
        self, table: LeaseTable, options: Mapping[str, str], /
    ) -> WorkerLimit | None:
        """maxLeasesForWorker, against all leases of the application."""
        most = read_options(options).most_leases
        if most is None:
            return None
        leases = table.leases()
        return WorkerLimit(most, Counter(row.owner for row in leases if row.owner), len(leases))

    def migrations(self, table: LeaseTable, /) -> list[Migration]:
        """From 2.x to 3.x, and of the side tables into the lease table."""
        return migrations(table)

    def positions(self, table: LeaseTable, /) -> dict[ShardId, str]:
        """Checkpoints as spelled, with the sub-sequence number where there is one."""
        return {
            shard: (row.position or "?") + (f"/{row.sub}" if row.sub else "")
            for shard, row in table.rows.items()
        }

    def texts(self, table: LeaseTable, /) -> dict[ShardId, str]:
        """Checkpoints without their sub-sequence numbers."""
        return {shard: row.position or "" for shard, row in table.rows.items()}

    def stored_cuts(self, lineage: Lineage, table: LeaseTable, app: App, /) -> dict[ShardId, Cut]:
        """Checkpoints with their sub-sequence numbers; AT_TIMESTAMP is the application's own."""
        wrong = (PositionKind.AHEAD, PositionKind.FOREIGN, PositionKind.NONSENSE)
        return {
            shard: cut_of(row, app) for shard, row in table.rows.items()
            if row.position is not None and kind_of(lineage, row) not in wrong
        }

    def anomalies(self, lineage: Lineage, table: LeaseTable, /) -> list[Anomaly]:
        """Anomalies of the rows themselves, and of rows against the lineage."""
        anomalies = list(table.anomalies)
        for shard, row in table.rows.items():
            anomalies += against_listing(lineage, shard, row.image.key, row.position or "")
        why = "cleaned up, or lost before its children were started"
        for shard in cleaned_or_lost(lineage, table.rows):
            key = key_of(table.named, shard)
            anomalies.append(Anomaly(AnomalyKind.CLEANED_OR_LOST, key, "", why, shard))
        return anomalies

    def incarnation(self, lineage: Lineage, table: LeaseTable, /) -> Incarnation:
        """Judged by the creation time in multi-stream keys, else by sequence numbers."""
        by_numbers = super().incarnation(lineage, table)
        if table.named and table.named.epoch == int(lineage.stream.created):
            return Incarnation.SAME
        if by_numbers is Incarnation.RECREATED and begun_again(lineage, table.rows.values()):
            return Incarnation.AMBIGUOUS
        return by_numbers

    def contradictions(
        self, lineage: Lineage, table: LeaseTable, app: App, /
    ) -> dict[ShardId, Contradiction]:
        """Rows name their shards' parents and hash keys, too."""
        listed = ((row, lineage[shard]) for shard, row in table.rows.items() if shard in lineage)
        otherwise = {
            row.shard: Contradiction.OTHERWISE for row, shard in listed
            if wrong_parents(lineage, row)
            or row.hash_range not in (None, (shard.hash_start, shard.hash_end))
        }
        return otherwise | super().contradictions(lineage, table, app)

    def caveats(self, table: LeaseTable, /) -> Iterable[str]:
        """That the rows are another client's."""
        return notes_on_clients([row.image for row in table.rows.values()])

    def wrong_stream(self, table: LeaseTable, shard: ShardId, why: str, /) -> WrongStream:
        """The error names the row's key."""
        return WrongStream(
            f"row {table.rows[shard].image.key}: {why}: the table belongs to another stream",
            "name that stream with --stream, or the right table",
        )

    def candidates(self, table: LeaseTable, options: Mapping[str, str], /) -> list[Candidate]:
        """Start modes × releases that the options and the table's attributes leave open."""
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

    def encode(
        self, lineage: Lineage, table: LeaseTable, want: TargetFrontier, app: App,
        leave: Collection[ShardId], /,
    ) -> list[Step] | Cannot:
        """Lease rows that hold the target frontier."""
        obstacle = in_the_way(lineage, table, app.traits)
        return obstacle or encode(lineage, table, want, app, leave)

    def rebuild(
        self, lineage: Lineage, table: LeaseTable, want: TargetFrontier, app: App, /
    ) -> list[Step] | Cannot:
        """A lease for every listed shard."""
        return in_the_way(lineage, table, app.traits) or rebuild(lineage, table, want, app)

    def holds_parts(self, app: App, /) -> bool:
        """From the first release that reads sub-sequence numbers."""
        return app.traits.reads_subs

    def footprint(self, image: Image, /) -> dict[str, object]:
        """Position, parents, pending checkpoint and owner; no counters, no statistics."""
        unreadable = [flaw.name for flaw in flaws(image.attributes, *split(image.key))]
        return {**super().footprint(image), "unreadable": unreadable}

    def family(self, lineage: Lineage, keys: Collection[str], /) -> set[str]:
        """The rows themselves, those of all ancestors and descendants, and these rows' parents."""
        wide: set[ShardId] = set()
        named = None
        for key in keys:
            named, shard = split(key)
            wide |= {shard} | lineage.ancestors(shard) | lineage.descendants(shard)
        for shard in list(wide):
            wide.update(lineage[shard].parents if shard in lineage else ())
            wide.update(lineage.children(shard))
        return {key_of(named, shard) for shard in wide}

    def watch_needed(self, options: Mapping[str, str], /) -> float:
        """One renewal interval: a third of the failover time, where that is given."""
        if "failover" not in options:
            return self.spec.least_watch
        return read_options(options).failover / RENEWALS
