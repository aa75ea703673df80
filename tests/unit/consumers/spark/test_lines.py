"""Sources' offsets and the connectors' log entries.

What the connectors take and what they die of: runs of json4s 3.7.0-M11 and 4.0.7 (as PySpark 3.5.9
and 4.3.0 ship them) reading `Map[String, Map[String, String]]` and a case class of the log's
members, November 2026.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.consumers.spark import lines
from reshardctl.consumers.spark.lines import at_once, awslabs, lineage, qubole
from reshardctl.consumers.spark.offset_log import parse_offset_log
from reshardctl.consumers.spark.positions import Position
from reshardctl.consumers.spark.spark_json import Malformed
from reshardctl.model import shard_id
from tests.proof.reference import spark_offset as reference
from tests.support.checkpoint_files import CONNECTORS, GOLDEN, by_build, checkpoints
from tests.support.connector_entries import entry_text

NUMBER = "49680000000000000000000000000000000000000000000000000018"
ZERO, ONE = shard_id(0), shard_id(1)

ENTRIES = sorted(
    path
    for build in CONNECTORS
    for checkpoint in checkpoints(build)
    for path in (checkpoint / "sources").rglob("shardId-*")
    if path.is_file()
)
LOGS = [
    path
    for build in CONNECTORS
    for checkpoint in checkpoints(build)
    for path in sorted((checkpoint / "offsets").iterdir())
    if path.name.isdigit()
]
TEXTS = [parse_offset_log(path.read_text())["0"] for path in LOGS]


def offset(one: dict[str, object], members: dict[str, object]) -> str:
    """A line of one shard. members: those that are otherwise; `...` where they are missing."""
    shard = {key: value for key, value in {**one, **members}.items() if value is not ...}
    return json.dumps({"metadata": {"batchId": "3", "streamName": "st"}, ZERO: shard})


PLACE = {"iteratorType": "AFTER_SEQUENCE_NUMBER", "iteratorPosition": NUMBER}


def aws(**members: object) -> str:
    return offset({"subSequenceNumber": "-1", "isLast": "true", **PLACE}, members)


def qub(**members: object) -> str:
    return offset({**PLACE}, members)


@by_build(ENTRIES)
def test_a_log_entry_is_written_back_byte_for_byte(path):
    of = awslabs if "shard-source" in path.parts else qubole
    text = path.read_text()
    shard, position = of.entry(text)
    assert shard == path.name
    assert entry_text(of, shard, position) == text
    family = of.__name__.rpartition(".")[2]
    assert reference.entry_text(reference.entry(text, family), family) == text


@by_build(LOGS)
def test_the_short_way_reads_what_the_long_way_reads(path):
    text = parse_offset_log(path.read_text())["0"]
    short, long = at_once.read(text), lines.read_slowly(text)
    assert short is not None
    assert short == long
    assert long.flaws == ()


EDITS = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 12), st.sampled_from(
        ["", '"', "{", "}", ",", ":", "0", "1" * 30, "é", "\\", " ", "true", '"isLast":"true",',
         ',"metadata":{"batchId":"0","streamName":"st"}', "AT_TIMESTAMP", "latest", "\n"]
    )),
    min_size=1, max_size=3,
)


@given(st.sampled_from(TEXTS), EDITS)
def test_the_short_way_never_reads_what_the_long_way_would_not(text, edits):
    """Any damage: the short way agrees with the long one or leaves the text to it."""
    for at, length, new in edits:
        at %= len(text) + 1
        text = text[:at] + new + text[at + length :]
    short = at_once.read(text)
    if short is not None:
        assert short == lines.read_slowly(text)


@given(st.text(max_size=300))
def test_no_text_makes_the_reader_fail(text):
    assert lines.read(text) is None or lines.read(text).connector


@pytest.mark.parametrize("text", TEXTS[:3] + TEXTS[-3:])
def test_a_shard_that_is_named_twice_takes_the_long_way(text):
    """Spelled as the connector spells it, and all the same not as it writes it."""
    start = text.index('"shardId-')
    shard = text[start : text.index("}", start) + 1]
    doubled = text[:-1] + f",{shard}}}"
    assert at_once.read(doubled) is None
    assert "twice" in lines.read(doubled).flaws[-1].why
    head = '{"metadata":{"batchId":"0","streamName":"x"},'
    assert at_once.read(text.replace("{", head, 1)) is None
    for name in ('"batchId":"x', '"batchId":"1","batchId":"'):
        assert at_once.read(text.replace('"batchId":"', name, 1)) is None


def test_positions_of_an_awslabs_line():
    """golden awslabs-head-0f4c005/u1: the planned batch after s1."""
    found = lines.read(
        parse_offset_log((GOLDEN / "awslabs-1.4.2-sdk/u1/offsets/1").read_text())["0"]
    )
    assert (found.connector, found.stream, found.batch_id) == ("awslabs", "st", 1)
    assert found.positions[ONE] == Position("TRIM_HORIZON", "", -1, True)
    assert found.positions[ZERO].kind == "AFTER_SEQUENCE_NUMBER"
    assert sorted(found.positions) == [shard_id(index) for index in range(3)]


def test_a_place_inside_an_aggregated_record_is_kept():
    found = lines.read(aws(subSequenceNumber="17", isLast="false"))
    assert found.positions[ZERO] == Position("AFTER_SEQUENCE_NUMBER", NUMBER, 17, False)
    line = awslabs.line("st", 3, found.positions, "2.13")
    assert '"subSequenceNumber":"17","isLast":"false"' in line


@pytest.mark.parametrize(("text", "why"), [
    (aws(isLast=...), "isLast missing"),
    (aws(subSequenceNumber=...), "subSequenceNumber missing"),
    (aws(iteratorType=...), "iteratorType missing"),
    (aws(isLast=True), "isLast is true or false"),
    (aws(isLast="yes"), "neither true nor false"),
    (aws(subSequenceNumber="x"), "is no number"),
    (aws(iteratorPosition=None), "iteratorPosition is null"),
    (aws(iteratorPosition={}), "iteratorPosition is an object"),
    (aws(iteratorPosition=""), "no sequence number"),
    (aws(iteratorType="SOMEWHERE"), "'SOMEWHERE'"),
    (aws(iteratorType="trim_horizon"), "'trim_horizon'"),
    (aws(iteratorType="AT_TIMESTAMP"), "no time in milliseconds"),
    (aws(more=True), "more is true or false"),
    (f'{{"metadata":{{"batchId":"3","streamName":"st"}},"{ZERO}":7}}', "not an object"),
    (qub(iteratorType=...), "iteratorType missing"),
    (qub(iteratorType=True), "iteratorType is true or false"),
    (qub(iteratorType=[]), "iteratorType is a list"),
    (qub(iteratorPosition="4e5"), "no sequence number"),
])  # fmt: skip
def test_a_position_that_its_connector_cannot_use_breaks_the_offset(text, why):
    """json4s: MappingException for the wrong type, NoSuchElementException for a missing member."""
    found = lines.read(text)
    assert why in found.broken
    assert found.broken.startswith(f"{ZERO}: ")
    assert ZERO not in found.positions
    assert found.flaws[-1].shard == ZERO


@pytest.mark.parametrize(("text", "position"), [
    (aws(subSequenceNumber=-1), Position("AFTER_SEQUENCE_NUMBER", NUMBER)),
    (aws(isLast="TRUE"), Position("AFTER_SEQUENCE_NUMBER", NUMBER)),
    (qub(iteratorPosition=int(NUMBER)), Position("AFTER_SEQUENCE_NUMBER", NUMBER)),
    (qub(more="x"), Position("AFTER_SEQUENCE_NUMBER", NUMBER)),
    (qub(iteratorType="LATEST", iteratorPosition="x"), Position("LATEST", "x")),
])  # fmt: skip
def test_what_the_connector_reads_all_the_same_is_read(text, position):
    """json4s takes a whole number for a string, and passes members that nobody asks for."""
    found = lines.read(text)
    assert found.positions == {ZERO: position}
    assert found.broken == ""


def test_what_will_be_spelled_otherwise_is_said():
    assert "drop it" in lines.read(qub(more="x")).flaws[0].why
    assert "number" in lines.read(aws(subSequenceNumber=-1)).flaws[0].why
    inside = lines.read(qub().replace('{"iteratorType"', '{"iteratorType":"LATEST","iteratorType"'))
    assert inside.positions == lines.read(qub()).positions and "twice" in inside.flaws[0].why
    twice = '{"metadata":{"batchId":"0","streamName":"st"},"%s":{},"%s":%s}'
    place = '{"iteratorType":"LATEST","iteratorPosition":""}'
    found = lines.read(twice % (ZERO, ZERO, place))
    assert found.positions == {ZERO: Position("LATEST")}
    assert "twice" in found.flaws[-1].why


@pytest.mark.parametrize(("head", "why"), [
    (..., "batchId, streamName missing"),
    ({"streamName": "st"}, "batchId missing"),
    ({"batchId": "1"}, "streamName missing"),
    ({"batchId": "x", "streamName": "st"}, "batchId 'x' is no number"),
    ({"batchId": True, "streamName": "st"}, "batchId is true or false"),
    ("x", "not an object but a string"),
])  # fmt: skip
def test_metadata_that_its_connector_cannot_use_breaks_the_offset(head, why):
    value = json.loads(qub())
    del value["metadata"]
    found = lines.read(json.dumps(value if head is ... else {**value, "metadata": head}))
    assert found.broken == f"metadata: {why}" or why in found.broken
    assert list(found.positions) == [ZERO]


def test_a_key_that_is_no_shard_is_read_as_the_connector_reads_it():
    """It would ask Kinesis for it."""
    text = qub().replace(ZERO, "shardId-1")
    found = lines.read(text)
    assert list(found.positions) == ["shardId-1"]
    assert found.flaws[0].why == "this is no shard id"
    assert not found.flaws[0].fatal


def test_an_offset_without_shards_is_of_either_connector():
    found = lines.read('{"metadata":{"streamName":"st","batchId":"9"}}')
    assert (found.connector, found.batch_id, found.positions) == ("unknown", 9, {})


@pytest.mark.parametrize("text", [
    '{"offset":10,"timestamp":1700000001000}',
    '{"topic":{"0":23,"1":5}}',
    '{"metadata":{"0":23}}',
    '{"shards":{"0":23}}',
    '{"logOffset":0}',
    "5", '"x"', "null", "[]", "[1]", "", "{", "-", "NaN", "[" * 100_000,
    '{"metadata":{"streamName":"st","batchId":"0"},',
])  # fmt: skip
def test_other_sources_and_no_offsets_at_all(text):
    """rate, Kafka (also with topics called metadata and shards), files, and damage."""
    assert lines.read(text) is None


@pytest.mark.parametrize(("text", "why"), [
    ("", "no JSON"),
    ("[]", "not an object but a list"),
    ("null", "not an object but null"),
    ('{"shardId":"shardId-000000000000"}', "iteratorPosition, iteratorType missing"),
    ('{"shardId":null,"iteratorType":"LATEST","iteratorPosition":""}', "shardId is null"),
    ('{"shardId":"s","iteratorType":true,"iteratorPosition":""}', "iteratorType is true"),
    ('{"shardId":"s","iteratorType":"LATEST","iteratorPosition":""', "no JSON"),
])  # fmt: skip
def test_a_file_that_is_no_log_entry_says_why(text, why):
    for of in (qubole, awslabs):
        with pytest.raises(Malformed, match=why):
            of.entry(text)


@pytest.mark.parametrize(("members", "why"), [
    ('"subSequenceNumber":"-1","isLast":true', "subSequenceNumber is a string"),
    ('"subSequenceNumber":-1,"isLast":"true"', "isLast is a string"),
    ('"subSequenceNumber":-1', "isLast is missing"),
    ('"isLast":true', "subSequenceNumber is missing"),
    ('"subSequenceNumber":1.5,"isLast":true', "subSequenceNumber is a fraction"),
])  # fmt: skip
def test_in_awslabs_log_numbers_are_numbers(members, why):
    """The other way round than in its offsets (json4s: "No usable value for …"; it would cut a
    fraction off, we refuse one)."""
    text = '{"shardId":"s","iteratorType":"LATEST","iteratorPosition":"",%s}'
    with pytest.raises(Malformed, match=why):
        awslabs.entry(text % members)
    with pytest.raises(Malformed, match="'X'"):
        awslabs.entry('{"shardId":"s","iteratorType":"X","iteratorPosition":"",'
                      '"subSequenceNumber":-1,"isLast":true}')
    good = '"subSequenceNumber":-1,"isLast":true,"more":{}'
    assert awslabs.entry(text % good) == ("s", Position("LATEST"))


def test_kinesis_lineage_holds_ends():
    """tests/golden/spark/pyds: recorded on PySpark 4.3.0."""
    text = parse_offset_log((GOLDEN / "pyds/lineage/offsets/1").read_text())["0"]
    found = lines.read(text)
    assert (found.connector, found.stream, found.batch_id) == ("lineage", "", None)
    assert found.positions[ZERO].kind == "SHARD_END"
    assert found.positions[ONE].kind == "AFTER_SEQUENCE_NUMBER"
    assert found.positions[ONE].value.endswith("4560")
    assert lineage.line(text, found.positions) == text
    moved = lineage.line(text, {ONE: Position("AFTER_SEQUENCE_NUMBER", NUMBER)})
    assert moved == text.replace(found.positions[ONE].value, NUMBER)
    reopened = lineage.line(text, {ZERO: Position("TRIM_HORIZON")})
    assert f'"{ZERO}": {{"seq": "", "end": false}}' in reopened


def test_a_kinesis_lineage_offset_names_shards_and_each_member_once():
    for shards, why in (
        ('"shardId-x": {"seq": "", "end": false}', "no shard id"),
        (f'"{ZERO}": []', "not an object but a list"), (f'"{ZERO}": {{"seq": "5"}}', "end is null"),
    ):
        assert why in lines.read(f'{{"shards": {{{shards}}}}}').broken
    found = lines.read(f'{{"shards": {{"{ZERO}": {{"seq": "5", "seq": "", "end": false}}}}}}')
    assert found.positions == {ZERO: Position("TRIM_HORIZON")}
    assert "twice" in found.flaws[0].why and not found.broken


DATABRICKS = (
    '[{"shard":{"stream":"KinesisTestUtils-7199466178786508570-at-1715652545256",'
    '"shardId":"shardId-000000000000"},'
    '"firstSeqNum":"49652022592149344892294981243280420130985816456924495874",'
    '"lastSeqNum":"49652022592149344892294981243290091537542733559041622018",'
    '"closed":false,"msBehindLatest":"0",'
    '"lastRecordSeqNum":"49652022592149344892294981243290091537542733559041622018"}]'
)
"""From Databricks' documentation, "Kinesis-to-Delta Lake StreamingQueryListener event"."""


