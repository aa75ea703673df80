"""The options of a `spark:` locator, each checked as far as the checkpoint or the sink allows.

startingPosition may be JSON that says where each named shard begins. The connectors take an offset
line of theirs (InitialKinesisPosition.fromCheckpointJson of Qubole 1.2.0 and of awslabs v1.4.2 to
0f4c005); shards that it does not name begin at the time of the driver's start. kinesis-lineage
takes a position for each shard (docs/source.md).

`batch=N` has to be the last number in the sink's own log. Spark's file sink silently skips every
batch whose number its log has, rows and all (FileStreamSink.addBatch); if numbers are missing from
that log, it cannot compact it and the query crashes within ten batches
(CompactibleFileStreamLog.compact).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from reshardctl.consumers.base import Candidate
from reshardctl.consumers.options import refuse_unknown, times_of_option
from reshardctl.consumers.spark.checkpoint import AWSLABS, LINEAGE, Checkpoint
from reshardctl.consumers.spark.files import OPTION
from reshardctl.consumers.spark.lines import read
from reshardctl.consumers.spark.lines.connectors import METADATA, load
from reshardctl.consumers.spark.marks import is_first
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    KINDS,
    NUMBERED,
    Position,
)
from reshardctl.consumers.spark.releases import (
    App,
    ConsumerType,
    Sink,
    Start,
    Traits,
    note_of,
    starters,
    traits_of,
)
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.consumers.spark.starts import standing
from reshardctl.errors import Refused, UsageError
from reshardctl.model import ShardId, decode, index_of, is_number
from reshardctl.model.times import parse_instant

_JSON = "startingPosition as JSON"
FORMS = (
    "an offset line of the connector, {\"metadata\":{…},\"shardId-…\":{\"iteratorType\":…}}, or "
    "for kinesis-lineage {\"shardId-…\": \"TRIM_HORIZON\", \"shardId-…\": "
    "{\"AFTER_SEQUENCE_NUMBER\": \"49…\"}}"
)


def named_starts(text: str) -> dict[ShardId, Position]:
    """The start of each named shard; raises UsageError for a text that neither takes."""
    try:
        value = load(text)
    except Malformed as error:
        raise _wrong(str(error)) from None
    starts = _of_connectors(text) if METADATA in value else _own(value)
    for shard, position in starts.items():
        decoded = decode(position.value) if position.kind in NUMBERED else None
        if decoded is not None and decoded.shard != index_of(shard):
            raise _wrong(f"{shard}: {position.value} is a number of shard {decoded.shard}")
    return starts


def _of_connectors(text: str) -> dict[ShardId, Position]:
    offset = read(text)
    if offset is None or offset.broken or not offset.positions:
        raise _wrong(offset.broken if offset is not None and offset.broken else "it names no shard")
    return dict(offset.positions)


def _own(value: Any) -> dict[ShardId, Position]:
    if not isinstance(value, dict) or not value:
        raise _wrong("it names no shard")
    return {ShardId(name): _start(name, start) for name, start in value.items()}


def _start(name: str, given: Any) -> Position:
    if index_of(name) is None:
        raise _wrong(f"{name!r} is no shard id")
    kind, value = given, ""
    if isinstance(given, Mapping) and len(given) == 1:
        ((kind, value),) = given.items()
        value = str(value)
    if isinstance(kind, str) and not value and is_number(kind):
        kind, value = AFTER_SEQUENCE_NUMBER, str(kind)
    if not isinstance(kind, str) or kind.upper() not in KINDS:
        raise _wrong(f"{name}: {str(given)[:60]!r} is no position")
    kind = kind.upper()
    if kind == AT_TIMESTAMP:
        return Position(kind, str(round(_moment(value) * 1000)))
    if kind in NUMBERED and not is_number(value):
        raise _wrong(f"{name}: {value[:60]!r} is no sequence number")
    return Position(kind, value)


def _moment(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return parse_instant(text, _JSON)
    if not 0 <= seconds < 1e10:
        raise _wrong(f"{text!r} is no time in Unix seconds")
    return seconds


def _wrong(why: str) -> UsageError:
    return UsageError(f"{_JSON}: {why}", f"give {FORMS}")


NAMES = (
    "source", "release", "startingPosition", "failOnDataLoss", "sink", "maxFetchRecordsPerShard",
    "allow", OPTION, "order", "batch", "consumerType",
)
PARENTS_FIRST = "parents-first"
HAZARDS = ("late", "recount")


class Options(Struct, frozen=True):
    """The values of the options; `None` or empty for one that was not given.

    named: the starts of a startingPosition as JSON. line: whether it is a connector's offset line.
    """

    releases: tuple[Traits, ...] = ()
    initial: Start | None = None
    time: float | None = None
    fails: bool | None = None
    sink: Sink | None = None
    limit: int | None = None
    allow: frozenset[str] = frozenset()
    parents_first: bool = False
    batch: int | None = None
    named: Mapping[ShardId, Position] | None = None
    line: bool = False
    consumer_type: ConsumerType | None = None


def read_options(options: Mapping[str, str]) -> Options:
    """Read all but `source`; raises UsageError for an unknown option or a bad value."""
    refuse_unknown(options, NAMES, "spark:", ", ".join(NAMES))
    start = options.get("startingPosition")
    json = start if start is not None and start.lstrip().startswith("{") else None
    named = None if json is None else named_starts(json)
    line = json is not None and METADATA in load(json)
    initial, time = _initial(start) if named is None else (Start.LATEST, None)
    release, allow = options.get("release"), options.get("allow")
    return Options(
        traits_of(release) if release is not None else (), initial, time,
        _flag(options.get("failOnDataLoss")), _sink(options.get("sink")),
        _limit(options.get("maxFetchRecordsPerShard")),
        _hazards(allow) if allow is not None else frozenset(), _order(options.get("order")),
        _batch(options.get("batch")), named, line, _consumer_type(options.get("consumerType")),
    )


def start_times(options: Mapping[str, str]) -> Mapping[str, float]:
    """Times of startingPosition: the option, or the shard's part of it → Unix seconds."""
    named = read_options(options).named or {}
    by_shard = {
        f"startingPosition of {shard}: {AT_TIMESTAMP} {at.value}": int(at.value) / 1000
        for shard, at in named.items() if at.kind == AT_TIMESTAMP
    }
    return {**times_of_option(options, "startingPosition"), **by_shard}


