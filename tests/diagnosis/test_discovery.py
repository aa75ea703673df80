"""Whose positions a sample of rows is: by keys, by numbers, never by a guess called certain."""

from __future__ import annotations

import pytest

from reshardctl.consumers.libraries import SPECS, library_of
from reshardctl.diagnosis.discovery import Confidence, weigh
from reshardctl.model import Image, shard_id
from tests.support.case import all_cases
from tests.support.judging import images_of, lineage_of

KCL = (("HASH", "leaseKey", "S"),)
CASES = {case.name: case for case in all_cases("kcl") if case.rows}


def lineage(case):
    return lineage_of(case.shards, case.stream["created"], case.retention_hours)


def evidence(rows, case="a-both"):
    one = CASES[case]
    spec = library_of(KCL)
    assert spec is not None
    return weigh(spec, rows, lineage(one), float(one.now))


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
    assert (found.numbers, found.exact, found.confidence) == (1, 1, Confidence.STRONG)


def test_a_number_of_a_moved_epoch_is_likely():
    """Epochs move during a shard's life (recorded numbers of 2017 and 2022)."""
    number = int(number_of("a-both")) + (7 << 148)
    found = evidence([row("shardId-000000000001", str(number))])
    assert (found.fitting, found.exact) == (1, 0)
    assert found.confidence is Confidence.LIKELY


@pytest.mark.parametrize("shift", [-86400, 86400 * 365])
def test_a_number_from_outside_of_the_streams_life_is_anothers(shift):
    number = int(number_of("a-both")) + (shift << 148) + (shift << 36)
    found = evidence([row("shardId-000000000001", str(number))])
    assert found.confidence is Confidence.NONE and "not this stream's" in found.sentence()


def test_a_number_older_than_its_shard_is_anothers():
    """Shard 2 began at second 601; its number of a hundred seconds before that is no record's."""
    start = int(lineage(CASES["a-both"])[shard_id(2)].start)
    found = evidence([row("shardId-000000000002", str(start - (100 << 148) - (100 << 36)))])
    assert found.numbers == 1 and found.confidence is Confidence.NONE
    assert evidence([row("shardId-000000000002", str(start + (1 << 80)))]).fitting == 1


def test_a_number_of_a_shard_to_come_is_anothers():
    number = int(number_of("a-both")) + (256 << 4)
    assert evidence([row("shardId-000000000257", str(number))]).confidence is Confidence.NONE


def test_one_wrong_number_among_right_ones_is_enough():
    rows = [*images_of(CASES["a-both"].items()),
            row("shardId-000000000001", str(int(number_of("a-both")) + (256 << 4)))]  # fmt: skip
    assert evidence(rows).confidence is Confidence.NONE


def test_marks_alone_tell_little():
    found = evidence([row("shardId-000000000002", "TRIM_HORIZON")])
    assert found.confidence is Confidence.POSSIBLE
    assert evidence([row("shardId-000000000099", "LATEST")]).confidence is Confidence.NONE
    assert evidence([]).confidence is Confidence.NONE


def test_keys_that_name_the_stream():
    """`account:stream:creation:shard` (KCL StreamIdentifier, multi-stream mode)."""
    stream = lineage(CASES["a-both"]).stream
    key = f"{stream.account}:{stream.name}:{int(stream.created)}:shardId-000000000001"
    own = row(key, "TRIM_HORIZON")
    other = row(key.replace(stream.name, "clicks"), str(int(number_of("a-both")) + (99 << 4)))
    found = evidence([own, other])
    assert found.confidence is Confidence.CERTAIN and (found.rows, found.others) == (1, 1)
    assert evidence([other]).confidence is Confidence.NONE


@pytest.mark.parametrize("name", CASES)
def test_no_case_of_this_stream_is_taken_for_anothers_wrongly(name):
    """Tables that `inspect` reads as this stream's are found, unless a number is no record's."""
    found = evidence(images_of(CASES[name].items()), name)
    if found.confidence is Confidence.NONE:
        assert found.numbers > found.fitting or not found.known
