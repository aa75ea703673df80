"""awslabs under enhanced fan-out: a start by time that meets no record is never passed up to 2.0.0.

RecordBatchPublisher.getNextStartingPosition of v1.0.0 to v2.0.0 (SENTINEL_AT_TIMESTAMP: the same
position again) and EfoRecordBatchPublisher, which advances by records only; 24dd226 (#92) on main;
issue #91 of awslabs/spark-sql-kinesis-connector. GetRecords goes on by its iterator.
"""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.lines import awslabs
from reshardctl.consumers.spark.positions import AFTER_SEQUENCE_NUMBER, AT_TIMESTAMP, Position
from reshardctl.errors import UsageError
from reshardctl.model import Cause, Image, Step, WillRead, WontRead, after, shard_id
from reshardctl.planning.plan import Case, Nothing, Plan, decide, judge, processed_frontier
from reshardctl.planning.policy import EVERYTHING, Accept
from tests.support.spark_recorded import HEAD, Recorded, judged

ZERO, ONE = shard_id(0), shard_id(1)
EFO, POLLING = "SubscribeToShard", "GetRecords"


def case(
    release: str, batches: int = 3, number: bool = False, late: int = 0, **said: str
) -> Case:
    """s3's stream before its split, with both shards idle since the query began under LATEST.

    number: whether shard 0 came to a record in the newest batch.
    """
    recorded = Recorded("s3", release, HEAD)
    one = recorded.case()
    texts = {i.key: i.attributes for i in one.images}
    head = texts["offsets/0"]["text"]["S"].split("\n")[:2]
    shards = [s for s in recorded.lineage if recorded.lineage.is_open(s)]
    born = max(recorded.lineage.opened_at(shard) or 0.0 for shard in shards)
    begun = born + late if late else recorded.stream.created + 30
    since = Position(AT_TIMESTAMP, str(round(begun * 1000)))
    scala = "2.12" if release.startswith("awslabs-1") else "2.13"
    images = [i for i in one.images if not i.key.startswith(("offsets/", "commits/", "sources/"))]
    for batch in range(batches):
        line = awslabs.line(recorded.stream.name, batch, dict.fromkeys(shards, since), scala)
        text = "\n".join([*head, line])
        images.append(Image(f"offsets/{batch}", {"text": {"S": text}}))
        images.append(Image(f"commits/{batch}", texts["commits/0"]))
        for shard in shards:
            at = since
            if number and batch == batches - 1 and shard == shards[0]:
                at = Position(AFTER_SEQUENCE_NUMBER, recorded.lineage[shard].start)
                at = replace(at, value=str(int(at.value) + (1 << 20)))
            entry = {"shardId": shard, "iteratorType": at.kind, "iteratorPosition": at.value,
                     "subSequenceNumber": -1, "isLast": True}
            key = f"sources/0/shard-source/{batch}/{shard}"
            images.append(Image(key, {"text": {"S": json.dumps(entry)}}))
    consumer = Spark()
    options = {"release": release, "startingPosition": "LATEST", **said}
    parsed = consumer.parse(images, recorded.stream)
    return replace(
        one, images=sorted(images, key=lambda i: i.key),
        candidates=consumer.candidates(parsed, options),
    )


def fates(one: Case) -> list[object]:
    """The fate of an open shard at the next start, for each candidate."""
    processed = processed_frontier(one)
    want = one.policy.frontier(one.state.lineage, processed)
    shard = next(s for s in one.state.lineage if one.state.lineage.is_open(s))
    return [judged.simulation.fates[shard] for judged in judge(one, want, processed)]


@pytest.mark.parametrize("late", [0, 30])
@pytest.mark.parametrize("release", ["awslabs-1.4.2", "awslabs-1.4.3", "awslabs-2.0.0"])
def test_it_is_never_read_and_the_fix_begins_it_at_the_beginning(release: str, late: int) -> None:
    """Also where the time lies in the shard's life: no number is known at which it would get on."""
    one = replace(case(release, late=late, consumerType=EFO), accept=Accept(EVERYTHING))
    (fate,) = fates(one)
    assert isinstance(fate, WontRead) and fate.cause is Cause.TIME_NOT_PASSED
    decision = decide(one)
    assert isinstance(decision, Plan)
    steps: tuple[Step, ...] = decision.steps
    fixed = replace(one, images=after(one.images, steps))
    (fate,) = fates(fixed)
    assert isinstance(fate, WillRead)
    assert AT_TIMESTAMP not in str(steps[-1].writes[0].change)
    assert isinstance(decide(fixed), Nothing)


@pytest.mark.parametrize(("release", "said"), [
    ("awslabs-2.0.0", POLLING), ("awslabs-1.4.2", POLLING), (HEAD, EFO), (HEAD, POLLING),
])
def test_get_records_and_main_go_on(release: str, said: str) -> None:
    (fate,) = fates(case(release, consumerType=said))
    assert isinstance(fate, WillRead)


def test_how_it_reads_is_asked_only_where_it_matters() -> None:
    told = [c.options.get("consumerType") for c in case("awslabs-2.0.0").candidates]
    assert told == [POLLING, EFO]
    polls, subscribes = fates(case("awslabs-2.0.0"))
    assert isinstance(polls, WillRead) and not polls.possible
    assert isinstance(subscribes, WillRead) and EFO in subscribes.possible, "a warning, no error"
    assert not polls.ends and not subscribes.ends, "an open shard"
    assert isinstance(decide(case("awslabs-2.0.0")), Plan)
    for one in (case("awslabs-2.0.0", batches=1), Recorded("s1", HEAD, HEAD).case()):
        assert [c.options.get("consumerType") for c in one.candidates] == [None]


def test_one_batch_without_a_record_is_how_every_idle_shard_begins() -> None:
    (fate,) = fates(case("awslabs-2.0.0", batches=1, consumerType=EFO))
    assert isinstance(fate, WillRead)


def test_a_record_ends_it() -> None:
    (fate,) = fates(case("awslabs-2.0.0", number=True, consumerType=EFO))
    assert isinstance(fate, WillRead)


def test_the_note_does_not_send_those_who_subscribe_to_a_release_that_hangs() -> None:
    one = case(HEAD, consumerType=EFO)
    (note,) = [n for n in judged(one).simulation.notes if "idle" in n]
    assert "awslabs-2.0.0 with consumerType=GetRecords" in note


def test_the_option_is_read_as_the_connector_does() -> None:
    assert case("awslabs-2.0.0", consumerType="subscribetoshard").candidates[0].options[
        "consumerType"
    ] == EFO
    with pytest.raises(UsageError, match="consumerType=efo"):
        case("awslabs-2.0.0", consumerType="efo")
