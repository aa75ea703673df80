"""A stream from a seed: splits, merges, shards that lived for a minute, records by their keys.

A record goes to the shard that its partition key's MD5 falls into at its time (PutRecord API
reference), so the keys run on from parents into children, as in life.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.shards import SPACE, Shard, key_hash
from reshardctl.testing.stream import Stream
from reshardctl.testing.topology import stream_of
from tests.proof.damaged_sinks.kpl import aggregate
from tests.proof.damaged_sinks.rows import Row

HOUR = 3600
RETENTION_HOURS = 24
CLEAR = 600
"""Seconds about the trim horizon in which nothing happens: a test's own time decides nothing."""
BRIEF_TURN = 2
"""Which reshard is undone a minute later; even, so that it is a split."""

Table = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """How a stream is drawn. hours: its age. aggregated: the share of packed records. busy: the
    share of shards that had billions of records before these, and of those whose place changed."""

    hours: int = 20
    roots: int = 2
    reshards: int = 5
    keys: int = 12
    records: int = 240
    aggregated: float = 0.0
    busy: float = 0.3
    slice: int = 900
    """Seconds of the stream that a right consumer puts into one batch."""
    burst: int = 1
    """Records in one millisecond."""


@dataclass(frozen=True)
class History:
    """`table` is the topology for FakeKinesis without its records; `rows` all that was ever
    written, trimmed or not.

    horizon: epoch seconds; what arrived before it is gone. listed: shards that can be listed.
    """

    table: Table
    rows: tuple[Row, ...]
    horizon: float
    listed: frozenset[str]

    @property
    def name(self) -> str:
        return str(self.table["name"])

    @property
    def created(self) -> int:
        return int(self.table["created"])

    def fake(self) -> FakeKinesis:
        """A service that holds the stream, its clock at `now`."""
        fake = FakeKinesis(start=self.created + self.table["now"])
        fake.add_stream(self.stream())
        return fake

    def stream(self) -> Stream:
        """Made anew each time: reading trims it."""
        return _stream(self.table)


def draw(seed: int, kind: Kind | None = None, *, now: int, name: str = "orders") -> History:
    """The stream of this seed, whose clock stands at `now` (epoch seconds)."""
    kind = kind or Kind()
    rng = Random(seed)
    age = kind.hours * HOUR
    horizon = age - RETENTION_HOURS * HOUR
    shards = _shards(rng, kind, age, horizon)
    _write(rng, kind, shards, age, horizon)
    for shard in shards:
        _make_busy(rng, kind, shard)
    table = {
        "name": name, "created": now - age, "now": age, "shards": shards,
        "retention_hours": RETENTION_HOURS,
    }  # fmt: skip
    listed = {shard["id"] for shard in shards if shard.get("close", age) > horizon}
    return History(
        table, tuple(_rows(table, kind)), now - age + max(horizon, 0),
        frozenset(f"shardId-{number:012d}" for number in listed),
    )  # fmt: skip


def _shards(rng: Random, kind: Kind, age: int, horizon: int) -> list[Table]:
    """One split is undone a minute later: its children hold nothing."""
    shards: list[Table] = [
        _shard(i, Fraction(i, kind.roots), Fraction(i + 1, kind.roots), [], 0)
        for i in range(kind.roots)
    ]
    for turn in range(kind.reshards):
        at = age * (turn + 1) // (kind.reshards + 1) + rng.randrange(HOUR // 4)
        at += 2 * CLEAR if abs(at - horizon) < CLEAR else 0
        open_now = sorted(
            (s for s in shards if "close" not in s), key=lambda s: Fraction(s["range"][0])
        )
        chosen = rng.randrange(len(open_now))
        if turn % 2 and chosen + 1 < len(open_now):
            _merge(shards, open_now[chosen], open_now[chosen + 1], at)
        else:
            lower, upper = _split(shards, open_now[chosen], at)
            if turn == BRIEF_TURN:
                _merge(shards, lower, upper, at + 60)
    return shards


def _shard(number: int, low: Fraction, high: Fraction, parents: list[int], at: int) -> Table:
    return {
        "id": number, "range": [str(low), str(high)], "parents": parents, "open": at, "records": [],
    }  # fmt: skip


def _split(shards: list[Table], parent: Table, at: int) -> tuple[Table, Table]:
    low, high = map(Fraction, parent["range"])
    parent["close"] = at
    for part in ((low, (low + high) / 2), ((low + high) / 2, high)):
        shards.append(_shard(len(shards), *part, [parent["id"]], at))
    return shards[-2], shards[-1]


