"""When a run of the real KCL has had the live records, and which losses are the machine's doing."""

from __future__ import annotations

import pytest

from tests.proof.libraries.kcl.laboratory import READS, read_on
from tests.proof.libraries.kcl.log import Event, Log
from tests.proof.libraries.kcl.stream import ServedStream
from tests.proof.libraries.kcl.verdict import outcome_of
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


LOST = {
    "none": ([], False),
    "one that no edit took": (["LOST 1"], True),
    "one that the edit took": (["EDIT 1", "LOST 1"], False),
    "before the edit that took it": (["LOST 1", "EDIT 1"], True),
    "another than the edit took": (["EDIT 1", "LOST 2"], True),
    "twice, taken once": (["EDIT 1", "LOST 1", "LOST 1"], True),
    "twice, taken twice": (["EDIT 1", "LOST 1", "EDIT 1", "LOST 1"], False),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lease_that_no_edit_took_was_lost_by_the_machine(name: str):
    lines, robbed = LOST[name]
    log = Log()
    for line in lines:
        kind, shard = line.split()
        log.add(
            Event("EDIT", 0.0, {"takes": shard}) if kind == "EDIT"
            else Event("LEASE_LOST", 0.0, {"shard": shard})
        )  # fmt: skip
    assert outcome_of(log, settled=True, seconds=0.0).robbed is robbed
