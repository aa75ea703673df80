"""Positions read on demand are those that reading everything gives, whatever is asked first."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest

from reshardctl.consumers.spark.append import LINES
from reshardctl.consumers.spark.lines import canonical, shapes
from reshardctl.consumers.spark.offset_log import parse_offset_log
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.sources import offset_of
from reshardctl.model import ShardId, shard_id


def text_of(connector: str, count: int, seed: int) -> str:
    draw = random.Random(seed)
    kinds = ["TRIM_HORIZON", "LATEST", "SHARD_END"]
    positions = {
        shard_id(n): Position(draw.choice(kinds))
        if draw.random() < 0.3
        else Position("AFTER_SEQUENCE_NUMBER", str(draw.randrange(10**55, 10**56)))
        for n in draw.sample(range(5 * count), count)
    }
    return LINES[connector]("orders", 7, positions, "2.12")


def as_json(text: str) -> dict[str, tuple[str, str]]:
    """By the standard library's parser alone."""
    return {
        name: (members["iteratorType"], members["iteratorPosition"])
        for name, members in json.loads(text).items() if name != "metadata"
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("connector", ["awslabs", "qubole"])
def test_each_position_is_what_json_says(connector: str, seed: int) -> None:
    text = text_of(connector, 50, seed)
    wanted = as_json(text)
    asked = list(wanted)
    random.Random(seed).shuffle(asked)
    offset = canonical.read(text)
    assert offset is not None
    assert list(offset.positions) == list(wanted)
    assert len(offset.positions) == 50
    one_by_one = {s: offset.positions[ShardId(s)] for s in asked}
    assert {s: (p.kind, p.value) for s, p in one_by_one.items()} == wanted
    at_once = canonical.read(text)
    assert at_once is not None
    assert dict(at_once.positions.items()) == one_by_one
    assert offset.positions == at_once.positions
    slowly = shapes.read_slowly(text)
    assert slowly is not None
    assert dict(slowly.positions) == one_by_one


def test_a_shard_that_is_not_named() -> None:
    offset = canonical.read(text_of("qubole", 5, 1))
    assert offset is not None
    assert ShardId("shardId-000000999999") not in offset.positions
    assert offset.positions.get(ShardId("shardId-000000999999")) is None


def test_a_name_given_twice_is_left_to_the_slow_reader() -> None:
    text = text_of("qubole", 3, 1)
    first = next(iter(as_json(text)))
    other = list(as_json(text))[1]
    assert canonical.read(text.replace(other, first)) is None


def test_a_shard_like_text_in_the_stream_name_is_no_shard() -> None:
    text = text_of("qubole", 3, 1).replace("orders", "shardId-000000000001:{")
    offset = canonical.read(text)
    assert offset is not None
    assert len(offset.positions) == 3


@pytest.mark.parametrize("connector", ["awslabs", "qubole"])
def test_an_offset_inside_a_longer_text(connector: str) -> None:
    text = text_of(connector, 9, 3)
    whole = f"v1\n{text_of(connector, 4, 5)}\n{text}\n"
    start = whole.index(text)
    offset = shapes.read(whole, start, start + len(text))
    assert offset is not None
    found = {shard: offset.positions[shard] for shard in offset.positions}
    assert {s: (p.kind, p.value) for s, p in found.items()} == as_json(text)
    again = shapes.read(whole, start, start + len(text) + 1)
    assert again is not None  # read slowly, as the connectors read it: JSON may end with a break
    assert again.positions == offset.positions


@pytest.mark.parametrize("version", [1, 2])
def test_batches_share_the_text_of_their_files(version: int) -> None:
    """A checkpoint of ten thousand shards and a hundred batches has 144 MB."""
    line = text_of("qubole", 2000, 1)
    lines = f"0:{line}\n1:-" if version == 2 else f"{line}\n-"
    texts = [f'v{version}\n{{"n":{n}}}\n{lines}' for n in range(8)]
    tracemalloc.start()
    logs = [parse_offset_log(text) for text in texts]
    offsets = [offset_of(log.lines[0]) for log in logs]
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [offset and len(offset.positions) for offset in offsets] == [2000] * 8
    assert all(offset_of(log.lines[1]) is None for log in logs)
    assert kept < sum(map(len, texts)) / 2