def connector_lost(options: Mapping[str, str]) -> str:
    """The connector of a lost checkpoint, where batch= and release= name one; "" otherwise."""
    if "batch" not in options or "release" not in options:
        return ""
    connectors = {traits.connector for traits in traits_of(options["release"])}
    return connectors.pop() if len(connectors) == 1 else ""


def candidates(checkpoint: Checkpoint, options: Mapping[str, str]) -> list[Candidate]:
    """Every query that may start on the checkpoint.

    Raises UsageError for a release of another connector than the one that wrote it. failOnDataLoss
    is never asked for: every connector has a default, which is taken and named.
    """
    given = read_options(options)
    releases = given.releases or starters(checkpoint)
    begun = any(batch.begun for batch in checkpoint.batches.values())
    fitting = [t for t in releases if not begun or t.connector == checkpoint.connector]
    if releases and not fitting:
        raise UsageError(
            f"release={options.get('release')}: its files look otherwise; these are those of the "
            f"{checkpoint.connector} connector",
            "name the release of the connector that the query runs with",
        )
    taking = [t for t in fitting if not given.line or t.connector != LINEAGE]
    if fitting and not taking:
        raise _wrong("kinesis-lineage takes no offset line of a connector")
    types = _consumer_types(checkpoint, given)
    apps = [
        App(traits, start, given.time, traits.fails if given.fails is None else given.fails, sink,
            given.limit, given.allow, given.parents_first, given.batch, given.named,
            given.fails is None, consumer_type, given.consumer_type is not None)
        for traits in taking for start in _starts(checkpoint, given)
        for sink in _sinks(checkpoint, given) for consumer_type in types
    ]
    note = note_of(options.get("release"))
    return [Candidate(app, _told(checkpoint, app), note, _defaults(app)) for app in apps]


def _defaults(app: App) -> dict[str, str]:
    """The connectors' defaults: KinesisOptions.scala of awslabs, Qubole's README, our source."""
    start = Start.TRIM_HORIZON if app.traits.connector == LINEAGE else Start.LATEST
    return {
        "startingPosition": str(start), "failOnDataLoss": str(app.traits.fails).lower(),
        "consumerType": str(ConsumerType.GET_RECORDS),
    }


def _told(checkpoint: Checkpoint, app: App) -> dict[str, str]:
    """The options that distinguish a candidate; kinesis-lineage has a first batch, no log."""
    told = dict(app.options())
    if checkpoint.connector == LINEAGE:
        del told["sink"]
        if not is_first(checkpoint):
            del told["startingPosition"]
    return told


