"""The consumer contract once more, kept by KCL on the rows of one stream among several."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import strategies as st

from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kcl.rows import LeaseTable, parse
from reshardctl.consumers.kcl.table import Named
from reshardctl.model import Image, Stream
from tests.contracts.consumer_contract import RowPosition
from tests.support.case_tables import stored
from tests.support.lineages import CREATED, STREAM
from tests.unit.consumers.test_kcl_contract import TestKcl as OnOneStream
from tests.unit.consumers.test_kcl_contract import row

pytestmark = pytest.mark.long

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


class TestKclOnSeveralStreams(OnOneStream):
    """The same suite; rows of other streams count as foreign ones."""

    examples = 100
    consumer = OfOrders()
    options = (
        {"initial": "TRIM_HORIZON", "release": "2.7.2"}, {"initial": "LATEST", "release": "3.5.1"},
    )  # fmt: skip
    foreign = OnOneStream.foreign

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
        bare = [image for s in shards for image in [OnOneStream.row(self, lineage, s, start)]]
        others = [named(i, w) for i in bare if i is not None for w in (OTHER, EARLIER)]
        return lineage, sorted([*images, *others] if images else [], key=lambda i: i.key)
