"""Whose the rows of a lease table are: lease keys, rows that are no leases, the judged stream.

Keys: a bare shard id, or stream and shard id where one table serves several streams.
`<account>:<stream>:<creation epoch>:<shard>` is MultiStreamLease.getLeaseKey over
StreamIdentifier.serialize of KCL 2.3 to 3.5. Parents and children are bare ids in both.

Rows that are no leases hold an application's own state: its migration, its leader. KCL 3.0-3.4 keep
it in two tables, `<application>-CoordinatorState` and `-WorkerMetricStats`. 3.5 keeps it in the
lease table, unless it found the two tables and was not told to give them up (runs on 3.1.3 and
3.5.1, November 2026). Sources: MigrationState, MigrationClientVersionStateInitializer,
CoordinatorStateDAO of 3.1.3 and 3.5.1, which reads the separate table first until the move into the
lease table is complete.

The judged stream is found among those of a multi-stream table by its epoch or by numbers. KCL takes
the creation epoch in its keys from the application and compares it with nothing
(StreamIdentifier.multiStreamInstance, KCL 3.5.1). So the epoch proves the stream only where it
equals the stream's creation time. Otherwise the numbers do: those written after the stream was
created cannot belong to an earlier one of its name. Where no row holds a number it cannot be known,
as in a single-stream table, and the operator has to say so for a fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from reshardctl.consumers.base import Worker
from reshardctl.errors import UsageError, WrongStream
from reshardctl.model import Attributes, Image, ShardId, SideTable, Stream, time_of
from reshardctl.model.phrases import listed
from reshardctl.model.times import instant

_SHARD = re.compile(r"shardId-\d{12}\Z", re.ASCII)
_OF_DYNAMODB = re.compile(r"shardId-\d{20}-[0-9a-f]{8}\Z", re.ASCII)
"""A shard of a DynamoDB stream: its milliseconds and a random part."""
_ASKED_FOR = re.compile(r"[a-zA-Z0-9_.-]{1,128}\Z", re.ASCII)
"""The pattern of ShardId in the API reference of GetShardIterator; others: ValidationException."""
_STREAM = re.compile(r"(?P<account>\d+):(?P<name>[^:]+):(?P<epoch>\d+)\Z", re.ASCII)


class Named(Struct, frozen=True):
    """A stream as a multi-stream application names it.

    epoch: the creation time, in seconds, that the application was given; KCL never compares it with
    Kinesis (StreamIdentifier.multiStreamInstance).
    """

    account: str
    name: str
    epoch: int
    text: str

    @classmethod
    def of(cls, text: str) -> Named | None:
        """Read `account:stream:epoch`, `None` for anything else."""
        match = _STREAM.match(text)
        if match is None or int(match["epoch"]) <= 0:
            return None
        return cls(match["account"], match["name"], int(match["epoch"]), text)

    def key(self, shard: str) -> str:
        """The key of one of its rows."""
        return f"{self.text}:{shard}"


def is_shard(text: str) -> bool:
    """Whether the text is a shard id of Kinesis Data Streams."""
    return _SHARD.match(text) is not None


def asked_for(text: str) -> bool:
    """Whether Kinesis looks for a shard of this id, and says ResourceNotFound if it has none."""
    return _ASKED_FOR.match(text) is not None


def split(key: str) -> tuple[Named | None, ShardId]:
    """A lease key's stream (`None` in a single-stream table) and shard."""
    stream, _, shard = key.rpartition(":")
    named = Named.of(stream) if stream else None
    return (named, ShardId(shard)) if named else (None, ShardId(key))


def key_of(named: Named | None, shard: str) -> str:
    """The key of a shard's row."""
    return named.key(shard) if named else str(shard)


def no_lease_table(keys: Iterable[str]) -> UsageError:
    """The error for a table without a key that names a shard of a Kinesis data stream."""
    first, *_ = some = sorted(keys)
    if any(_OF_DYNAMODB.search(key) for key in some):
        return UsageError(
            f"row {first!r} is a lease of a shard of a DynamoDB stream: the table of an "
            "application of the DynamoDB Streams Kinesis Adapter, which synchronises by rules of "
            "its own and is not judged here",
            "name the lease table of an application of a Kinesis data stream: kcl://TABLE",
        )
    return UsageError(
        f"row {first!r} is no lease of a Kinesis shard: this is not a KCL lease table "
        "of a Kinesis data stream, or another program writes to it",
        "name the application's lease table: kcl://TABLE",
    )


STATE, WORKERS = "-CoordinatorState", "-WorkerMetricStats"
MIGRATION, TABLE_MIGRATION, LEADER = "Migration3.0", "TableMigration3.5", "Leader"

