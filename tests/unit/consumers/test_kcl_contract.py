"""The consumer contract, kept by KCL on its lease table, and on one stream's rows among several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kcl.rows import LeaseTable, parse
from reshardctl.consumers.kcl.table import Named
from reshardctl.model import Image, Stream, after, canonical, shard_id
from reshardctl.planning.plan import Plan, decide
from reshardctl.planning.policy import Accept
from tests.contracts.consumer_contract import ALL, ConsumerContract, RowPosition
from tests.support.case_tables import stored
from tests.support.lineages import CREATED, STREAM, number_inside, split_in_turn

pytestmark = pytest.mark.slow

TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([
        "SHARD_END", "TRIM_HORIZON", "LATEST", "AT_TIMESTAMP", "", "0", "-1", "٣", "9" * 60,
        "9" * 5000, "shardId-000000000000", "shardId-000000000001", "LEASE", "WORKER_METRICS",
    ]),
)  # fmt: skip
VALUES = st.one_of(
    st.builds(lambda s: {"S": s}, TEXTS),
    st.sampled_from([{"N": "0"}, {"N": "7"}, {"N": "-1"}, {"N": "1.5"}, {"N": "1E+30"},
                     {"BOOL": True}, {"NULL": True}, {"L": []}, {"M": {}}, {"B": "AA=="}]),
    st.builds(lambda s: {"SS": sorted(s)}, st.sets(TEXTS, min_size=1, max_size=3)),
)  # fmt: skip
NAMES = (
    "leaseCounter", "checkpoint", "checkpointSubSequenceNumber", "parentShardId", "childShardIds",
    "leaseOwner", "ownerSwitchesSinceCheckpoint", "pendingCheckpoint", "pendingCheckpointState",
    "checkpointOwner", "startingHashKey", "endingHashKey", "throughputKBps", "entityType",
    "streamName", "recordVersionNumber",
)  # fmt: skip
KEYS = st.one_of(
    st.builds(shard_id, st.integers(0, 12)),
    st.builds(shard_id, st.integers(0, 12)),
    st.sampled_from([
        "Leader", "", "shardId-1", "shardId-00000000000٣", "a:b:1:shardId-000000000000",
    ]),
)  # fmt: skip


def row(key: str, **attributes: Mapping[str, Any]) -> Image:
    return Image(key, canonical({"leaseKey": {"S": key}, **attributes}))


class TestKcl(ConsumerContract):
    """The suite in tests.contracts.consumer_contract."""

    examples = 10
    consumer = Kcl()
    options = (
        {}, {"initial": "TRIM_HORIZON"},
        *({"initial": i, "release": r}
          for i in ("TRIM_HORIZON", "LATEST") for r in ("2.7.2", "3.1.3", "3.5.1")),
        {"initial": "AT_TIMESTAMP:2026-11-21T00:05:00Z", "release": "3.5.1"},
        {"initial": "LATEST", "release": "1.13.3"},
        {"initial": "TRIM_HORIZON", "release": "2.2.11"},
    )  # fmt: skip
    foreign = (
        row("Leader", entityType={"S": "LEADER"}, recordVersionNumber={"S": "x"}),
        row("Migration3.0", entityType={"S": "MIGRATION"}, cv={"S": "CLIENT_VERSION_3X"}),
        row("worker-1", entityType={"S": "WORKER_METRICS"}, lut={"N": "1"}),
    )

    def row(self, lineage, shard, at):
        one = lineage[shard]
        if at is RowPosition.END and one.open:
            return None
        if at is RowPosition.TIP and not one.open:
            return None
        position = {
            RowPosition.START: "TRIM_HORIZON", RowPosition.TIP: "LATEST",
            RowPosition.END: "SHARD_END",
            RowPosition.INSIDE: number_inside(lineage, shard),
        }[at]  # fmt: skip
        more = {}
        if one.parents:
            more["parentShardId"] = {"SS": sorted(one.parents)}
        if at is RowPosition.END:
            more["childShardIds"] = {"SS": sorted(lineage.children(shard))}
            if not lineage.children(shard):
                del more["childShardIds"]
        return row(
            str(shard), checkpoint={"S": position}, checkpointSubSequenceNumber={"N": "0"},
            leaseCounter={"N": "7"}, ownerSwitchesSinceCheckpoint={"N": "0"},
            leaseOwner={"S": "w1"}, startingHashKey={"S": str(one.hash_start)},
            endingHashKey={"S": str(one.hash_end)}, **more,
        )

    def junk(self):
        attributes = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=9)
        rows = st.builds(lambda key, found: row(key, **found), KEYS, attributes)
        return st.lists(rows, max_size=5, unique_by=lambda image: image.key)


@pytest.mark.long
class TestKclAtLength(TestKcl):
    """The same with as many examples as any other consumer has."""

    examples = 100


@pytest.mark.parametrize("accept", [Accept(), ALL], ids=["at most an hour", "all"])
def test_one_plan_is_enough_where_a_grandchild_at_latest_has_lost_its_ancestors(accept):
    """Found by the suite at 700 examples. Shards 0 → 3, 4; 3 → 5, 6; 5 → 7, 8; 7 → 9, 10.

    8 is left alone only where reading it again costs more than is accepted; it stays left alone,
    though the leases of its ancestors, once written, make its repair cheaper.
    """
    suite = TestKcl()
    lineage = split_in_turn(3, [0, 3, 5, 7])
    images = [suite.row(lineage, shard_id(8), RowPosition.TIP)]
    case = suite.case(lineage, images, {"initial": "TRIM_HORIZON"}, accept=accept)
    plan = decide(case)
    assert isinstance(plan, Plan)
    left = {residual.shard for residual in plan.residuals}
    assert left == (set() if accept is ALL else {shard_id(8)})
    again = decide(replace(case, images=after(images, plan.steps)))
    more = again.steps if isinstance(again, Plan) else ()
    assert {write.key for step in more for write in step.writes} <= left


OWN = f"{STREAM.account}:{STREAM.name}:{CREATED}"
OTHER = f"{STREAM.account}:invoices:{CREATED}"
EARLIER = f"{STREAM.account}:{STREAM.name}:{CREATED - 1_000_000}"


class OfOrders(Kcl):
    """Judges the suite's stream where no other is named."""

    @staticmethod
    def parse(
        images: Iterable[Image], stream: Stream | None = None, named: Named | None = None
    ) -> LeaseTable:
        return parse(images, stream or STREAM, named)


