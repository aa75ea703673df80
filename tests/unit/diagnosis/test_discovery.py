"""Whose positions a sample of rows is: by keys, by numbers, never by a guess called certain."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import SPECS, library_of
from reshardctl.consumers.sequence_numbers import Origin
from reshardctl.diagnosis.discovery import Confidence, Holding, Table, tables_of, weigh
from reshardctl.lineage import Lineage
from reshardctl.model import Image, decode, shard_id
from tests.support.case import all_cases
from tests.support.covering import few
from tests.support.grouped import by_case
from tests.support.judging import images_of, lineage_of

KCL = (("HASH", "leaseKey", "S"),)
CASES = {case.name: case for case in all_cases("kcl") if case.rows}


def lineage(case):
    return lineage_of(case.shards, case.stream["created"], case.retention_hours)


def evidence(rows, case="a-both", taken=None):
    one = CASES[case]
    spec = library_of(KCL)
    assert spec is not None
    return weigh(spec, rows, lineage(one).as_of(float(one.now), taken))


def row(key: str, checkpoint: str) -> Image:
    return Image(key, {"leaseKey": {"S": key}, "checkpoint": {"S": checkpoint}})


def number_of(case: str) -> str:
    """A number that a row of the case holds."""
    found = [i["checkpoint"]["S"] for i in CASES[case].items() if "checkpoint" in i]
    return next(text for text in found if text.isdigit())


OWN = int(number_of("a-both"))
"""Of shard 1, a root: its epoch is the second of its birth."""
DAY, YEAR = 86_400, 365 * 86_400
BORN = int(lineage(CASES["a-both"])[shard_id(2)].start)
"""The first number of shard 2, which began at second 601."""


def later(number: int, epoch: int, time: int = 0, index: int = 0) -> str:
    """The number of another epoch, time and index; all of a younger stream's have another epoch."""
    return str(number + (epoch << 148) + (time << 36) + (index << 80))


def at(shard: int, *checkpoints: str) -> list[Image]:
    return [row(f"shardId-{shard:012d}", checkpoint) for checkpoint in checkpoints]


MOVED = later(OWN, 7)
OF_A_SECOND = [later(OWN, 7, index=n) for n in range(4)]
STREAM = lineage(CASES["a-both"]).stream
KEY = f"{STREAM.account}:{STREAM.name}:{int(STREAM.created)}:shardId-000000000001"
"""`account:stream:creation:shard` (KCL StreamIdentifier, multi-stream mode)."""
NAMED = row(KEY, "TRIM_HORIZON")
OTHERS = row(KEY.replace(STREAM.name, "clicks"), str(OWN + (99 << 4)))
SAMPLES = {
    # The rows of the sample, which of their numbers Kinesis takes, and what is said, as a pattern.
    "the second of a shard's birth": (
        images_of(CASES["a-both"].items()), None, Confidence.STRONG, None, ".*"),
    # Epochs move during a shard's life (recorded numbers of 2017 and 2022), and those of a stream
    # that was created later lie between as well: only Kinesis can tell.
    "between the first and the last": (
        at(1, MOVED), None, Confidence.POSSIBLE, None, ".*not verified.*"),
    "the same, and Kinesis takes it": (
        at(1, MOVED), {int(MOVED): True}, Confidence.LIKELY, None, ".*Kinesis takes 1 of 1.*"),
    "the same, and Kinesis refuses it": (
        at(1, MOVED), {int(MOVED): False}, Confidence.NONE, Holding.OTHERS, ".*"),
    "one of its second is refused": (
        at(1, *OF_A_SECOND), {int(OF_A_SECOND[0]): False}, Confidence.NONE, None, ".*"),
    "from before the stream": (
        at(1, later(OWN, -DAY, -DAY)), None, Confidence.NONE, Holding.EARLIER,
        ".*an earlier stream's of this name, or another's.*"),
    "from the future": (
        at(1, later(OWN, YEAR, YEAR)), None, Confidence.NONE, None, ".*not this stream's.*"),
    "older than its shard": (at(2, later(BORN, -100, -100)), None, Confidence.NONE, None, ".*"),
    "of its shard's first second": (
        at(2, later(BORN, 0, index=1), later(BORN, 0, index=2)), None, Confidence.STRONG, None,
        ".*2 of 2 sequence numbers carry the very second.*"),
    "of a shard to come": (at(257, str(OWN + (256 << 4))), None, Confidence.NONE, None, ".*"),
    "a mark of a shard that is listed": (
        at(2, "TRIM_HORIZON"), None, Confidence.POSSIBLE, None,
        "no sequence number tells; shards that 1 of its rows name are in this stream, as in many "
        "others"),
    "a mark of another shard": (
        at(99, "LATEST"), None, Confidence.NONE, Holding.UNKNOWN,
        "no number and no shard of this stream"),
    "no row": ([], None, Confidence.NONE, Holding.NOTHING, "the table is empty"),
    "keys that name the stream": (
        [NAMED, OTHERS], None, Confidence.CERTAIN, None,
        r"the keys of its rows \(1 in the sample\) name the stream"),
    "keys that name another": ([OTHERS], None, Confidence.NONE, Holding.OTHERS, ".*"),
}