UPGRADING, ROLLED_BACK = "CLIENT_VERSION_UPGRADE_FROM_2X", "CLIENT_VERSION_2X"
WITH_ROLLBACK, FINAL = "CLIENT_VERSION_3X_WITH_ROLLBACK", "CLIENT_VERSION_3X"
LONGEST_TIME = 19
"""Digits of the last Long."""
COMPLETE, _STATUS = "COMPLETE", "TABLE_MIGRATION_STATUS_"
CLIENTS = frozenset({"CLIENT_VERSION_INIT", UPGRADING, ROLLED_BACK, WITH_ROLLBACK, FINAL})
"""ClientVersion of 3.5.1."""


class Coordinator(Struct, frozen=True):
    """The state in those rows.

    Attributes:
        client: State of the migration, "" where none is stored.
        migration: The row that holds it.
        broken: What makes its row unreadable.
        tables: State of the move into the lease table.
        move: The row that holds it.
        leader: The row of the leader's lock.
        beside: Whether the separate tables exist.
        unread: Why those were not read.
    """

    client: str = ""
    broken: str = ""
    tables: str = ""
    leader: Image | None = None
    beside: bool = False
    unread: tuple[str, ...] = ()
    migration: Image | None = None
    move: Image | None = None

    @property
    def as_2(self) -> bool:
        """Whether 3.x workers assign leases as 2.x does, without the leader's lock."""
        return self.client in (UPGRADING, ROLLED_BACK)


def side_tables(application: str) -> tuple[SideTable, ...]:
    """The side tables to read, the one with the migration state first."""
    return (
        SideTable(f"{application}{STATE}", "key", (MIGRATION, TABLE_MIGRATION, LEADER)),
        SideTable(f"{application}{WORKERS}", "wid"),
    )


def is_side(key: str) -> bool:
    """Whether a row's key is that of a row in a side table: `<table>/<key>`."""
    table, slash, _ = key.partition("/")
    return bool(slash) and table.endswith((STATE, WORKERS))


def workers(foreign: Mapping[str, Image], side: Mapping[str, Image]) -> Iterator[tuple[Image, int]]:
    """The rows of 3.x workers, with the time (Unix seconds) of their last update, "lut"."""
    for image in (*foreign.values(), *side.values()):
        lut = image.attributes.get("lut", {}).get("N")
        if isinstance(lut, str) and lut.isdecimal() and len(lut) <= LONGEST_TIME:
            yield image, int(lut)


def named_workers(
    foreign: Mapping[str, Image], side: Mapping[str, Image], leader: Image | None
) -> list[Worker]:
    """The workers that have a row of their own, and the holder of the leader's lock.

    leaseDuration of the lock's row is in milliseconds, as text (amazon-dynamodb-lock-client).
    """
    holder = _text(leader.attributes, "ownerName") if leader is not None else ""
    seen = {
        _text(image.attributes, "wid") or _text(image.attributes, "leaseKey"): float(time)
        for image, time in workers(foreign, side)
    }
    lock = _text(leader.attributes, "leaseDuration") if leader is not None else ""
    held = int(lock) / 1000 if lock.isdecimal() and len(lock) <= LONGEST_TIME else None
    names = dict.fromkeys([*seen, *([holder] if holder else [])])
    return [
        Worker(name, seen.get(name), name == holder, held if name == holder else None)
        for name in names if name
    ]


def coordinator_of(foreign: Mapping[str, Image], side: Mapping[str, Image]) -> Coordinator:
    """The application's state. foreign: rows beside the leases; side: rows of its side tables."""
    own = {
        key.partition("/")[2]: image for key, image in side.items()
        if key.partition("/")[0].endswith(STATE)
    }
    unread = tuple(
        _text(image.attributes, "unread") for key, image in side.items() if key.endswith("/")
    )
    there = {key: image for key, image in own.items() if key}
    tables = there.get(TABLE_MIGRATION) or foreign.get(TABLE_MIGRATION)
    moved = _text(tables.attributes, "tm").removeprefix(_STATUS) if tables else ""
    first, second = (foreign, there) if moved == COMPLETE else (there, foreign)
    migration = first.get(MIGRATION) or second.get(MIGRATION)
    beside = migration is not None and migration is there.get(MIGRATION)
    return Coordinator(
        _text(migration.attributes, "cv") if migration else "",
        broken(migration.attributes, beside) if migration else "",
        moved, first.get(LEADER) or second.get(LEADER), bool(there), unread, migration, tables,
    )