def named(image: Image, identifier: str) -> Image:
    item = stored(dict(image.attributes), identifier)
    return row(item["leaseKey"]["S"], **{n: v for n, v in item.items() if n != "leaseKey"})


@pytest.mark.long
class TestKclOnSeveralStreams(TestKcl):
    """The same suite; rows of other streams count as foreign ones."""

    examples = 100
    consumer = OfOrders()
    options = (
        {"initial": "TRIM_HORIZON", "release": "2.7.2"}, {"initial": "LATEST", "release": "3.5.1"},
    )  # fmt: skip
    foreign = TestKcl.foreign

    def row(self, lineage, shard, place):
        bare = super().row(lineage, shard, place)
        return None if bare is None else named(bare, OWN)

    def junk(self):
        return st.builds(
            lambda rows, whose: sorted(
                {i.key: i for i in (named(r, w) for r, w in zip(rows, whose, strict=False))}
                .values(), key=lambda image: image.key,
            ),
            super().junk(), st.lists(st.sampled_from([OWN, OWN, OTHER, EARLIER]), min_size=5),
        )  # fmt: skip

    def drawn(self, data):
        """Beside rows of other streams, where it has any of its own."""
        lineage, images = super().drawn(data)
        shards = data.draw(st.sets(st.sampled_from(list(lineage)), max_size=2))
        start = RowPosition.START
        bare = [image for s in shards for image in [TestKcl.row(self, lineage, s, start)]]
        others = [named(i, w) for i in bare if i is not None for w in (OTHER, EARLIER)]
        return lineage, sorted([*images, *others] if images else [], key=lambda i: i.key)