@pytest.mark.parametrize(
    ("rows", "taken", "confidence", "holding", "words"), SAMPLES.values(), ids=SAMPLES
)
def test_whose_the_rows_of_a_sample_are(rows, taken, confidence, holding, words):
    found = evidence(rows, taken=taken)
    assert found.confidence is confidence
    assert holding is None or found.holding is holding
    assert re.fullmatch(words, found.sentence())


def test_what_is_counted_of_a_sample():
    own = evidence(images_of(CASES["a-both"].items()))
    assert (len(own.numbers), own.exact) == (1, 1)
    unproven = evidence(at(1, MOVED))
    assert (unproven.count(Origin.UNPROVEN), unproven.exact) == (1, 0)
    refused = evidence(at(1, *OF_A_SECOND), taken={int(OF_A_SECOND[0]): False})
    assert refused.count(Origin.ELSEWHERE) == 4
    named = evidence([NAMED, OTHERS])
    assert (named.rows, named.others) == (1, 1)
    assert [str(one) for one in Confidence] == ["none", "possible", "likely", "strong", "certain"]


def test_the_keys_of_the_libraries():
    """KCL: DynamoDBLeaseSerializer. kinsumer: CreateRequiredTables. kinesis-consumer: store/ddb."""
    found = {name for name, spec in SPECS.items() if spec.table_scheme}
    assert found == {"kcl", "kinsumer", "kinesis-consumer"}
    compound = (("HASH", "namespace", "S"), ("RANGE", "shard_id", "S"))
    assert library_of(compound).name == "kinesis-consumer"
    assert library_of((("HASH", "Shard", "S"),)).name == "kinsumer"
    for key in ((("HASH", "leaseKey", "N"),), (("HASH", "id", "S"),), (*KCL, *compound[1:])):
        assert library_of(key) is None


def test_numbers_of_expired_shards_alone_are_possible():
    """Kinesis cannot be asked about a shard that is not listed any more.

    The epoch of the stream's first shards is that of its creation, which is known all the same.
    """
    case = CASES["a-both"]
    whole = lineage(case)
    left = Lineage(whole.stream, [whole[shard] for shard in whole if shard != shard_id(1)])
    first = [row("shardId-000000000001", number_of("a-both"))]
    assert weigh(SPECS["kcl"], first, left.as_of(float(case.now))).confidence is Confidence.STRONG
    found = weigh(SPECS["kcl"], at(1, MOVED), left.as_of(float(case.now)))
    assert found.confidence is Confidence.POSSIBLE and not found.known
    assert found.sentence() == "1 of 1 sequence number is not verified: nothing proves whose"


