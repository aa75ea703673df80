"""Parses DynamoDB items into leases and keeps every anomaly.

Attributes and their types: KCL's DynamoDBLeaseSerializer (2.x and 3.x). What KCL does with a row
that lacks one: runs on 2.7.2 and 3.5.1.

Signs that an application runs: an owner renews its leases every third of failoverTimeMillis,
finished ones too (runs on 2.7.2 and 3.5.1); 3.x also updates the leader's lock and its workers'
statistics.

Lease tables that another client than AWS's own writes keep KCL's attributes, and each differs in
one, as far as its rows show it. Sources: DynamoDbLeaseRepository of svroonland/zio-kinesis @b338526
(`toDynamoItem` makes a lease without ownerSwitchesSinceCheckpoint, which claimLease and
updateCheckpoint add later, and keeps the parents under a name that KCL does not know); README of
disney/kcl-rust, "Lease" and "Creating" (a lease at AT_TIMESTAMP carries the time, in milliseconds,
as its sub-sequence number; KCL writes 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from reshardctl.consumers.base import ShardOwner
from reshardctl.consumers.kcl.flaws import (
    CHECKPOINT,
    CHILDREN,
    COUNTER,
    HASH_START,
    KIND,
    LEASE,
    OLD_OWNER,
    PARENTS,
    PENDING,
    SHARD_NAME,
    STREAM_NAME,
    SUB,
    SWITCHES,
    Flaw,
    flaws,
    hash_range,
    meant,
    text,
)
from reshardctl.consumers.kcl.releases import Traits
from reshardctl.consumers.kcl.table import (
    MIGRATION,
    Coordinator,
    Named,
    chosen,
    coordinator_of,
    earlier,
    is_shard,
    is_side,
    no_lease_table,
    others_in_words,
    split,
)
from reshardctl.errors import UsageError
from reshardctl.model import Anomaly, AnomalyKind, Attributes, Image, ShardId, Stream, is_number
from reshardctl.model.phrases import listed_shards
from reshardctl.model.times import instant

ZIO_PARENTS = "parentShardIds"
"""Where zio-kinesis's own consumer keeps what KCL keeps as parentShardId."""
_NAMED = 5
_AS_IF = "judged as if KCL started on them"


def written_by_zio(images: Sequence[Image]) -> bool:
    """Whether zio-kinesis's own consumer has made a lease of a child, and KCL has not run since.

    KCL gives every lease its hash range, those of others as well (since 1.14 and 2.3).
    """
    names = {name for image in images for name in image.attributes}
    return ZIO_PARENTS in names and HASH_START not in names


def without_its_own(flaws: tuple[Flaw, ...], image: Image) -> tuple[Flaw, ...]:
    """The flaws of a row of zio-kinesis, without the one that each of its new rows has."""
    if SWITCHES in image.attributes:
        return flaws
    return tuple(flaw for flaw in flaws if flaw.name != SWITCHES)


def notes_on_clients(images: Sequence[Image]) -> Iterator[str]:
    """That a forecast is KCL's, where another client has written the rows."""
    if written_by_zio(images):
        new = [split(image.key)[1] for image in images if SWITCHES not in image.attributes]
        unread = (
            f". KCL itself could not read {listed_shards(sorted(new), _NAMED)}, which zio-kinesis "
            f"made and has not written a checkpoint of ({SWITCHES} is missing)" if new else ""
        )
        yield f"zio-kinesis has written the rows ({ZIO_PARENTS}): {_AS_IF}{unread}"
    timed = [
        milliseconds for image in images
        if text(image.attributes, CHECKPOINT) == "AT_TIMESTAMP"
        and (milliseconds := meant(image.attributes, SUB))
    ]
    if timed:
        yield (
            f"disney/kcl-rust has written the rows: {_AS_IF}. Those at AT_TIMESTAMP carry a time "
            f"({instant(min(timed) / 1000)}), which KCL does not read: it takes its own "
            "application's"
        )


SHARD_END = "SHARD_END"
TRIM_HORIZON = "TRIM_HORIZON"
LATEST = "LATEST"
AT_TIMESTAMP = "AT_TIMESTAMP"
SENTINELS = frozenset({SHARD_END, TRIM_HORIZON, LATEST, AT_TIMESTAMP})

NO_COORDINATOR = Coordinator()

_NEEDED = frozenset({COUNTER, SWITCHES, STREAM_NAME, SHARD_NAME})
"""Attributes without which no release makes a lease of the row."""


