"""Writes a lost checkpoint directory anew, as if one batch had been committed.

kinesis-lineage: the batch ends at the target frontier, and the next one starts there. Qubole's: the
next batch is planned as well, with the frontier as its starts, because the connector's log of the
first batch is lost and only the offset has its starts.

A file sink skips every batch whose number its log has, and so does whatever remembers batch numbers
(Delta's txnVersion, idempotent foreachBatch): new batches are numbered on from the last that the
sink has seen. No checkpoint holds that number; batch=N says it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.spark.checkpoint import AWSLABS, DATABRICKS, LINEAGE, Checkpoint
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.positions import Position, position_at
from reshardctl.consumers.spark.releases import App
from reshardctl.lineage import Lineage
from reshardctl.model import DONE, START, Create, Cut, ShardId, Step, TargetFrontier, Write, time_of
from reshardctl.model.times import instant

SETTINGS = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'
"""Spark takes settings that are not in `conf` from the session, as for a new query (runs on 3.5.9
to 4.3.0; an empty line would crash it)."""
COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'
"""What every release writes for a query without a watermark."""
SHOWN = 50
"""Shards for which a starting position is spelled out; more would fit no command line."""


MARGIN = 60.0
"""Seconds by which a start by time precedes the oldest position."""


def lost(connector: str, source: str) -> Checkpoint:
    """A checkpoint of which nothing is left."""
    return Checkpoint(
        connector=connector, source=source or "0", stream_name="", batches={}, commits={},
        entries={}, listed=frozenset(), query_id="", generation="", stateful=False,
        other_sources=(), anomalies=(), images={},
    )


def begun(lineage: Lineage, want: TargetFrontier, app: App) -> Cannot:
    """Always a reason: a new query begins at its own option, and Spark writes its first batch."""
    places = _places(lineage, want)
    ways = list(_ways(lineage, want, app))
    if app.traits.connector == LINEAGE:
        ways = [f"start the query with startingPosition={json.dumps(_start(lineage, want))}"]
    elif app.traits.release.startswith(qubole.NAME) and len(places) <= SHOWN:
        line = qubole.line(lineage.stream.name, 0, places, app.traits.scala)
        ways = [f"start the query with startingPosition={line}"]
    return Cannot(
        "a new query has no checkpoint to be written: it begins where its option says",
        tuple(ways),
    )


def rebuild(
    lineage: Lineage, checkpoint: Checkpoint, want: TargetFrontier, app: App
) -> list[Step] | Cannot:
    """The files, one a step; before the last of them, releases from 4.2 on do not start."""
    assert app.batch is not None, "a directory without files is parsed for batch=N alone"
    if checkpoint.source != "0":
        return Cannot(
            "the checkpoint of a query with several sources cannot be written from one of them",
            ("restore it from a backup, and run reshardctl fix", ),
        )
    if app.traits.connector == LINEAGE:
        return list(_ended(lineage, want, app.batch))
    if app.traits.release.startswith(qubole.NAME):
        return list(_planned(lineage, want, app.batch, app.traits.scala))
    return Cannot(
        f"a checkpoint of {app.traits.release} that is gone was never rebuilt and run on the "
        "real connector", tuple(_ways(lineage, want, app)),
    )


def _ways(lineage: Lineage, want: TargetFrontier, app: App) -> Iterator[str]:
    """Ways out: a new checkpoint from these positions, where the connector takes them.

    From 1.4.3 on, awslabs takes every closed shard of a new checkpoint for read.
    """
    places = _places(lineage, want)
    if app.traits.connector != AWSLABS or len(places) > SHOWN:
        yield "restore the directory from a backup, and run reshardctl fix on it"
        yield from _by_time(lineage, want, app)
        return
    if app.traits.drops_closed and _left_in_closed(lineage, want):
        yield (
            f"{app.traits.release} would skip what is left in closed shards: start with awslabs "
            "1.4.2 or kinesis-lineage until they are read"
        )
        return
    line = awslabs.line(lineage.stream.name, 0, places, app.traits.scala)
    yield (
        "start the query on a new checkpoint, into a new folder if its sink is of files, with "
        f"startingPosition={line}"
    )


def _by_time(lineage: Lineage, want: TargetFrontier, app: App) -> Iterator[str]:
    """The way out by time, where the connector has one: some time before the oldest position.

    A number's time may be a few seconds after its record's arrival.
    """
    option = {AWSLABS: "startingPosition", DATABRICKS: "initialPosition"}.get(app.traits.connector)
    times = [_time(lineage, shard, want[shard]) for shard in lineage if want[shard] != DONE]
    since = min((time for time in times if time is not None), default=None)
    if option is None or since is None:
        return
    if app.traits.drops_closed and _left_in_closed(lineage, want):
        return
    yield (
        f"or start the query on a new checkpoint with {option} AT_TIMESTAMP at "
        f"{instant(since - MARGIN)} or before: what came since is read again"
    )


def _time(lineage: Lineage, shard: ShardId, cut: Cut) -> float | None:
    return lineage.opened_at(shard) if cut == START else time_of(cut.text.partition("/")[0])


def _left_in_closed(lineage: Lineage, want: TargetFrontier) -> bool:
    return any(want[shard] != DONE and not lineage.is_open(shard) for shard in lineage)


def _ended(lineage: Lineage, want: TargetFrontier, last: int) -> Iterator[Step]:
    text = json.dumps(_offset(lineage, want))
    log = "\n".join(("v1", SETTINGS, text))
    if last:  # Spark reads the batch before the newest as well
        yield _file(f"offsets/{last - 1}", log, f"the batch before {last}, which Spark looks at")
    yield _file(f"offsets/{last}", log, "ends where the sink does: the next batch starts here")
    yield _file(f"commits/{last}", COMMIT, f"batch {last} is over")
    yield _query(lineage, text)


def _planned(lineage: Lineage, want: TargetFrontier, last: int, scala: str) -> Iterator[Step]:
    """Names only shards with unread records: an end, or a position at one, crashes the query."""
    places = _places(lineage, want)
    name = lineage.stream.name
    line = ""
    for number in (last, last + 1):
        line = qubole.line(name, number, places, scala)
        log = "\n".join(("v1", SETTINGS, line))
        why = "committed" if number == last else "planned: it starts where the sink ends"
        yield _file(f"offsets/{number}", log, f"batch {number}, {why}")
    yield _file(f"commits/{last}", COMMIT, f"batch {last} is over")
    yield _query(lineage, line)


def _places(lineage: Lineage, want: TargetFrontier) -> dict[ShardId, Position]:
    """Starts of all shards with unread records, also of closed ones at what may be their last."""
    positions = {shard: position_at(want[shard]) for shard in lineage}
    return {shard: position for shard, position in positions.items() if position is not None}


def _offset(lineage: Lineage, want: TargetFrontier) -> Mapping[str, Any]:
    """A mark for every shard except those that begin when their parents have ended."""
    marked: set[ShardId] = set()
    for shard in reversed(list(lineage)):
        waits = any(want[parent] != DONE for parent in lineage.parents(shard))
        below = not marked.isdisjoint(lineage.children(shard))
        if want[shard] != START or not waits or below:
            marked.add(shard)
    created = lineage.stream.created
    return {
        "shards": {shard: _mark(want[shard]) for shard in sorted(marked)},
        "stream": lineage.stream.name,
        "created": created,
        "retention": lineage.stream.retention,
    }


def _start(lineage: Lineage, want: TargetFrontier) -> Mapping[str, Any]:
    """Option startingPosition of kinesis-lineage: the shards at which the frontier begins."""
    over = {shard for shard in lineage if want[shard] == DONE}
    return {
        shard: {"AFTER_SEQUENCE_NUMBER": want[shard].text} if want[shard] != START
        else "TRIM_HORIZON"
        for shard in lineage if shard not in over and over.issuperset(lineage.parents(shard))
    }


def _mark(cut: Cut) -> Mapping[str, Any]:
    number = cut.text.partition("/")[0] or (str(cut.number) if cut.number else "")
    tip = {} if cut.quiet is None or cut == DONE else {"tip": cut.quiet}
    return {"seq": number, "end": cut == DONE, **tip}


def _query(lineage: Lineage, text: str) -> Step:
    """The query's id: a new one, always the same for the same line."""
    digest = sha256(f"{lineage.stream.arn} {lineage.stream.created} {text}".encode()).hexdigest()
    parts = (digest[:8], digest[8:12], "8" + digest[13:16], "9" + digest[17:20], digest[20:32])
    why = "the query's id: without it, releases from 4.2 on do not start"
    return _file("metadata", json.dumps({"id": "-".join(parts)}, separators=(",", ":")), why)


def _file(key: str, text: str, why: str) -> Step:
    """Creates a file without a checksum, which Spark reads everywhere."""
    return Step(f"write {key}", (Write(key, Create({"text": {"S": text}}), None, why),))