@pytest.mark.parametrize("number", ["null", '""'])
def test_databricks_stores_no_number_of_a_shard_that_it_has_read_nothing_of(number):
    last = '"lastSeqNum":"49652022592149344892294981243290091537542733559041622018"'
    found = lines.read(DATABRICKS.replace(last, f'"lastSeqNum":{number}'))
    assert found.positions == {ZERO: Position("TRIM_HORIZON")}


def test_databricks_holds_ends():
    found = lines.read(DATABRICKS)
    assert found.connector == "databricks"
    assert found.stream == "KinesisTestUtils-7199466178786508570-at-1715652545256"
    number = "49652022592149344892294981243290091537542733559041622018"
    assert found.positions == {ZERO: Position("AFTER_SEQUENCE_NUMBER", number)}
    assert found.broken == ""


@pytest.mark.parametrize(("change", "why"), [
    (("shardId-000000000000", "x"), "not a shard's id"),
    (('"shardId":"shardId-000000000000"', '"shardId":7'), "not a shard's id"),
    (("49652022592149344892294981243290091537542733559041622018", "x"), "no sequence number"),
    (('"stream":"KinesisTestUtils-7199466178786508570-at-1715652545256",', ""), "1 streams"),
])  # fmt: skip
def test_databricks_entries_that_are_none_break_the_offset(change, why):
    assert why in lines.read(DATABRICKS.replace(*change)).broken
    twice = lines.read(f"[{DATABRICKS[1:-1]},{DATABRICKS[1:-1]}]")
    assert "twice" in twice.broken


@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_many_shards_are_all_read(count):
    positions = {shard_id(i): Position("AFTER_SEQUENCE_NUMBER", NUMBER) for i in range(count)}
    text = "{" + '"metadata":{"batchId":"1","streamName":"st"},' + ",".join(
        f'"{shard}":{{"iteratorType":"{one.kind}","iteratorPosition":"{one.value}"}}'
        for shard, one in positions.items()
    ) + "}"
    assert lines.read(text).positions == positions
    damaged = lines.read(text.replace(f'"{ZERO}":{{"iteratorType":"AFTER', f'"{ZERO}":{{"x":"A'))
    assert len(damaged.positions) == count - 1
    assert damaged.broken.startswith(ZERO)
