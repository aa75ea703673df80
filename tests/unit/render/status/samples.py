"""Statuses of the case files, and of a stream with 1,500 shards."""

from __future__ import annotations

from functools import cache
from typing import Any

from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.locator import parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Image, Shard, ShardId, Stream, shard_id
from reshardctl.planning.plan import Nothing
from reshardctl.report.report import RepairOptions, Report, case_of
from reshardctl.report.status import ConsumerStatus, StatusSelection, status_of
from tests.support.case_stream import LAST_INDEX, number
from tests.unit.render.samples import TABLE, report_of

OPTIONS = "initial=LATEST&release=3.5.1"
CREATED = 1795219200
NOW = CREATED + 7200
CLOSED = CREATED + 3600
SPLIT, WHOLE, LOST = 450, 150, 10
"""Shards that were split, shards that were not, and children without a lease."""


def status(name: str, options: str = OPTIONS, **selected: Any) -> ConsumerStatus:
    report = report_of(name, options)
    return status_of(report, report.findings, StatusSelection(**selected))


def lease(shard: int, low: int, high: int, checkpoint: str, parents: tuple[int, ...]) -> Image:
    """As KCL 3.5.1 writes it; its owner is a host's name and a UUID."""
    owner = f"ip-10-0-{shard % 40}-7.ec2.internal:6f0c1d6e-2b7f-4c39-9d0a-{shard % 40:012d}"
    named = {"parentShardId": {"SS": [shard_id(p) for p in parents]}} if parents else {}
    key = shard_id(shard)
    return Image(key, {
        "leaseKey": {"S": key}, "leaseCounter": {"N": "7"}, "leaseOwner": {"S": owner},
        "checkpoint": {"S": checkpoint}, "checkpointSubSequenceNumber": {"N": "0"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "startingHashKey": {"S": str(low)}, "endingHashKey": {"S": str(high)}, **named,
    })


@cache
def big_report(split: int = SPLIT, whole: int = WHOLE) -> Report:
    """1,500 shards: 450 split once, 150 whole. Ten children have no lease, all other rows
    are healthy. split, whole: of fewer shards."""
    roots = split + whole
    width = HASH_SPACE // roots
    shards: list[Shard] = []
    rows: list[Image] = []

    def add(index: int, low: int, high: int, parent: int | None, end: int | None) -> None:
        opened = CREATED - 3 if parent is None else CLOSED + 1
        shards.append(Shard(
            shard_id(index), None if parent is None else shard_id(parent), None, low, high,
            number(opened, 0, opened, index),
            None if end is None else number(opened, LAST_INDEX, end, index),
        ))
        if not roots <= index < roots + LOST:
            at = "SHARD_END" if end else number(opened, 3, NOW - 1 - index % 600, index)
            rows.append(lease(index, low, high, at, () if parent is None else (parent,)))

    for index in range(roots):
        high = HASH_SPACE - 1 if index == roots - 1 else (index + 1) * width - 1
        add(index, index * width, high, None, CLOSED if index < split else None)
    for parent in range(split):
        low, high = parent * width, (parent + 1) * width - 1
        middle, child = (low + high) // 2, roots + 2 * parent
        add(child, low, middle, parent, None)
        add(child + 1, middle + 1, high, parent, None)
    arn = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
    lineage = Lineage(Stream(arn, "orders", CREATED, 86400, "ACTIVE"), shards)
    store = {"medium": "dynamodb", "arn": TABLE}
    locator = parse(f"kcl://orders-app?{OPTIONS}")
    return _judged(Snapshot(locator, lineage, tuple(rows), store, float(NOW)), roots)


def _judged(snapshot: Snapshot, roots: int) -> Report:
    """The report with a finding and no plan, which no status shows: to prove one for so many shards
    takes longer than everything else here."""
    case = case_of(snapshot, RepairOptions())
    lost = tuple(shard_id(roots + index) for index in range(LOST))
    finding = Finding("RSH203", "child-not-started", Severity.ERROR, lost, "nothing makes a lease")
    positions = case.consumer.positions(case.checkpoint())
    return Report(
        snapshot, RepairOptions(), Incarnation.SAME, (), (finding,), Nothing(), positions, ()
    )


@cache
def big(split: int = SPLIT, whole: int = WHOLE, **selected: Any) -> ConsumerStatus:
    report = big_report(split, whole)
    return status_of(report, report.findings, StatusSelection(**selected))


ALL_SHARDS = [ShardId(shard_id(index)) for index in range(SPLIT * 3 + WHOLE)]
