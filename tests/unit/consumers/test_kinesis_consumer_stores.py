"""What GetCheckpoint makes of each value in each store, and who starts on which store.

Sources: store/{ddb,redis,postgres,mysql} of harlow/kinesis-consumer at v0.4.0, v0.4.1, v0.5.0 and
master 31e0042 (GetCheckpoint is the same text in all four); store.go of Telegraf's input, b272631.
Rows that end the process were run on v0.5.0: tests/proof/libraries/go/executed.txt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.kinesis_consumer import rows as evidence
from reshardctl.consumers.kinesis_consumer.consumer import KinesisConsumer
from reshardctl.consumers.kinesis_consumer.releases import App, Whose
from reshardctl.consumers.kinesis_consumer.rows import Positions
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Cause,
    Cut,
    Image,
    ShardId,
    WillRead,
    WontRead,
    at_number,
    canonical,
    shard_id,
)
from reshardctl.model.images import NO_TRANSACTIONS, NO_UNIQUE_KEY, SAME_KEY, UNGUARDED
from tests.support.grouped import by_case
from tests.support.lineages import STREAM, split_in_turn

SQL, REDIS, DDB = ("postgres", "mysql"), ("redis", "rediss"), ("dynamodb", "")
ABSENT, DEADLY = "absent", "deadly"
VALUES = [
    (SQL, None, DEADLY),  # Scan: converting NULL to string is unsupported
    (SQL, {"S": ""}, ABSENT),  # a column of text
    (SQL, {"S": "NaN"}, DEADLY),
    (SQL, {"S": "1.50"}, DEADLY),
    (REDIS, None, ABSENT),  # WRONGTYPE: the error of Get is dropped
    (REDIS, {"S": ""}, ABSENT),
    (REDIS, {"B": "//4xMg=="}, DEADLY),
    (REDIS, {"S": "abc"}, DEADLY),
    (DDB, None, ABSENT),
    (DDB, {"NULL": True}, ABSENT),
    (DDB, {"B": "//4xMg=="}, ABSENT),
    (DDB, {"BOOL": True}, ABSENT),
    (DDB, {"S": ""}, ABSENT),
    (DDB, {"S": "abc"}, DEADLY),
    (DDB, {"N": "1.5"}, DEADLY),
]
"""Stores, value of sequence_number, what becomes of the start."""


def posed(
    medium: str, images: Sequence[Image], lineage: Lineage, **said: str
) -> tuple[KinesisConsumer, Positions, App]:
    """The consumer on this medium, its rows, and the one application that is meant."""
    options = {"app": "app", "initial": "LATEST", "release": "0.5.0", **said}
    consumer = KinesisConsumer().for_options(options, medium)
    positions = consumer.parse(images, lineage.stream)
    (candidate,) = consumer.candidates(positions, options)
    assert isinstance(candidate.app, App)
    return consumer, positions, candidate.app


def beginning(lineage: Lineage) -> dict[ShardId, Cut]:
    return {shard: at_number(lineage[shard].start) for shard in lineage}


def row(shard: str, **more: Mapping[str, Any]) -> Image:
    keys = {"namespace": {"S": "app-orders"}, "shard_id": {"S": shard}}
    return Image(f"app-orders/{shard}", canonical({**keys, **more}))


@by_case(
    (release, f"{medium} {value}", (medium, value, what, release))
    for release in ("0.4.0", "0.4.1", "0.5.0", "master", "group-0.5")
    for media, value, what in VALUES for medium in media
)
def test_what_a_value_does(medium, value, what, release):
    lineage = split_in_turn(1, ())
    shard = next(iter(lineage))
    stored = row(shard, **({} if value is None else {"sequence_number": value}))
    consumer, positions, app = posed(
        medium, [stored], lineage, initial="TRIM_HORIZON", release=release
    )
    simulation = consumer.simulate_start(lineage, positions, app)
    if what == DEADLY:
        assert simulation.crash is not None
        assert simulation.crash.cause is Cause.UNREADABLE
        assert isinstance(simulation.fates[shard], WontRead)
    else:
        assert simulation.crash is None
        assert isinstance(simulation.fates[shard], WillRead)
    assert [one.shard for one in positions.anomalies] == [shard]


@pytest.mark.parametrize("medium", ["postgres", "mysql", "redis", "rediss"])
def test_telegraf_is_no_candidate_on_a_store_that_it_does_not_have(medium):
    consumer = KinesisConsumer().for_options({"app": "app"}, medium)
    found = consumer.candidates(consumer.parse(()), {"app": "app"})
    apps = [one.app for one in found if isinstance(one.app, App)]
    assert len(apps) == len(found)
    assert {app.traits.release for app in apps} == {"0.5.0", "master-31e0042"}
    with pytest.raises(UsageError, match="DynamoDB alone"):
        consumer.candidates(consumer.parse(()), {"release": "telegraf-1.36"})


@pytest.mark.parametrize(
    ("medium", "sizes"),
    [("dynamodb", [100] * 11 + [50]), ("redis", [100] * 11 + [50]), ("postgres", [1000, 150]),
     ("mysql", [1000, 150])],
)
def test_a_step_holds_what_its_store_takes_in_one_transaction(medium, sizes):
    """TransactWriteItems takes 100 actions (DynamoDB API reference); SQL has no such limit."""
    lineage = split_in_turn(1150, ())
    consumer, _, app = posed(medium, [], lineage)
    steps = consumer.bootstrap(lineage, beginning(lineage), app)
    assert [len(step.writes) for step in steps] == sizes


@pytest.mark.parametrize(("why", "said", "way"), [
    (NO_UNIQUE_KEY, "no unique key", "ADD PRIMARY KEY (namespace, shard_id)"),
    (NO_TRANSACTIONS, "no transactions", "ENGINE=InnoDB"),
])  # fmt: skip
def test_a_table_in_which_no_write_can_be_guarded_gets_none(why, said, way):
    lineage = split_in_turn(1, ())
    other = {"namespace": {"S": "x"}, "shard_id": {"S": "y"}, UNGUARDED: {"S": why}}
    consumer, positions, app = posed("mysql", [Image("x/y", other)], lineage)
    for found in (
        consumer.rebuild(lineage, positions, beginning(lineage), app),
        consumer.encode(lineage, positions, beginning(lineage), app, ()),
    ):
        assert isinstance(found, Cannot) and said in found.why and way in found.ways_out[0]


@pytest.mark.parametrize(("medium", "apart"), [("redis", True), ("rediss", True), ("", False)])
def test_a_key_that_holds_no_string_is_left_alone_and_the_others_are_written(medium, apart):
    """SET would replace a list, and undo could not put it back (stores/redis.py refuses it)."""
    lineage = split_in_turn(1, ())
    first, *others = lineage
    consumer, positions, app = posed(medium, [row(first)], lineage)
    found = consumer.encode(lineage, positions, beginning(lineage), app, ())
    steps = found.others if isinstance(found, Cannot) else found
    assert isinstance(found, Cannot) is apart
    assert not apart or "holds no string" in found.apart[first].why
    written = {write.key for step in steps for write in step.writes}
    expected = others if apart else lineage
    assert written == {f"app-orders/{shard}" for shard in expected}


@pytest.mark.parametrize(("shards", "others"), [(5, []), (7, ["others with several rows: 2"])])
def test_of_shards_with_several_rows_five_are_named_and_the_others_counted(shards, others):
    lineage = split_in_turn(shards, ())
    second = {"M": {"count": {"N": "1"}, "next": {"L": [{"S": "8"}]}}}
    twice: dict[str, Mapping[str, Any]] = {UNGUARDED: {"S": NO_UNIQUE_KEY}, SAME_KEY: second}
    rows = [row(shard, sequence_number={"S": "7"}, **twice) for shard in lineage]
    (odd,) = posed("mysql", rows, lineage)[1].anomalies
    _, *told = odd.why.split("; ")
    assert [one for one in told if "takes the first" not in one] == others
    assert len(told) == 5 + len(others)


def test_numbers_that_telegraf_overlooks_are_left_out_of_a_copy():
    """The copy is judged by itself: it must not answer with what the whole rows showed."""
    lineage = split_in_turn(2, [0])
    shard = shard_id(0)
    image = row(shard, sequence_number={"N": lineage[shard].start})
    rows: Positions = KinesisConsumer(Whose("app")).parse([image], STREAM)
    assert evidence.evidence(lineage, rows).kinds.keys() == {shard}
    assert evidence.evidence(lineage, rows.strings_only()).kinds == {}
    assert rows.strings_only().blank.keys() == {shard}