class Row(Struct, frozen=True):
    """One lease.

    Attributes:
        position: The raw checkpoint, `None` if missing or no string.
        sub: The sub-sequence number; like `counter`, also read from a string of digits.
        parents: The ids on the row, empty where they are absent or no SS, as KCL reads them.
        parents_mistyped: Whether they are there and no SS.
        children: Like `parents`.
        hash_range: Inclusive, `None` where the row has none.
        flaws: Attributes that some release cannot read, or that keep it from taking the lease.
    """

    shard: ShardId
    image: Image
    position: str | None
    sub: int
    counter: int | None
    owner: str | None
    hand_off_from: str | None
    pending: str | None
    parents: frozenset[ShardId]
    parents_mistyped: bool
    children: frozenset[ShardId]
    hash_range: tuple[int, int] | None
    flaws: tuple[Flaw, ...]

    @property
    def ended(self) -> bool:
        """Whether KCL takes the lease for finished: SHARD_END with sub-sequence number 0."""
        return self.position == SHARD_END and self.sub == 0

    def unread(self, traits: Traits) -> tuple[Flaw, ...]:
        """Why the release makes no lease of the row; empty where it does."""
        return tuple(flaw for flaw in self.flaws if flaw.name in traits.reads) if self.flaws else ()

    def ignored(self, traits: Traits) -> bool:
        """Whether the release takes the row for one of another kind and ignores it."""
        return any(flaw.name == KIND for flaw in self.unread(traits))

    def has_flaw(self, name: str) -> bool:
        """Whether this attribute has a flaw."""
        return any(flaw.name == name for flaw in self.flaws)

    @property
    def understood(self) -> bool:
        """Whether the position is a sentinel or a number."""
        return self.position is not None and (
            self.position in SENTINELS or is_number(self.position)
        )