def broken(item: Attributes, beside: bool = False) -> str:
    """What keeps KCL from reading a `Migration3.0` row; "" where it can.

    KCL then takes the row for one of another kind and gives up ("Unexpected state found not
    confirming to MigrationState schema", MigrationClientVersionStateInitializer of 3.1.3, 3.5.1).
    """
    kind = item.get("entityType")
    if not beside and kind is not None and kind.get("S") != "CLIENT_VERSION_MIGRATION":
        return f"its entityType is {kind.get('S', '?')}"
    return next(_flaws(item), "") or next((f"its history: {f}" for f in _history(item)), "")


def _flaws(item: Attributes) -> Iterator[str]:
    if _text(item, "cv") not in CLIENTS:
        yield f"cv is {_text(item, 'cv') or 'missing'}"
    if "mb" not in item:
        yield "mb is missing"
    if not _is_number(item):
        yield "mts is missing or no whole number of 64 bits"


def _history(item: Attributes) -> Iterator[str]:
    """The AWS SDK takes an attribute of another type for an empty list, or an empty map."""
    for entry in item.get("h", {}).get("L", ()):
        yield from _flaws(entry.get("M", {}))


def _is_number(item: Attributes) -> bool:
    value = item.get("mts", {}).get("N")
    if not isinstance(value, str) or len(digits := value.removeprefix("-")) > LONGEST_TIME:
        return False
    return digits.isdecimal() and -(2**63) <= int(value) < 2**63


def _text(item: Attributes, name: str) -> str:
    value = item.get(name, {}).get("S")
    return value if isinstance(value, str) else ""


SLACK = 60
"""Seconds by which a first number may be older than its stream's creation time."""
NAMED = 5
"""How many streams a message names."""

Positions = Mapping[Named, Sequence[str]]
"""Every stream of the table, with the positions of its rows as spelled."""


def chosen(positions: Positions, stream: Stream | None) -> Named:
    """The judged stream's name in the table; raises UsageError or WrongStream if there is none."""
    if stream is None:
        raise UsageError(
            f"a multi-stream table, with rows of {names_of(positions)}", "name one with --stream"
        )
    same = [n for n in positions if (n.account, n.name) == (stream.account, stream.name)]
    exact = [n for n in same if n.epoch == int(stream.created)]
    younger = [n for n in same if any(_since(stream, text) for text in positions[n])]
    alive = exact or younger or [n for n in same if not any(map(time_of, positions[n]))]
    if len(alive) == 1:
        return alive[0]
    raise _none(positions, stream, same, alive)


def _since(stream: Stream, position: str) -> bool:
    """Whether the position is a number that was written after the stream was created."""
    time = time_of(position)
    return time is not None and time >= stream.created - SLACK


def _none(
    positions: Positions, stream: Stream, same: Sequence[Named], alive: Sequence[Named]
) -> WrongStream:
    what = f"stream {stream.name} of account {stream.account}, created {instant(stream.created)}"
    there = f"the table serves several streams, and has rows of {names_of(positions)}"
    if alive:
        return WrongStream(
            f"{there}: more than one may be {what}",
            "none has its creation time in its key, and no number of theirs is older than it; "
            "give the application the creation time, or delete the rows of the wrong name",
        )
    if same:
        return WrongStream(
            f"{there}: none of them is {what}",
            f"the numbers of {same[0].text} are older: it is an earlier stream of this name. "
            "An application that is given the present creation time starts at its initial "
            "position; one that keeps the old name stalls until these rows are deleted",
        )
    return WrongStream(
        f"{there}: none of them is {what}",
        "name one of these with --stream, or another table; a stream that the application was "
        "given just now gets its first rows from KCL itself",
    )


def names_of(streams: Iterable[Named]) -> str:
    """The streams by name, in order, and how many more there are."""
    return listed(sorted(named.text for named in streams), NAMED)


def others_in_words(own: Named, others: Mapping[Named, int]) -> list[str]:
    """Notes on the rows that are not judged. others: stream → number of rows."""
    earlier = {n: c for n, c in others.items() if (n.account, n.name) == (own.account, own.name)}
    rest = {n: c for n, c in others.items() if n not in earlier}
    notes = []
    if rest:
        named = listed(sorted(rest, key=str), NAMED, lambda n: f"{n.text} ({rest[n]})")
        notes.append(
            f"a multi-stream table: {_rows(rest.values())} of {len(rest)} other "
            f"stream{'s' if len(rest) > 1 else ''}, left alone: {named}"
        )
    return notes


def earlier(own: Named, other: Named) -> bool:
    """Whether the other has the same account and name, and another epoch."""
    return (own.account, own.name) == (other.account, other.name) and own != other


def _rows(counts: Iterable[int]) -> str:
    total = sum(counts)
    return f"{total} row{'s' if total != 1 else ''}"
