"""What reading records may take follows the number of shards that are read."""

from __future__ import annotations

import pytest

from reshardctl.kinesis.budget import Allowance, Limits, Look
from reshardctl.kinesis.client import Kinesis
from reshardctl.kinesis.probe import PROBED_READS
from reshardctl.model import START
from tests.unit.kinesis.streams import wide_stream

SHARDS = 1176
"""Open shards of a stream in a public incident (issue of the operators' tools)."""


@pytest.mark.parametrize(
    ("limits", "shards", "calls", "seconds"),
    [
        (Limits(), 1, 1000, 120.0),
        (Limits(), SHARDS, 22 * SHARDS, SHARDS / 2),
        (Limits(calls=5), SHARDS, 5, SHARDS / 2),
        (Limits(seconds=3.0), SHARDS, 22 * SHARDS, 3.0),
    ],
)
def test_they_follow_the_shards(limits: Limits, shards: int, calls: int, seconds: float) -> None:
    assert limits.of(shards) == Allowance(shards, calls, seconds)


def test_a_probe_of_every_shard_is_within_them() -> None:
    assert Limits().of(SHARDS).calls >= SHARDS * (PROBED_READS + 1)


def test_all_of_many_open_shards_are_probed_by_default() -> None:
    fake = wide_stream(SHARDS)
    begun: list[Allowance] = []
    done: list[tuple[int, int]] = []
    look = Look(begun.append, lambda shards, total: done.append((shards, total)))

    def sleep(seconds: float) -> None:
        fake.clock.advance(seconds)

    kinesis = Kinesis.of_client(fake.client(), clock=fake.clock.now, sleep=sleep, look=look)
    shards = list(kinesis.lineage("orders"))
    probes = kinesis.probes("orders", [(shard, START) for shard in shards])
    assert all(probe.drained for probe in probes.values()) and len(probes) == SHARDS
    assert [allowed.shards for allowed in begun] == [SHARDS]
    assert done[-1] == (SHARDS, SHARDS) and len(done) == SHARDS
