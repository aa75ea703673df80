"""The consumer contract, kept by kinsumer on its three tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.kinsumer.releases import RELEASES
from reshardctl.model import Image, canonical, shard_id
from tests.contracts.consumer_contract import ConsumerContract, RowPosition
from tests.support.lineages import number_inside

pytestmark = pytest.mark.long

TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([
        "LATEST", "TRIM_HORIZON", "SHARD_END", "", "0", "-1", "٣", "9" * 60, "9" * 5000,
        "shardId-000000000000", "shardId-000000000001",
    ]),
)  # fmt: skip
VALUES = st.one_of(
    st.builds(lambda s: {"S": s}, TEXTS),
    st.sampled_from([{"N": "0"}, {"N": "7"}, {"N": "-1"}, {"N": "1.5"}, {"N": "1E+30"},
                     {"BOOL": True}, {"NULL": True}, {"L": []}, {"M": {}}, {"B": "AA=="},
                     {"L": [{"S": "shardId-000000000001"}]}, {"L": [{"M": {}}]}]),
    st.builds(lambda s: {"SS": sorted(s)}, st.sets(TEXTS, min_size=1, max_size=3)),
)  # fmt: skip
NAMES = (
    "Shard", "SequenceNumber", "LastUpdate", "LastUpdateRFC", "Finished", "FinishedRFC", "OwnerID",
    "OwnerName", "ShardIDs", "Key", "ID", "Name",
)  # fmt: skip
KEYS = st.one_of(
    st.builds(lambda i: f"checkpoints/{shard_id(i)}", st.integers(0, 12)),
    st.builds(lambda i: f"checkpoints/{shard_id(i)}", st.integers(0, 12)),
    st.sampled_from([
        "metadata/ShardCache", "metadata/Leader", "metadata/x", "clients/c1", "checkpoints/x", "",
        "checkpoints/shardId-1", "checkpoints/shardId-00000000000٣", "x/shardId-000000000000",
    ]),
)  # fmt: skip
STAMP = {"N": "1795000000000000000"}
RFC = {"S": "Wed, 18 Nov 2026 12:26:40 +0000"}
NULL = {"NULL": True}


class TestKinsumer(ConsumerContract):
    """The suite in tests.contracts.consumer_contract."""

    consumer = Kinsumer()
    options = (
        {}, {"release": "twitch"}, {"initial": "TRIM_HORIZON"},
        *({"initial": i, "release": r}
          for i in ("TRIM_HORIZON", "AT_TIMESTAMP", "AT_TIMESTAMP:2026-11-21T00:05:00Z")
          for r in RELEASES if r != "twitch"),
    )  # fmt: skip
    foreign = (
        Image("clients/c1", canonical({"ID": {"S": "c1"}, "LastUpdate": STAMP})),
        Image("metadata/Leader", canonical({"Key": {"S": "Leader"}, "LastUpdate": STAMP})),
    )

    def row(self, lineage, shard, at):
        one = lineage[shard]
        if at is RowPosition.END and one.open:
            return None
        if at is RowPosition.TIP and not one.open:
            return None
        inside = {"S": number_inside(lineage, shard)}
        positions: dict[RowPosition, Mapping[str, Any]] = {
            RowPosition.START: NULL, RowPosition.TIP: {"S": "LATEST"}, RowPosition.END: inside,
            RowPosition.INSIDE: inside,
        }  # fmt: skip
        ended = at is RowPosition.END
        return Image(f"checkpoints/{shard}", canonical({
            "Shard": {"S": shard}, "SequenceNumber": positions[at], "LastUpdate": STAMP,
            "LastUpdateRFC": RFC, "Finished": {"N": "1794999999000000000"} if ended else NULL,
            "FinishedRFC": RFC if ended else NULL,
        }))  # fmt: skip

    def junk(self):
        row = st.builds(
            lambda key, item: Image(key, canonical(item)), KEYS,
            st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6),
        )
        return st.lists(row, max_size=6, unique_by=lambda image: image.key)

    @given(st.data())
    def test_a_family_has_its_members_and_is_the_same_for_each(self, data):
        """As in the suite, under the keys of the checkpoints table; the cache is always of it."""
        lineage, _ = self.drawn(data)
        shard = data.draw(st.sampled_from(list(lineage)))
        family = set(self.consumer.family(lineage, {f"checkpoints/{shard}"}))
        near = {shard, *lineage[shard].parents, *lineage.children(shard)}
        assert {f"checkpoints/{one}" for one in near} | {"metadata/ShardCache"} <= family
