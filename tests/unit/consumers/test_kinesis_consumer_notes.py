"""What a report says of these readers that no row shows."""

from __future__ import annotations

import pytest

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kinesis_consumer.consumer import KinesisConsumer
from reshardctl.consumers.kinesis_consumer.releases import Whose
from reshardctl.model import START, TIP, Cut, Delete, Image, at_number, at_time, shard_id
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import NoSafePlan, Plan
from tests.support.case import CASES, load
from tests.support.dialects import kinesis_consumer as dialect
from tests.support.judging import Bench
from tests.support.lineages import STREAM


@pytest.mark.parametrize(
    ("release", "said"),
    [("telegraf-1.39", True), ("telegraf-1.34", True), ("0.5.0", False), ("master-31e0042", False)],
)
def test_telegraf_s_rows_are_written_in_the_order_of_delivery(release: str, said: bool) -> None:
    """A count bounds them, no distance: with 5 places and the first of 40 records held up the row
    held the 40th, and after a kill the first never came (run of 1.39.3, Nov 2026). `onDelivery`
    stores whatever was delivered last (kinesis_consumer.go and store.go of telegraf
    b272631); the library stores each record's number once its callback has returned."""
    case = load(CASES / "kinesis-consumer" / "healthy-idle-parent.toml")
    options = {"app": "app", "release": release, "initial": "TRIM_HORIZON"}
    (run,) = Bench.on(case, dialect.images(case), options).replays()
    assert any("max_undelivered_messages" in note for note in run.notes) is said
    assert any("999 at most by default" in note for note in run.notes) is said


@pytest.mark.parametrize("release", ["0.5.0", "master-31e0042", "telegraf-1.39"])
@pytest.mark.parametrize("initial", ["LATEST", "TRIM_HORIZON"])
def test_a_shard_begins_at_the_tip_of_each_start_without_a_row_alone(
    initial: str, release: str
) -> None:
    """getShardIterator of consumer.go, v0.5.0: without a number it asks by the start mode."""
    case = load(CASES / "kinesis-consumer" / "healthy-children-read.toml")
    options = {"app": "app", "release": release, "initial": initial}
    images = dialect.images(case)
    decision = Bench.on(case, images, options, "latest-at-start", "skip=all").decide()
    if initial == "TRIM_HORIZON":
        assert isinstance(decision, NoSafePlan) and "only a missing row does" in decision.why
        return
    assert isinstance(decision, Plan)
    writes = [write for step in decision.steps for write in step.writes]
    assert {(w.key[-1], type(w.change)) for w in writes} == {("1", Delete), ("2", Delete)}


@pytest.mark.parametrize(("initial", "cut"), [
    ("LATEST", TIP), ("TRIM_HORIZON", at_time(1_795_219_300.0)),
])  # fmt: skip
def test_no_row_is_written_for_a_tip_that_needs_none_or_for_a_time(initial: str, cut: Cut) -> None:
    case = load(CASES / "kinesis-consumer" / "b1.toml")
    options = {"app": "app", "release": "0.5.0", "initial": initial}
    posed = Bench.on(case, dialect.images(case), options).plan_case
    want = dict.fromkeys(posed.state.lineage, cut)
    app, checkpoint = posed.candidates[0].app, posed.checkpoint()
    assert posed.consumer.encode(posed.state.lineage, checkpoint, want, app, ()) == []


@pytest.mark.parametrize("initial", ["LATEST", "TRIM_HORIZON"])
def test_to_start_at_trim_horizon_is_advised_to_who_does_not(initial: str) -> None:
    """master would take a row of 2 for the end of 0, which is unread (cases b1)."""
    case = load(CASES / "kinesis-consumer" / "b1.toml")
    options = {"app": "app", "release": "master-31e0042", "initial": initial}
    posed = Bench.on(case, dialect.images(case), options).plan_case
    child, place = shard_id(2), at_number(case.number_of("s2-0"))
    want = dict.fromkeys(posed.state.lineage, START) | {child: place}
    (app,) = (candidate.app for candidate in posed.candidates)
    found = posed.consumer.encode(posed.state.lineage, posed.checkpoint(), want, app, ())
    assert isinstance(found, Cannot)
    advised = [way for way in found.apart[child].ways_out if "TRIM_HORIZON" in way]
    assert bool(advised) is (initial == "LATEST")


def test_rows_are_given_back_in_the_order_of_their_shards() -> None:
    """Python orders a set anew in each process, and a plan has to be the same in every one."""
    case = load(CASES / "kinesis-consumer" / "seeded-below-unread.toml")
    options = {"app": "app", "release": "master-31e0042", "initial": "TRIM_HORIZON"}
    plan = Bench.on(case, dialect.images(case), options).decide()
    assert isinstance(plan, Plan)
    assert [step.title for step in plan.steps] == ["rows of 1, 2"]


@pytest.mark.parametrize("at_end", [0, 1])
def test_each_row_that_ends_the_process_has_its_own_finding(at_end: int) -> None:
    """Each ends it alone at its start, whichever row comes first (cases e and row-no-number)."""
    case = load(CASES / "kinesis-consumer" / "merge.toml")
    texts = ["abc", "abc"]
    texts[at_end] = str(case.topology[at_end].end)
    images = [
        Image(image.key, {**image.attributes, "sequence_number": {"S": text}})
        for image, text in zip(dialect.images(case), texts, strict=True)
    ]
    options = {"app": "app", "release": "0.5.0", "initial": "TRIM_HORIZON"}
    found = Bench.on(case, images, options).findings()
    crashing = {f.code: f.shards for f in found if any(e.harm is Harm.CRASHES for e in f.effects)}
    assert crashing == {"RSH210": (shard_id(at_end),), "RSH301": (shard_id(1 - at_end),)}


@pytest.mark.parametrize("medium", ["dynamodb", "redis"])
def test_a_key_of_redis_has_a_mark_between_application_and_stream(medium):
    """`APP:checkpoint:STREAM:SHARD` (store/redis/redis.go, v0.3.5 and later)."""
    shard = shard_id(0)
    space = f"app-{STREAM.name}"
    row = Image(f"{space}/{shard}", {
        "namespace": {"S": space}, "shard_id": {"S": shard},
        "sequence_number": {"S": "49"},
    })
    consumer = KinesisConsumer(Whose("app", medium=medium))
    positions = consumer.parse([row], STREAM)
    error = consumer.wrong_stream(positions, shard, "its number is another stream's")
    assert ("is one text" in error.next) == (medium == "dynamodb")
    assert error.next.endswith("name that stream with --stream, or the right app=")
