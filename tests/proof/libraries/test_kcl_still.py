"""When a run of the real KCL has had the live records: a busy machine may not cut it short."""

from __future__ import annotations

import pytest

from tests.proof.libraries.kcl.laboratory import READS, read_on
from tests.proof.libraries.kcl.log import Event, Log
from tests.proof.libraries.kcl.stream import ServedStream
from tests.support.case import CASES, load
from tests.support.case_stream import shard_name

CASE = load(CASES / "kcl" / "healthy-roots.toml")


def read(stream: ServedStream, shard: int) -> None:
    client = stream.fake.client()
    iterator = client.get_shard_iterator(
        StreamName=stream.name, ShardId=shard_name(shard), ShardIteratorType="LATEST"
    )["ShardIterator"]
    client.get_records(ShardIterator=iterator)


def test_each_shard_that_was_read_has_to_be_read_on():
    stream, log = ServedStream(CASE), Log()
    read(stream, 0)
    read(stream, 1)
    had_its_chance = read_on(stream)
    for _ in range(READS):
        assert not had_its_chance(log)
        read(stream, 0)
    assert not had_its_chance(log), "shard 1 was not read again"
    for _ in range(READS):
        read(stream, 1)
    assert had_its_chance(log)


@pytest.mark.parametrize("how", ["DIED", "STOPPED"])
def test_nobody_reads_on_after_the_end(how: str):
    stream, log = ServedStream(CASE), Log()
    read(stream, 0)
    had_its_chance = read_on(stream)
    log.add(Event(how, 0.0, {}))
    assert had_its_chance(log)


def test_a_shard_that_nobody_read_is_not_waited_for():
    stream = ServedStream(CASE)
    assert read_on(stream)(Log())
