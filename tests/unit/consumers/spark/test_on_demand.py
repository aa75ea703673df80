"""Positions read on demand are those that reading everything gives, whatever is asked first."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest

from reshardctl.consumers.spark import lines as shapes
from reshardctl.consumers.spark.lines import at_once as canonical
from reshardctl.consumers.spark.lines import at_once as on_demand
from reshardctl.consumers.spark.offset_log import parse_offset_log
from reshardctl.consumers.spark.planned_batch import LINES
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.sources import offset_of
from reshardctl.model import ShardId, files, shard_id
from reshardctl.model.files import AlikeText, AlikeValue, Series


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


@pytest.mark.parametrize("seed", range(2))
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
    line = text_of("qubole", 400, 1)
    lines = f"0:{line}\n1:-" if version == 2 else f"{line}\n-"
    texts = [f'v{version}\n{{"n":{n}}}\n{lines}' for n in range(8)]
    tracemalloc.start()
    logs = [parse_offset_log(text) for text in texts]
    offsets = [offset_of(log.lines[0]) for log in logs]
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [offset and len(offset.positions) for offset in offsets] == [400] * 8
    assert all(offset_of(log.lines[1]) is None for log in logs)
    assert kept < sum(map(len, texts)) / 2


def kept(first: str, *others: str) -> list[AlikeText]:
    """The other texts as they are kept behind the first."""
    series = Series()
    values = [series.value(text.encode()) for text in (first, *others)][1:]
    return [value.text for value in values if isinstance(value, AlikeValue)]


@pytest.fixture
def _however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LEAST", 0)


@pytest.mark.usefixtures("_however_short")
def test_texts_of_one_shape_that_no_connector_spells() -> None:
    """Those of Spark's rate source, of which a query has a thousand."""
    first, second = (f'{{"offset":{n},"timestamp":1700000001000}}' for n in (1, 2))
    (text,) = kept(first, second)
    assert canonical.read(text) is None


@pytest.mark.usefixtures("_however_short")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("connector", ["awslabs", "qubole"])
@pytest.mark.parametrize("seed", range(3))
def test_a_log_kept_as_digits_says_what_its_text_says(
    connector: str, version: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any digit may be another: of a number, a name, the batch id, the version, the metadata."""
    monkeypatch.setattr(on_demand, "MANY", 7)
    draw = random.Random(seed)
    lines = (("0:", "11:") if version == 2 else ("", ""))
    first = (
        f'v{version}\n{{"batchTimestampMs":{seed}1795219200}}\n{lines[0]}-\n'
        f"{lines[1]}{text_of(connector, 30, seed).replace('orders', 'orders-2')}"
    )
    digits = [place for place, character in enumerate(first) if character.isdigit()]
    for changed in (0, 1, 1, 5, 50, len(digits)):
        second = list(first)
        for place in draw.sample(digits[1:], min(changed, len(digits) - 1)):
            second[place] = draw.choice("0123456789")
        (text,) = kept(first, "".join(second))
        whole, log = parse_offset_log("".join(second)), parse_offset_log(text)
        assert (log.text(), log.metadata) == ("".join(second), whole.metadata)
        assert [line.name for line in log.lines] == [line.name for line in whole.lines]
        assert offset_of(log.lines[0]) is None
        expected, offset = offset_of(whole.lines[1]), offset_of(log.lines[1])
        assert expected is not None
        assert offset is not None
        one_by_one = {shard: offset.positions[shard] for shard in expected.positions}
        assert one_by_one == dict(expected.positions)
        assert list(offset.positions) == list(expected.positions)
        assert offset == expected


@pytest.mark.usefixtures("_however_short")
def test_a_name_given_twice_in_digits_is_left_to_the_slow_reader() -> None:
    text = text_of("qubole", 3, 1)
    first, other, *_ = as_json(text)
    (doubled,) = kept(text, text.replace(other, first))
    assert canonical.read(doubled) is None
    assert "twice" in str(shapes.read(doubled))
