"""What a test may do to a running library, shown by the oldest trick there is: evict a lease."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.proof.libraries.kcl.built import RELEASES
from tests.proof.libraries.kcl.laboratory import Laboratory, Start
from tests.proof.libraries.kcl.running import Running
from tests.proof.libraries.kcl.verdict import differences
from tests.support.case import CASES, load
from tests.support.case_stream import shard_name

pytestmark = pytest.mark.interop

SHARD = shard_name(0)
CASE = load(CASES / "kcl" / "healthy-roots.toml")
AGAIN = ("s0-2", "s0-3", "s0-0", "s0-1", "s0-2", "s0-3", "n0-0", "n0-1")
EXPECTED = {**CASE.expects[0].delivers, SHARD: AGAIN}


def evict(running: Running) -> None:
    """The position and a lease without owner in one write: the library itself evicts like that
    (KCL 3.1.3 DynamoDBLeaseRefresher.evictLease)."""
    running.wait_owned()
    running.wait_started(SHARD, shard_name(1))
    running.wait_still(audits=1, seconds=1.0)
    with running.edit(SHARD):
        running.dynamodb.client.update_item(
            TableName=running.table,
            Key={"leaseKey": {"S": SHARD}},
            UpdateExpression="SET checkpoint = :start REMOVE leaseOwner ADD leaseCounter :one",
            ConditionExpression="attribute_exists(leaseOwner)",
            ExpressionAttributeValues={":start": {"S": "TRIM_HORIZON"}, ":one": {"N": "1"}},
        )
    running.wait_started(SHARD, times=2)


@dataclass(frozen=True, slots=True)
class Evicted:
    """Two healthy shards, of which one is evicted while they are read."""

    release: str

    def __str__(self) -> str:
        return self.id

    @property
    def id(self) -> str:
        return f"{self.release}/evicted"

    def start(self) -> Start:
        return Start(
            CASE, self.release, "LATEST", CASE.items(), meanwhile=evict, awaits=EXPECTED
        )


@pytest.mark.parametrize("planned", [Evicted(release) for release in RELEASES], ids=str)
def test_evicted_lease_is_taken_up_at_what_was_written(
    planned: Evicted, laboratory: Laboratory
) -> None:
    """Runs on KCL 1.15.3, 2.7.2 and 3.5.1, November 2026: the lease is lost, and begins anew."""
    outcome = laboratory.outcome(planned.id)
    print(outcome.tail())
    assert differences(outcome, EXPECTED, (), dies=False) == []
    own = [e.kind for e in outcome.log.of("INIT", "LEASE_LOST") if e.members["shard"] == SHARD]
    assert own[:3] == ["INIT", "LEASE_LOST", "INIT"]
