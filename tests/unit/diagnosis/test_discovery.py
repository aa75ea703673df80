"""Whose positions a sample of rows is: by keys, by numbers, never by a guess called certain."""

from __future__ import annotations

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


def test_the_keys_of_the_libraries():
    """KCL: DynamoDBLeaseSerializer. kinsumer: CreateRequiredTables. kinesis-consumer: store/ddb."""
    found = {name for name, spec in SPECS.items() if spec.table_scheme}
    assert found == {"kcl", "kinsumer", "kinesis-consumer"}
    compound = (("HASH", "namespace", "S"), ("RANGE", "shard_id", "S"))
    assert library_of(compound).name == "kinesis-consumer"
    assert library_of((("HASH", "Shard", "S"),)).name == "kinsumer"
    for key in ((("HASH", "leaseKey", "N"),), (("HASH", "id", "S"),), (*KCL, *compound[1:])):
        assert library_of(key) is None


def test_the_second_of_a_shards_birth():
    case = CASES["a-both"]
    found = evidence(images_of(case.items()))
    assert (len(found.numbers), found.exact, found.confidence) == (1, 1, Confidence.STRONG)


def moved(seconds: int = 7) -> str:
    """A number of the case with another epoch, as every number of a younger stream has."""
    return str(int(number_of("a-both")) + (seconds << 148))


def test_a_number_between_the_first_and_the_last_proves_nothing():
    """Epochs move during a shard's life (recorded numbers of 2017 and 2022), and those of a stream
    that was created later lie between as well: only Kinesis can tell."""
    rows = [row("shardId-000000000001", moved())]
    found = evidence(rows)
    assert (found.count(Origin.UNPROVEN), found.exact) == (1, 0)
    assert found.confidence is Confidence.POSSIBLE and "not verified" in found.sentence()
    assert str(found.confidence) == "possible"
    taken = evidence(rows, taken={int(moved()): True})
    assert taken.confidence is Confidence.LIKELY and "Kinesis takes 1 of 1" in taken.sentence()
    assert str(taken.confidence) == "likely"
    refused = evidence(rows, taken={int(moved()): False})
    assert refused.confidence is Confidence.NONE and refused.holding is Holding.OTHERS


def test_numbers_of_expired_shards_alone_are_possible():
    """Kinesis cannot be asked about a shard that is not listed any more.

    The epoch of the stream's first shards is that of its creation, which is known all the same.
    """
    case = CASES["a-both"]
    whole = lineage(case)
    left = Lineage(whole.stream, [whole[shard] for shard in whole if shard != shard_id(1)])
    first = [row("shardId-000000000001", number_of("a-both"))]
    assert weigh(SPECS["kcl"], first, left.as_of(float(case.now))).confidence is Confidence.STRONG
    rows = [row("shardId-000000000001", moved())]
    found = weigh(SPECS["kcl"], rows, left.as_of(float(case.now)))
    assert found.confidence is Confidence.POSSIBLE and not found.known
    assert found.sentence() == "1 of 1 sequence number is not verified: nothing proves whose"


def test_what_kinesis_refuses_holds_for_all_numbers_of_that_second():
    numbers = [str(int(moved()) + (n << 80)) for n in range(4)]
    rows = [row("shardId-000000000001", number) for number in numbers]
    found = evidence(rows, taken={int(numbers[0]): False})
    assert (found.count(Origin.ELSEWHERE), found.confidence) == (4, Confidence.NONE)


def test_a_number_from_before_the_stream_is_of_an_earlier_one():
    number = int(number_of("a-both")) - (86400 << 148) - (86400 << 36)
    found = evidence([row("shardId-000000000001", str(number))])
    assert (found.confidence, found.holding) == (Confidence.NONE, Holding.EARLIER)
    assert "an earlier stream's of this name, or another's" in found.sentence()


def test_a_number_from_the_future_is_nobodys():
    shift = 86400 * 365
    number = int(number_of("a-both")) + (shift << 148) + (shift << 36)
    found = evidence([row("shardId-000000000001", str(number))])
    assert found.confidence is Confidence.NONE and "not this stream's" in found.sentence()


def test_a_number_older_than_its_shard_is_anothers():
    """Shard 2 began at second 601; its number of a hundred seconds before that is no record's."""
    start = int(lineage(CASES["a-both"])[shard_id(2)].start)
    found = evidence([row("shardId-000000000002", str(start - (100 << 148) - (100 << 36)))])
    assert len(found.numbers) == 1 and found.confidence is Confidence.NONE
    own = [row("shardId-000000000002", str(start + (n << 80))) for n in (1, 2)]
    assert evidence(own[:1]).exact == 1
    assert "2 of 2 sequence numbers carry the very second" in evidence(own).sentence()