def judged(rows, born):
    """The table, where the account's streams have given out numbers with these epochs."""
    case = CASES["a-both"]
    known = lineage(case).as_of(float(case.now), {}, born)
    (table,) = tables_of("t", SPECS["kcl"], rows, known, "us-east-1", born)
    return table


CLICKS = "arn:aws:kinesis:us-east-1:123456789012:stream/clicks"


@pytest.mark.parametrize("later", [False, True])
def test_a_number_of_a_later_shard_tells_streams_of_one_second_apart(later):
    """Those of the first shards are alike: the epoch in them is that of the creation."""
    case = CASES["a-both"]
    records = [records[0][0] for _, records in sorted(case.records.items()) if records]
    first, child = records[0], records[-1]
    assert decode(first).epoch <= case.stream["created"] < decode(child).epoch
    rows = [row("shardId-000000000000", first)]
    rows += [row("shardId-000000000003", child)] if later else []
    known = lineage(case).as_of(float(case.now))
    (table,) = tables_of("t", SPECS["kcl"], rows, known, "us-east-1", {}, [CLICKS])
    assert table.evidence.confidence is (Confidence.STRONG if later else Confidence.POSSIBLE)
    assert ("stream clicks, created in the same second" in table.sentence) is not later


@pytest.mark.parametrize(("count", "words"), [
    (1, "stream s0, created in the same second, look the same: it may be of either"),
    (3, "streams s0, s1, s2, created in the same second, look the same: it may be of any of them"),
    (4, "streams s0, s1, s2 and 1 more, created in the same second"),
])  # fmt: skip
def test_streams_of_one_second_are_named_up_to_three(count, words):
    found = evidence(images_of(CASES["a-both"].items()))
    alike = replace(found, alike=tuple(f"s{number}" for number in range(count)))
    assert f"; numbers of {words}" in alike.sentence()


def test_rows_of_two_streams_name_both():
    other = str(int(MOVED) + (256 << 4))
    rows = [*images_of(CASES["a-both"].items()), row("shardId-000000000257", other)]
    table = judged(rows, {decode(other).epoch: (CLICKS,)})
    assert table.evidence.confidence is Confidence.STRONG and table.evidence.shared
    assert "1 of 2 sequence numbers carries the very second" in table.sentence
    assert table.sentence.endswith("1 of 2 sequence numbers is not this stream's; "
                                   "1 fits stream clicks")  # fmt: skip


def test_numbers_older_than_the_stream_are_anothers_where_one_of_the_account_has_them():
    number = later(OWN, -DAY, -DAY)
    rows = at(1, number)
    assert judged(rows, {}).evidence.holding is Holding.EARLIER
    table = judged(rows, {decode(number).epoch: (CLICKS,)})
    assert (table.evidence.holding, table.streams) == (Holding.OTHERS, {("clicks",): 1})
    named = judged([row(OTHERS.key, "TRIM_HORIZON")], {})
    assert named.evidence.holding is Holding.OTHERS
    assert named.sentence == "its rows (1 in the sample) name other streams"


@by_case(((name, "", (name,)) for name in CASES), few(tuple(CASES.values())))
def test_no_case_of_this_stream_is_taken_for_anothers_wrongly(name):
    """Tables that `inspect` reads as this stream's are found, unless a number is no record's."""
    found = evidence(images_of(CASES[name].items()), name)
    if found.confidence is Confidence.NONE:
        assert found.foreign or not found.known


@pytest.mark.parametrize(("name", "locator"), [
    ("app_checkpoints", "kinsumer://app"), ("app_clients", ""), ("_checkpoints", ""),
])  # fmt: skip
def test_a_table_of_kinsumer_has_the_application_in_its_name(name, locator):
    """kinsumer: the tables of an application are APP_checkpoints, APP_clients, APP_metadata."""
    assert Table(name, SPECS["kinsumer"], evidence([])).locator == locator
