"""A case's stream: the topology table resolved to the shards and records that AWS would show.

Written apart from the package on purpose, so that a mistake in one is seen by the other. Sequence
numbers follow the layout that 77 genuine public samples share: 186 bits, from the top a prefix of
two bits, epoch 36, shard nibble 4, index 64, zero 8, time 36, shard 32, version 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

LAST_INDEX = 2**63 - 1
HASH_SPACE = 2**128
CREATION_LAG = 3  # a root's StartingSequenceNumber is stamped 3 s before StreamCreationTimestamp

STREAM_DEFAULTS: dict[str, Any] = {
    "name": "orders",
    "account": "123456789012",
    "region": "us-east-1",
    "retention_hours": 24,
    "mode": "PROVISIONED",
}
STREAM_KEYS = {*STREAM_DEFAULTS, "created", "now", "trim", "shards", "status"}
SHARD_KEYS = {"id", "range", "parents", "open", "close", "trimmed", "records"}

Record = tuple[str, str, int]
"""(sequence number, payload, arrival in epoch seconds)"""


@dataclass(frozen=True, slots=True)
class CaseShard:
    """One shard of a case, listed or not.

    Times are epoch seconds; the hash range is inclusive, as in ListShards.
    """

    id: int
    first_hash: int
    last_hash: int
    parents: tuple[int, ...]
    children: tuple[int, ...]
    start: str
    end: str
    closed: int | None
    listed: bool
    records: tuple[Record, ...]


def shard_name(shard: int) -> str:
    """ShardId as AWS spells it: ``shardId-`` and twelve digits."""
    return f"shardId-{shard:012d}"


def number(epoch: int, index: int, time: int, shard: int) -> str:
    """The 56-digit sequence number of these fields; times are epoch seconds."""
    bits = 2
    for value, width in (
        (epoch, 36),
        (shard & 15, 4),
        (index, 64),
        (0, 8),
        (time, 36),
        (shard, 32),
    ):
        if not 0 <= value < 1 << width:
            raise ValueError(f"{value} does not fit into {width} bits")
        bits = bits << width | value
    return str(bits << 4 | 2)


def filled(stream: dict[str, Any]) -> dict[str, Any]:
    """The topology with its defaults written out; unknown or missing keys are errors."""
    only(stream, STREAM_KEYS, "stream")
    for key in ("created", "now", "shards"):
        if key not in stream:
            raise ValueError(f"stream: {key} is missing")
    whole = {**STREAM_DEFAULTS, **stream}
    trim = max(0, whole["now"] - whole["retention_hours"] * 3600)
    whole.setdefault("trim", trim)
    for shard in whole["shards"]:
        only(shard, SHARD_KEYS, f"shard {shard.get('id')}")
        shard.setdefault("parents", [])
        shard.setdefault("records", [])
    return whole


def only(table: dict[str, Any], allowed: set[str], where: str) -> None:
    """Raise ValueError when the table has a key that is not allowed."""
    if unknown := sorted(set(table) - allowed):
        raise ValueError(f"{where}: unknown keys {unknown}")


def resolve(stream: dict[str, Any]) -> dict[int, CaseShard]:
    """Every shard of a filled topology, with numbers, keyed by id in the topology's order."""
    rows = {row["id"]: row for row in stream["shards"]}
    if len(rows) != len(stream["shards"]):
        raise ValueError("a shard id is given twice")
    return {shard_id: _shard(stream, rows, row) for shard_id, row in rows.items()}


def _shard(stream: dict[str, Any], rows: dict[int, Any], row: dict[str, Any]) -> CaseShard:
    shard_id, created, close = row["id"], stream["created"], row.get("close")
    parents = tuple(row["parents"])
    epoch = _epoch(stream, rows, row)
    low, high = (int(Fraction(bound) * HASH_SPACE) for bound in row["range"])
    gone = close is not None and close < stream["trim"]
    return CaseShard(
        id=shard_id,
        first_hash=low,
        last_hash=high - 1,
        parents=parents,
        children=tuple(other for other in rows if shard_id in rows[other]["parents"]),
        start=number(epoch, 0, epoch, shard_id),
        end="" if close is None else number(epoch, LAST_INDEX, created + close, shard_id),
        closed=None if close is None else created + close,
        listed=not (gone or row.get("trimmed", False)),
        records=tuple(
            (number(epoch, i + 1, created + t, shard_id), payload, created + t)
            for i, (t, payload) in enumerate(_moments(row))
        ),
    )


def _epoch(stream: dict[str, Any], rows: dict[int, Any], row: dict[str, Any]) -> int:
    created: int = stream["created"]
    if not row["parents"]:
        return created - CREATION_LAG
    born: int = max(rows[parent]["close"] for parent in row["parents"]) + 1
    if row["open"] != born:
        raise ValueError(
            f"shard {row['id']}: opens at {row['open']}, its parents close at {born - 1}"
        )
    return created + born


def _moments(row: dict[str, Any]) -> list[tuple[int, str]]:
    """(second after creation, payload) of each record; ``{n, from, to}`` spreads them evenly."""
    records = row["records"]
    if isinstance(records, list):
        return [(record["t"], record["data"]) for record in records]
    n, first, last = records["n"], records["from"], records["to"]
    gaps = max(n - 1, 1)
    return [(first + i * (last - first) // gaps, f"s{row['id']}-{i}") for i in range(n)]


def listing(shards: dict[int, CaseShard]) -> list[dict[str, Any]]:
    """The listed shards as ListShards gives them, in shard-id order."""
    return [_listed(shards[shard_id]) for shard_id in sorted(shards) if shards[shard_id].listed]


def _listed(shard: CaseShard) -> dict[str, Any]:
    span = {"StartingSequenceNumber": shard.start}
    if shard.end:
        span["EndingSequenceNumber"] = shard.end
    answer: dict[str, Any] = {
        "ShardId": shard_name(shard.id),
        "HashKeyRange": {
            "StartingHashKey": str(shard.first_hash),
            "EndingHashKey": str(shard.last_hash),
        },
        "SequenceNumberRange": span,
    }
    for key, parent in zip(("ParentShardId", "AdjacentParentShardId"), shard.parents, strict=False):
        answer[key] = shard_name(parent)
    return answer
