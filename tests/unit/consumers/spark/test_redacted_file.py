"""What a redacted file of a checkpoint no longer tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.consumers.spark.lines import read
from reshardctl.consumers.spark.offset_log import flaw_of_conf
from reshardctl.consumers.spark.redacted_file import redact
from reshardctl.model import Image
from tests.support.grouped import by_case


def test_neither_the_owner_of_a_file_nor_the_headers_of_an_object_are_shown() -> None:
    own = {"text": {"S": "v1\n{}"}, "size": {"N": "5"}, "modified": {"N": "1"}}
    local = {"stored_with": {"S": '{"mode":"0640","owner":"4711:4712"}'}}
    beside = {"crc_stored_with": {"S": '{"mode":"0640","owner":"4711:4712"}'}}
    s3 = {"stored_with": {"S": '{"Metadata":{"team":"alice"}}'}}
    for more in (local, beside, s3):
        assert redact(Image("commits/7", {**own, **more}), lambda text: text).attributes == own


GOLDEN = Path(__file__).parents[3] / "golden" / "spark"
NAMES: dict[str, str] = {}


def named(text: str) -> str:
    return NAMES.setdefault(text, f"name-{len(NAMES)}")


def redacted(key: str, text: str) -> str:
    return str(redact(Image(key, {"text": {"S": text}}), named).attributes["text"]["S"])


LOGS = sorted({
    lines[1]: path
    for path in GOLDEN.glob("*/*/offsets/[0-9]*") for lines in [path.read_text().split("\n")]
    if len(lines) > 2 and lines[1].startswith("{")
}.values())


@by_case((log.parts[-4], "-".join(log.parts[-3:]), (log,)) for log in LOGS)
def test_every_setting_that_spark_itself_recorded_is_kept(log: Path) -> None:
    """Whatever the recorded queries of 3.3 to 4.3 wrote there (tests/golden/spark)."""
    before, after = (
        json.loads(text.split("\n")[1])
        for text in (log.read_text(), redacted(f"offsets/{log.name}", log.read_text()))
    )
    assert after["conf"] == before["conf"]


def test_settings_of_an_operators_own_are_not_kept() -> None:
    conf = {"spark.sql.acmecorp": "acmecorp", "spark.sql.shuffle.partitions": "acmecorp",
            "spark.sql.streaming.stateStore.providerClass": "com.acmecorp.Store",
            "spark.sql.streaming.multipleWatermarkPolicy": "max"}
    line = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": conf, "acmecorp": 1})
    then = redacted("offsets/0", f"v1\n{line}\n-")
    assert "acmecorp" not in then
    assert json.loads(then.split("\n")[1])["conf"].keys() >= {
        "spark.sql.shuffle.partitions", "spark.sql.streaming.multipleWatermarkPolicy",
    }
    assert '"spark.sql.streaming.multipleWatermarkPolicy":"max"' in then


def test_that_a_source_had_no_offset_is_kept() -> None:
    """Spark writes "-" then (SERIALIZED_VOID_OFFSET in OffsetSeqLog)."""
    assert redacted("offsets/0", "v1\n{}\n-").split("\n")[2] == "-"


PLACE = '"shardId-000000000000":{"iteratorType":"LATEST","iteratorPosition":"%s"'


@pytest.mark.parametrize("offset", [
    f'{{"metadata":{{"streamName":"acmecorp","batchId":"0"}},{PLACE % "acmecorp"}}}}}',
    f'{{"metadata":{{"streamName":"st","batchId":"0"}},{PLACE % ""},"acmecorp":"acmecorp"}}}}',
    f'{{"metadata":{{"streamName":"st","batchId":"acmecorp"}},{PLACE % chr(92)}u0061cmecorp"}}}}',
    '{"shards": {"shardId-000000000000": {"seq": "acmecorp", "end": false}}, "note": "acmecorp"}',
])  # fmt: skip
def test_texts_that_no_connector_writes_in_an_offset_are_not_kept(offset: str) -> None:
    then = redacted("offsets/0", f"v1\n{{}}\n{offset}")
    assert "acmecorp" not in then and "\\u0061" not in then
    before, after = (read(text.split("\n")[2]) for text in (f"v1\n{{}}\n{offset}", then))
    assert before is not None and after is not None
    assert (before.connector, bool(before.broken)) == (after.connector, bool(after.broken))


@pytest.mark.parametrize("line", [
    '{"conf":"acmecorp"}', '{"conf":["acmecorp"]}', '{"batchWatermarkMs":"acmecorp"}',
    '{"batchTimestampMs":{"acmecorp":1}}',
])
def test_a_second_line_of_another_form_keeps_no_text_and_stays_unusable(line: str) -> None:
    then = redacted("offsets/0", f"v1\n{line}\n-").split("\n")[1]
    assert "acmecorp" not in then and flaw_of_conf(line) and flaw_of_conf(then)
NOTED = "sources/0/shard-commit/0/notes"


@pytest.mark.parametrize(("key", "text"), [
    (NOTED, "acmecorp"), ("state/0/0/acmecorp", "acmecorp"), ("commits/0", "acmecorp"),
    ("sources/0/shard-commit/0/shardId-000000000000", "acmecorp"), ("offsets/0", "acmecorp"),
    ("offsets/0", "v1\nacmecorp\n-"), ("offsets/0", 'v1\n["acmecorp"]\n-'),
    ("offsets/0", 'v1\n{"conf":"acmecorp"}\n-'), ("offsets/0", "v1\n\n-"),
])  # fmt: skip
def test_nothing_of_a_damaged_file_is_kept(key: str, text: str) -> None:
    then = redact(Image(key, {"text": {"S": text}}), named)
    assert "acmecorp" not in then.key + str(then.attributes["text"]["S"])


def test_a_row_of_a_log_in_a_table_keeps_no_name() -> None:
    """DynamodbMetadataCommitter's row; one whose keys somebody gave another type tells none."""
    row = Image("log/acmecorp/0", {
        "metadataKey": {"S": "acmecorp"}, "metadataSortKey": {"N": "0"}, "acmecorp": {"S": "x"},
        "metadataValue": {"S": "acmecorp"},
    })  # fmt: skip
    then = redact(row, named)
    assert "acmecorp" not in str((then.key, then.attributes))
    assert then.attributes["metadataSortKey"] == {"N": "0"}


def test_texts_that_no_connector_writes_in_an_entry_are_not_kept() -> None:
    entry = {"shardId": "shardId-000000000000", "iteratorType": "AFTER_SEQUENCE_NUMBER",
             "iteratorPosition": "acmecorp", "subSequenceNumber": -1, "isLast": True}
    then = redacted("sources/0/shard-source/0/shardId-000000000000", json.dumps(entry))
    assert "acmecorp" not in then
    assert json.loads(then) == {**entry, "iteratorPosition": named("acmecorp")}
    ids = {"nextBatchWatermarkMs": 0,
           "stateUniqueIds": {"0": [["6f1c9a52-4d0e-4b7a-9d56-0a1b2c3d4e5f"]], "acmecorp": []}}
    then = redacted("commits/0", "v1\n" + json.dumps(ids))
    assert "acmecorp" not in then and "6f1c9a52-4d0e-4b7a-9d56-0a1b2c3d4e5f" in then
