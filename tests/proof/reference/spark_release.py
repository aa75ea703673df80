"""The connectors' releases, the options of a query, and how they follow a stream's shards.

Each trait was read in the sources: qubole/kinesis-sql 8d0f125, roncemer/spark-sql-kinesis 4ef4cea,
awslabs/spark-sql-kinesis-connector v1.4.2, branch-1.4.3, v2.0.0 and 0f4c005 (2.1.0-SNAPSHOT).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.proof.reference.spark_files import DiedError
from tests.proof.reference.spark_offset import Position
from tests.proof.reference.spark_stream import Shard


@dataclass(frozen=True, slots=True)
class Release:
    """What tells one build from another.

    fails, avoids: defaults of failOnDataLoss and avoidEmptyBatches. ends_closed: every closed
    shard counts as ended, read or not (PR #65). tolerates: a shard that is gone ends when the
    option says so; older ones throw whatever it says. idle_latest: a shard at AT_TIMESTAMP that
    gave nothing goes on at LATEST (PR #92).
    """

    family: str
    scala: str
    fails: bool
    avoids: bool
    ends_closed: bool = False
    tolerates: bool = False
    idle_latest: bool = False


RELEASES = {
    "qubole-1.2.0_spark-3.0": Release("qubole", "2.12", fails=True, avoids=False, tolerates=True),
    "awslabs-1.4.2": Release("awslabs", "2.12", fails=False, avoids=True),
    "awslabs-1.4.3": Release("awslabs", "2.12", False, True, ends_closed=True, tolerates=True),
    "awslabs-2.0.0": Release("awslabs", "2.13", False, True, ends_closed=True, tolerates=True),
    "awslabs-head-0f4c005": Release(
        "awslabs", "2.13", False, True, ends_closed=True, tolerates=True, idle_latest=True
    ),
}
"""Builds that were run; what is drawn for a seed depends on their number."""
KNOWN = {
    **RELEASES,
    "roncemer-1.2.3_spark-3.2": Release("qubole", "2.13", fails=True, avoids=True, tolerates=True),
}
"""With those of which only the source was read."""


@dataclass(frozen=True, slots=True)
class Options:
    """The query's own options; None is the connector's default.

    starting: TRIM_HORIZON, LATEST, or ``AT_TIMESTAMP:`` and epoch milliseconds (awslabs only).
    limit: maxFetchRecordsPerShard. interval: describeShardInterval in seconds. retain:
    minBatchesToRetain.
    """

    starting: str = "LATEST"
    fails: bool | None = None
    avoids: bool | None = None
    limit: int = 100_000
    interval: float = 1.0
    retain: int = 100


Start = Callable[[str], Position]
"""Where a shard begins that the checkpoint does not name."""


def start_of(starting: str, now_ms: int) -> Start:
    """The position for new shards; LATEST is the moment at which the query was started, and so is
    what an offset line as JSON does not name."""
    if starting.startswith("{"):
        named = {shard: one for shard, one in json.loads(starting).items() if shard != "metadata"}
        default = start_of("LATEST", now_ms)
        return lambda shard: (
            Position(shard, named[shard]["iteratorType"], named[shard]["iteratorPosition"])
            if shard in named else default(shard)
        )
    name, _, at = starting.partition(":")
    if name == "LATEST":
        name, at = "AT_TIMESTAMP", str(now_ms)
    return lambda shard: Position(shard, name, at)


def followed(
    shards: dict[str, Shard], previous: list[Position], start: Start, fails: bool, ends_closed: bool
) -> list[Position]:
    """ShardSyncer.getLatestShardInfo: the places of the next batch; DiedError on data loss."""
    if not shards:
        return previous
    known = {position.shard for position in previous}
    if fails and known - set(shards):
        raise DiedError(f"some data may have been lost: {sorted(known - set(shards))}")
    new: dict[str, Position] = {}
    kept = {position.shard: position for position in previous if position.shard in shards}
    for shard in shards.values():
        if not shard.open and not ends_closed:
            continue
        if shard.id in known:
            if not shard.open:
                kept[shard.id] = Position(shard.id, "SHARD_END")
            continue
        _ancestors(shard, shards, known, new, start)
        new[shard.id] = start(shard.id) if shard.open else Position(shard.id, "SHARD_END")
    return [*kept.values(), *new.values()]


def _ancestors(
    shard: Shard, shards: dict[str, Shard], known: set[str], new: dict[str, Position], start: Start
) -> None:
    """Every unknown ancestor up to the first known one begins like a new shard."""
    seen: set[str] = set()
    waiting = [shard]
    while waiting:
        one = waiting.pop()
        if one.id in seen or one.id in known:
            continue
        seen.add(one.id)
        for parent in one.parents:
            waiting.append(shards[parent])
            if parent not in known and parent not in new:
                new[parent] = start(parent)