class LeaseTable(Struct, frozen=True):
    """A parsed lease table.

    Attributes:
        foreign: Rows of other kinds, by key; a release without entityType takes them for leases.
        strangers: Rows of no other kind whose keys name no shard in such a table.
        named: The stream of `rows`, `None` in a single-stream table.
        others: Rows of other streams, which are read and never written.
    """

    rows: Mapping[ShardId, Row]
    foreign: Mapping[str, Image]
    anomalies: tuple[Anomaly, ...]
    marks_entities: bool
    """Whether lease rows carry entityType (3.5+)."""
    newer_than_2: bool
    """Whether anything in it is written by 3.x only."""
    named: Named | None = None
    others: Mapping[Named, tuple[Row, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    side: Mapping[str, Image] = field(default_factory=dict)
    coordinator: Coordinator = NO_COORDINATOR
    strangers: tuple[Row, ...] = ()

    def leases(self) -> list[Row]:
        """All leases of the application, finished ones and those of other streams too.

        So does KCL count them for maxLeasesForWorker: DynamoDBLeaseTaker.computeLeasesToTake
        (2.7.3), LeaseAssignmentManager.isWorkerAssignedLeasesLessThanMaxLeases (3.5.1).
        """
        return [*self.rows.values(), *(row for rows in self.others.values() for row in rows)]

    def keyed_otherwise(self) -> list[Row]:
        """Every row whose key names no shard in such a table, rows of other kinds too.

        A release without entityType makes leases of those as well.
        """
        kinds = (_row(image, None, ShardId(key)) for key, image in self.foreign.items())
        return [*self.strangers, *kinds]

    def images(self) -> list[Image]:
        """Every row that the table was parsed from."""
        leases = self.leases()
        beside = (*self.foreign.values(), *self.side.values())
        return [*(row.image for row in (*leases, *self.strangers)), *beside]


def parse(
    images: Iterable[Image], stream: Stream | None = None, named: Named | None = None
) -> LeaseTable:
    """Read a whole table.

    Args:
        images: The rows of the lease table and of its side tables.
        stream: The one to judge where the table serves several.
        named: The same, where its name in the table is known already.

    Raises:
        UsageError: The table is no lease table.
        WrongStream: It has no rows of the stream.
    """
    images = list(images)
    of_zio = written_by_zio(images)
    leases: dict[Named | None, list[Row]] = {}
    foreign: dict[str, Image] = {}
    strangers: list[Row] = []
    side: dict[str, Image] = {}
    for image in images:
        whose, shard = split(image.key)
        if is_side(image.key):
            side[image.key] = image
        elif is_shard(shard):
            leases.setdefault(whose, []).append(_row(image, whose, shard, of_zio))
        elif text(image.attributes, KIND) in (None, LEASE):
            strangers.append(_row(image, None, ShardId(image.key)))
        else:
            foreign[image.key] = image
    if strangers and not leases:
        raise no_lease_table(row.image.key for row in strangers)
    own = named or _own(leases, stream)
    for other in [n for n in leases if (n is None) is not (own is None)]:
        strangers += [_row(r.image, None, ShardId(r.image.key)) for r in leases.pop(other)]
    others = {n: tuple(rows) for n, rows in leases.items() if n is not None and n != own}
    strangers.sort(key=lambda row: row.image.key)
    return _table(leases.get(own, ()), foreign, tuple(strangers), side, own, others)


def _own(leases: Mapping[Named | None, list[Row]], stream: Stream | None) -> Named | None:
    """The judged stream's name in the table; `None` in a table of one stream.

    Rows of the other sort than most are strangers: an application reads its own beside them.
    """
    several = {
        named: [row.position for row in rows if row.position]
        for named, rows in leases.items() if named is not None
    }
    alone, among = leases.get(None, []), [r for n, rows in leases.items() if n for r in rows]
    if len(alone) > len(among):
        return None
    if not several:
        return None
    if alone and len(alone) == len(among):
        raise UsageError(
            f"row {alone[0].image.key!r} is of a single-stream application, row "
            f"{among[0].image.key!r} beside it of a multi-stream one, and so are as many others of "
            "each: the table does not show which of the two runs",
            "keep the rows of the application that runs in a table of their own",
        )
    return chosen(several, stream)


def _table(
    own_rows: Iterable[Row], foreign: Mapping[str, Image], strangers: tuple[Row, ...],
    side: Mapping[str, Image], named: Named | None, others: Mapping[Named, tuple[Row, ...]],
) -> LeaseTable:
    rows = {row.shard: row for row in own_rows}
    items = [row.image.attributes for some in (rows.values(), *others.values()) for row in some]
    anomalies = [anomaly for row in rows.values() for anomaly in _oddities(row)]
    anomalies += [*_other_oddities(named, others), *_foreign_oddities(foreign, strangers)]
    coordinator = coordinator_of(foreign, side)
    anomalies += _coordinator_oddities(coordinator)
    notes = others_in_words(named, {n: len(r) for n, r in others.items()}) if named else ()
    return LeaseTable(
        rows, foreign, tuple(anomalies),
        any("entityType" in item for item in items),
        bool(foreign) or coordinator.beside or any(_written_by_3(item) for item in items),
        named, others, tuple(notes), side, coordinator, strangers,
    )


def _row(image: Image, named: Named | None, shard: ShardId, of_zio: bool = False) -> Row:
    item = image.attributes
    row_flaws = flaws(item, named, shard)
    parents, mistyped = _shard_set(item, PARENTS)
    return Row(
        shard=shard,
        image=image,
        position=text(item, CHECKPOINT),
        sub=meant(item, SUB) or 0,
        counter=meant(item, COUNTER),
        owner=text(item, "leaseOwner"),
        hand_off_from=text(item, OLD_OWNER),
        pending=text(item, PENDING),
        parents=parents,
        parents_mistyped=mistyped,
        children=_shard_set(item, CHILDREN)[0],
        hash_range=hash_range(item),
        flaws=without_its_own(row_flaws, image) if of_zio else row_flaws,
    )


def _oddities(row: Row) -> Iterator[Anomaly]:
    key, shard = row.image.key, row.shard
    for flaw in row.flaws:
        if flaw.name in (CHECKPOINT, PARENTS, CHILDREN):
            continue  # each has an anomaly of its own
        raw = str(row.image.attributes.get(flaw.name, "absent"))
        kind = AnomalyKind.UNREADABLE if flaw.name in _NEEDED else AnomalyKind.UNREADABLE_TO_SOME
        yield Anomaly(kind, key, raw, str(flaw), shard)
    if not row.understood:
        raw = str(row.image.attributes.get("checkpoint", "absent"))
        yield Anomaly(
            AnomalyKind.UNREADABLE, key, raw, "checkpoint is no number and no sentinel", shard
        )
    if row.position == SHARD_END and row.sub:
        why = "SHARD_END with a sub-sequence number is not taken for an end"
        yield Anomaly(AnomalyKind.END_WITH_SUB, key, str(row.sub), why, shard)
    if row.parents_mistyped:
        raw = str(row.image.attributes["parentShardId"])
        why = "parentShardId is no string set; KCL reads it as empty"
        yield Anomaly(AnomalyKind.PARENTS_UNREADABLE, key, raw, why, shard)
    if "SS" not in row.image.attributes.get("childShardIds", {"SS": []}):
        raw = str(row.image.attributes["childShardIds"])
        why = "childShardIds is no string set; KCL reads it as empty"
        yield Anomaly(AnomalyKind.PARENTS_UNREADABLE, key, raw, why, shard)
    if row.pending is not None:
        why = "a checkpoint was prepared and never committed; KCL hands it to the application"
        yield Anomaly(AnomalyKind.PENDING, key, row.pending, why, shard)
    if row.hand_off_from is not None:
        why = f"a hand-off from {row.hand_off_from} to {row.owner} is in progress"
        yield Anomaly(AnomalyKind.HAND_OFF, key, row.hand_off_from, why, shard)


def _other_oddities(
    own: Named | None, others: Mapping[Named, tuple[Row, ...]]
) -> Iterator[Anomaly]:
    """Anomalies of other streams' rows: those of an earlier stream and unreadable ones."""
    for named, rows in others.items():
        for row in rows:
            key = row.image.key
            if own is not None and earlier(own, named):
                why = f"a row of {named.text}, an earlier stream of this name"
                yield Anomaly(AnomalyKind.EARLIER_STREAM, key, row.position or "", why)
            if row.flaws:
                why = f"a row of another stream whose {row.flaws[0]}"
                yield Anomaly(AnomalyKind.FOREIGN_ENTRY, key, why, why)


def _foreign_oddities(
    foreign: Mapping[str, Image], strangers: Iterable[Row]
) -> Iterator[Anomaly]:
    for key, image in sorted(foreign.items()):
        kind = text(image.attributes, KIND) or ""
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, key, kind, f"a row of kind {kind}, not a lease")
    for row in strangers:
        key = row.image.key
        whose, shard = split(key)
        raw, why = repr(key), "its key names no shard"
        if is_shard(shard):
            raw += f" of a {'multi' if whose else 'single'}-stream application"
            why = "it is of another kind of application than most rows"
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, key, raw, why)


