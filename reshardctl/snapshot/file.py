"""A snapshot as a file: one stream's lineage and its consumers' rows.

It holds all that a judgement is made from and nothing else: no credentials, no endpoints. One line
per shard and row, so that any diff can compare two of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from reshardctl.codec.strict import (
    SNAPSHOT,
    JsonPath,
    array,
    boolean,
    integer,
    list_of,
    mapping,
    mapping_of,
    members,
    moment,
    moment_or_none,
    or_another_kind,
    parse,
    string,
    strings,
)
from reshardctl.codec.values import cut_object, cut_of_object, image, image_json
from reshardctl.consumers.locator import parse_in
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import HASH_SPACE, Probe, Shard, ShardId, Stream, decode, is_number
from reshardctl.model.times import LONGEST
from reshardctl.stores.given_file import content
from reshardctl.stores.named_file import save_private

VERSION = "reshardctl/snapshot/1"
NEW = "take a new one: reshardctl snapshot CONSUMER --stream STREAM -o FILE"


class SavedSnapshot(Struct, frozen=True):
    """See the module. taken: Unix seconds. Every consumer's snapshot shares the lineage.

    redacted: names, accounts and owners were replaced, so it matches no real store.
    """

    taken: float
    lineage: Lineage
    consumers: tuple[Snapshot, ...] = ()
    redacted: bool = False


def text(saved: SavedSnapshot) -> str:
    """The whole file."""
    return "".join(_lines(saved))


def save(saved: SavedSnapshot, path: Path) -> None:
    """Writes a new file, whole or not at all, readable by its owner only; or a pipe."""
    save_private(path, _lines(saved), "no snapshot was saved", "-o")


def load(path: Path) -> SavedSnapshot:
    """Reads a snapshot. UsageError for a file that is none, or of another version."""
    source = content(path, NEW)
    with or_another_kind(source, str(path), "a snapshot", SNAPSHOT):
        return parsed(source, str(path))


def parsed(source: str | bytes, name: str) -> SavedSnapshot:
    """The snapshot in a text; `name`: for messages."""
    json_path = JsonPath(name, next=NEW)
    body = parse(source, json_path)
    if not isinstance(body, dict) or not isinstance(body.get("schema"), str):
        raise UsageError(f"{name}: not a snapshot", NEW)
    if body["schema"] != VERSION:
        raise UsageError(
            f"{name}: a {body['schema']!r}, and this reshardctl reads {VERSION!r}", NEW
        )
    names = ("schema", "taken", "redacted", "stream", "shards", "consumers")
    file = members(body, names, json_path)
    lineage = _lineage(file["stream"], file["shards"], json_path)
    return SavedSnapshot(
        moment(file["taken"], json_path / "taken"),
        lineage,
        list_of(file["consumers"], json_path / "consumers", partial(_consumer, lineage)),
        boolean(file["redacted"], json_path / "redacted"),
    )


def _lines(saved: SavedSnapshot) -> Iterator[str]:
    head = {
        "schema": VERSION, "taken": saved.taken, "redacted": saved.redacted,
        "stream": _stream_json(saved.lineage.stream),
    }
    yield "{"
    for name, value in head.items():
        yield f'"{name}": {json.dumps(value, sort_keys=True)},\n'
    yield '"shards": ['
    yield from _rows(_shard_json(saved.lineage[shard]) for shard in saved.lineage)
    yield '],\n"consumers": ['
    for number, snapshot in enumerate(saved.consumers):
        yield (",\n" if number else "\n") + "{"
        for name, value in _consumer_json(snapshot).items():
            yield f'"{name}": {json.dumps(value, sort_keys=True)},\n'
        yield '"rows": ['
        yield from _rows(image_json(image) for image in snapshot.images)
        yield "]}"
    yield "\n]}\n"


def _rows(values: Iterable[object]) -> Iterator[str]:
    for number, value in enumerate(values):
        yield (",\n" if number else "\n") + json.dumps(value, separators=(",", ":"))


def _stream_json(stream: Stream) -> dict[str, Any]:
    return {
        "arn": stream.arn, "name": stream.name, "created": float(stream.created),
        "retention_seconds": stream.retention, "status": stream.status, "mode": stream.mode,
        "open_shards": stream.open_shards,
    }


def _shard_json(shard: Shard) -> list[str | None]:
    """Id, parent, adjacent parent, first and last hash key, first and last sequence number."""
    return [
        shard.id, shard.parent, shard.adjacent, str(shard.hash_start), str(shard.hash_end),
        shard.start, shard.end,
    ]


def _consumer_json(snapshot: Snapshot) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "locator": snapshot.locator.text,
        "store": dict(snapshot.store),
        "taken": snapshot.now,
        "probes": {shard: _probe_json(probe) for shard, probe in snapshot.probes.items()},
    }
    if snapshot.asked:
        kept["asked"] = {str(number): told for number, told in sorted(snapshot.asked.items())}
    return kept


def _probe_json(probe: Probe) -> dict[str, Any]:
    return {
        "since": cut_object(probe.since), "drained": probe.drained,
        "first_arrival": probe.first_arrival, "first": probe.first, "count": probe.count,
        "more": probe.more, "last_arrival": probe.last_arrival,
    }


def _lineage(stream: object, shards: object, json_path: JsonPath) -> Lineage:
    where = json_path / "shards"
    rows = list_of(shards, where, _shard)
    seen: set[str] = set()
    for number, shard in enumerate(rows):
        if shard.id in seen:
            (where / number).wrong(f"shard {shard.id} stands twice")
        seen.add(shard.id)
    return Lineage(_stream(stream, json_path / "stream"), rows)


def _stream(value: object, json_path: JsonPath) -> Stream:
    names = ("arn", "name", "created", "retention_seconds", "status", "mode", "open_shards")
    stream = members(value, names, json_path)
    arn = string(stream["arn"], json_path / "arn")
    if arn.count(":") < 5:
        (json_path / "arn").wrong("not an ARN")
    return Stream(
        arn,
        string(stream["name"], json_path / "name"),
        moment(stream["created"], json_path / "created"),
        _retention(stream["retention_seconds"], json_path / "retention_seconds"),
        string(stream["status"], json_path / "status"),
        string(stream["mode"], json_path / "mode"),
        integer(stream["open_shards"], json_path / "open_shards"),
    )


def _retention(value: object, json_path: JsonPath) -> int:
    retention = integer(value, json_path)
    if not 0 <= retention <= LONGEST:
        json_path.wrong("no stream keeps its records so long")
    return retention


def _shard(value: object, json_path: JsonPath) -> Shard:
    parts = array(value, json_path)
    if len(parts) != 7:
        json_path.wrong("not the seven parts of a shard")
    for number in (0, 3, 4, 5):
        string(parts[number], json_path / number)
    for number in (1, 2, 6):
        if parts[number] is not None:
            string(parts[number], json_path / number)
    name, parent, adjacent, low, high, first, last = parts
    for number in (3, 4, 5, 6):
        if parts[number] is not None and not is_number(parts[number]):
            (json_path / number).wrong(f"not a decimal number: {parts[number]!r}")
    if not int(low) <= int(high) < HASH_SPACE:
        json_path.wrong("its hash range is none")
    return Shard(name, parent, adjacent, int(low), int(high), first, last)


def _consumer(lineage: Lineage, value: object, json_path: JsonPath) -> Snapshot:
    kept = {"asked": {}, **value} if isinstance(value, dict) else value
    names = ("locator", "store", "taken", "probes", "asked", "rows")
    consumer = members(kept, names, json_path)
    probes = mapping_of(consumer["probes"], json_path / "probes", _probe)
    return Snapshot(
        parse_in(string(consumer["locator"], json_path / "locator"), json_path / "locator"),
        lineage,
        list_of(consumer["rows"], json_path / "rows", image),
        strings(consumer["store"], json_path / "store"),
        moment(consumer["taken"], json_path / "taken"),
        {ShardId(shard): probe for shard, probe in probes.items()},
        asked=_asked(consumer["asked"], json_path / "asked"),
    )


def _asked(value: object, json_path: JsonPath) -> dict[int, bool | None]:
    """Sequence number → whether Kinesis takes it; `null` where that could not be told."""
    asked = mapping(value, json_path)
    for text, told in asked.items():
        if decode(text) is None:
            json_path.wrong(f"not a sequence number: {text!r}")
        if told is not None:
            boolean(told, json_path / text)
    return {int(text): told for text, told in asked.items()}


def _probe(value: object, json_path: JsonPath) -> Probe:
    names = ("since", "drained", "first_arrival", "first", "count", "more", "last_arrival")
    probe = members(value, names, json_path)
    first = probe["first"]
    return Probe(
        cut_of_object(probe["since"], json_path / "since"),
        boolean(probe["drained"], json_path / "drained"),
        moment_or_none(probe["first_arrival"], json_path / "first_arrival"),
        None if first is None else string(first, json_path / "first"),
        integer(probe["count"], json_path / "count"),
        boolean(probe["more"], json_path / "more"),
        moment_or_none(probe["last_arrival"], json_path / "last_arrival"),
    )


def consumers(saved: SavedSnapshot) -> Mapping[str, Snapshot]:
    """The consumers by the name of their store, as `snapshot:FILE?consumer=NAME` names them."""
    return {snapshot.locator.target: snapshot for snapshot in saved.consumers}
