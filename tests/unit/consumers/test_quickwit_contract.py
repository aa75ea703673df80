"""The consumer contract, kept by Quickwit on the rows of an index's metastore."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.consumers.quickwit.document import PRESENT
from reshardctl.model import Image, shard_id
from reshardctl.planning.plan import NoSafePlan, Plan, decide
from reshardctl.planning.policy import LATEST_AT_START, LOSSLESS
from tests.contracts.consumer_contract import ConsumerContract, RowPosition, _settings
from tests.support.lineages import lineages, number_inside

pytestmark = pytest.mark.long

SOURCE = "i/s"
STATE = {
    "backfill": {"BOOL": False}, "checkpoint": PRESENT, "enabled": {"BOOL": True},
    "index_uid": {"S": "i:01M7Y8Y2K2MMN7QETDSR65CHCY"}, "stream": {"S": "orders"},
    "version": {"S": "0.8"},
}  # fmt: skip
OWN = Image(SOURCE, STATE)
TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([
        "LATEST", "TRIM_HORIZON", "SHARD_END", "", "~", "~~", "~1", "0", "-1", "٣", "9" * 60,
        "9" * 5000, "007", "1 ", "49680382093363205032430591921906870816861628609196982274",
        "~49680382093363205032430591921906870816861628609196982274",
    ]),
)  # fmt: skip
VALUES = st.one_of(
    st.builds(lambda s: {"S": s}, TEXTS),
    st.sampled_from([{"N": "0"}, {"BOOL": True}, {"NULL": True}, {"L": []}, {"M": {}}]),
)
NAMES = ("position", "checkpoint", "version", "stream", "backfill", "enabled", "unreadable", "x")
KEYS = st.one_of(
    st.builds(lambda i: f"{SOURCE}/{shard_id(i)}", st.integers(0, 12)),
    st.sampled_from([SOURCE, "i", "", "i/", "/", "//", f"{SOURCE}/", f"{SOURCE}/x/y", "i/t",
                     f"{SOURCE}/shardId-00000000000٣"]),
)  # fmt: skip


class TestQuickwit(ConsumerContract):
    """The suite in tests.contracts.consumer_contract; a source has a row of its own. No position
    is the tip: in its stead stands an end mark, which is what there is to mend."""

    consumer = Quickwit()
    options = ({}, {"release": "0.8.2"}, {"release": "0.9.0"}, {"release": "0.7"})

    def row(self, lineage, shard, at):
        one = lineage[shard]
        if at is RowPosition.END and one.open:
            return None
        inside = number_inside(lineage, shard)
        text = {
            RowPosition.START: "", RowPosition.INSIDE: inside, RowPosition.TIP: f"~{inside}",
            RowPosition.END: one.end or "",
        }[at]  # fmt: skip
        return Image(f"{SOURCE}/{shard}", {"position": {"S": text}})

    def healthy(self, lineage):
        return sorted([OWN, *super().healthy(lineage)], key=lambda row: row.key)

    def drawn(self, data):
        lineage, rows = super().drawn(data)
        return lineage, sorted([OWN, *rows], key=lambda row: row.key)

    def _planned(self, data, lineage, images, policies=(), **more):  # noqa: ARG002 - as the suite
        """Where a release can be helped without a read, and by a policy that it can hold."""
        case = self.case(lineage, images, {"release": "0.9.0"}, **more)
        plan = decide(case)
        assume(isinstance(plan, Plan))
        return case, plan

    def junk(self):
        row = st.builds(Image, KEYS, st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4))
        drawn = st.lists(row, max_size=6, unique_by=lambda image: image.key)
        return st.one_of(drawn, drawn.map(_with_source))

    @given(st.data())
    def test_a_family_has_its_members_and_is_the_same_for_each(self, data):
        """Any position brings down the whole source: all of them, and its own row."""
        lineage, _ = self.drawn(data)
        shard = data.draw(st.sampled_from(list(lineage)))
        family = set(self.consumer.family(lineage, {f"{SOURCE}/{shard}"}))
        assert family == {SOURCE, *(f"{SOURCE}/{one}" for one in lineage)}

    @_settings
    @given(st.data())
    def test_the_first_rows_of_a_new_consumer(self, data):
        """A source that is stored is never empty: without a position it begins at the beginning,
        and there is no mark for the tip."""
        lineage = data.draw(lineages())
        options = {"release": "0.9.0"}
        assert not isinstance(decide(self.case(lineage, [OWN], options, policy=LOSSLESS)), Plan)
        tip = decide(self.case(lineage, [OWN], options, policy=LATEST_AT_START, bootstrap=True))
        assert isinstance(tip, NoSafePlan) and "--policy latest" in tip.ways_out[0]


def _with_source(rows):
    return [OWN, *(row for row in rows if row.key != SOURCE)]