def _coordinator_oddities(state: Coordinator) -> Iterator[Anomaly]:
    if state.leader is not None and not state.as_2:
        why = (
            "a leader lock is in place; if its worker was killed, KCL 3.x assigns no unowned "
            "lease until the lock is two minutes old"
        )
        owner = text(state.leader.attributes, "ownerName") or ""
        yield Anomaly(AnomalyKind.LEADER_LEFT, state.leader.key, owner, why)
    if state.broken:
        why = f"KCL 3.x cannot read it ({state.broken}) and crashes at its start"
        yield Anomaly(AnomalyKind.FOREIGN_ENTRY, MIGRATION, "unreadable migration state", why)


def _written_by_3(item: Attributes) -> bool:
    return not {"throughputKBps", "checkpointOwner", "entityType"}.isdisjoint(item)


def _shard_set(item: Attributes, name: str) -> tuple[frozenset[ShardId], bool]:
    if name not in item:
        return frozenset(), False
    members = item[name].get("SS")
    return frozenset(ShardId(m) for m in members or ()), members is None


RENEWALS = 3
"""Renewals in one failover time."""


def signs_of_life(images: Iterable[Image]) -> dict[str, str]:
    """Row → what its owner changes; an owner's name alone proves nothing, it stays after a stop."""
    signs = {}
    for image in images:
        item = image.attributes
        if "leaseOwner" in item:
            owner = item["leaseOwner"].get("S", "?")
            signs[image.key] = f"{owner} {item.get('leaseCounter', {}).get('N')}"
        for mark in ("recordVersionNumber", "lut"):
            if mark in item:
                signs[image.key] = str(item[mark])
    return signs


def holds(table: LeaseTable) -> dict[ShardId, ShardOwner]:
    """Owner, leaseCounter and checkpoint of every lease."""
    return {
        shard: ShardOwner(row.owner or "", str(row.counter), f"{row.position}/{row.sub}", row.ended)
        for shard, row in table.rows.items()
    }


def excluded_by(seconds: float) -> str:
    """What a watch of `seconds` without a renewal rules out."""
    longest = seconds * RENEWALS
    return f"{seconds:g} s without a renewal rules out failover times up to {longest:g} s"
