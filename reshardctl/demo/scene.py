"""The recorded stream and its lease table, moved to the present."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any

from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.sequence import SequenceNumberError, parse

STREAM = "orders"
TABLE = "orders-reader"
REGION = "us-east-1"
AGE = 4000
"""Seconds from the creation of the stream until the demo starts."""
RECORDED = 1795232267
"""Unix seconds at which the recorded stream was created, from its sequence numbers."""
LOST = frozenset({"shardId-000000000004", "shardId-000000000005"})
"""Leases that the recording has and the demo has not: lost before a record of them was read, for
example by an operator or by a bug of an old release. KCL creates none below a finished parent (runs
on KCL 1.15.3, 2.7.2 and 3.5.1, November 2026)."""

Item = dict[str, Any]
"""An item in DynamoDB JSON."""

# `inspect` takes the clock on the wall for "now", and with it every record of the recording has
# expired. So stream and positions move to today together: the topology is laid out again from a
# creation time 4000 seconds ago, and every number that KCL stored is moved by the same seconds. A
# number is made of times, the shard and an index, so this is the number of the same record of the
# same shard in the stream of today. Nothing else that KCL wrote is touched.


def stream_as_of(now: float, age: int = AGE) -> FakeKinesis:
    """A Kinesis that holds the stream; its clock runs on from `now`, in Unix seconds."""
    table = tomllib.loads(_text("topology.toml"))
    created = creation(now, age)
    return load_topology(table | {"created": created, "now": now - created}, ticking=True)


def leases_as_of(now: float, age: int = AGE) -> list[Item]:
    """The rows of the lease table, without those that are lost."""
    seconds = creation(now, age) - RECORDED
    rows: list[Item] = json.loads(_text("recorded/leases.json"))["Items"]
    return [moved(row, seconds) for row in rows if row["leaseKey"]["S"] not in LOST]


def table_description() -> dict[str, Any]:
    """The arguments of CreateTable that make the table as KCL made it."""
    described: dict[str, Any] = json.loads(_text("recorded/table.json"))
    return described | {"TableName": TABLE}


def creation(now: float, age: int = AGE) -> int:
    """Unix seconds at which the stream was created, as of `now` (Unix seconds)."""
    return int(now) - age


def moved(row: Mapping[str, Any], seconds: int) -> Item:
    """The row with its position `seconds` later; a sentinel such as SHARD_END stays."""
    item = dict(row)
    if "checkpoint" in item:
        item["checkpoint"] = {"S": _moved(item["checkpoint"]["S"], seconds)}
    return item


def _moved(position: str, seconds: int) -> str:
    try:
        number = parse(position)
    except SequenceNumberError:
        return position
    return str(replace(number, epoch=number.epoch + seconds, time=number.time + seconds))


def _text(name: str) -> str:
    return files("reshardctl.demo").joinpath(name).read_text(encoding="utf-8")
