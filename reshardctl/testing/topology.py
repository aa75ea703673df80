"""Streams from a description: a table of shards with their lives, ranges and records.

The table of one stream (TOML or dict); all times but `created` are seconds after creation::

    name = "orders"            account = "123456789012"      region = "us-east-1"
    created = 1795232267       retention_hours = 24          mode = "PROVISIONED"
    now = 3600                 # the clock at the start; default: a minute after the last event
    trim = 100                 # optional: older records are gone, shards closed before it too
    [[shards]]
    id = 0
    range = ["0", "1/2"]       # fractions of the hash space, the end exclusive
    parents = []               # ParentShardId first, AdjacentParentShardId second
    open = 0
    close = 100                # absent = open
    trimmed = true             # optional: not listed any more
    records = {n = 4, from = 1, to = 90}          # spread evenly, in whole seconds: s0-0 ...
    # or      [{t = 10, data = "x", key = "k", arrival = 10.4}]

A file may hold one such table, or one as [stream], or several as [[streams]].
"""

from __future__ import annotations

import json
import tomllib
from bisect import bisect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.service import Settings
from reshardctl.testing.shards import Shard, edge
from reshardctl.testing.stream import BIRTH_LEAD, PROVISIONED, Stream

Table = Mapping[str, Any]
_QUIET_SECONDS = 60


def load_topology(
    source: str | Path | Table | Sequence[Table],
    *,
    ticking: bool = False,
    settings: Settings | None = None,
) -> FakeKinesis:
    """A fake that holds the streams of `source`: a file (.toml or .json), a table, or several.

    Its clock starts at the greatest `created + now` among them. Raises ValueError (KeyError for an
    absent key) if the description makes no sense.
    """
    tables = _tables(_read(source) if isinstance(source, str | Path) else source)
    if not tables:
        raise ValueError("no stream in the topology")
    start = max(float(table["created"]) + _now(table) for table in tables)
    first = tables[0]
    fake = FakeKinesis(
        start=start,
        ticking=ticking,
        account=first.get("account", "123456789012"),
        region=first.get("region", "us-east-1"),
        settings=settings,
    )
    for table in tables:
        fake.add_stream(stream_of(table))
    return fake


def stream_of(table: Table) -> Stream:
    """The stream that one table describes."""
    stream = Stream(
        name=table["name"],
        account=table.get("account", "123456789012"),
        region=table.get("region", "us-east-1"),
        created=int(table["created"]),
        retention_hours=table.get("retention_hours", 24),
        mode=table.get("mode", PROVISIONED),
    )
    if "trim" in table:
        stream.horizon = stream.created + float(table["trim"])
    shards = sorted(table["shards"], key=lambda row: int(row["id"]))
    closes = {int(row["id"]): row["close"] for row in shards if "close" in row}
    moments = sorted({float(moment) for moment in closes.values()})
    for row in shards:
        _add_shard(stream, row, closes, moments)
    stream.generation = len(moments)
    stream.previous = max(0, len(moments) - 1)
    return stream


def _add_shard(
    stream: Stream, row: Table, closes: Mapping[int, float], moments: list[float]
) -> None:
    parents = tuple(int(parent) for parent in row.get("parents", ()))
    opened = _opened(row, parents, closes)
    epoch = stream.created + int(opened) + 1 if parents else stream.created - BIRTH_LEAD
    low, high = edge(row["range"][0]), edge(row["range"][1]) - 1
    if low > high:
        raise ValueError(f"shard {row['id']} has an empty range")
    shard = Shard(
        int(row["id"]), low, high, parents, epoch, stream.created + opened, bisect(moments, opened)
    )
    for record in _records(row):
        _put(stream, shard, record)
    if "close" in row:
        close = float(row["close"])
        shard.close(stream.created + close, bisect(moments, close))
    shard.withdrawn = bool(row.get("trimmed", False))
    stream.add(shard)


def _opened(row: Table, parents: Sequence[int], closes: Mapping[int, float]) -> float:
    """Seconds after creation: the latest close of the parents, `open` if none is known."""
    known = [float(closes[parent]) for parent in parents if parent in closes]
    return max(known) if known else float(row.get("open", 0))


def _put(stream: Stream, shard: Shard, row: Table) -> None:
    when = stream.created + float(row["t"])
    arrival = stream.created + float(row.get("arrival", row["t"]))
    raw = row["data"]
    payload = raw.encode() if isinstance(raw, str) else bytes(raw)
    shard.put(payload, row.get("key", f"k{shard.number}"), when, arrival)


def _records(row: Table) -> list[Table]:
    wanted = row.get("records", [])
    if not isinstance(wanted, Mapping):
        return list(wanted)
    count, start, stop = int(wanted["n"]), wanted["from"], wanted["to"]
    gaps = max(count - 1, 1)
    return [
        {"t": start + (stop - start) * i // gaps, "data": f"s{row['id']}-{i}"} for i in range(count)
    ]


def _now(table: Table) -> float:
    if "now" in table:
        return float(table["now"])
    events = [0.0, float(table.get("trim", 0))]
    for row in table["shards"]:
        events += [float(row.get("open", 0)), float(row.get("close", 0))]
        events += [float(record["t"]) for record in _records(row)]
    return max(events) + _QUIET_SECONDS


def _read(path: str | Path) -> Any:
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(text) if Path(path).suffix == ".json" else tomllib.loads(text)


def _tables(described: Table | Sequence[Table]) -> list[Table]:
    if not isinstance(described, Mapping):
        return list(described)
    if "shards" in described:
        return [described]
    single = [described["stream"]] if "stream" in described else []
    return [*described.get("streams", []), *single]
