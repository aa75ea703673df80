"""What reading records may take follows the number of shards that are read."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from reshardctl.aws.client import CONNECTIONS
from reshardctl.kinesis.budget import PACE, Allowance, Limits, Look
from reshardctl.kinesis.client import Kinesis
from reshardctl.kinesis.probe import PROBED_READS
from reshardctl.model import DONE, START, TIP, Interval, shard_id
from reshardctl.testing import FakeKinesis
from tests.unit.kinesis.streams import in_process, wide_stream

SHARDS = 1176
"""Open shards of a stream in a public incident (issue of the operators' tools)."""


def reader(fake: FakeKinesis, client: Any) -> Kinesis:
    """Whose sleep moves the fake's clock."""

    def sleep(seconds: float) -> None:
        fake.clock.advance(seconds)

    return Kinesis.of_client(client, clock=fake.clock.now, sleep=sleep)


@pytest.mark.parametrize(("limits", "shards", "calls", "seconds"), [
    (Limits(), 1, 1000, 120.0),
    (Limits(), SHARDS, 22 * SHARDS, SHARDS / 2),
    (Limits(calls=5), SHARDS, 5, SHARDS / 2),
    (Limits(seconds=3.0), SHARDS, 22 * SHARDS, 3.0),
])  # fmt: skip
def test_they_follow_the_shards(limits: Limits, shards: int, calls: int, seconds: float) -> None:
    assert limits.of(shards) == Allowance(shards, calls, seconds)


def test_a_probe_of_every_shard_is_within_them() -> None:
    assert Limits().of(SHARDS).calls >= SHARDS * (PROBED_READS + 1)


def test_all_of_many_open_shards_are_probed_by_default() -> None:
    fake = wide_stream(SHARDS)
    begun: list[Allowance] = []
    done: list[tuple[int, int]] = []
    look = Look(begun.append, lambda shards, total: done.append((shards, total)))

    kinesis = in_process(fake, look=look).kinesis
    shards = list(kinesis.lineage("orders"))
    probes = kinesis.probes("orders", [(shard, START) for shard in shards])
    assert all(probe.drained for probe in probes.values()) and len(probes) == SHARDS
    assert [allowed.shards for allowed in begun] == [SHARDS]
    assert done[-1] == (SHARDS, SHARDS) and len(done) == SHARDS


class Gathering:
    """A client whose reads of records wait until so many of them have come."""

    def __init__(self, client: Any, count: int) -> None:
        self._client = client
        self._gate = threading.Barrier(count)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def get_records(self, **asked: Any) -> Any:
        self._gate.wait(timeout=20)
        return self._client.get_records(**asked)


def test_shards_are_read_at_the_same_time() -> None:
    fake = wide_stream(2 * CONNECTIONS)
    kinesis = reader(fake, Gathering(fake.client(), CONNECTIONS))
    probes = kinesis.probes("orders", [(shard_id(n), START) for n in range(2 * CONNECTIONS)])
    assert [probe.drained for probe in probes.values()] == [True] * 2 * CONNECTIONS


def test_no_shard_is_read_twice_at_the_same_time() -> None:
    """It answers five reads a second, of all consumers together (GetRecords API reference)."""
    fake = wide_stream(1)
    client = fake.client()
    times: list[float] = []

    class Timed(Gathering):
        def get_records(self, **asked: Any) -> Any:
            times.append(fake.clock.now())
            return client.get_records(**asked)

    kinesis = reader(fake, Timed(client, 1))
    kinesis.counts("orders", [Interval(shard_id(0), START, until) for until in (TIP, DONE)])
    assert times[1] - times[0] >= PACE


@pytest.mark.parametrize("calls", [1, 30, 60])
def test_no_more_calls_are_made_than_allowed(calls: int) -> None:
    """Two for each shard: an iterator, and a read."""
    fake = wide_stream(40)
    kinesis = in_process(fake, limits=Limits(calls=calls)).kinesis
    probes = kinesis.probes("orders", [(shard_id(n), START) for n in range(40)])
    assert len(fake.calls) == calls
    assert sum(probe.drained for probe in probes.values()) == calls // 2
