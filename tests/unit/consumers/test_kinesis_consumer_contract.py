"""The consumer contract, kept by kinesis-consumer and what shares its rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.consumers.kinesis_consumer.consumer import KinesisConsumer
from reshardctl.consumers.kinesis_consumer.releases import App
from reshardctl.model import Image, after, canonical, shard_id
from reshardctl.planning.plan import NoSafePlan, Nothing, Plan, decide
from reshardctl.planning.policy import LATEST_AT_START, LOSSLESS
from tests.contracts.consumer_contract import ConsumerContract, RowPosition, _settings
from tests.support.lineages import lineages, number_inside

pytestmark = pytest.mark.long

TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["LATEST", "", "0", "-1", "٣", "9" * 60, "9" * 5000, "49\n", "1.5"]),
)
VALUES = st.one_of(
    st.builds(lambda s: {"S": s}, TEXTS),
    st.sampled_from([{"N": "7"}, {"N": "-1"}, {"N": "1E+30"}, {"BOOL": True}, {"NULL": True},
                     {"L": []}, {"M": {}}, {"B": "AA=="}]),
    st.builds(lambda s: {"SS": sorted(s)}, st.sets(TEXTS, min_size=1, max_size=3)),
)  # fmt: skip
NAMES = ("sequence_number", "completed", "lease_owner", "worker_expires_at", "parent_shard_id")
RANGES = st.one_of(
    st.builds(shard_id, st.integers(0, 12)),
    st.builds(lambda i: f"LEASE#{shard_id(i)}", st.integers(0, 12)),
    st.sampled_from(["WORKER#w", "LEASE#", "shardId-1", "shardId-00000000000٣", "x/y"]),
)
SPACES = st.sampled_from(["app-orders", "app-orders", "app#orders", "other-orders", "", "a/b"])
HIGHEST = 2**63 - 1
"""The index in every EndingSequenceNumber; a last record has a lower one at the same second."""


class TestKinesisConsumer(ConsumerContract):
    """The suite in tests.contracts.consumer_contract.

    Where children are begun late (LATEST) nothing is ever known to be healthy; what waits for
    unlisted parents (Telegraf before 1.36.4) cannot be mended. The cases have both.
    """

    consumer = KinesisConsumer().for_options({"app": "app"})
    whole = (
        *({"initial": "TRIM_HORIZON", "release": r} for r in ("0.5", "master", "telegraf-1.39")),
        {"initial": "AT_TIMESTAMP:1999-11-21T00:05:00Z", "release": "group-0.5"},
    )
    options = (*whole, {"initial": "LATEST", "release": "0.5"}, {
        "initial": "LATEST", "release": "telegraf-1.39",
    }, {"initial": "LATEST", "release": "group-0.5"})
    foreign = (
        Image("other-orders/x", canonical({"namespace": {"S": "other-orders"}})),
        Image("app#orders/WORKER#w", canonical({
            "namespace": {"S": "app#orders"}, "shard_id": {"S": "WORKER#w"},
        })),
    )  # fmt: skip

    def row(self, lineage, shard, at):
        one = lineage[shard]
        if at is RowPosition.TIP or (at is RowPosition.END and one.open):
            return None
        number = {
            RowPosition.START: one.start,
            RowPosition.INSIDE: number_inside(lineage, shard),
            RowPosition.END: one.end and str(int(one.end) - ((HIGHEST - 5) << 80)),
        }[at]
        return Image(f"app-{lineage.stream.name}/{shard}", canonical({
            "namespace": {"S": f"app-{lineage.stream.name}"}, "shard_id": {"S": shard},
            "sequence_number": {"S": number},
        }))  # fmt: skip

    def junk(self):
        def made(space, key, item):
            quoted = space.replace("%", "%25").replace("/", "%2F")
            keys = {"namespace": {"S": space}, "shard_id": {"S": key}}
            return Image(f"{quoted}/{key}", canonical({**item, **keys}))

        items = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5)
        row = st.builds(made, SPACES, RANGES, items)
        return st.lists(row, max_size=6, unique_by=lambda image: image.key)

    @_settings
    @given(st.data())
    def test_a_healthy_store_needs_nothing(self, data):
        """As in the suite, where shards without a row are read whole."""
        lineage = data.draw(lineages())
        images = self.healthy(lineage)
        checkpoint = self.consumer.parse(images)
        for options in self.whole:
            assert decide(self.case(lineage, images, options)) == Nothing(), options
            for candidate in self.consumer.candidates(checkpoint, options):
                app = candidate.app
                assert isinstance(app, App)
                processed = self.consumer.processed(lineage, checkpoint, app)
                want = LOSSLESS.frontier(lineage, processed)
                assert self.consumer.encode(lineage, checkpoint, want, app, ()) == []

    @_settings
    @given(st.data())
    def test_the_first_rows_of_a_new_consumer(self, data):
        """No row stands for the tip as of each start: that is refused, and said."""
        lineage = data.draw(lineages())
        for options in self.whole:
            case = self.case(lineage, [], options, policy=LOSSLESS, bootstrap=True)
            plan = decide(case)
            assert isinstance(plan, Plan) and plan.steps
            assert isinstance(decide(replace(case, images=after([], plan.steps))), Nothing)
            if any(lineage.open_shards()):
                answer = decide(replace(case, policy=LATEST_AT_START))
                assert isinstance(answer, NoSafePlan) and "tip as of each start" in answer.why

    @_settings
    @given(st.data())
    def test_a_family_has_its_members_and_is_the_same_for_each(self, data):
        """As in the suite, under the keys of one namespace."""
        lineage, _ = self.drawn(data)
        shard = data.draw(st.sampled_from(list(lineage)))
        family = set(self.consumer.family(lineage, {f"app-x/{shard}"}))
        near = {shard, *lineage[shard].parents, *lineage.children(shard)}
        assert {f"app-x/{one}" for one in near} <= family