def _merge(shards: list[Table], lower: Table, upper: Table, at: int) -> None:
    lower["close"] = upper["close"] = at
    whole = Fraction(lower["range"][0]), Fraction(upper["range"][1])
    shards.append(_shard(len(shards), *whole, [lower["id"], upper["id"]], at))


def _write(rng: Random, kind: Kind, shards: list[Table], age: int, horizon: int) -> None:
    """Records at drawn seconds, in the order of time, each into its key's shard."""
    drawn = (rng.randrange(30, age - 30) for _ in range(kind.records // kind.burst))
    moments = sorted(moment for moment in drawn for _ in range(kind.burst))
    moments += [age - 25 + i for i in range(3)]
    for count, moment in enumerate(moments):
        key = f"key-{rng.randrange(kind.keys)}"
        shard = _owner(shards, key, moment)
        if shard is None or abs(moment - horizon) < CLEAR:
            continue
        data = f"r{count}".encode()
        if rng.random() < kind.aggregated:
            data = _packed(shard, kind, count, key)
        shard["records"].append({"t": moment, "data": data, "key": key})


def _make_busy(rng: Random, kind: Kind, shard: Table) -> None:
    """jump: by how much its index grows before a record; moved: the record before which its epoch
    does, as two public streams show it (see Shard.move_epoch)."""
    many = len(shard["records"])
    if many and rng.random() < kind.busy:
        shard["jump"] = rng.randrange(1, 1 << rng.choice((4, 20, 36)))
    if many > 4 and rng.random() < kind.busy:
        shard["moved"] = rng.randrange(2, many - 1)


def _stream(table: Table) -> Stream:
    """The shards as the topology has them, then their records, then their ends once more: an end
    carries the last epoch."""
    bare = [{**shard, "records": []} for shard in table["shards"]]
    stream = stream_of({**table, "shards": bare})
    for shard, row in zip(stream.shards.values(), table["shards"], strict=True):
        _fill(shard, row, stream.created)
    return stream


def _fill(shard: Shard, row: Table, created: int) -> None:
    for at, record in enumerate(row["records"]):
        when = created + float(record["t"])
        if at == row.get("moved"):
            shard.move_epoch(int(when) - 1)
        shard.index += row.get("jump", 0)
        shard.put(record["data"], record["key"], when, when)
    if shard.closed is not None and shard.ended is not None:
        shard.close(shard.closed, shard.ended)


def _owner(shards: list[Table], key: str, moment: int) -> Table | None:
    """Nothing is written in the two seconds of a reshard, nor into shards of a minute."""
    place = Fraction(key_hash(key), SPACE)
    for shard in shards:
        closes = shard.get("close", moment + 10)
        if closes - shard["open"] <= 60:
            continue
        if shard["open"] + 2 < moment < closes - 2 or (not shard["parents"] and moment < closes):
            low, high = map(Fraction, shard["range"])
            if low <= place < high:
                return shard
    return None


def _packed(shard: Table, kind: Kind, count: int, key: str) -> bytes:
    """Up to three user records, all of keys of this shard."""
    low, high = map(Fraction, shard["range"])
    keys = [key] + [
        other for other in (f"key-{i}" for i in range(kind.keys))
        if low <= Fraction(key_hash(other), SPACE) < high
    ]  # fmt: skip
    return aggregate([(k, f"r{count}.{i}".encode()) for i, k in enumerate(keys[:3])])


def _rows(table: Table, kind: Kind) -> list[Row]:
    """Every user record as a row, in the order in which a right consumer writes them."""
    found: list[Row] = []
    stream = _stream(table)
    records = [(r, s) for s in stream.shards.values() for r in s.records]
    for record, shard in sorted(records, key=lambda pair: (pair[0].arrival, pair[0].number)):
        batch = int(record.arrival - stream.created) // kind.slice
        for sub, (key, data) in enumerate(_user_records(record.payload, record.key)):
            found.append(Row(
                len(found), (record.number, sub), shard.id, str(record.number), sub, key, data,
                record.arrival, stream.name, batch,
            ))  # fmt: skip
    return found


def _user_records(payload: bytes, key: str) -> list[tuple[str, bytes]]:
    """What `aggregate` packed; this reads its own packing only."""
    if not payload.startswith(b"\xf3\x89\x9a\xc2"):
        return [(key, payload)]
    keys: list[str] = []
    found: list[tuple[str, bytes]] = []
    body, at = payload[4:-16], 0
    while at < len(body):
        tag, size = body[at], body[at + 1]
        part = body[at + 2 : at + 2 + size]
        at += 2 + size
        if tag == 1 << 3 | 2:
            keys.append(part.decode())
        else:
            found.append((keys[part[1]], part[4:]))
    return found