def test_a_number_of_a_shard_to_come_is_anothers():
    number = int(number_of("a-both")) + (256 << 4)
    assert evidence([row("shardId-000000000257", str(number))]).confidence is Confidence.NONE


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
    other = str(int(moved()) + (256 << 4))
    rows = [*images_of(CASES["a-both"].items()), row("shardId-000000000257", other)]
    table = judged(rows, {decode(other).epoch: (CLICKS,)})
    assert table.evidence.confidence is Confidence.STRONG and table.evidence.shared
    assert "1 of 2 sequence numbers carries the very second" in table.sentence
    assert table.sentence.endswith("1 of 2 sequence numbers is not this stream's; "
                                   "1 fits stream clicks")  # fmt: skip


def test_numbers_older_than_the_stream_are_anothers_where_one_of_the_account_has_them():
    number = str(int(number_of("a-both")) - (86400 << 148) - (86400 << 36))
    rows = [row("shardId-000000000001", number)]
    assert judged(rows, {}).evidence.holding is Holding.EARLIER
    table = judged(rows, {decode(number).epoch: (CLICKS,)})
    assert (table.evidence.holding, table.streams) == (Holding.OTHERS, {("clicks",): 1})


def test_marks_alone_tell_little():
    found = evidence([row("shardId-000000000002", "TRIM_HORIZON")])
    assert found.confidence is Confidence.POSSIBLE
    assert evidence([row("shardId-000000000099", "LATEST")]).confidence is Confidence.NONE
    nothing = evidence([])
    assert (nothing.confidence, nothing.holding) == (Confidence.NONE, Holding.NOTHING)


def test_keys_that_name_the_stream():
    """`account:stream:creation:shard` (KCL StreamIdentifier, multi-stream mode)."""
    stream = lineage(CASES["a-both"]).stream
    key = f"{stream.account}:{stream.name}:{int(stream.created)}:shardId-000000000001"
    own = row(key, "TRIM_HORIZON")
    other = row(key.replace(stream.name, "clicks"), str(int(number_of("a-both")) + (99 << 4)))
    found = evidence([own, other])
    assert found.confidence is Confidence.CERTAIN and (found.rows, found.others) == (1, 1)
    assert str(found.confidence) == "certain"
    assert found.sentence() == "the keys of its rows (1 in the sample) name the stream"
    assert evidence([other]).confidence is Confidence.NONE


@by_case(((name, "", (name,)) for name in CASES), few(tuple(CASES.values())))
def test_no_case_of_this_stream_is_taken_for_anothers_wrongly(name):
    """Tables that `inspect` reads as this stream's are found, unless a number is no record's."""
    found = evidence(images_of(CASES[name].items()), name)
    if found.confidence is Confidence.NONE:
        assert found.foreign or not found.known


def test_what_proves_nothing_says_what_it_is():
    own = row("shardId-000000000002", "TRIM_HORIZON")
    assert evidence([own]).sentence() == (
        "no sequence number tells; shards that 1 of its rows name are in this stream, as in many "
        "others"
    )
    unknown = evidence([row("shardId-000000000099", "LATEST")])
    assert unknown.holding is Holding.UNKNOWN
    assert unknown.sentence() == "no number and no shard of this stream"
    assert evidence([]).sentence() == "the table is empty"


def test_a_table_whose_rows_all_name_another_stream_is_of_others():
    stream = lineage(CASES["a-both"]).stream
    key = f"{stream.account}:clicks:{int(stream.created)}:shardId-000000000001"
    table = judged([row(key, "TRIM_HORIZON")], {})
    assert table.evidence.holding is Holding.OTHERS
    assert table.sentence == "its rows (1 in the sample) name other streams"


@pytest.mark.parametrize(("name", "locator"), [
    ("app_checkpoints", "kinsumer://app"), ("app_clients", ""), ("_checkpoints", ""),
])  # fmt: skip
def test_a_table_of_kinsumer_has_the_application_in_its_name(name, locator):
    """kinsumer: the tables of an application are APP_checkpoints, APP_clients, APP_metadata."""
    assert Table(name, SPECS["kinsumer"], evidence([])).locator == locator