def _starts(checkpoint: Checkpoint, given: Options) -> tuple[Start, ...]:
    if given.initial is not None:
        return (given.initial,)
    if checkpoint.connector == LINEAGE and not is_first(checkpoint):
        return (Start.TRIM_HORIZON,)
    return (Start.TRIM_HORIZON, Start.LATEST)


def _sinks(checkpoint: Checkpoint, given: Options) -> tuple[Sink, ...]:
    """The possible sinks; they matter only if a planned batch may have reached one uncommitted."""
    if given.sink is not None:
        return (given.sink,)
    newest = checkpoint.newest
    unfinished = newest is not None and newest not in checkpoint.committed
    if unfinished and checkpoint.entries.get(newest or 0):
        return (Sink.OTHER, Sink.FILE)
    return (Sink.OTHER,)


def _consumer_types(checkpoint: Checkpoint, given: Options) -> tuple[ConsumerType | None, ...]:
    """How the query may read; it matters only if a start by time has met no record for long."""
    if checkpoint.connector != AWSLABS:
        return (None,)
    if given.consumer_type is not None:
        return (given.consumer_type,)
    return tuple(ConsumerType) if standing(checkpoint) else (None,)


def _consumer_type(text: str | None) -> ConsumerType | None:
    """Read in any case, as KinesisOptions.scala does."""
    if text is None:
        return None
    for consumer_type in ConsumerType:
        if text.lower() == consumer_type.lower():
            return consumer_type
    raise UsageError(
        f"consumerType={text}: unknown",
        f"it is one of {', '.join(ConsumerType)}, as the query has it in kinesis.consumerType",
    )


def _initial(text: str | None) -> tuple[Start | None, float | None]:
    if text is None:
        return None, None
    mark, colon, moment = text.partition(":")
    mark = "TRIM_HORIZON" if mark.upper() == "EARLIEST" else mark.upper()
    if mark not in {str(s) for s in Start} or bool(colon) != (mark == "AT_TIMESTAMP"):
        raise UsageError(
            f"startingPosition={text}: not a start that reshardctl can judge",
            "LATEST, TRIM_HORIZON, AT_TIMESTAMP:2026-09-22T09:14:00Z, or JSON as the query has it",
        )
    return Start(mark), parse_instant(moment, "startingPosition") if colon else None


def _flag(text: str | None) -> bool | None:
    if text is None:
        return None
    if text.lower() not in ("true", "false"):
        raise UsageError(
            f"failOnDataLoss={text}: neither true nor false", "write it as the query sets it"
        )
    return text.lower() == "true"


def _sink(text: str | None) -> Sink | None:
    if text is None:
        return None
    if text not in {str(s) for s in Sink}:
        raise UsageError(f"sink={text}: unknown", f"it is one of {', '.join(Sink)}")
    return Sink(text)


def _limit(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 31):
        raise UsageError(
            f"maxFetchRecordsPerShard={text}: not a whole number from 1 on",
            "write it as the query sets it; 100000 unless it is set",
        )
    return int(text)


def _batch(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 62):
        raise UsageError(
            f"batch={text}: not the number of a batch",
            "the last one that the sink has seen: the newest name in SINK/_spark_metadata, or the "
            "last batch_id of foreachBatch; 0 where nothing looks at them",
        )
    return int(text)


def _order(text: str | None) -> bool:
    if text not in (None, PARENTS_FIRST):
        raise UsageError(f"order={text}: unknown", f"it is {PARENTS_FIRST}, or left out")
    return text is not None


def _hazards(text: str) -> frozenset[str]:
    names = text.split(",")
    if unknown := sorted(set(names) - set(HAZARDS)):
        raise UsageError(f"allow={text}: no hazard {unknown[0]!r}", f"it takes {','.join(HAZARDS)}")
    return frozenset(names)


def in_step(options: Mapping[str, str], sink: str, newest: int | None) -> None:
    """Raises Refused where it is not. newest: in the sink's log, `None` where it has none."""
    batch = options.get("batch")
    if batch is None or newest is None or int(batch) == newest:
        return
    if int(batch) < newest:
        why = f"it would pass over batches {int(batch) + 1} to {newest} of the query without a word"
    else:
        why = f"batches {newest + 1} to {batch} would be missing, and the query crashes at that"
    raise Refused(
        f"batch={batch}, and the last batch in the log of {sink} is {newest}: {why}",
        f"say batch={newest}",
    )
